"""An answer's text as what it repeats and what it adds: answers mostly hold the lines that were expected of them."""

from collections.abc import Sequence

Packed = list[str | list[int]]
"""Pieces in order: a line as it is, `[n]` for the last line n times more, `[start, n]` for n expected lines."""


def packed(text: str, expected: Sequence[str]) -> Packed:
    """Pack a text of lines (which end at line feeds alone); nothing is lost.

    Args:
        text: the answer as it was received.
        expected: the lines of the expected output, blank ones included.
    """
    first: dict[str, int] = {}
    for place, line in enumerate(expected):
        first.setdefault(line, place)
    pieces: Packed = []
    before = None
    for line in text.split("\n"):
        last = pieces[-1] if pieces else ""
        if isinstance(last, list) and len(last) == 2 and expected[sum(last) : sum(last) + 1] == [line]:
            last[1] += 1
        elif line != before:
            pieces.append([first[line], 1] if line in first else line)
        elif isinstance(last, list) and len(last) == 1:
            last[0] += 1
        else:
            pieces.append([1])
        before = line
    return pieces
