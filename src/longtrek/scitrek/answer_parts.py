"""An answer text as typed parts: what the strict rule compares.

Texts are split at commas, semicolons and line ends into *fragments*, and the right answer is split in the
same way. A title that holds commas is therefore several fragments on both sides, and is recognised by them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

Key = Decimal | str
"""A fragment in comparable form: a number by its value, anything else as folded text."""

NULL = "null"
MOST_STATES = 5_000

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_SEPARATOR = re.compile(r"[,;\n]")
_THOUSANDS = re.compile(r"(?<![\w.,])([+-]?[0-9]{1,3})((?:,[0-9]{3})+)(?![0-9]|,[0-9])")
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINKING_START = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[ \t]*\w*[ \t]*$", re.MULTILINE)
_BOXED = re.compile(r"\\boxed\s*\{")
_UNWRAPPED = re.compile(r"\\(?:text|textbf|textit|texttt|textrm|mathrm|mathbf|mathit)\s*\{")
_LABEL = re.compile(r"^\W*(?:the\s+)?(?:final\s+)?answer(?:\s+is\s*:?|\s*:)", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•]|([0-9]+)[.)])\s+")
# Escaped signs, spaces, line ends (`\\\\`) and the comma of `1{,}234`.
_LATEX_SIGN = re.compile(r"\\([&%_#${}])|\\\\|\\[, ;]|\{,\}")
_SAME_SIGN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "−": "-", "`": "'"})
# What people and models put around a part without changing what it says. Stripped from the right answer too.
_AROUND = " \"'*_$()[]{}\\"


@dataclass(frozen=True)
class Extracted:
    """The answer inside a model's text: `text`, whether it stood in a box, whether its reasoning never ended."""

    text: str
    boxed: bool
    unclosed_reasoning: bool


def extract(text: str) -> Extracted:
    """Find the answer in a model's text: reasoning dropped, the last balanced `\\boxed{…}` if there is one.

    Text commands inside (`\\text{…}`) are unwrapped. Without a box the whole text is the answer.
    """
    # Cut at the last end of reasoning first, so that a loop of `<think>` costs one pass and not one a tag.
    ends = list(_THINKING_END.finditer(text))
    last = ends[-1].end() if ends else 0
    visible = _THINKING.sub("", text[:last]) + text[last:]
    ends = list(_THINKING_END.finditer(visible))
    if ends:  # the template opened the reasoning inside the prompt
        visible = visible[ends[-1].end() :]
    start = _THINKING_START.search(visible)
    if start:
        return Extracted("", False, True)
    closed = _closing_braces(visible)
    boxes = [visible[match.end() : closed[match.end()]] for match in _BOXED.finditer(visible) if match.end() in closed]
    if not boxes:
        return Extracted(_FENCE.sub("", visible).strip(), False, False)
    return Extracted(_plain_latex(boxes[-1]).strip(), True, False)


def _closing_braces(text: str) -> dict[int, int]:
    """Where each brace that is closed ends: from the place just after it to its closing brace, in one pass."""
    opened: list[int] = []
    closed: dict[int, int] = {}
    position = 0
    while position < len(text):
        sign = text[position]
        if sign == "\\":
            position += 1
        elif sign == "{":
            opened.append(position + 1)
        elif sign == "}" and opened:
            closed[opened.pop()] = position
        position += 1
    return closed


def _plain_latex(text: str) -> str:
    closed = _closing_braces(text)
    kept, start = [], 0
    commands = [match for match in _UNWRAPPED.finditer(text) if match.end() in closed]
    around = [match.span() for match in commands]
    around += [(closed[match.end()], closed[match.end()] + 1) for match in commands]
    for first, after in sorted(around):
        kept.append(text[start:first])
        start = after
    plain = "".join((*kept, text[start:]))
    spaces = {"{,}": ",", r"\\": "\n"}
    return _LATEX_SIGN.sub(lambda match: match.group(1) or spaces.get(match.group(), " "), plain)


def key(fragment: str) -> Key | None:
    """Bring one fragment to comparable form; None where nothing is left.

    Numbers compare by value (`5` = `5.0`, `-3` ≠ `3`). Text compares with case, spacing, kinds of quotes and
    dashes, and what stands around it (quotes, brackets, `**`, a final full stop) folded away.
    """
    plain = unicodedata.normalize("NFKC", fragment).translate(_SAME_SIGN)
    plain = " ".join(plain.split())
    inner = plain.strip(_AROUND) or plain
    plain = inner.rstrip(".").strip(_AROUND) or inner
    if not plain:
        return None
    if _NUMBER.fullmatch(plain):
        return Decimal(plain).normalize() + 0
    spaced = re.sub(r"\.(?=[^\W\d])", ". ", plain)  # K.YAMADA and K. Yamada
    return " ".join(spaced.casefold().split())


