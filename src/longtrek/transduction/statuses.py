"""Names for answers that are not answers, so that none of them is silently a plain zero."""

import re
from itertools import pairwise

from longtrek.transduction.gold import Gold

SCORED = ("scored", "empty", "refusal", "unclosed_reasoning", "truncated", "loop")
"""Statuses of answers that have a score; `failed`, `not_asked` and `missing` have none."""

_SHORTEST_LOOP = 5
_MORE_THAN_EXPECTED = 4

_REFUSAL = re.compile(
    r"\bI(?:'m| am) (?:sorry|unable|not able|afraid)\b|\bI (?:can(?:not|'t| not)|won't|will not|could(?: not|n't)) "
    r"|\bI apologi[sz]e\b|\bas an? (?:AI|language model)\b|\bunable to (?:complete|process|provide|generate|output)\b"
    r"|\b(?:would|do) you (?:like|want|prefer)\b|\b(?:could|can) you (?:please )?(?:clarify|provide|specify|confirm)\b"
    r"|\bplease (?:clarify|provide|specify|confirm|let me know)\b|\blet me know (?:if|whether|how)\b"
    r"|\btoo (?:long|large|many) (?:to|for)\b",
    re.IGNORECASE,
)


def loop_at(lines: list[str], gold: Gold) -> int | None:
    """Where the loop that an answer ends in begins, or None.

    A loop is the same line, whatever its `[N]` or row label, repeated to the answer's end: at least 5 times, and 4
    times more than any line of the expected output is. A last line cut short may be the beginning of one more. The
    result counts the answer's non-blank lines from 0.
    """
    written = [_unlabelled(line) for line in lines if not line.isspace() and line]
    if len(written) > 1 and written[-2].startswith(written[-1]):
        written[-1] = written[-2]
    run = _last_run(written)
    if run < _SHORTEST_LOOP or run < _longest_run([_unlabelled(line) for line in gold.lines]) + _MORE_THAN_EXPECTED:
        return None
    return len(written) - run


def is_refusal(text: str, records_given: int, gold: Gold) -> bool:
    """Whether an answer declines or asks back, and gives fewer than half of the records."""
    expected = len(gold.lines) - 1 if gold.family == "table" else gold.records
    return 2 * records_given < expected and _REFUSAL.search(text.replace("\u2019", "'")) is not None


def _unlabelled(line: str) -> str:
    return (line.partition("]")[2] if line.startswith("[") else line).strip()


def _last_run(lines: list[str]) -> int:
    run = 0
    for line in reversed(lines):
        if line != lines[-1]:
            break
        run += 1
    return run


def _longest_run(lines: list[str]) -> int:
    longest = run = 1
    for before, after in pairwise(lines):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    return longest
