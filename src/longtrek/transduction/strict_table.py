"""Tables under `strict-1`: a cell counts where its row label, its column label and its value are all right.

Rows must also stand in the required order, and columns too: those kept are the longest increasing subsequence of
required positions, so that one missing row or column costs only itself and one that was moved to a wrong place does
not count. Where several are equally long, the one whose last position is smallest is kept. A row's columns are named by
the nearest header line above it; a row without one names no column and cannot count. The first occurrence of a row
label wins. Cells may be quoted; case and runs of spaces are folded.

`copied` (permuted tables): the value is one of the table's. `consistent` (resolved tables): it is two words of the
pool.
"""

import csv
import re
from bisect import bisect_left

from longtrek.transduction.gold import Gold, fold
from longtrek.transduction.plain_text import plain, split_lines
from longtrek.transduction.readers import Marks

_ROW = re.compile(r"\[?\s*[Rr](\d+)\s*\]?", re.ASCII)
_COLUMN = re.compile(r"\[?\s*[Cc](\d+)\s*\]?", re.ASCII)
_BULLET = re.compile(r"[-•*]\s+(?=[\[\"Rr,])")


def longest_increasing(positions: list[int]) -> list[int]:
    """Where the members of a longest increasing subsequence stand; `positions` must be distinct."""
    ends: list[int] = []  # the smallest last position of a subsequence of each length …
    places: list[int] = []  # … and where it stands
    before = [-1] * len(positions)
    for place, position in enumerate(positions):
        length = bisect_left(ends, position)
        before[place] = places[length - 1] if length else -1
        ends[length : length + 1] = [position]
        places[length : length + 1] = [place]
    kept: list[int] = []
    place = places[-1] if places else -1
    while place >= 0:
        kept.append(place)
        place = before[place]
    return kept[::-1]


class StrictTable:
    """Reads rows by their labels and cells by their columns'."""

    def __init__(self, gold: Gold) -> None:
        self.gold = gold
        self._permuted = gold.format != "resolve"
        self._row_of = {_key(_ROW, label): place for place, label in enumerate(gold.rows)}
        self._column_of = {_key(_COLUMN, label): place for place, label in enumerate(gold.columns)}
        self._header: dict[int, int] = {}
        self._rows: dict[int, tuple[list[str], dict[int, int]]] = {}
        self._known: dict[str, bool] = {}

    @property
    def read(self) -> int:
        """How many row labels were met."""
        return len(self._rows)

    @property
    def full(self) -> bool:
        """Whether every row label was met."""
        return self.read == len(self.gold.rows)

    def take(self, line: str) -> None:
        """Read what stands between two line feeds: a header, a row, or something that is neither."""
        if self.full:
            return
        for part in split_lines(line):
            self._take(plain(part))

    def _take(self, line: str) -> None:
        cells = _cells(line)
        label = _ROW.fullmatch(cells[0])
        if label:
            row = self._row_of.get(label[1].lstrip("0") or "0")
            if row is not None and row not in self._rows and len(cells) > 1:
                self._rows[row] = cells[1:], self._header
            return
        labels = cells if _COLUMN.fullmatch(cells[0]) else cells[1:]
        if labels and any(map(_COLUMN.fullmatch, labels)):
            self._header = self._columns(labels)

    def _columns(self, labels: list[str]) -> dict[int, int]:
        """Where in a row each required column stands that the header names, once and in order."""
        places: dict[int, int] = {}
        for place, label in enumerate(labels):
            column = self._column_of.get(_key(_COLUMN, label))
            if column is not None:
                places.setdefault(column, place)
        columns = list(places)
        return {columns[kept]: places[columns[kept]] for kept in longest_increasing(columns)}

    def marks(self) -> list[Marks]:
        """One for each cell, row by row."""
        met = list(self._rows)
        in_order = {met[kept] for kept in longest_increasing(met)}
        marks: list[Marks] = []
        for row in range(len(self.gold.rows)):
            marks += self._row_marks(row, row in in_order)
        return marks

    def _row_marks(self, row: int, in_order: bool) -> list[Marks]:
        expected = self.gold.cells[row]
        width = len(expected)
        if row not in self._rows:
            return [(False, False, None) if self._permuted else (False, None, False)] * width
        values = self._values(row)
        marks: list[Marks] = []
        for value, cell in zip(values, expected, strict=True):
            right = in_order and value is not None and (value == cell or fold(value) == fold(cell))
            fine = right or (value is not None and self._fine(value))
            marks.append((right, fine, None) if self._permuted else (right, None, fine))
        return marks

    def _fine(self, value: str) -> bool:
        fine = self._known.get(value)
        if fine is None:
            folded = fold(value)
            fine = folded in self.gold.cell_pool if self._permuted else self.gold.in_pool(folded)
            self._known[value] = fine
        return fine

    def _values(self, row: int) -> list[str | None]:
        cells, header = self._rows[row]
        places = [header.get(column) for column in range(len(self.gold.columns))]
        return [cells[place] if place is not None and place < len(cells) else None for place in places]

    def given(self) -> list[str | None]:
        """The value under each required row and column label; None where there is none."""
        width = len(self.gold.columns)
        return [
            value
            for row in range(len(self.gold.rows))
            for value in (self._values(row) if row in self._rows else [None] * width)
        ]


def _key(pattern: re.Pattern[str], label: str) -> str:
    """A label's number without leading zeros; the label itself where it has none."""
    match = pattern.fullmatch(label)
    return (match[1].lstrip("0") or "0") if match else label


def _cells(line: str) -> list[str]:
    line = _BULLET.sub("", line, count=1) if line[:1] in ("-", "•", "*") else line
    if '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    try:
        row = next(csv.reader([line], skipinitialspace=True), [""])
    except csv.Error:  # a quote that is never closed before 128 Ki characters: no row of this table
        return [""]
    return [cell.strip() for cell in row]
