"""One answer to a question beside the right one, part by part, as the strict rule reads it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from longtrek.scitrek.answer_parts import Key, extract, readings, snapped
from longtrek.scitrek.scoring import Gold, paper_answer, score_paper, score_strict

MOST_PARTS = 2_000
"""Parts of an answer that are shown; a model that loops writes tens of thousands."""


@dataclass(frozen=True)
class Grade:
    """One answer's status, its scores under both rules, and what of its text each rule read as the answer."""

    status: str
    scores: dict[str, float]
    read: dict[str, str]


def graded(gold: Gold, text: str, reasoning: bool, finish_reason: str | None) -> Grade:
    """Score one answer as `longtrek.scitrek.scoring` does, and say what became of it.

    Statuses: `unclosed_reasoning`, `empty`, `truncated` (cut at the cap), `null` (it says that there is none), else
    `scored`.
    """
    taken = paper_answer(text, reasoning)
    paper, strict = score_paper(gold.text, taken), score_strict(gold, text, reasoning)
    status = "scored"
    if strict.unclosed_reasoning:
        status = "unclosed_reasoning"
    elif finish_reason == "length":
        status = "truncated"
    elif strict.empty:
        status = "empty"
    elif strict.null:
        status = "null"
    scores = {
        "paper": paper.exact_match,
        "f1": round(paper.f1, 4),
        "strict": int(strict.correct),
        "parts": round(strict.parts_f1, 4),
    }
    return Grade(status, scores, {"paper": taken, "strict": extract(text).text})


def beside(gold: Gold, text: str) -> list[list[str | None]]:
    """Expected and given parts in rows of two, the same part on one row; None where one side has nothing.

    Of what the answer may mean the reading that is nearest to the right answer is taken. Where any order is right,
    equal parts are put together wherever they stand.
    """
    right = gold.fragments
    given = max((snapped(one, right) for one in readings(extract(text).text)), key=lambda one: _common(one, right))
    given = given[:MOST_PARTS]
    rows = _any_order(right, given) if gold.order == "any" else _in_order(right, given)
    return [[None if part is None else str(part) for part in row] for row in rows]


def _common(given: Sequence[Key], right: Sequence[Key]) -> float:
    common = sum((Counter(given) & Counter(right)).values())
    return common / (len(given) + len(right))


def _any_order(right: Sequence[Key], given: Sequence[Key]) -> list[tuple[Key | None, Key | None]]:
    free = Counter(given) & Counter(right)
    matched = Counter(free)
    extra: list[Key] = []
    for part in given:
        if free[part]:
            free[part] -= 1
        else:
            extra.append(part)
    rows: list[tuple[Key | None, Key | None]] = []
    for part in right:
        taken = matched[part] > 0
        matched[part] -= taken
        rows.append((part, part if taken else None))
    return _filled(rows, extra)


def _filled(rows: list[tuple[Key | None, Key | None]], extra: list[Key]) -> list[tuple[Key | None, Key | None]]:
    """Put what was given in the place of nothing beside what was expected, for as long as there is such a place."""
    waiting: list[Any] = list(reversed(extra))
    filled = [(part, waiting.pop()) if other is None and waiting else (part, other) for part, other in rows]
    return [*filled, *((None, part) for part in reversed(waiting))]


def _in_order(right: Sequence[Key], given: Sequence[Key]) -> list[tuple[Key | None, Key | None]]:
    rows: list[tuple[Key | None, Key | None]] = []
    for _, a, b, c, d in SequenceMatcher(None, right, given, autojunk=False).get_opcodes():
        expected, found = list(right[a:b]), list(given[c:d])
        length = max(len(expected), len(found))
        padding: list[Key | None] = [None] * length
        rows += zip((expected + padding)[:length], (found + padding)[:length], strict=True)
    return rows
