"""Files that are whole or absent: atomic writes, and JSON lines that may be zstd-compressed."""

import contextlib
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from longtrek.errors import LongtrekError


def canonical_json(value: Any) -> str:
    """Serialise a value so that equal values give equal bytes: sorted keys, no spaces, UTF-8 kept."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`; on a clean exit sync it and rename it, else remove it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write a whole text file atomically, as UTF-8 with the line ends it has."""
    with atomic(path) as stream:
        stream.write(text.encode())


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write rows as JSON lines atomically, zstd-compressed where the name ends in `.zst`.

    The bytes depend on the rows alone: one thread, level 3, no content size, no checksum.
    """
    with atomic(path) as stream:
        if path.suffix == ".zst":
            with zstandard.ZstdCompressor(level=3).stream_writer(stream, closefd=False) as sink:
                for row in rows:
                    sink.write(_line(row))
        else:
            for row in rows:
                stream.write(_line(row))


def _line(row: Any) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_jsonl(path: Path) -> Iterator[Any]:
    """Read JSON lines as a stream, one value at a time; `.zst` is decompressed; `-` is standard input.

    Raises:
        LongtrekError: the file is missing, or a line is not JSON; the message names file and line.
    """
    try:
        with contextlib.ExitStack() as stack:
            raw: BinaryIO
            if str(path) == "-":
                raw = cast(BinaryIO, stack.enter_context(open(0, "rb", closefd=False)))
            else:
                raw = stack.enter_context(path.open("rb"))
            source = zstandard.ZstdDecompressor().stream_reader(raw) if path.suffix == ".zst" else raw
            for number, line in enumerate(io.TextIOWrapper(source, encoding="utf-8", newline="\n"), 1):
                if line.strip():
                    yield _parse(line, path, number)
    except FileNotFoundError:
        raise LongtrekError(f"{path}: no such file; expected JSON lines") from None
    except UnicodeDecodeError as error:
        raise LongtrekError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None


def _parse(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise LongtrekError(
            f"{path}, line {number}: not JSON ({error.msg} at column {error.colno}); expected one value a line"
        ) from None
