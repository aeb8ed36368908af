"""SciTrek's arithmetic on failures and people: what follows from its Tables 6, 17 and 18."""

from itertools import product
from statistics import fmean

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.printed import Printed
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.scitrek_printed import TEXT, listed, thinking
from longtrek.analysis.claims.spans import Span, exact, total
from longtrek.analysis.claims.spans import printed as span_of
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found, nothing

NEGATION = {"F": "filtering", "F+A": "filtering_aggregating", "F+S": "filtering_sorting", "R": "relational_filtering"}
"""The columns of Table 18, and the skills whose questions they count."""
RUNS = 3
CLOSED = ("GPT-4.1", "Gemini-2.5-Pro", "o4-mini")
SMALLEST_OPEN = ("Qwen2.5-7B-Instruct-1M", "Qwen3-4B-Instruct-2507")
QUESTIONS_OF_A_SKILL = range(18, 23)


def negation_rows(printed: Printed, trained: bool) -> dict[str, dict[str, Span]]:
    """The rows of Table 18, zero-shot or post-trained as well; all cells are rounded to one place."""
    found: dict[str, dict[str, Span]] = {}
    for value in printed.having("scitrek_table_18"):
        if trained or "post" not in value.setting:
            found.setdefault(value.row, {})[value.column] = span_of(value, 1)
    return found


def negation_counts(printed: Printed) -> dict[str, int]:
    """Negation questions by column of Table 18 (Appendix E)."""
    found = {column: printed.number(TEXT, "negation questions", skill) for column, skill in NEGATION.items()}
    return {column: int(number) for column, number in found.items()}


@computes
def negation_below(evidence: Evidence, asked: Asked) -> Found:
    """Zero-shot models of Table 18 below a score overall (Appendix E)."""
    limit = float(asked.need("limit"))
    return listed(row for row, cells in negation_rows(evidence.printed, False).items() if cells["All"].value < limit)


@computes
def negation_highest(evidence: Evidence, asked: Asked) -> Found:
    """The highest score of Table 18 in a column, of zero-shot models or of all rows (Appendix E)."""
    rows = negation_rows(evidence.printed, asked.get("rows") == "all")
    best = max(rows, key=lambda row: rows[row][asked.need("of")].value)
    return Found(exact(rows[best][asked.need("of")].value), best)


@computes
def relational_not_lowest(evidence: Evidence, asked: Asked) -> Found:
    """Zero-shot models of Table 18 with a skill below relational filtering (Appendix E: it is lowest for every one)."""
    rows = negation_rows(evidence.printed, False)
    return listed(row for row, cells in rows.items() if cells["R"].value > min(cells[one].value for one in NEGATION))


@computes
def negation_overall_off(evidence: Evidence, asked: Asked) -> Found:
    """Rows of Table 18 whose overall score is not the mean of their skills, weighed by questions, when rounded."""
    counts = negation_counts(evidence.printed)
    off = []
    for row, cells in negation_rows(evidence.printed, True).items():
        mean = total(cells[column] * number for column, number in counts.items()) / sum(counts.values())
        if mean.high < cells["All"].low or mean.low > cells["All"].high:
            off.append(f"{row}: {mean.value:.1f} for {cells['All'].value:g}")
    return listed(off)


