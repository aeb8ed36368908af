"""The paper's analyses of SciTrek's scores: pure functions from score rows to table rows.

Every table row carries `asked`, `answered`, `failed`, `truncated` (and `not_asked`, `missing`) counted in samples;
a mean is over the samples asked, so that a failed one stays in the denominator.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from longtrek.errors import LongtrekError

Row = Mapping[str, Any]
Rule = Literal["paper", "strict"]

COUNTS = ("asked", "answered", "failed", "not_asked", "missing", "truncated")
SCORES: dict[Rule, tuple[str, ...]] = {
    "paper": ("paper_exact_match", "paper_f1"),
    "strict": ("strict_correct", "strict_parts_f1"),
}
LEVELS = ("single", "64K", "128K", "512K", "1M")
SKILLS = (
    "aggregating",
    "sorting",
    "filtering",
    "filtering_aggregating",
    "filtering_sorting",
    "relational_filtering",
)
TOPICS = (
    "author_count",
    "author_list",
    "reference_count",
    "title_word_count",
    "title_list",
    "author_relation",
    "citation_relation",
)
_ORDER = {name: place for place, name in enumerate((*LEVELS, *SKILLS, *TOPICS))}

PROPERTIES = {
    "articles": "#Articles",
    "question_words": "Q-Len",
    "sql_words": "SQL-Len",
    "answer_words": "GA-Len",
}


def paper_set(rows: Iterable[Row]) -> list[Row]:
    """The rows that the paper's test set would hold: the right answer is not NULL."""
    return [row for row in rows if not row["null_gold"]]


def _counted(rows: Sequence[Row]) -> dict[str, int]:
    return {"questions": len(rows), **{name: sum(row[name] for row in rows) for name in COUNTS}}


def mean(rows: Sequence[Row], column: str) -> float | None:
    """Mean of a score column over the samples asked; None where nothing was answered.

    A row's own value is already over its samples asked, and is null where none was answered: that counts 0.
    """
    asked: int = sum(row["asked"] for row in rows)
    if not any(row["answered"] for row in rows):
        return None
    return math.fsum((row[column] or 0.0) * row["asked"] for row in rows) / asked


def _groups(rows: Iterable[Row], by: Sequence[str]) -> list[tuple[tuple[Any, ...], list[Row]]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in by), []).append(row)
    return sorted(found.items(), key=lambda item: tuple((_ORDER.get(part, 99), str(part)) for part in item[0]))


def pearson(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """Pearson's r and its two-sided p (t distribution with n - 2 degrees of freedom).

    None where it is not defined: fewer than three pairs, or one side constant.
    """
    n = len(xs)
    if n != len(ys):
        raise LongtrekError(f"a correlation of {n} with {len(ys)} values; expected pairs")
    if n < 3:
        return None
    mx, my = math.fsum(xs) / n, math.fsum(ys) / n
    dx, dy = [x - mx for x in xs], [y - my for y in ys]
    spread = math.sqrt(math.fsum(d * d for d in dx)) * math.sqrt(math.fsum(d * d for d in dy))
    if spread == 0:
        return None
    r = max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(dx, dy, strict=True)) / spread))
    freedom = n - 2
    return r, incomplete_beta(freedom / 2, 0.5, 1 - r * r)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction.

    With a = df/2, b = 1/2, x = df/(df + t²) = 1 - r² it is the two-sided p of a correlation. Written here,
    since it is all that SciPy would be installed for.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    value, upper, lower = 1.0, 1.0, 0.0
    for step in range(1000):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        lower = 1 / ((1 + term * lower) or tiny)
        upper = (1 + term / upper) or tiny
        value *= upper * lower
        if step and abs(upper * lower - 1) < 1e-15:
            break
    return front * (value - 1) / a


def correlations(rows: Iterable[Row], column: str = "paper_exact_match") -> list[dict[str, Any]]:
    """Correlate a score with articles and lengths, a row a model (Table 8: full text, 128K).

    Filter rows to one context and level first. Only questions with an answer are pairs; the counts show the rest.
    """
    table = []
    for (model,), members in _groups(rows, ["model"]):
        scored = [row for row in members if row[column] is not None]
        line: dict[str, Any] = {"model": model, **_counted(members), "pairs": len(scored)}
        for name in PROPERTIES:
            pairs = [(float(row[name]), float(row[column])) for row in scored if row[name] is not None]
            found = pearson([x for x, _ in pairs], [y for _, y in pairs])
            line[f"{name}_r"], line[f"{name}_p"] = found or (None, None)
        table.append(line)
    return table


def failure_patterns(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Shares of NULL answers and of answers that break the asked form, by model and skill (Table 17).

    The paper takes 60 questions that every model fails (`hard_questions`) and judges the form by hand; here the
    strict rule's `compliant` judges it. Rows whose right answer is NULL do not belong here: use `paper_set`.
    """
    return [
        {
            "model": model,
            "skill": skill,
            **_counted(members),
            "null_answers": mean(members, "null_answers"),
            "non_compliant": mean(members, "non_compliant"),
        }
        for (model, skill), members in _groups(rows, ["model", "skill"])
    ]


def hard_questions(rows: Iterable[Row], per_skill: int = 10, seed: int = 0, rule: Rule = "paper") -> list[str]:
    """Draw questions that every model fails, `per_skill` of each skill (Appendix E: 60 at 128K).

    Fails: no sample of any model is right. Fewer are returned where a skill has fewer; a question that some model
    did not answer does not count as failed by it.
    """
    column = SCORES[rule][0]
    by_question: dict[str, list[Row]] = {}
    for row in rows:
        by_question.setdefault(row["question"], []).append(row)
    models = {row["model"] for members in by_question.values() for row in members}
    failed: dict[str, list[str]] = {}
    for question, members in sorted(by_question.items()):
        if {row["model"] for row in members if row[column] == 0} == models and not any(row[column] for row in members):
            failed.setdefault(members[0]["skill"], []).append(question)
    chosen: list[str] = []
    for skill in sorted(failed):
        drawn = random.Random(f"{seed}/{skill}").sample(failed[skill], min(per_skill, len(failed[skill])))
        chosen += sorted(drawn)
    return chosen


def description(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Describe the questions by level (Table 5): how many, mean articles, mean words of question and answer.

    Takes one row a question: questions asked in several settings count once.
    """
    once = {row["question"]: row for row in rows}
    columns = ("articles", "question_words", "answer_words")
    return [
        {
            "level": level,
            "questions": len(members),
            **{name: _plain_mean([row[name] for row in members if row[name] is not None]) for name in columns},
        }
        for (level,), members in _groups(once.values(), ["level"])
    ]


def _plain_mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
