"""The checksum list of a run's results: what stands in it, and how `sha256sum` reads and writes it."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from longtrek.errors import LongtrekError
from longtrek.files import atomic, sha256_file

CHECKSUMS = "SHA256SUMS"
CRATE = "ro-crate-metadata.json"
LEFT_OUT: Mapping[str, str] = {
    CHECKSUMS: "the list itself",
    "README.md": "ships with the kit",
    "benchmarks": "what each job took, which differs from run to run",
    "logs": "what each job said, with its times",
    "snakemake-report.html": "made afterwards, with the times of building",
    "store": "grows with every later run; this run's answers are in answers/",
    "weights": "fetched by the hash that stands in the model's entry, and hashed in each answer's provenance",
}
"""What stands at the top of a folder of results and is not listed, and why. Hidden files are not listed either."""

LINE = re.compile(rb"(\\?)([0-9a-f]{64}) [ *](.+)")
ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True)
class Listed:
    """One file of the results: its path from their folder with `/`, SHA-256 in hex, and size in bytes."""

    path: str
    sha256: str
    bytes: int


def paths(results: Path, tell: Callable[[str], None] | None = None) -> list[str]:
    """The files that a reader relies on, as paths from the folder of results, in the order of their bytes.

    Links are followed. What of the folder cannot be walked (a loop of links, a folder that may not be read) is told to
    `tell` and left out.

    Raises:
        LongtrekError: something cannot be walked, where nobody is told.
    """
    around = {_identity(one) for one in results.resolve().parents}
    return sorted(_walk(results, "", frozenset(around), tell or _refuse(results)), key=os.fsencode)


def _refuse(results: Path) -> Callable[[str], None]:
    def refuse(fault: str) -> None:
        raise LongtrekError(f"{results}: {fault}")

    return refuse


def _walk(folder: Path, here: str, within: frozenset[tuple[int, int]], tell: Callable[[str], None]) -> Iterator[str]:
    """Files below a folder; `within` are the folders that hold it, by what they are and not by their names."""
    try:
        known = within | {_identity(folder)}
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        tell(f"unreadable: {shown(here or '.')} ({error.strerror}); make it readable for you, or remove it")
        return
    if known == within:
        tell(f"loop of links: {shown(here)} leads back to a folder that holds it; remove the link")
        return
    for name in names:
        if _skipped(name, not here):
            continue
        path = f"{here}/{name}" if here else name
        if (folder / name).is_dir():
            yield from _walk(folder / name, path, known, tell)
        else:
            yield path


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino


def outside(results: Path, names: Iterable[str]) -> list[str]:
    """Those of the files that stand elsewhere: a link on their path leads out of the folder of results."""
    top = os.path.realpath(results) + os.sep
    return [name for name in names if not os.path.realpath(results / name).startswith(top)]


def _skipped(name: str, top: bool) -> bool:
    return name.startswith(".") or (top and name in LEFT_OUT)


def hashed(results: Path, names: Iterable[str]) -> list[Listed]:
    """Hash files of the results, in the order of `names`.

    Raises:
        LongtrekError: a name is a link that leads nowhere, or anything else that holds no bytes of its own.
    """
    return [_hashed(results, name) for name in names]


def _hashed(results: Path, name: str) -> Listed:
    path = results / name
    if not path.is_file():
        raise LongtrekError(
            f"{results}: {shown(name)} is neither a file nor a link to one, so it has no checksum; remove it"
        )
    return Listed(name, sha256_file(path), path.stat().st_size)


def write(results: Path) -> list[Listed]:
    """Write `SHA256SUMS` over everything that is listed, and give what it lists."""
    listed = hashed(results, paths(results))
    with atomic(results / CHECKSUMS) as stream:
        for one in listed:
            stream.write(line(one.sha256, one.path))
    return listed


def line(digest: str, name: str) -> bytes:
    """A line as GNU `sha256sum` writes it: a name that would break the line is escaped, and the line marked."""
    escaped = _escaped(name)
    return ("\\" if escaped != name else "").encode() + f"{digest}  ".encode() + os.fsencode(escaped) + b"\n"


def shown(name: str) -> str:
    """A name as text on one line, whatever its bytes."""
    return os.fsencode(_escaped(name)).decode(errors="backslashreplace")


def _escaped(name: str) -> str:
    return "".join(ESCAPES.get(letter, letter) for letter in name)


def read(results: Path) -> dict[str, str]:
    """The hashes of a folder's `SHA256SUMS` by path.

    Raises:
        LongtrekError: there is no list, or a line of it is none, names a file twice, or one outside the folder.
    """
    path = results / CHECKSUMS
    if not path.is_file():
        raise LongtrekError(
            f"{path}: no such file; expected the checksum list of a finished run. "
            f"Is {results} a folder of results? `longtrek checksums --results {results}` lists what is there now"
        )
    found: dict[str, str] = {}
    lines = path.read_bytes().split(b"\n")
    for number, text in enumerate(lines[:-1] if lines[-1] == b"" else lines, 1):
        match = LINE.fullmatch(text)
        name = _unescaped(os.fsdecode(match[3]), bool(match[1])) if match else ""
        if match is None or name in found or not _inside(name):
            raise LongtrekError(
                f"{path}, line {number}: found {text[:80]!r}; expected a SHA-256, two spaces and a path inside the "
                "folder, each path once. Restore the file"
            )
        found[name] = match[2].decode()
    return found


def _unescaped(name: str, escaped: bool) -> str:
    if not escaped:
        return name
    plain = {written: letter for letter, written in ESCAPES.items()}
    return re.sub(r"\\[\\nr]", lambda match: plain[match[0]], name)


def _inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/")
