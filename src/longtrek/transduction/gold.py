"""What a document asks for, read from its own prompt and expected output: nothing else is needed to score it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.transduction.grid import grid

STREAMS = ("arithmetic", "uuid_sort", "lookup")
FAMILIES = (*STREAMS, "table")

Sum = tuple[str, float]
"""An expression without spaces, and its result."""

_NUMBERED = re.compile(r"\[(\d+)\](.*)")
# The last unbroken run of lines of a shape is the document's own: a prompt's worked example stands before it.
_SHAPES = {
    "definitions": r"[0-9a-f]{3}=.+",
    "adjectives": r"a\d+=.+",
    "nouns": r"v\d+=.+",
    "arithmetic": r"(?:\[\d+\])?\d(?:[+-]\d)*",
    "uuid_sort": r"(?:\[\d+\])?[0-9a-f]{8}(?:,[0-9a-f]{8})*",
    "lookup": r"(?:\[\d+\])?[0-9a-f]{3}\+[0-9a-f]{3}",
    "table": r"\[R\d+\],.+",
}
_RUNS = {name: re.compile(rf"^(?:{shape}(?:\n|\Z))+", re.MULTILINE) for name, shape in _SHAPES.items()}


def fold(text: str) -> str:
    """A text without case, its runs of spaces folded to one and none at its ends."""
    return " ".join(text.split()).lower()


@dataclass(frozen=True)
class Gold:
    """A document's expected records.

    `sums`, `lists` and `phrases` hold the records of arithmetic, uuid_sort and lookup, in the order expected; a
    table has `rows` and `columns` (labels as they must stand) and `cells` (one list a row).
    """

    id: str
    family: str
    format: str
    prompt: str
    lines: tuple[str, ...]
    sums: tuple[Sum, ...] = ()
    lists: tuple[list[str], ...] = ()
    phrases: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    cells: tuple[list[str], ...] = ()

    @property
    def numbered(self) -> bool:
        """Whether records are told apart by their emitted `[N]`."""
        return self.family != "table" and self.format != "no_ids"

    @property
    def records(self) -> int:
        """Number of scored records: lines, or a table's cells."""
        return len(self.rows) * len(self.columns) if self.family == "table" else len(self.lines)

    @cached_property
    def pool(self) -> frozenset[str]:
        """The words a lookup or a resolved cell may hold; a prompt without definitions leaves those expected."""
        if self.family == "lookup":
            words = _words(_last_run(self.prompt, "definitions"))
        else:
            words = [
                *_words(_last_run(self.prompt, "adjectives")),
                *_words(_last_run(self.prompt, "nouns")),
            ]
        if words:
            return frozenset(words)
        phrases = self.phrases or [fold(cell) for row in self.cells for cell in row]
        return frozenset(word for phrase in phrases for word in phrase.split())

    @cached_property
    def longest_entry(self) -> int:
        """Most words that an entry of the pool has."""
        return max(len(entry.split()) for entry in self.pool)

    def in_pool(self, phrase: str) -> bool:
        """Whether a folded phrase is two entries of the pool; an entry may itself hold a space."""
        words = phrase.split(" ")
        if len(words) > 2 * self.longest_entry:
            return False
        cuts = range(1, len(words))
        return any(" ".join(words[:cut]) in self.pool and " ".join(words[cut:]) in self.pool for cut in cuts)

    @cached_property
    def cell_pool(self) -> frozenset[str]:
        """The values of a table's cells, folded: what a permuted cell may have been copied from."""
        return frozenset(fold(cell) for row in self.cells for cell in row)

    @cached_property
    def inputs(self) -> tuple[str | None, ...]:
        """The input record of each expected record, without its `[N]`; None where the prompt does not show it.

        A permuted cell's input is the row and column it is named by; a resolved cell's is its two keys.
        """
        if self.family == "table" and self.format != "resolve":
            return tuple(f"{row},{column}" for row in self.rows for column in self.columns)
        lines = _last_run(self.prompt, self.family)
        if self.family == "table":
            cells = [cell for line in lines for cell in line.split(",")[1:]]
            return tuple(cells) if len(cells) == self.records else (None,) * self.records
        found: list[str | None] = [None] * self.records
        for place, line in enumerate(lines):
            match = _NUMBERED.fullmatch(line)
            index = int(match[1]) - 1 if match else place
            if 0 <= index < self.records:
                found[index] = match[2] if match else line
        return tuple(found)


