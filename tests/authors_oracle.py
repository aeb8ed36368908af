"""The authors' scoring rule a second time, naively and without patterns, from its description alone.

It shares no code with the kit: characters are scanned where the kit matches expressions.
"""

from itertools import pairwise
from typing import Any

Triple = tuple[bool, bool, bool]
HEX = set("0123456789abcdefABCDEF")


def authors_marks(document: dict[str, Any], text: str) -> list[Triple]:
    """(correct, copied, consistent) of every record; for lookup and tables the last two are not the authors' point."""
    answer = without_reasoning(text)
    if document["family"] == "table":
        return _table(document["expected"], answer)
    numbered = document["format"] != "no_ids"
    read = {"arithmetic": _sum, "uuid_sort": _identifiers, "lookup": _words}[document["family"]]
    found: dict[int, Any] = {}
    for line in answer.split("\n"):
        body = line.strip()
        if not body:
            continue
        index = len(found) + 1
        if numbered:
            split = _bracket(body)
            if split is None:
                continue
            index, body = split
        value = read(body)
        if value is not None and index not in found:
            found[index] = value
    expected = [line.split("]", 1)[1] if numbered else line for line in document["expected"].split("\n")]
    return [_compare(document["family"], gold, found.get(place)) for place, gold in enumerate(expected, 1)]


def without_reasoning(text: str) -> str:
    """The answer that is left when reasoning is dropped."""
    final, analysis = (f"<|channel|>{name}<|message|>" for name in ("final", "analysis"))
    if "</think>" in text:
        return text.split("</think>")[-1]
    if "<think>" in text:
        return ""
    if final in text:
        return text.split(final)[-1]
    return "" if analysis in text else text


def _bracket(body: str) -> tuple[int, str] | None:
    if not body.startswith("[") or "]" not in body:
        return None
    number, rest = body[1:].split("]", 1)
    return (int(number), rest.strip()) if number.isdigit() and number.isascii() else None


def _sum(body: str) -> tuple[str, float] | None:
    left, equals, right = body.partition("=")
    right = right.strip()
    unsigned = right[1:] if right.startswith("-") else right
    if not equals or not left or any(not (c.isdigit() or c.isspace() or c in "+-") for c in left):
        return None
    if not unsigned or any(c not in "0123456789." for c in unsigned):
        return None
    try:
        return "".join(left.split()), float(right)
    except ValueError:
        return None


def _identifiers(body: str) -> list[str] | None:
    spaced = "".join(c if c.isalnum() or c == "_" else " " for c in body)
    found = [word.lower() for word in spaced.split() if len(word) == 8 and set(word) <= HEX]
    return found or None


def _words(body: str) -> str:
    return " ".join(body.lower().split())


def _value(expression: str) -> int | None:
    total, number, sign = 0, "", 1
    for c in expression + "+":
        if c.isdigit():
            number += c
        elif number:
            total, number, sign = total + sign * int(number), "", 1 if c == "+" else -1
        elif expression.startswith(c) and total == 0 and sign == 1:
            sign = 1 if c == "+" else -1
        else:
            return None
    return total


def _compare(family: str, gold: str, value: Any) -> Triple:
    if value is None:
        return False, False, False
    if family == "lookup":
        return (value == _words(gold),) * 3
    if family == "uuid_sort":
        expected = gold.split(",")
        ascending = all(before <= after for before, after in pairwise(value))
        return value == expected, set(value) == set(expected), ascending
    expression, result = gold.split("=")
    own = _value(value[0])
    copied = value[0] == expression
    return (
        copied and abs(value[1] - int(result)) < 1e-9,
        copied,
        own is not None and abs(value[1] - own) < 1e-9,
    )


def _table(expected: str, answer: str) -> list[Triple]:
    header, *rows = expected.split("\n")
    width = header.count(",")
    lines = [line for line in answer.split("\n") if line.strip()]
    if lines and lines[0][0] == ",":
        del lines[0]
    marks: list[Triple] = []
    for place, row in enumerate(rows):
        given = lines[place].split(",")[1:] if place < len(lines) else []
        for column, cell in enumerate(row.split(",")[1:]):
            same = column < len(given) and given[column].strip() == cell
            marks.append((same,) * 3)
    assert len(marks) == width * len(rows)
    return marks
