"""Files that are whole or absent: atomic writes, and JSON lines that may be zstd-compressed."""

import contextlib
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from longtrek.errors import LongtrekError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
OTHER_KINDS = {
    b"\x1f\x8b": "gzip data: decompress it (`gunzip`)",
    b"BZh": "bzip2 data: decompress it (`bunzip2`)",
    b"\xfd7zXZ": "xz data: decompress it (`unxz`)",
    b"PK\x03\x04": "a ZIP archive (or a spreadsheet): unpack it, or save it as JSON lines",
    b"PAR1": "a Parquet table: write its rows as JSON lines",
    b"SQLite format 3": "an SQLite database: write its rows as JSON lines",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}
"""What a file's first bytes say that it is, and what makes JSON lines of it."""


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
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk does not say which file it refused
            error.filename = str(path)
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


@contextlib.contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """Open a file's content, decompressed where it is zstd (by its name or its first bytes); `-` is standard input.

    Raises:
        LongtrekError: the file cannot be opened or is of another kind, or, while it is read, it is not whole.
    """
    with contextlib.ExitStack() as stack:
        try:
            raw = open(0, "rb", closefd=False) if str(path) == "-" else path.open("rb")  # noqa: SIM115 (the stack's)
            stack.enter_context(raw)
            first = raw.peek(16)[:16]
            compressed = path.suffix == ".zst" or first.startswith(ZSTD_MAGIC)
        except FileNotFoundError:
            raise LongtrekError(f"{path}: no such file; expected JSON lines") from None
        except OSError as error:
            raise LongtrekError(f"{path}: cannot be read ({error.strerror}); expected JSON lines") from None
        kind = next((said for magic, said in OTHER_KINDS.items() if first.startswith(magic)), None)
        if kind:
            raise LongtrekError(f"{path}: {kind} first; expected JSON lines, plain or compressed by zstd")
        yield stack.enter_context(io.BufferedReader(_Frames(raw, path))) if compressed else raw


class _Frames(io.RawIOBase):
    """What zstd frames hold; a file that ends within one is an error, since it would read as a shorter file."""

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        self._raw = raw
        self._path = path
        self._frame: Any = None
        self._frames = 0
        self._rest = b""
        self._content = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._content and self._more():
            pass
        size = min(len(buffer), len(self._content))
        buffer[:size] = self._content[:size]
        self._content = self._content[size:]
        return size

    def _more(self) -> bool:
        chunk = self._rest or self._raw.read(1 << 16)
        if not chunk and self._frames and self._frame is None:
            return False
        if not chunk:
            raise LongtrekError(f"{self._path}: the zstd data ends too early, so the file is not whole; make it again")
        if self._frame is None:
            self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._frames += 1
        try:
            self._content = memoryview(self._frame.decompress(chunk))
        except zstandard.ZstdError as error:
            raise LongtrekError(f"{self._path}: not zstd data ({error}); expected JSON lines, compressed") from None
        self._rest = b""
        if self._frame.eof:
            self._rest, self._frame = self._frame.unused_data, None
        return True


def read_jsonl(path: Path) -> Iterator[Any]:
    """Read JSON lines as a stream, one value at a time; zstd is decompressed; `-` is standard input.

    Raises:
        LongtrekError: the file is missing or not whole, or a line is not JSON; the message names file and line.
    """
    with reading(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield parse_line(line, path, number)


def parse_line(line: bytes, path: Path, number: int) -> Any:
    """Parse line `number` (from 1) of a file; a byte order mark may stand before the first.

    Raises:
        LongtrekError: it is not JSON in UTF-8; the message names file and line.
    """
    where = f"{path}, line {number}"
    try:
        return json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        fault = f"not UTF-8 text ({error.reason} at byte {error.start} of the line)"
    except json.JSONDecodeError as error:
        fault = f"not JSON ({error.msg} at column {error.colno})"
    except (ValueError, RecursionError) as error:  # a number, or a nesting, beyond what is read
        fault = f"not JSON that can be read ({error})"
    raise LongtrekError(f"{where}: {fault}; expected JSON lines in UTF-8, one value a line")


def check_characters(line: bytes, row: Any, where: str) -> None:
    """Refuse half a character (a surrogate without its pair), which JSON may hold and no file of ours can keep.

    Raises:
        LongtrekError: the line holds one; `where` names it.
    """
    if b"\\ud" not in line.lower():
        return
    try:
        canonical_json(row).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise LongtrekError(
            f"{where}: holds half a character (\\u{ord(half):04x} without its pair), which cannot be kept as it is; "
            "expected Unicode text: put \\ufffd in its place"
        ) from None


def read_object(path: Path, kinds: Mapping[str, type | tuple[type, ...]], remedy: str) -> dict[str, Any]:
    """Read a JSON file that holds one object, with the keys and kinds of value that its readers rely on.

    Raises:
        LongtrekError: it cannot be read, or holds something else; the message ends with the remedy.
    """
    wanted = ", ".join(kinds)
    try:
        found = json.loads(path.read_bytes().decode())
    except OSError as error:
        raise LongtrekError(f"{path}: cannot be read ({error.strerror}); {remedy}") from None
    except (ValueError, RecursionError) as error:
        raise LongtrekError(f"{path}: not JSON ({error}); expected an object with {wanted}: {remedy}") from None
    if not isinstance(found, dict):
        raise LongtrekError(f"{path}: holds a {type(found).__name__}; expected an object with {wanted}: {remedy}")
    for name, kind in kinds.items():
        if name not in found or not isinstance(found[name], kind):
            raise LongtrekError(f"{path}: {name} is {found.get(name)!r:.80}; expected one of another kind: {remedy}")
    return found