def gold_of(document: Mapping[str, Any]) -> Gold:
    """Read what a document (its JSON object) expects.

    Raises:
        LongtrekError: a field is missing, the family is unknown, or the expected text is not of the family's shape.
    """
    for field in ("id", "family", "format", "prompt", "expected"):
        if not isinstance(document.get(field), str):
            raise LongtrekError(
                f"document {document.get('id')!r}: no text in the field {field!r}; expected a line as "
                "`longtrek document` prints it, or one of the authors' prepared lines"
            )
    family, form = document["family"], document["format"]
    if family not in FAMILIES:
        raise LongtrekError(f"document {document['id']}: unknown family {family!r}; known: {', '.join(FAMILIES)}")
    if form not in grid().families[family]:
        known = ", ".join(grid().families[family])
        raise LongtrekError(f"document {document['id']}: {family} has no format {form!r}; known: {known}")
    lines = tuple(line for line in document["expected"].split("\n") if line.strip())
    if not lines:
        raise LongtrekError(f"document {document['id']}: expects no record, so it cannot be scored")
    shared = {"id": document["id"], "family": family, "format": form, "prompt": document["prompt"], "lines": lines}
    try:
        return _table(shared, lines) if family == "table" else _stream(shared, lines)
    except ValueError as fault:
        raise LongtrekError(f"document {document['id']} ({family}, {form}): {fault}") from None


def _stream(shared: Mapping[str, Any], lines: tuple[str, ...]) -> Gold:
    family = shared["family"]
    texts = lines if shared["format"] == "no_ids" else [_numbered(line, place) for place, line in enumerate(lines, 1)]
    if family == "arithmetic":
        return Gold(**shared, sums=tuple(_sum(text) for text in texts))
    if family == "uuid_sort":
        return Gold(**shared, lists=tuple(text.lower().split(",") for text in texts))
    return Gold(**shared, phrases=tuple(fold(text) for text in texts))


def _numbered(line: str, place: int) -> str:
    match = _NUMBERED.fullmatch(line)
    if match is None or int(match[1]) != place:
        raise ValueError(f"expected line {place} is {line!r}; it must begin with [{place}]")
    return match[2]


def _sum(text: str) -> Sum:
    expression, _, result = text.rpartition("=")
    if not expression:
        raise ValueError(f"{text!r} is not an expression, `=` and a result")
    return re.sub(r"\s+", "", expression), float(result)


def _table(shared: Mapping[str, Any], lines: tuple[str, ...]) -> Gold:
    grid = [[cell.strip() for cell in line.split(",")] for line in lines]
    header, rows = grid[0], grid[1:]
    if header[0] or len(header) < 2 or not rows or any(len(row) != len(header) for row in rows):
        raise ValueError("the expected text is not a header `,[C0]…` and rows of as many cells")
    return Gold(
        **shared,
        rows=tuple(row[0] for row in rows),
        columns=tuple(header[1:]),
        cells=tuple(row[1:] for row in rows),
    )


def _last_run(prompt: str, shape: str) -> list[str]:
    last = None
    for last in _RUNS[shape].finditer(prompt):  # noqa: B007 (the last one is wanted)
        pass
    return last[0].rstrip("\n").split("\n") if last else []


def _words(definitions: list[str]) -> list[str]:
    return [fold(line.partition("=")[2]) for line in definitions]
