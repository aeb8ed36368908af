"""This kit's own rule, `strict-1`: it credits what a careful reader would credit, and nothing else.

It reads through presentation and never through another format. Each line is taken for what it says
(`plain_text`), then must be a record:

- numbered: `[N]` and the record; a Markdown list number (`1. `) is read as `[1]` where the bracket is missing; records
  that stand on one line, each with its `[N]`, are as many records. The first occurrence of a number wins, so a record
  answered twice keeps its first answer.
- unnumbered: records are matched in order; a bullet, a list number or an unasked `[N]` before one is not read.
  Numbered records may stand in any order, as under the authors' rule.
- arithmetic: an expression, one `=` and something after it is a record; its value is a whole number, perhaps with a
  sign, a decimal point and zeros, parentheses, an end mark, or a remark without digits in parentheses or after `#` or
  `//`. A chain (`2+4-1=6-1=5`) or a second number leaves it without a value: wrong, but still a record in order.
- uuid_sort: the line is nothing but a list divided by commas or spaces, and one item is an identifier. Every item is
  compared, so one of seven digits is not overlooked. Case is not compared.
- lookup: at most as many words as two entries of the pool may have. Leading lines without a word of the pool, and
  lines that end in a colon, are headings or longer than that, are sentences about the answer.
- tables: see `strict_table`.

A changed delimiter (a Markdown pipe table, tabs, semicolons) or an echoed question is another format and not read.
`copied` has no meaning for lookup, and `copied` or `consistent` only one for tables: those are None.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator

from longtrek.transduction.gold import Gold, Sum
from longtrek.transduction.plain_text import plain, split_lines
from longtrek.transduction.readers import Marks, Phrases, Reader, Streams, Value, signed_sum, sum_text
from longtrek.transduction.strict_table import StrictTable

VERSION = "strict-1"

_NUMBER = re.compile(r"(?:[-•*]\s+)?(?:\d+[.)]\s+)?\[\s*(\d{1,9})\s*\]\s*[:.]?\s*(.*)", re.ASCII | re.DOTALL)
_LISTED = re.compile(r"(?:[-•*]\s+)?\(?(\d{1,9})[.):]\s+(\S.*)", re.ASCII | re.DOTALL)
_BULLET = re.compile(r"[-•*]\s+")
_NEXT_NUMBER = re.compile(r"(?<=[^\s\[,;|])\s*(?:[,;|]\s*)?(?=\[\d+\])", re.ASCII)

_SUM = re.compile(r"([\d+\-\s]+)=(.*)", re.ASCII | re.DOTALL)
_VALUE = re.compile(
    r"(\()? ?([+-]?) ?(\d+(?:\.\d*)?) ?(?(1)\))"
    r" ?[.,;!✓✔✅]* ?(?:\([^()\d]*\)|(?:#|//|<--?|←)[^\d]*)?",
    re.ASCII,
)
_SPACES = re.compile(r"\s+")

_ITEMS = re.compile(r"\s*,\s*|\s+")
_IDENTIFIER = re.compile(r"[0-9a-fA-F]{8}")
_ITEM = re.compile(r"[0-9A-Za-z-]+")
_HEX_ITEM = re.compile(r"[0-9a-fA-F]{4,}")

_EDGES = ".,;:!?\"'()[]"
_WORD = re.compile(r"\w")


def reader(gold: Gold) -> Reader:
    """A reader of answers to one document under the rule `strict-1`."""
    if gold.family == "arithmetic":
        return StrictSums(gold)
    if gold.family == "uuid_sort":
        return StrictLists(gold)
    return StrictPhrases(gold) if gold.family == "lookup" else StrictTable(gold)


class StrictStreams(Streams[Value]):
    """What the three families of lines have in common: presentation, numbers, several records on a line."""

    def take(self, line: str) -> None:
        """Read what stands between two line feeds: one record, several with numbers, or none."""
        if self.full:
            return
        for piece in self._pieces(line):
            parsed = self.parse(piece)
            if parsed is not None and not self.full:
                self.keep(*parsed)

    def _pieces(self, line: str) -> Iterator[str]:
        for text in filter(None, map(plain, split_lines(line))):
            several = self.gold.numbered and text.count("[") > 1 and _NUMBER.match(text)
            yield from _NEXT_NUMBER.split(text) if several else [text]

    def parse(self, line: str) -> tuple[int | None, Value] | None:
        """The index and the value of a plain piece of a line; None where it holds no record."""
        index, record, bracketed = _divide(line)
        if self.gold.numbered and index is None:
            return None
        value = self.value(record, bracketed)
        if value is None:
            return None
        return (index if self.gold.numbered else None), value

    @abstractmethod
    def value(self, record: str, bracketed: bool) -> Value | None:
        """The value of a record's text, `bracketed` where `[N]` stood before it; None where it is not a record."""


