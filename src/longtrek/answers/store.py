"""The durable store: one answer, one appended line, one sync. Nothing received is ever lost or asked twice.

A store is never a rule's output (Snakemake deletes those); a rule's output is exported from it. Where several jobs
ask a tier, each appends to a file of its own, and each reads them all.

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
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longtrek.answers.locks import claim, holder, wait_for
from longtrek.answers.shards import PLACE, WHOLE, Shard, store_files
from longtrek.answers.stored import check_row
from longtrek.errors import LongtrekError
from longtrek.files import parse_line, write_jsonl

Row = dict[str, Any]

TRANSIENT = frozenset(
    {"rate_limited", "server_error", "timeout", "cut_stream", "bad_response", "unreachable", "engine_died"}
)
LOOK_EVERY_S = 0.5
BEGINNING = b'{"key":"'
"""How every line of a store begins."""


class Store:
    """The answers of one model, study and tier; `path` is the file that this process alone appends to."""

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

    def export(self, path: Path, wanted: Sequence[tuple[str, str, int]], places: Sequence[int] | None = None) -> None:
        """Write the rows of `wanted` (key, id, sample), in that order, as a rule's output: whole or not at all.

        Ids and samples are the caller's, since a key outlives a change of names. A shard's rows get their `places`
        in the tier, by which they are merged.

        Raises:
            LongtrekError: a key has no row; the message says how many have none.
        """
        missing = [name for key, name, _ in wanted if key not in self._rows]
        if missing:
            raise LongtrekError(
                f"{self.path}: {len(missing)} of {len(wanted)} requests have no row, first {missing[0]}; "
                "run the same command again to ask for them"
            )
        rows = ({**self._rows[key], "id": name, "sample": sample} for key, name, sample in wanted)
        write_jsonl(path, rows if places is None else ({**row, PLACE: n} for row, n in zip(rows, places, strict=True)))


@contextlib.contextmanager
def open_store(path: Path, say: Callable[[str], None], shard: Shard = WHOLE) -> Iterator[Store]:
    """Lock and read a tier's store, dropping a torn last line, and hold the lock until the block ends.

    A shard appends to its own file and knows the rows of all the tier's files. A second writer waits here, and so
    do jobs that would ask the tier in another number of shards; `say` gets one line that names what it waits for.
    """
    own = shard.file(path)
    own.parent.mkdir(parents=True, exist_ok=True)
    with _agreed(path, shard.count, say), _lock(own.with_name(own.name + ".lock"), say):
        new = not own.exists()
        handle = os.open(own, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            if new:
                _sync_folder(own.parent)
            _drop_torn_line(own, handle, say)
            rows: dict[str, Row] = {}
            for file in store_files(path):
                rows = read_rows(file, rows)
            yield Store(own, handle, rows)
        finally:
            os.close(handle)


def read_rows(path: Path, before: Mapping[str, Row] | None = None) -> dict[str, Row]:
    """Read a store file's standing row of every key, after those read `before`; a torn last line is ignored.

    Raises:
        LongtrekError: a line other than a torn last one is not a row; the message names the line.
    """
    rows = dict(before or {})
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.endswith(b"\n"):
                _settle(rows, _row(line, path, number))
    return rows


def _row(line: bytes, path: Path, number: int) -> Row:
    where = f"{path}, line {number}"
    try:
        row: Row = parse_line(line, path, number)
        check_row(row, where)
        if not isinstance(row.get("key"), str) or row["status"] == "missing":
            raise LongtrekError(f"{where}: expected a key, and a status of what was asked")
    except LongtrekError as error:
        raise LongtrekError(
            f"{error}. Not an answer row: something other than longtrek changed this file; restore it or remove that "
            "line, whose answer is then asked for again"
        ) from None
    return row


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
    torn = os.pread(handle, len(BEGINNING), end).rstrip(b"\0")  # a file system may leave zeros when the power fails
    if not BEGINNING.startswith(torn):
        raise LongtrekError(
            f"{path}: ends with {os.pread(handle, 40, end)!r}, which is no answer cut short; expected a store that "
            "longtrek wrote: name another file, or restore this one"
        )
    if end < size:
        os.ftruncate(handle, end)
        os.fsync(handle)
        say(f"{path}: dropped a torn last line of {size - end} bytes; its answer will be asked for again")


@contextlib.contextmanager
def _lock(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not claim(handle):
            say(f"{path.with_suffix('')}: waiting for {holder(handle)}, which is writing to this store")
            wait_for(handle)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _agreed(path: Path, count: int, say: Callable[[str], None]) -> Iterator[None]:
    """Share a tier with jobs that ask it in the same number of shards; wait while it is asked in another.

    Shares of different numbers overlap, so that jobs left over from before a change would ask the same twice.
    """
    handle = os.open(path.with_suffix(".shards.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        told = ""
        while not _agrees(handle, count):
            asked = os.pread(handle, 20, 0).decode().strip()
            if asked != told:
                say(f"{path}: waiting for jobs that ask this tier in {asked} shards")
                told = asked
            time.sleep(LOOK_EVERY_S)
        yield
    finally:
        os.close(handle)


def _agrees(handle: int, count: int) -> bool:
    """Hold a tier's number of shards beside others, as it stands or, where nobody else holds it, as it shall be."""
    fcntl.flock(handle, fcntl.LOCK_SH)
    if os.pread(handle, 20, 0).decode().strip() == str(count):
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # the kernel took the shared lock back
        return False
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{count}\n".encode(), 0)
    return _agrees(handle, count)  # between the two locks another may have come


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
