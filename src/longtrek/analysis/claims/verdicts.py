"""The rule by which a recomputed number is judged against a claimed one."""

from dataclasses import dataclass
from typing import Literal

from longtrek.analysis.claims.spans import Span

Relation = Literal["=", ">=", "<="]
"""What is claimed of a number: that it is the published one, at least it, or at most it."""
RELATIONS: tuple[Relation, ...] = ("=", ">=", "<=")
Verdict = Literal["reproduced", "within noise", "differs", "not run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "within noise", "differs", "not run")
SLACK = 1e-9
"""What the last bits of a sum may add to a tolerance."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a computation found: a number with its bounds, or none; `remark` says why, or what it was computed from."""

    span: Span | None
    remark: str = ""


def nothing(why: str) -> Found:
    """No number, and why there is none."""
    return Found(None, why)


def distance(low: float, high: float, published: float, relation: Relation) -> float:
    """How far the numbers from `low` to `high` stay from what is claimed; 0 where one of them satisfies it."""
    below, above = published - high, low - published
    match relation:
        case ">=":
            return max(0.0, below)
        case "<=":
            return max(0.0, above)
        case "=":
            return max(0.0, below, above)


def judge(found: Found, published: float | None, relation: Relation, tolerance: float) -> Verdict:
    """Judge what was found.

    `reproduced`: the number itself is within the tolerance of what is claimed. `within noise`: it is not, but some
    number within its bounds is; bounds are a 95% interval of a run, or what rounding leaves open in a paper's
    arithmetic. `differs`: none is. `not run`: there is no number on one of the two sides.
    """
    if found.span is None or published is None:
        return "not run"
    span, allowed = found.span, tolerance + SLACK
    if distance(span.value, span.value, published, relation) <= allowed:
        return "reproduced"
    if distance(span.low, span.high, published, relation) <= allowed:
        return "within noise"
    return "differs"