def _divide(text: str) -> tuple[int | None, str, bool]:
    """A line's number, the text after it, and whether the number stood in brackets."""
    match = _NUMBER.fullmatch(text)
    if match:
        return int(match[1]), match[2], True
    match = _LISTED.fullmatch(text)
    if match:
        return int(match[1]), match[2], False
    return None, _BULLET.sub("", text, count=1) if text[:1] in ("-", "•", "*") else text, False


class StrictSums(StrictStreams[Sum]):
    """A sum; its result is NaN where the line gives no single whole number."""

    def value(self, record: str, bracketed: bool) -> Sum | None:
        """The expression and the result."""
        match = _SUM.fullmatch(record)
        expression = _SPACES.sub("", match[1]) if match else ""
        if match is None or not expression:
            return None
        result = _VALUE.fullmatch(" ".join(match[2].split()))
        return expression, float(result[2] + result[3]) if result else float("nan")

    def judge(self, place: int, given: Sum) -> Marks:
        """Compare one sum with the expected one."""
        expression, result = self.gold.sums[place]
        copied = given[0] == expression
        return copied and given[1] == result, copied, given[1] == signed_sum(given[0])

    def show(self, given: Sum) -> str:
        """The sum as text; `?` stands for a result that is not one number."""
        return sum_text(given) if given[1] == given[1] else f"{given[0]}=?"


class StrictLists(StrictStreams[list[str]]):
    """A list of identifiers and nothing else."""

    def value(self, record: str, bracketed: bool) -> list[str] | None:
        """The items in lower case."""
        items = [item.strip("\"'()[]{}") for item in _ITEMS.split(record.rstrip(" .,;"))]
        if not any(map(_IDENTIFIER.fullmatch, items)):
            return None
        shape = _ITEM if "," in record or bracketed else _HEX_ITEM
        return [item.lower() for item in items] if all(map(shape.fullmatch, items)) else None

    def judge(self, place: int, given: list[str]) -> Marks:
        """Compare one list with the expected one."""
        expected = self.gold.lists[place]
        if given == expected:
            return True, True, True
        ascending = sorted(given)
        return False, ascending == sorted(expected), ascending == given and all(map(_IDENTIFIER.fullmatch, given))

    def show(self, given: list[str]) -> str:
        """The list as text."""
        return ",".join(given)


class StrictPhrases(StrictStreams[str], Phrases):
    """The two words of a line."""

    missing: Marks = (False, None, False)

    def __init__(self, gold: Gold) -> None:
        super().__init__(gold)
        self._words = frozenset(word for entry in gold.pool for word in entry.split())
        self._longest = max(4, 1 + 2 * gold.longest_entry)
        self._begun = False

    def value(self, record: str, bracketed: bool) -> str | None:
        """The words, folded and without marks at their edges."""
        words = [word for word in (word.strip(_EDGES) for word in record.lower().split()) if word]
        if record.endswith(":") or record.startswith("#") or not 0 < len(words) <= self._longest:
            return None
        phrase = " ".join(words)
        if self.gold.numbered:
            return phrase if bracketed or self.known(phrase) else None
        if not self._begun and self._words.isdisjoint(words):
            return None
        if _WORD.search(phrase) is None:
            return None
        self._begun = True
        return phrase

    def judge(self, place: int, given: str) -> Marks:
        """Compare two words with the expected ones."""
        return given == self.gold.phrases[place], None, self.known(given)
