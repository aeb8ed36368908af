"""The prompt templates: one text file per family × format, and its hash.

A template ends with the line `Input:` and the marker `{input}`. What follows the last line `Input:` of a prompt is
therefore the input and nothing else; the worked example stands under other headings.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from longtrek.errors import LongtrekError
from longtrek.paths import shipped
from longtrek.transduction.grid import grid

MARKER = "{input}"
ENDING = "\nInput:\n" + MARKER


@dataclass(frozen=True)
class Prompt:
    """A template's text up to the input, and the SHA-256 of its file."""

    head: str
    sha256: str


Prompts = dict[tuple[str, str], Prompt]


def shipped_prompts() -> Path:
    """The folder of the kit's own templates."""
    return shipped("config/prompts/transduction")


def prompt_file(folder: Path, family: str, format_: str) -> Path:
    """Where the template of a family and format stands."""
    return folder / f"{family}-{format_}.txt"


def read_prompts(folder: Path | None = None) -> Prompts:
    """Read the twelve templates of a folder (the kit's own where None).

    Raises:
        LongtrekError: a file is missing or does not end with the line `Input:` and the marker.
    """
    folder = shipped_prompts() if folder is None else folder
    cells = [(family, name) for family, formats in grid().families.items() for name in formats]
    return {(family, name): _read(prompt_file(folder, family, name)) for family, name in cells}


def _read(path: Path) -> Prompt:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise LongtrekError(
            f"{path}: no such prompt file; expected one for every family and format, "
            f"such as {path.name} in {shipped_prompts()}"
        ) from None
    except OSError as error:
        raise LongtrekError(f"{path}: cannot be read ({error.strerror}); expected a folder of prompt files") from None
    try:
        text = raw.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise LongtrekError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    if not text.endswith(ENDING) or text.count(MARKER) != 1 or "\r" in text:
        raise LongtrekError(
            f"{path}: a prompt file must end with the line `Input:` and, on the line after it, {MARKER}, "
            "which must stand nowhere else; line ends are \\n"
        )
    return Prompt(text.removesuffix(MARKER), hashlib.sha256(raw).hexdigest())
