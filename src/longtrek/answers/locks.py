"""Locks on files, which the kernel drops when the last process that holds the open file is gone, `kill -9` included."""

import fcntl
import os
import socket


def claim(handle: int) -> bool:
    """Lock an open file for its holder alone and write there who that is; False where another holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    sign(handle)
    return True


def wait_for(handle: int) -> None:
    """Wait until an open file is free, then hold it as `claim` does."""
    fcntl.flock(handle, fcntl.LOCK_EX)
    sign(handle)


def sign(handle: int) -> None:
    """Write into a locked file who holds it."""
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)


def holder(handle: int) -> str:
    """Who holds a locked file, as far as it says."""
    return os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
