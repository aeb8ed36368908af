"""Data that pages load from disk when they need it: scripts that hand over one value, since pages cannot read files.

A page that is opened from disk may not read the files beside it, but it may run scripts that lie there. Texts are
deflated and written as base64, which a browser unpacks by itself.
"""

import base64
import contextlib
import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longtrek.answers.locks import claim, holder, wait_for
from longtrek.messages import tell

CHUNK = 1 << 18
"""Characters of JSON that a file of texts holds before another is begun; a longer entry has a file of its own."""
LEVEL = 6


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Make a folder that replaces `path` when the block ends, whole or not at all; what was there before goes.

    A second process that makes the same folder waits until the first is done.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("a+b") as held:
        if not claim(held.fileno()):
            tell(f"{path}: waiting for {holder(held.fileno())}, which is writing it")
            wait_for(held.fileno())
        with _replacing(path) as new:
            yield new


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    new, old = path.with_name(f".{path.name}.new"), path.with_name(f".{path.name}.old")
    for left in (new, old):  # of a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        if path.exists():
            path.rename(old)
        new.rename(path)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk does not say which file it refused
            error.filename = str(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def as_json(value: Any) -> str:
    """A value as JSON in ASCII with sorted keys: the same bytes for equal values, and safe inside any script."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def write_script(folder: Path, name: str, value: Any) -> None:
    """Write one value as the script `<name>.js`."""
    (folder / f"{name}.js").write_text(f"longtrek.give({as_json(name)},{as_json(value)});\n", encoding="ascii")


class Chunks:
    """Entries that are loaded when one of them is opened, written as they come; only one file's are held."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._waiting: list[str] = []
        self._size = 0
        self.starts: list[int] = []
        """For each file, the place of its first entry."""
        self.count = 0

    def add(self, entry: Any) -> int:
        """Take an entry and give its place among all of them, from 0."""
        if not self._waiting:
            self.starts.append(self.count)
        text = as_json(entry)
        self._waiting.append(text)
        self._size += len(text)
        if self._size >= CHUNK:
            self._write()
        self.count += 1
        return self.count - 1

    def close(self) -> None:
        """Write what is left."""
        if self._waiting:
            self._write()

    def _write(self) -> None:
        content = "[" + ",".join(self._waiting) + "]"
        write_script(self._folder, f"{self._name}-{len(self.starts) - 1}", packed_text(content))
        self._waiting.clear()
        self._size = 0


def packed_text(content: str) -> str:
    """A text, deflated (zlib), in base64."""
    return base64.b64encode(zlib.compress(content.encode(), LEVEL)).decode()
