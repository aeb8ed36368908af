"""Runs `local_engine.py` for the length of a test, and tells what it was asked."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longtrek.answers.client import Client, Door, Outcome
from longtrek.answers.model import EndpointEntry, Model
from longtrek.answers.retry import Patience

LOCAL_ENGINE = Path(__file__).with_name("local_engine.py")
HASTY = Patience(attempts=3, connect_s=2, first_s=1.0, idle_s=1.0, backoff_s=0.01, backoff_max_s=0.05)


class Served:
    """A running local engine: where it is, and what it was asked."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self.log = log

    @property
    def model(self) -> Model:
        """A hosted model's entry for this server."""
        endpoint = EndpointEntry(self.url)
        return Model("hosted", "endpoint", repository="local", window=8192, endpoint=endpoint, max_concurrency=4)

    def asked(self) -> list[str]:
        """The prompts that have arrived, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line)["body"]["messages"][-1]["content"] for line in lines]

    def requests(self) -> list[dict[str, Any]]:
        """Everything that has arrived."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def ask_one(self, prompt: str, patience: Patience = HASTY, **door: Any) -> Outcome:
        """Ask one prompt."""

        async def one() -> Outcome:
            async with Client(Door(self.url, "local", **door), patience) as client:
                return await client.ask({"messages": [{"role": "user", "content": prompt}], "max_tokens": 100})

        return asyncio.run(one())


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    """Run the local engine on a free port for the length of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "asked.jsonl"
    command = [sys.executable, str(LOCAL_ENGINE), "--port", str(port), "--log", str(log), *arguments]
    server = subprocess.Popen(command)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield Served(f"http://127.0.0.1:{port}/v1", log)
    finally:
        server.kill()
        server.wait()
