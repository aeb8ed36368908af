"""The records of the numbered families: arithmetic, uuid_sort and lookup (appendix A).

A record is a line of the input and the line that should come out, both without an identifier. Records are drawn
one after the other, so that the first n do not depend on how many are drawn.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longtrek.transduction.stream import Draws, Key, bounded, draws, permutation
from longtrek.transduction.tokens import Counts, before, count, count_lines
from longtrek.transduction.words import words

DIGITS = 10
KEYS = 16**3
_LETTERS = re.compile("[a-z]*")


@dataclass(frozen=True)
class Lines:
    """Lines without identifiers, each a letter or digit at both ends, and what they cost.

    `bare` is the tokens of each line alone, without its line feed; `bracket` is what `]` adds before it.
    """

    texts: list[str]
    bare: Counts
    bracket: Counts

    def first(self, size: int) -> "Lines":
        """The first `size` lines."""
        return Lines(self.texts[:size], self.bare[:size], self.bracket[:size])

    def numbered(self) -> list[str]:
        """The lines with their identifiers: `[1]`, `[2]`, …"""
        return [f"[{number}]{text}" for number, text in enumerate(self.texts, 1)]

    def numbered_tokens(self) -> Counts:
        """The tokens of each line with its identifier: `[`, the number by threes of digits, `]` and the line."""
        numbers = np.arange(1, len(self.texts) + 1)
        return self.bare + self.bracket + 1 + _integer_tokens(numbers)


def _integer_tokens(values: npt.NDArray[np.int64]) -> Counts:
    """The tokens of integers without their sign: one for up to three digits."""
    tokens = np.ones(len(values), dtype=np.int64)
    for power in (10**3, 10**6, 10**9):
        tokens += np.abs(values) >= power
    return tokens


@dataclass(frozen=True)
class Records:
    """Input lines and output lines, matched by index; `preamble` is what stands before them in the prompt."""

    preamble: str
    inputs: Lines
    outputs: Lines


def arithmetic(key: Key, most: int, count: int) -> Records:
    """Draw sums of single digits, `5+6` → `5+6=11`, with 2 to `most` operands each, uniformly.

    Every digit and operator is a token, so are `=`, `=-` and each three digits of a result.
    """
    operands = 2 + bounded(draws((*key, "operands"), count), most - 1)
    ends = np.cumsum(operands)
    starts = ends - operands
    total = int(ends[-1])
    digits = bounded(draws((*key, "digits"), total), DIGITS)
    minus = bounded(draws((*key, "signs"), total), 2).astype(bool)
    values = np.where(minus, -digits, digits)
    values[starts] = digits[starts]  # the first operand has no sign
    results = np.add.reduceat(values, starts)

    signed = np.empty((total, 2), dtype=np.uint8)
    signed[:, 0] = np.where(minus, ord("-"), ord("+"))
    signed[:, 1] = digits + ord("0")
    text = signed.tobytes().decode("ascii")
    spans = zip((2 * starts + 1).tolist(), (2 * ends).tolist(), strict=True)
    inputs = [text[start:end] for start, end in spans]
    outputs = [f"{sum_}={result}" for sum_, result in zip(inputs, results.tolist(), strict=True)]
    bare, bracket = 2 * operands - 1, np.ones(count, dtype=np.int64)
    return Records("", Lines(inputs, bare, bracket), Lines(outputs, bare + 1 + _integer_tokens(results), bracket))


def uuid_sort(key: Key, per_line: int, count: int) -> Records:
    """Draw lists of exactly `per_line` identifiers of 8 hexadecimal digits, and the same lists in ascending order.

    A sorted list has the parts of the list itself, but for the comma: another identifier goes without one.
    """
    raw = draws((*key, "identifiers"), count * per_line) >> np.uint64(32)
    identifiers = raw.reshape(count, per_line)
    inputs, outputs = _lists(identifiers), _lists(np.sort(identifiers, axis=1))
    bare = count_lines("\n".join(inputs) + "\n") - 1
    sorted_bare = bare + _before(",", inputs) - _before(",", outputs)
    return Records(
        "",
        Lines(inputs, bare, _before("]", inputs)),
        Lines(outputs, sorted_bare, _before("]", outputs)),
    )


def _lists(identifiers: Draws) -> list[str]:
    count, per_line = identifiers.shape
    text = identifiers.astype(">u4").tobytes().hex(",", 4)
    width = 9 * per_line  # 8 digits and a comma each
    return [text[start : start + width - 1] for start in range(0, count * width, width)]


def _before(mark: str, lines: list[str]) -> Counts:
    leading = _LETTERS.match
    return np.array([before(mark, found[0]) for line in lines if (found := leading(line))], dtype=np.int64)


def lookup(key: Key, pool: int, count: int) -> Records:
    """Draw a pool of `pool` definitions, half adjectives and half nouns, and sums of one key of each.

    The preamble holds the definitions `a3f=quick` in random order; records are `a3f+b91` → `quick fox`.
    """
    half = pool // 2
    lists = words()
    names = [f"{value:03x}" for value in permutation((*key, "keys"), KEYS)[:pool]]
    adjectives = [lists.adjectives[i] for i in permutation((*key, "adjectives"), len(lists.adjectives))[:half]]
    nouns = [lists.nouns[i] for i in permutation((*key, "nouns"), len(lists.nouns))[:half]]
    meanings = adjectives + nouns
    order = permutation((*key, "definitions"), pool)
    preamble = "".join(f"{names[i]}={meanings[i]}\n" for i in order) + "\n"

    left = bounded(draws((*key, "left"), count), half)
    right = bounded(draws((*key, "right"), count), half)
    return Records(
        preamble,
        _joined(names[:half], "+", names[half:], left, right),
        _joined(adjectives, " ", nouns, left, right),
    )


def _joined(firsts: list[str], mark: str, seconds: list[str], left: Counts, right: Counts) -> Lines:
    """Lines of a first and a second part, by index; each part is counted once."""
    first_tokens = np.array([count(first) for first in firsts])
    second_tokens = np.array([count(mark + second) for second in seconds])
    tails = [mark + second for second in seconds]
    texts = [firsts[i] + tails[j] for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    return Lines(texts, first_tokens[left] + second_tokens[right], _before("]", firsts)[left])


FAMILIES: dict[str, Callable[[Key, int, int], Records]] = {
    "arithmetic": arithmetic,
    "uuid_sort": uuid_sort,
    "lookup": lookup,
}
