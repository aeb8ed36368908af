"""Runs one server and ends it, with all its descendants, when whoever asked for it is gone.

Standard input is a pipe whose other end only the asking process holds: when that process ends, even by
`kill -9`, the pipe closes and everything below this process is killed. The kernel hands orphans of the server
to this process (a "child subreaper"), so a child that left the server's process group is found as well.
Standard library only: it is started by its path, before anything is installed or imported.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

GRACE_S = 5.0
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def supervise(command: list[str]) -> int:
    """Run `command` until it ends or standard input closes; kill what is left of it; return its exit status."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # a Ctrl-C is for the asking process, whose end ends us
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_end_with_parent)
    try:
        while server.poll() is None and not _closed(sys.stdin.fileno(), 0.2):
            pass
    finally:
        end_all(server)
    return server.returncode if server.returncode is not None else 1


def _end_with_parent() -> None:
    """Between fork and exec: have the kernel end the server should this process itself be killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _closed(handle: int, wait_s: float) -> bool:
    readable, _, _ = select.select([handle], [], [], wait_s)
    return bool(readable) and os.read(handle, 4096) == b""


def end_all(server: "subprocess.Popen[bytes]") -> None:
    """Ask the server's process group to end, wait a little, then kill it and every descendant."""
    _signal_group(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while time.monotonic() < deadline and (server.poll() is None or descendants(os.getpid())):
        _reap(server)
        time.sleep(0.05)
    _signal_group(server.pid, signal.SIGKILL)
    while left := descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap(server)
        time.sleep(0.02)
    server.poll()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def _reap(server: "subprocess.Popen[bytes]") -> None:
    """Collect ended orphans; the server's own status is left to `Popen`."""
    server.poll()
    for pid in descendants(os.getpid()):
        if pid != server.pid:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def descendants(root: int) -> list[int]:
    """Process ids below `root`, from /proc, zombies of other parents left out."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z" or int(parent) == root:
                    children.setdefault(int(parent), []).append(int(entry.name))
    found: list[int] = []
    frontier = [root]
    while frontier:
        below = children.get(frontier.pop(), [])
        found += below
        frontier += below
    return found


if __name__ == "__main__":
    sys.exit(supervise(sys.argv[1:]))
