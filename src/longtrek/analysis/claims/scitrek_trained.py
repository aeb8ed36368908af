"""SciTrek's arithmetic on post-training: what follows from its Tables 9, 10 and 11."""

from collections.abc import Iterator

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.printed import Printed
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.scitrek_printed import listed
from longtrek.analysis.claims.spans import Span, exact, total
from longtrek.analysis.claims.spans import printed as span_of
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found
from longtrek.analysis.published import Published

ZERO = "zero-shot"
POSTS = ("sft", "grpo")
SORTING = ("sorting", "filtering_sorting")
AGGREGATING = ("aggregating", "filtering_aggregating")
REFERENCE = "Qwen3-235B-A22B-Instruct"
QUESTIONS = {
    "aggregating": 34,
    "sorting": 48,
    "filtering": 144,
    "filtering_aggregating": 154,
    "filtering_sorting": 151,
    "relational_filtering": 309,
}
"""Questions of up to 128K by skill, as the percentages of Table 9 need them."""


def by_skill(printed: Printed, model: str, post: str) -> dict[str, Span]:
    """A row of Table 9: exact match by skill, and `all`."""
    cells = [value for value in printed.having("scitrek_table_9", post=post) if value.model == model]
    return {value.setting["skill"]: span_of(value) for value in cells}


def trained(printed: Printed) -> list[str]:
    """The models of Table 9 that were post-trained."""
    found = [value.model for value in printed.having("scitrek_table_9", post="grpo")]
    return list(dict.fromkeys(found))


def gains(printed: Printed) -> Iterator[tuple[str, str, dict[str, Span]]]:
    """For each model and way of post-training, its gain in Table 9 by skill, and overall."""
    for model in trained(printed):
        before = by_skill(printed, model, ZERO)
        for post in POSTS:
            after = by_skill(printed, model, post)
            yield model, post, {skill: after[skill] - before[skill] for skill in before}


def changes(printed: Printed, model: str = "", post: str = "") -> list[Published]:
    """The changes that Table 10 prints, of a model or way of post-training or all."""
    found = printed.having("scitrek_table_10", change="yes")
    return [value for value in found if model in ("", value.model) and post in ("", value.setting["post"])]


@computes
def changes_off(evidence: Evidence, asked: Asked) -> Found:
    """Printed changes of Table 10 that are not the difference of the two scores beside them."""
    scores = {
        (value.model, value.setting["post"], value.setting["benchmark"]): value.value or 0.0
        for value in evidence.printed.having("scitrek_table_10")
        if "change" not in value.setting
    }
    found = changes(evidence.printed)
    off = []
    for value in found:
        now = scores[value.model, value.setting["post"], value.setting["benchmark"]]
        before = scores[value.model, ZERO, value.setting["benchmark"]]
        if round(now - before, 1) != value.value:
            off.append((value.row, value.column))
    return listed(off)


@computes
def extreme_change(evidence: Evidence, asked: Asked) -> Found:
    """The largest printed change of Table 10, or the largest magnitude, of a model and way of post-training or all."""
    found = changes(evidence.printed, asked.get("of"), asked.get("by"))
    sizes = [value.value or 0.0 for value in found]
    sizes = list(map(abs, sizes)) if asked.get("magnitude") else sizes
    size, place = max((size, place) for place, size in enumerate(sizes))
    best = found[place]
    return Found(exact(size), f"{best.row}, {best.setting['post']}, {best.column}")


@computes
def changes_not_up(evidence: Evidence, asked: Asked) -> Found:
    """Changes of Table 10, of some models and one way of post-training, that are not above zero (Section 5)."""
    models = asked.need("models").split(",")
    found = [value for model in models for value in changes(evidence.printed, model, asked.need("by"))]
    return listed((value.row, value.column) for value in found if (value.value or 0.0) <= 0)


@computes
def benchmarks_harmed(evidence: Evidence, asked: Asked) -> Found:
    """Benchmarks on which a model is worse after a way of post-training (Section 5)."""
    found = changes(evidence.printed, asked.need("of"), asked.need("by"))
    return listed(value.setting["benchmark"] for value in found if (value.value or 0.0) < 0)


@computes
def share_improved(evidence: Evidence, asked: Asked) -> Found:
    """The share of Table 10's changes that are above zero (Section 5: it generally improves)."""
    found = changes(evidence.printed)
    return Found(exact(sum((value.value or 0.0) > 0 for value in found) / len(found)), f"of {len(found)} changes")


@computes
def lowest_after(evidence: Evidence, asked: Asked) -> Found:
    """The lowest score of Table 10 on a benchmark after a way of post-training (Section 5)."""
    found = evidence.printed.having("scitrek_table_10", post=asked.need("by"), benchmark=asked.need("benchmark"))
    best = min((value for value in found if "change" not in value.setting), key=lambda value: value.value or 0.0)
    return Found(span_of(best), best.row)


@computes
def not_weakest(evidence: Evidence, asked: Asked) -> Found:
    """Zero-shot scores of Tables 9 and 10 at which a model is not the weakest of those trained (Section 5)."""
    model, wrong = asked.need("of"), []
    columns: dict[str, dict[str, float]] = {}
    for file, key in (("scitrek_table_9", "skill"), ("scitrek_table_10", "benchmark")):
        for value in evidence.printed.having(file, post=ZERO):
            if value.model != REFERENCE and value.setting[key] in ("all", *_BENCHMARKS):
                columns.setdefault(value.setting[key], {})[value.model] = value.value or 0.0
    for name, scores in columns.items():
        wrong += [name] if scores[model] > min(scores.values()) else []
    return listed(wrong)