@computes
def negation_impossible(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 18 that no number of right answers gives, in one run or in three averaged."""
    counts = negation_counts(evidence.printed)
    counts["All"] = sum(counts.values())
    off = []
    for row, cells in negation_rows(evidence.printed, True).items():
        for column, span in cells.items():
            answers = counts[column] * RUNS
            if not any(span.low <= 100 * right / answers <= span.high for right in range(answers + 1)):
                off.append((row, column, f"{span.value:g}"))
    return listed(off)


def patterns(printed: Printed, pattern: str) -> dict[str, dict[str, float]]:
    """The rows of Table 17 under one pattern (`null`, `form`), by skill; the post-trained rows by their own names."""
    found: dict[str, dict[str, float]] = {}
    for value in printed.having("scitrek_table_17", pattern=pattern):
        name = value.row if "post" in value.setting else value.model
        found.setdefault(name, {})[value.setting["skill"]] = value.value or 0.0
    return found


def zero_shot(printed: Printed, pattern: str) -> dict[str, dict[str, float]]:
    """The rows of Table 17 of models as they were released."""
    return {name: cells for name, cells in patterns(printed, pattern).items() if name in thinking(printed)}


@computes
def pattern_extreme(evidence: Evidence, asked: Asked) -> Found:
    """A row's lowest or highest cell of Table 17 under a pattern, over some skills or all (Appendix E)."""
    cells = patterns(evidence.printed, asked.need("of"))[asked.need("named")]
    skills = asked.get("skills").split(",") if asked.get("skills") else list(cells)
    end = min if asked.need("end") == "lowest" else max
    best = end(skills, key=lambda skill: cells[skill])
    return Found(exact(cells[best]), best)


@computes
def rows_with_more(evidence: Evidence, asked: Asked) -> Found:
    """Models with more of a pattern, summed over the skills of Table 17, than one model, some others left aside."""
    sums = {name: sum(cells.values()) for name, cells in zero_shot(evidence.printed, asked.need("of")).items()}
    aside, one = asked.get("aside").split(","), asked.need("named")
    return listed(
        f"{name}: {found:g} for {sums[one]:g}"
        for name, found in sums.items()
        if found > sums[one] and name not in aside
    )


@computes
def skills_with_more(evidence: Evidence, asked: Asked) -> Found:
    """Skills with more of a pattern, summed over the models of Table 17, than some skill (Section 4)."""
    rows = zero_shot(evidence.printed, asked.need("of")).values()
    sums = {skill: sum(cells[skill] for cells in rows) for skill in next(iter(rows))}
    least = min(sums[skill] for skill in asked.need("skills").split(","))
    against = asked.get("against").split(",") if asked.get("against") else list(sums)
    return listed(f"{skill}: {sums[skill]:g} for {least:g}" for skill in against if sums[skill] > least)


@computes
def null_rarer(evidence: Evidence, asked: Asked) -> Found:
    """How much more often open models that do not think answer NULL than the others, in points (Appendix E)."""
    flags, rows = thinking(evidence.printed), zero_shot(evidence.printed, "null")
    means = {name: fmean(cells.values()) for name, cells in rows.items()}
    rare = [mean for name, mean in means.items() if flags[name] or name in CLOSED]
    often = [mean for name, mean in means.items() if not flags[name] and name not in CLOSED]
    return Found(exact(fmean(often) - fmean(rare)), f"{fmean(often):.1f} % and {fmean(rare):.1f} %")


@computes
def null_more_than_smallest(evidence: Evidence, asked: Asked) -> Found:
    """Models that answer NULL more often than one of the two smallest open ones (Appendix E)."""
    means = {name: fmean(cells.values()) for name, cells in zero_shot(evidence.printed, "null").items()}
    least = min(means[name] for name in SMALLEST_OPEN)
    return listed(name for name, mean in means.items() if mean > least and name not in SMALLEST_OPEN)


@computes
def impossible_of_twenty(evidence: Evidence, asked: Asked) -> Found:
    """Percentages of Table 6 that no number of 20 questions gives (Section 3.4: 20 of each skill)."""
    of = int(evidence.printed.number(TEXT, "questions annotated", "of each skill"))
    given = {round(100 * count / of, 1) for count in range(of + 1)}
    cells = [value for value in evidence.printed.having("scitrek_table_6") if value.setting["skill"] != "all"]
    return listed((value.row, value.column) for value in cells if value.value not in given)


@computes
def annotated_overall(evidence: Evidence, asked: Asked) -> Found:
    """A column of Table 6 over all questions, from the numbers of questions that its percentages need."""
    weights = _questions_needed(evidence.printed)
    if weights is None:
        return nothing("no numbers of questions near 20 that make 120 give the percentages")
    column = asked.need("of")
    cells = {value.row: value.value or 0.0 for value in evidence.printed.having("scitrek_table_6")
             if value.column == column}  # fmt: skip
    right = sum(round(cells[skill] * number / 100) for skill, number in weights.items())
    told = ", ".join(map(str, weights.values()))
    return Found(exact(100 * right / sum(weights.values())), f"{right} of {sum(weights.values())}: {told}")


def _questions_needed(printed: Printed) -> dict[str, int] | None:
    """How many questions of each skill give both of its percentages, and all of them together the stated number."""
    rows: dict[str, list[Span]] = {}
    for value in printed.having("scitrek_table_6"):
        if value.setting["skill"] != "all":
            rows.setdefault(value.row, []).append(span_of(value))
    options = [[n for n in QUESTIONS_OF_A_SKILL if all(_gives(n, span) for span in spans)] for spans in rows.values()]
    whole = printed.number(TEXT, "questions annotated", "count")
    fits = [choice for choice in product(*options) if sum(choice) == whole]
    return dict(zip(rows, fits[0], strict=True)) if len(fits) == 1 else None


def _gives(questions: int, span: Span) -> bool:
    return any(span.low <= 100 * count / questions <= span.high for count in range(questions + 1))


@computes
def relational_gap(evidence: Evidence, asked: Asked) -> Found:
    """Relational questions agreed on and not aligned, of the 19 of the text (Section 3.4: three were ambiguous)."""
    cells = {value.column: span_of(value) for value in evidence.printed.having("scitrek_table_6")
             if value.setting["skill"] == "relational_filtering"}  # fmt: skip
    questions = evidence.printed.number(TEXT, "ambiguous questions", "of")
    return Found((cells["Agree"] - cells["Align"]) * questions / 100)
