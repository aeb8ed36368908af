"""How a rule reads an answer: line by line, so that a stream can be judged settled before it ends.

A reader's score is a function of the lines it took, and once it is `full` no further line changes it.
"""

import re
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from longtrek.transduction.gold import Gold, Sum

Marks = tuple[bool, bool | None, bool | None]
"""One record's correct, copied and consistent; None where a family has no such notion under the rule."""

Value = TypeVar("Value")

_ADDITION = re.compile(r"(?:[+-]?\d+(?:[+-]\d+)*)?")
_OPERAND = re.compile(r"[+-]?\d+")
_LONGEST_OPERAND = 300  # digits; beyond it a float has no such number, and no result can equal it


class Reader(Protocol):
    """Reads one answer to one document under one rule."""

    @property
    def full(self) -> bool:
        """Whether no further line can change what was read."""
        ...

    @property
    def read(self) -> int:
        """How many records were given; of a table, how many rows."""
        ...

    def take(self, line: str) -> None:
        """Read the next line, without its line feed."""
        ...

    def marks(self) -> list[Marks]:
        """One for each expected record, in order; a record not given has no mark set."""
        ...

    def given(self) -> list[str | None]:
        """What the answer gives for each expected record, as text; None where it gives nothing."""
        ...


class Streams(ABC, Generic[Value]):
    """Records that stand one on a line: found by number, or matched in order where there are no numbers."""

    missing: Marks = (False, False, False)

    def __init__(self, gold: Gold) -> None:
        self.gold = gold
        self._values: list[Value | None] = [None] * gold.records
        self.read = 0

    @property
    def full(self) -> bool:
        """Whether every expected record has its first occurrence."""
        return self.read == len(self._values)

    def take(self, line: str) -> None:
        """Read the next line; one of the wrong shape, or of a record already given, does not count."""
        if self.full or not line or line.isspace():
            return
        parsed = self.parse(line)
        if parsed is not None:
            self.keep(*parsed)

    def keep(self, index: int | None, value: Value) -> None:
        """Keep the first value of a record: of the one numbered `index` (from 1), or of the next in order."""
        place = self.read if index is None else index - 1
        if 0 <= place < len(self._values) and self._values[place] is None:
            self._values[place] = value
            self.read += 1

    def marks(self) -> list[Marks]:
        """One for each expected record."""
        return [self.missing if value is None else self.judge(place, value) for place, value in enumerate(self._values)]

    def given(self) -> list[str | None]:
        """What the answer gives for each expected record."""
        return [None if value is None else self.show(value) for value in self._values]

    @abstractmethod
    def parse(self, line: str) -> tuple[int | None, Value] | None:
        """The index (None where unnumbered) and the value on a non-blank line; None where it holds no record."""

    @abstractmethod
    def judge(self, place: int, given: Value) -> Marks:
        """Compare a value with the expected one at `place` (from 0)."""

    @abstractmethod
    def show(self, given: Value) -> str:
        """A value as text."""


class Phrases(Streams[str]):
    """Two words of the pool a line; a phrase seen before in the answer is not looked up again."""

    def __init__(self, gold: Gold) -> None:
        super().__init__(gold)
        self._known: dict[str, bool] = {}

    def known(self, phrase: str) -> bool:
        """Whether a folded phrase is two words of the pool."""
        known = self._known.get(phrase)
        if known is None:
            known = self._known[phrase] = self.gold.in_pool(phrase)
        return known

    def show(self, given: str) -> str:
        """The words themselves."""
        return given


def signed_sum(expression: str) -> int | None:
    """The value of an expression of `+`, `-` and whole numbers without spaces; None where it is not one."""
    if _ADDITION.fullmatch(expression) is None:
        return None
    operands = _OPERAND.findall(expression)
    if any(len(operand) > _LONGEST_OPERAND for operand in operands):
        return None
    return sum(map(int, operands))


def sum_text(given: Sum) -> str:
    """A sum as the papers write it: `5+6=11`."""
    return f"{given[0]}={given[1]:g}"