_BENCHMARKS = ("longbench_v2", "loong_academic", "loong_financial")


@computes
def overall_not_up(evidence: Evidence, asked: Asked) -> Found:
    """Models and ways of post-training without a gain overall in Table 9 (Section 5: both improve)."""
    return listed((model, post) for model, post, gain in gains(evidence.printed) if gain["all"].value <= 0)


@computes
def grpo_not_above_sft(evidence: Evidence, asked: Asked) -> Found:
    """Models whose overall gain in Table 9 is not larger by GRPO than by SFT (Section 5: GRPO's gains are larger)."""
    overall = {(model, post): gain["all"] for model, post, gain in gains(evidence.printed)}
    return listed(
        f"{model}: {overall[model, 'grpo'].value:.1f} by GRPO, {overall[model, 'sft'].value:.1f} by SFT"
        for model in trained(evidence.printed)
        if overall[model, "grpo"].value <= overall[model, "sft"].value
    )


@computes
def sorting_not_hardest(evidence: Evidence, asked: Asked) -> Found:
    """Rows of Table 9 after training whose smallest gain is of no sorting skill (Section 5)."""
    return listed(
        (model, post)
        for model, post, gain in gains(evidence.printed)
        if min(gain[skill].value for skill in SORTING) > min(_skills(gain).values())
    )


@computes
def aggregating_not_easiest(evidence: Evidence, asked: Asked) -> Found:
    """Rows of Table 9 after training whose largest gain is of no aggregating skill (Section 5)."""
    wrong = []
    for model, post, gain in gains(evidence.printed):
        skills = _skills(gain)
        best = max(skills, key=lambda skill: skills[skill])
        if best not in AGGREGATING:
            ours = max(skills[skill] for skill in AGGREGATING)
            wrong.append(f"{model} {post}: {best} {skills[best]:+.1f}, aggregating at most {ours:+.1f}")
    return listed(wrong)


def _skills(gain: dict[str, Span]) -> dict[str, float]:
    return {skill: round(span.value, 1) for skill, span in gain.items() if skill != "all"}


@computes
def reference_reached(evidence: Evidence, asked: Asked) -> Found:
    """Rows of Table 9 after training that reach the large model's overall score (Section 5: they stay below)."""
    mark = by_skill(evidence.printed, REFERENCE, ZERO)["all"].value
    rows = ((model, post) for model in trained(evidence.printed) for post in POSTS)
    return listed(row for row in rows if by_skill(evidence.printed, *row)["all"].value >= mark)


@computes
def gap_to_reference(evidence: Evidence, asked: Asked) -> Found:
    """How far a model stays below the large one after GRPO, by skill (Table 9) or benchmark (Table 10)."""
    model, skill = asked.need("of"), asked.get("skill")
    if skill:
        return Found(
            by_skill(evidence.printed, REFERENCE, ZERO)[skill] - by_skill(evidence.printed, model, "grpo")[skill]
        )
    found = evidence.printed.having("scitrek_table_10", benchmark=asked.need("benchmark"))
    scores = {(value.model, value.setting["post"]): span_of(value) for value in found if "change" not in value.setting}
    return Found(scores[REFERENCE, ZERO] - scores[model, "grpo"])


@computes
def corpora_above(evidence: Evidence, asked: Asked) -> Found:
    """Benchmarks of Table 11 on which another corpus is better than SciTrek (Sections 5 and 6)."""
    columns: dict[str, dict[str, float]] = {}
    for value in evidence.printed.having("scitrek_table_11", post="grpo"):
        columns.setdefault(value.setting["benchmark"], {})[value.setting["corpus"]] = value.value or 0.0
    wanted = asked.get("benchmark")
    return listed(
        f"{name}: {max(scores.values())} against {scores['SciTrek']}"
        for name, scores in columns.items()
        if wanted in ("", name) and max(scores.values()) > scores["SciTrek"]
    )


@computes
def impossible_of_skills(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 9 that the questions of each skill, three responses each, do not give; overall ones included.

    The numbers of questions are not printed: `QUESTIONS` is the one choice near them that the table's own percentages
    leave, and it makes the 840 questions of up to 128K.
    """
    answers = {skill: 3 * number for skill, number in QUESTIONS.items()}
    off = []
    for model in (REFERENCE, *trained(evidence.printed)):
        for post in (ZERO, *POSTS):
            row = by_skill(evidence.printed, model, post)
            off += [(model, post, skill) for skill in row if skill != "all" and not _gives(answers[skill], row[skill])]
            mean = total(row[skill] * number for skill, number in QUESTIONS.items()) if row else exact(0.0)
            overall = mean / sum(QUESTIONS.values())
            if row and (overall.high < row["all"].low or overall.low > row["all"].high):
                off.append((model, post, "all"))
    return Found(exact(len(off)), f"{' + '.join(map(str, QUESTIONS.values()))} questions{''.join(map(str, off))}")


def _gives(answers: int, span: Span) -> bool:
    return any(span.low <= 100 * right / answers <= span.high for right in range(answers + 1))
