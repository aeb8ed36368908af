"""The authors' rule, `paper-1`: what their public verifier credits (Appendix B).

A line ends at a line feed. Numbered records are found by the emitted `[N]`, the first occurrence wins. Unnumbered
ones are matched in order among the lines of the right shape; for lookup every non-empty line counts. Cells of a table
are compared in position, labels are not; the first line is a header only if it starts with a comma.

`copied` and `consistent` follow the verifier too: a sum's expression equals the input's, and holds; a line's set of
identifiers equals the input's, and is in ascending order. For lookup and tables the authors have one signal, the
value's equality, in place of all three. One deviation, asked for by this kit's description of the rule: `consistent`
of a lookup says whether both words are in the definition pool.
"""

import re
from dataclasses import dataclass, field

from longtrek.transduction.gold import Gold, Sum, fold
from longtrek.transduction.readers import Marks, Phrases, Reader, Streams, signed_sum, sum_text

VERSION = "paper-1"

_TOLERANCE = 1e-9

# Digits and spaces are Unicode's here, as in the authors' patterns: `٣` reads as 3.
_SUM = re.compile(r"([\s\d+-]+)=\s*(-?[.\d]+)")
_NUMBERED_SUM = re.compile(r"\[(\d+)\]\s*([\s\d+-]+)=\s*(-?[.\d]+)")
_NUMBERED = re.compile(r"\[(\d+)\]\s*(.*)", re.DOTALL)
_IDENTIFIER = re.compile(r"\b[0-9a-fA-F]{8}\b")
_SPACES = re.compile(r"\s+")


def reader(gold: Gold) -> Reader:
    """A reader of answers to one document under the rule `paper-1`."""
    if gold.family == "arithmetic":
        return PaperSums(gold)
    if gold.family == "uuid_sort":
        return PaperLists(gold)
    return PaperPhrases(gold) if gold.family == "lookup" else PaperTable(gold)


def _index(digits: str) -> int | None:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts: no document has such a record
        return None


def _near(result: float, other: float) -> bool:
    return abs(result - other) < _TOLERANCE


class PaperSums(Streams[Sum]):
    """`[N]5+6=11`: the expression copied and the result right."""

    def parse(self, line: str) -> tuple[int | None, Sum] | None:
        """The index (None where unnumbered) and the sum on a line; None for a line of another shape."""
        match = (_NUMBERED_SUM if self.gold.numbered else _SUM).fullmatch(line.strip())
        if match is None:
            return None
        index = _index(match[1]) if self.gold.numbered else None
        expression, result = match.groups()[-2:]
        if result.count(".") > 1 or result in (".", "-.") or (self.gold.numbered and index is None):
            return None
        return index, (_SPACES.sub("", expression), float(result))

    def judge(self, place: int, given: Sum) -> Marks:
        """Compare one sum with the expected one."""
        expression, result = self.gold.sums[place]
        copied = given[0] == expression
        own = signed_sum(given[0])
        return copied and _near(given[1], result), copied, own is not None and _near(given[1], own)

    def show(self, given: Sum) -> str:
        """The sum as text."""
        return sum_text(given)


class PaperLists(Streams[list[str]]):
    """`[N]01234567,f0e1d2c3`: the eight-digit words of a line, whatever stands between them."""

    def parse(self, line: str) -> tuple[int | None, list[str]] | None:
        """The index and the identifiers on a line; None where it holds none."""
        index = None
        if self.gold.numbered:
            match = _NUMBERED.fullmatch(line.strip())
            index = _index(match[1]) if match else None
            if match is None or index is None:
                return None
            line = match[2]
        identifiers = _IDENTIFIER.findall(line)
        return (index, [identifier.lower() for identifier in identifiers]) if identifiers else None

    def judge(self, place: int, given: list[str]) -> Marks:
        """Compare one list with the expected one."""
        expected = self.gold.lists[place]
        if given == expected:
            return True, True, True
        return False, set(given) == set(expected), given == sorted(given)

    def show(self, given: list[str]) -> str:
        """The list as text."""
        return ",".join(given)


class PaperPhrases(Phrases):
    """`[N]quick fox`: without case, runs of spaces folded."""

    def parse(self, line: str) -> tuple[int | None, str] | None:
        """The index and the words of a line; an unnumbered line counts whatever it holds."""
        if not self.gold.numbered:
            return None, fold(line)
        match = _NUMBERED.fullmatch(line.strip())
        index = _index(match[1]) if match else None
        return None if match is None or index is None else (index, fold(match[2]))

    def judge(self, place: int, given: str) -> Marks:
        """Compare two words with the expected ones."""
        correct = given == self.gold.phrases[place]
        return correct, correct, self.known(given)


@dataclass
class PaperTable:
    """The first lines after the header, cell by cell in position."""

    gold: Gold
    _lines: list[str] = field(default_factory=list)
    _begun: bool = False

    @property
    def read(self) -> int:
        """How many rows are in."""
        return len(self._lines)

    @property
    def full(self) -> bool:
        """Whether all rows are in."""
        return self.read == len(self.gold.rows)

    def take(self, line: str) -> None:
        """Read the next line; a blank one does not count."""
        if self.full or not line.strip():
            return
        if self._begun or not line.startswith(","):
            self._lines.append(line)
        self._begun = True

    def marks(self) -> list[Marks]:
        """One for each cell, row by row."""
        marks: list[Marks] = []
        for row, expected in zip(self._rows(), self.gold.cells, strict=True):
            marks += [(same, same, same) for same in map(str.__eq__, row, expected)]
        return marks

    def given(self) -> list[str | None]:
        """What stands in each cell's place; None where nothing does."""
        return [cell or None for row in self._rows() for cell in row]

    def _rows(self) -> list[list[str]]:
        width = len(self.gold.columns)
        rows = [[cell.strip() for cell in line.split(",")[1 : width + 1]] for line in self._lines]
        rows += [[]] * (len(self.gold.rows) - len(rows))
        return [row + [""] * (width - len(row)) for row in rows]
