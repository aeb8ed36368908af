"""Read files out of Debian packages with the standard library (and zstandard, for packages packed with it)."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import zstandard

from longtrek.errors import LongtrekError

MAGIC = b"!<arch>\n"
HEADER = 60


def members(deb: Path, wanted: set[str]) -> dict[str, bytes]:
    """Read some files of a package's data archive.

    Args:
        deb: a `.deb` file: an `ar` archive of `debian-binary`, `control.tar.*` and `data.tar.*`.
        wanted: paths inside, with or without the leading `./`.

    Returns:
        The bytes of each wanted file that is there, under the name it was asked by.

    Raises:
        LongtrekError: the file is no Debian package.
    """
    names = {_plain(name): name for name in wanted}
    found: dict[str, bytes] = {}
    with _data(deb) as archive:
        for entry in archive:
            asked = names.get(_plain(entry.name))
            stream = archive.extractfile(entry) if asked is not None and (entry.isfile() or entry.issym()) else None
            if asked is not None and stream is not None:
                found[asked] = stream.read()
    return found


def _plain(name: str) -> str:
    return name.removeprefix("./").lstrip("/")


def _data(deb: Path) -> tarfile.TarFile:
    for name, content in _parts(deb):
        if not name.startswith("data.tar"):
            continue
        if name.endswith(".zst"):
            content = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read()
        return tarfile.open(fileobj=io.BytesIO(content), mode="r:*")
    raise LongtrekError(f"{deb}: not a Debian package; it holds no data.tar; fetch it again")


def _parts(deb: Path) -> Iterator[tuple[str, bytes]]:
    """The name and content of each part of an `ar` archive."""
    raw = deb.read_bytes()
    if not raw.startswith(MAGIC):
        raise LongtrekError(f"{deb}: not a Debian package; expected it to begin with !<arch>; fetch it again")
    place = len(MAGIC)
    while place + HEADER <= len(raw):
        header = raw[place : place + HEADER]
        if header[58:] != b"`\n":
            raise LongtrekError(f"{deb}: damaged package at byte {place}; fetch it again")
        size = int(header[48:58])
        yield header[:16].decode("ascii", "replace").rstrip().rstrip("/"), raw[place + HEADER : place + HEADER + size]
        place += HEADER + size + size % 2
