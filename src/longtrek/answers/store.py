"""The durable store: one answer, one appended line, one sync. Nothing received is ever lost or asked twice.

A store is never a rule's output (Snakemake deletes those); a rule's output is exported from it.

- An `answered` row settles its key for good; a later row with that key does not replace it.
- A `failed` row is a record, not an answer. Rows whose fault may pass (`TRANSIENT`) are asked again by the next
  run; a refusal by the server (`context_length`, `bad_request`) only where the caller asks for it.
- A `not_asked` row records preflight's verdict, which every run makes afresh.
- A line without its newline is a write that was cut short: it is dropped, and only it. Any other line that is
  not JSON is an error that names it: no torn write can leave one, so something else changed the file.
"""

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl

Row = dict[str, Any]

TRANSIENT = frozenset(
    {"rate_limited", "server_error", "timeout", "cut_stream", "bad_response", "unreachable", "engine_died"}
)


class Store:
    """The answers of one model, study and tier, open for appending by this process alone."""

    def __init__(self, path: Path, handle: int, rows: dict[str, Row]) -> None:
        self.path = path
        self._handle = handle
        self._rows = rows

    def get(self, key: str) -> Row | None:
        """The row that stands for a key: its answer, or else the last thing recorded."""
        return self._rows.get(key)

    def rows(self) -> list[Row]:
        """The standing row of every key, in the order in which the keys came."""
        return list(self._rows.values())

    def settled(self, key: str, retry_failed: bool = False) -> bool:
        """Whether a key need not be asked: it is answered, or a lasting refusal that nobody wants retried."""
        row = self._rows.get(key)
        if row is None or row["status"] == "not_asked":
            return False
        if row["status"] == "answered":
            return True
        return not retry_failed and row["error"]["kind"] not in TRANSIENT

    def append(self, row: Row) -> None:
        """Add one row in a single write and sync it; on return it survives a crash of process or machine.

        Raises:
            LongtrekError: the row could not be written whole (a full disk); the file is as it was before.
        """
        # Half a character (a lone surrogate), as a server's error message may hold it, must not end a run.
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
        before = os.fstat(self._handle).st_size
        try:
            written = os.write(self._handle, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes were written")
            os.fdatasync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, before)
            raise LongtrekError(
                f"{self.path}: an answer could not be stored ({error}); free space and run again, "
                "what was stored before is kept"
            ) from error
        _settle(self._rows, row)

    def export(self, path: Path, wanted: Sequence[tuple[str, str, int]]) -> None:
        """Write the rows of `wanted` (key, id, sample), in that order, as a rule's output: whole or not at all.

        Ids and samples are the caller's, since a key outlives a change of names.

        Raises:
            LongtrekError: a key has no row; the message says how many have none.
        """
        missing = [name for key, name, _ in wanted if key not in self._rows]
        if missing:
            raise LongtrekError(
                f"{self.path}: {len(missing)} of {len(wanted)} requests have no row, first {missing[0]}; "
                "run the same command again to ask for them"
            )
        write_jsonl(path, ({**self._rows[key], "id": name, "sample": sample} for key, name, sample in wanted))


@contextlib.contextmanager
def open_store(path: Path, say: Callable[[str], None]) -> Iterator[Store]:
    """Lock and read a store, dropping a torn last line, and hold the lock until the block ends.

    A second writer waits here; `say` gets one line that names the process it waits for.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock(path.with_name(path.name + ".lock"), say):
        new = not path.exists()
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            if new:
                _sync_folder(path.parent)
            _drop_torn_line(path, handle, say)
            yield Store(path, handle, read_rows(path))
        finally:
            os.close(handle)


def read_rows(path: Path) -> dict[str, Row]:
    """Read a store's standing row of every key; a torn last line is ignored.

    Raises:
        LongtrekError: a line other than a torn last one is not a row; the message names the line.
    """
    rows: dict[str, Row] = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.endswith(b"\n"):
                _settle(rows, _row(line, path, number))
    return rows


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not _whole(row):
        raise LongtrekError(
            f"{path}, line {number}: not an answer row ({line[:60]!r}…); expected one JSON object a line with 'key', "
            "'status' and 'text', and 'error' where there is no answer. Something other than longtrek changed this "
            "file: restore it or remove that line"
        )
    return row


def _whole(row: Row) -> bool:
    """Whether a row holds what every reader of a store takes for granted."""
    if not (isinstance(row.get("key"), str) and isinstance(row.get("text"), str)):
        return False
    error = row.get("error")
    refused = isinstance(error, dict) and {"kind", "message"} <= error.keys()
    return row.get("status") == "answered" or (row.get("status") in ("failed", "not_asked") and refused)


def _settle(rows: dict[str, Row], row: Row) -> None:
    standing = rows.get(row["key"])
    if standing is None or standing["status"] != "answered":
        rows[row["key"]] = row


def _drop_torn_line(path: Path, handle: int, say: Callable[[str], None]) -> None:
    size = os.fstat(handle).st_size
    end = size
    while end > 0:
        start = max(0, end - 65536)
        newline = os.pread(handle, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(handle, end)
        os.fsync(handle)
        say(f"{path}: dropped a torn last line of {size - end} bytes; its answer will be asked for again")


@contextlib.contextmanager
def _lock(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
            say(f"{path.with_suffix('')}: waiting for {holder}, which is writing to this store")
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