def fragments(text: str) -> list[Key]:
    """Split a text at commas, semicolons and line ends into comparable fragments; empty ones are dropped."""
    return [found for piece in _SEPARATOR.split(text) if (found := key(piece)) is not None]


def readings(text: str) -> list[list[Key]]:
    """All that an answer text may mean, the plainest first: lists of fragments.

    More than one only where the text is ambiguous: `1,234` is one number or two, a leading `Answer:` may be
    said or meant, `and` may join the last part or begin it, lines may be numbered.
    """
    texts = [text]
    for rewrite in (_without_label, _without_items, _without_thousands, _without_and):
        texts += [changed for each in texts if (changed := rewrite(each)) != each]
    found: list[list[Key]] = []
    for each in texts:
        parts = fragments(each)
        if parts not in found:
            found.append(parts)
    return found


def _without_label(text: str) -> str:
    return _LABEL.sub("", text, count=1)


def _without_items(text: str) -> str:
    """Drop bullets, or numbers that count 1, 2, 3 …, from lines that all have one."""
    lines = [line for line in text.splitlines() if line.strip()]
    marks = [_ITEM.match(line) for line in lines]
    if len(lines) < 2 or not all(marks):
        return text
    numbers = [mark.group(1) for mark in marks if mark]
    counted = [str(position) for position in range(1, len(lines) + 1)]
    if numbers != counted and any(number is not None for number in numbers):
        return text
    return "\n".join(line[mark.end() :] for line, mark in zip(lines, marks, strict=True) if mark)


def _without_thousands(text: str) -> str:
    return _THOUSANDS.sub(lambda match: match.group(1) + match.group(2).replace(",", ""), text)


def _without_and(text: str) -> str:
    return re.sub(r"([,;\n][^\S\n]*)(?:and|&)\s+(?=[^,;\n]*$)", r"\1", text)


def same_number(one: Decimal, other: Decimal) -> bool:
    """Compare two numbers: whole ones exactly, others to nine digits (a double printed short or in full)."""
    if one == other:
        return True
    if one == one.to_integral_value() and other == other.to_integral_value():
        return False
    return abs(one - other) <= Decimal("1e-9") * max(abs(one), abs(other))


def snapped(answer: Sequence[Key], gold: Sequence[Key]) -> list[Key]:
    """Replace each number of an answer by the number of the right answer that it equals, so that keys are equal."""
    fractions = sorted({k for k in gold if isinstance(k, Decimal) and k != k.to_integral_value()})
    return [next((g for g in fractions if same_number(k, g)), k) if isinstance(k, Decimal) else k for k in answer]


def covers(answer: Sequence[Key], rows: Sequence[Sequence[Key]], group: Sequence[int]) -> bool:
    """Whether an answer is the rows one after another, those of one group in any order among themselves.

    Args:
        answer: the answer's fragments.
        rows: the right answer's rows, each as its fragments.
        group: for each row, the number of its group; a row alone in its group stays where it is.

    A row may be the beginning of another (`A` and `A, B`), so this searches with a stack and remembers what
    failed; identical rows are used in their order, which keeps the search small. Where rows are so alike that
    `MOST_STATES` do not settle it, having all the right fragments and no others does.
    """
    if Counter(answer) != Counter(fragment for row in rows for fragment in row):
        return False
    members: dict[tuple[int, Key], list[int]] = {}
    for index, row in enumerate(rows):
        members.setdefault((group[index], row[0]), []).append(index)
    stack = [(0, 0, 0)]  # (rows placed, fragments read, bit set of rows used)
    seen = set(stack)
    while stack and len(seen) < MOST_STATES:
        placed, read, used = stack.pop()
        if placed == len(rows):
            return True
        for index in _next_rows(answer, rows, members.get((group[placed], answer[read]), []), read, used):
            state = (placed + 1, read + len(rows[index]), used | 1 << index)
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return bool(stack)


def _next_rows(
    answer: Sequence[Key], rows: Sequence[Sequence[Key]], candidates: Sequence[int], read: int, used: int
) -> list[int]:
    found: dict[tuple[Key, ...], int] = {}
    for index in candidates:
        row = tuple(rows[index])
        free = not used >> index & 1
        if free and row not in found and tuple(answer[read : read + len(row)]) == row:
            found[row] = index
    return list(found.values())
