"""Starts a local engine, waits until it answers, and ends it with all its children, whatever happens to us."""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import httpx

from longtrek.answers import supervisor
from longtrek.answers.client import Door
from longtrek.answers.devices import Lease, no_lease
from longtrek.errors import LongtrekError

TAIL_LINES = 30


class LocalServer:
    """An engine process on a free loopback port, behind a key of its own so that nobody else's is mistaken for it.

    `command` gives the command line for a port. The engine is told the key in `VLLM_API_KEY` and is ready once
    it lists `served_name` among its models. What `lease` gives is held from before the start until nothing of the
    engine is left, even where this process is killed.
    """

    ours = True

    def __init__(
        self,
        command: Callable[[int], list[str]],
        environment: Mapping[str, str],
        log: Path,
        served_name: str,
        start_limit_s: float,
        lease: Callable[[], AbstractContextManager[Lease]] = no_lease,
    ) -> None:
        self._command = command
        self._environment = environment
        self._log = log
        self._served_name = served_name
        self._start_limit_s = start_limit_s
        self._lease = lease
        self._held = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Door:
        """Start the engine and wait for it.

        Raises:
            LongtrekError: it ended, or was not ready in time; the message holds the end of its log.
        """
        lease = self._held.enter_context(self._lease())
        try:
            door = self._launch(lease)
            self._wait(door)
        except BaseException:
            self.stop()
            raise
        return door

    def alive(self) -> bool:
        """Whether the engine's process runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """End the engine and everything below it; returns when nothing of it is left."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None
        self._held.close()

    def log_tail(self) -> str:
        """The last lines of the engine's log."""
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - 16384))
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])

    def _launch(self, lease: Lease) -> Door:
        port = _free_port()
        key = secrets.token_hex(16)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        command = self._command(port)
        with self._log.open("ab") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(Path(supervisor.__file__)), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self._environment, **lease.environment, "VLLM_API_KEY": key},
                start_new_session=True,
                pass_fds=lease.handles,
            )
        return Door(f"http://127.0.0.1:{port}/v1", self._served_name, {"Authorization": f"Bearer {key}"}, True)

    def _wait(self, door: Door) -> None:
        deadline = time.monotonic() + self._start_limit_s
        with httpx.Client(headers=door.headers, timeout=5, trust_env=False) as http:
            while time.monotonic() < deadline:
                if not self.alive():
                    raise LongtrekError(
                        f"the engine ended before it was ready; its log ({self._log}):\n{self.log_tail()}"
                    )
                if serves(http, door):
                    return
                time.sleep(0.2)
        raise LongtrekError(
            f"the engine was not ready within {self._start_limit_s:.0f} s (start_limit_s of the model's entry); "
            f"the end of its log ({self._log}):\n{self.log_tail()}"
        )


def serves(http: httpx.Client, door: Door) -> bool:
    """Whether the server at the door lists the model; False too where there is no server yet."""
    try:
        response = http.get(f"{door.url}/models")
        names = [entry["id"] for entry in response.json()["data"]] if response.status_code == 200 else []
    except (httpx.TransportError, ValueError, KeyError):
        return False
    return door.model in names


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
