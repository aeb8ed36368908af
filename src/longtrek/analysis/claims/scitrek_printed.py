"""SciTrek's arithmetic: sums, shares and findings that follow from the numbers of its Tables 1 to 8 and 14 to 16."""

from collections.abc import Iterable

from longtrek.analysis.claims import scitrek_findings as findings
from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.printed import Printed
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.scitrek_findings import Grid
from longtrek.analysis.claims.spans import exact, largest, smallest
from longtrek.analysis.claims.spans import printed as span_of
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found, nothing
from longtrek.analysis.published import Published
from longtrek.scitrek.analyses import incomplete_beta
from longtrek.scitrek.collections import LEVELS

TEXT = "scitrek_text"
TABLES = {"exact_match": "scitrek_table_7", "f1": "scitrek_table_16"}
QUESTIONS_AT_128K = ("scitrek_table_5", "128K", "#Samples")
SIGNIFICANT = 0.05
PROPERTY = {"question": "Q-Len", "sql": "SQL-Len", "answer": "GA-Len"}


def grid_of(printed: Printed, measure: str, baseline: bool = False) -> Grid:
    """The scores of Table 7 (exact match) or 16 (F1): of the models, or of the SQL-execution baseline."""
    found = printed.having(TABLES[measure], measure=measure)
    return {
        (value.model, value.setting["context"], value.setting["level"]): span_of(value)
        for value in found
        if ("baseline" in value.setting) == baseline
    }


def thinking(printed: Printed) -> dict[str, bool]:
    """Whether each model of Table 15 thinks before it answers."""
    return {value.model: bool(value.value) for value in printed.files["scitrek_table_15"] if value.column == "Think"}


def listed(found: Iterable[object]) -> Found:
    """A number of exceptions, each named."""
    names = [" ".join(one) if isinstance(one, tuple) else str(one) for one in found]
    return Found(exact(len(names)), "; ".join(names))


@computes
def sum_printed(evidence: Evidence, asked: Asked) -> Found:
    """The sum of the numbers in a column of a table, or in a row of the text, without the claimed one itself."""
    row, column = asked.get("row"), asked.get("column")
    parts = [
        value.value
        for value in evidence.printed.having(asked.need("file"))
        if row in ("", value.row) and column in ("", value.column) and value != asked.value
    ]
    return Found(exact(sum(part for part in parts if part is not None)), f"{len(parts)} numbers")


@computes
def product_printed(evidence: Evidence, asked: Asked) -> Found:
    """The product of two numbers of the text; arguments `one` and `other` are `row: column`."""
    factors = [_text(evidence, asked.need(key)) for key in ("one", "other")]
    return Found(exact(factors[0] * factors[1]))


def _text(evidence: Evidence, where: str) -> float:
    row, _, column = where.partition(": ")
    return evidence.printed.number(TEXT, row, column)


@computes
def most_articles(evidence: Evidence, asked: Asked) -> Found:
    """The most articles that the seeds and both hops of neighbours can give (Section 3.1)."""
    first, second = (evidence.printed.number(TEXT, "neighbours sampled", f"{hop} hop") for hop in ("first", "second"))
    return Found(exact(evidence.printed.number(TEXT, "article clusters", "count") * (1 + first + first * second)))


@computes
def question_share(evidence: Evidence, asked: Asked) -> Found:
    """Test and training questions as a percentage of all pairs of collection and template (Section 3.3)."""
    made = _text(evidence, "test set: count") + _text(evidence, "training set: count")
    return Found(
        exact(
            100 * made / (_text(evidence, "collections: all") * _text(evidence, "templates for each collection: count"))
        )
    )


@computes
def percentages_off(evidence: Evidence, asked: Asked) -> Found:
    """Rows of Table 14 whose percentage is not the count's share of all test questions."""
    counts, shares = (
        {value.row: value for value in evidence.printed.having("scitrek_table_14") if value.column == column}
        for column in ("Count", "%")
    )
    whole = counts["SELECT"].value or 0.0
    off = [
        name
        for name, value in shares.items()
        if round(100 * (counts[name].value or 0.0) / whole, value.digits) != value.value
    ]
    return listed(off)


@computes
def commands_unlisted(evidence: Evidence, asked: Asked) -> Found:
    """Commands and operators that only one of Tables 3 and 14 lists; SELECT needs no listing (Appendix B)."""
    three = {value.column for value in evidence.printed.files["scitrek_table_3"]} | {"SELECT"}
    return listed(sorted(three ^ {value.row for value in evidence.printed.files["scitrek_table_14"]}))


@computes
def skills_with_example(evidence: Evidence, asked: Asked) -> Found:
    """Skills of the examples in Table 1."""
    return Found(exact(len({value.setting["skill"] for value in evidence.printed.files["scitrek_table_1"]})))


@computes
def natural_and_scalable(evidence: Evidence, asked: Asked) -> Found:
    """Datasets of Table 2 with natural contexts that also scale without people (Section 2: the first)."""
    ticks: dict[str, set[str]] = {}
    for value in evidence.printed.having("scitrek_table_2"):
        if value.column in ("N-Ctx", "Scalable") and value.value:
            ticks.setdefault(value.row, set()).add(value.column)
    return listed(name for name, found in ticks.items() if len(found) == 2)


@computes
def fewest_context_articles(evidence: Evidence, asked: Asked) -> Found:
    """The smallest mean number of articles in a context (Table 5; Section 3.1: no collection has fewer than four)."""
    found = [value for value in evidence.printed.having("scitrek_table_5") if value.column == "#Context Articles"]
    return Found(smallest(map(span_of, found)))


@computes
def models_printed(evidence: Evidence, asked: Asked) -> Found:
    """Models of Table 15, all or those that think (Section 6, Appendix C)."""
    flags = thinking(evidence.printed)
    return Found(exact(sum(flags.values()) if asked.get("which") == "thinking" else len(flags)))


@computes
def best_printed(evidence: Evidence, asked: Asked) -> Found:
    """The best model's score at a context and level (Abstract, Section 6)."""
    scores = findings.column(
        grid_of(evidence.printed, asked.need("measure")), asked.need("context"), asked.need("level")
    )
    best = max(scores, key=lambda model: scores[model].value)
    return Found(scores[best], best)


@computes
def cells_above_printed(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 7 or 16 above the leader's of the same column (Section 4: o4-mini is strongest overall)."""
    return listed(findings.above(grid_of(evidence.printed, asked.need("measure")), asked.need("leader")))


@computes
def rising_printed(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 7 or 16 above the next smaller level's (Section 4, Appendix D: every model degrades)."""
    return listed(findings.rising(grid_of(evidence.printed, asked.need("measure"))))


@computes
def thinking_gain_printed(evidence: Evidence, asked: Asked) -> Found:
    """The smallest or largest gain of thinking at matched size, full-text articles (Section 4)."""
    gains = findings.thinking_gains(grid_of(evidence.printed, "exact_match"), asked.need("context"))
    end = smallest if asked.need("end") == "lowest" else largest
    told = (f"{model} {level}: {span.value:.1f}" for (model, level), span in gains.items())
    return Found(end(gains.values()), "; ".join(told))


@computes
def open_thinking_lead(evidence: Evidence, asked: Asked) -> Found:
    """The smallest lead of the best open-weight thinking model over Gemini 2.5 Pro, full-text articles (Section 4)."""
    flags, grid = thinking(evidence.printed), grid_of(evidence.printed, "exact_match")
    closed = {value.model for value in evidence.printed.files["scitrek_table_15"] if value.mark == "missing"}
    leads = []
    for level in findings.LEVELS:
        scores = findings.column(grid, "full_text", level)
        if "Gemini-2.5-Pro" in scores:
            open_ones = [span for model, span in scores.items() if flags[model] and model not in closed]
            leads.append(largest(open_ones) - scores["Gemini-2.5-Pro"])
    return Found(smallest(leads), f"{len(leads)} levels")


@computes
def plain_on_tables_printed(evidence: Evidence, asked: Asked) -> Found:
    """The lowest or highest score at 64K of a model that does not think, tables as context (Section 4)."""
    flags = thinking(evidence.printed)
    plain = [model for model, thinks in flags.items() if not thinks]
    scores = findings.column(grid_of(evidence.printed, "exact_match"), "tables", "64K", plain)
    end = min if asked.need("end") == "lowest" else max
    chosen = end(scores, key=lambda model: scores[model].value)
    return Found(scores[chosen], chosen)


@computes
def baseline_printed(evidence: Evidence, asked: Asked) -> Found:
    """The SQL-execution baseline's lowest or highest score with a context, or how far they spread (Section 4)."""
    grid = grid_of(evidence.printed, asked.need("measure"), baseline=True)
    scores = [span for (_, context, _), span in grid.items() if context == asked.need("context")]
    ends = {"lowest": smallest(scores), "highest": largest(scores)}
    return Found(ends["highest"] - ends["lowest"] if asked.need("end") == "spread" else ends[asked.need("end")])


@computes
def tables_not_above_printed(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 7 with tables that are not above those with articles (Section 1: accuracy rises sharply)."""
    return listed(findings.not_above_articles(grid_of(evidence.printed, "exact_match")))


@computes
def ranks_swapped(evidence: Evidence, asked: Asked) -> Found:
    """Pairs of models whose order differs between exact match and F1 (Appendix D: the ranking is unchanged)."""
    one, other = (grid_of(evidence.printed, measure) for measure in TABLES)
    pairs = list(findings.ordered_pairs(one, other, findings.models_of(one)))
    swapped = [pair for pair, other_order in pairs if other_order]
    return Found(exact(len(swapped)), f"of {len(pairs)}: {'; '.join(swapped)}")


@computes
def windows_too_small(evidence: Evidence, asked: Asked) -> Found:
    """Models with a score on full-text articles of a level that is longer than their context size (Tables 7, 15)."""
    grid = grid_of(evidence.printed, "exact_match")
    return listed(
        value.model
        for value in _windows(evidence)
        for level, tokens in LEVELS.items()
        if (value.model, "full_text", level) in grid and tokens > (value.value or 0.0)
    )


@computes
def windows_not_above_128k(evidence: Evidence, asked: Asked) -> Found:
    """Models of Table 15 whose context size is not above 128K tokens (Section 4: all exceed it)."""
    return listed(value.model for value in _windows(evidence) if (value.value or 0.0) <= LEVELS["128K"])


def _windows(evidence: Evidence) -> list[Published]:
    return [value for value in evidence.printed.having("scitrek_table_15") if value.column == "Context Size"]


@computes
def overall_from_levels(evidence: Evidence, asked: Asked) -> Found:
    """A model's exact match up to 128K, from its two levels in Table 7 weighed by Table 5's questions (Table 9)."""
    grid, model = grid_of(evidence.printed, "exact_match"), asked.need("model")
    weights = {level: evidence.printed.number("scitrek_table_5", level, "#Samples") for level in ("64K", "128K")}
    parts = [grid[model, "full_text", level] * weight for level, weight in weights.items()]
    return Found((parts[0] + parts[1]) / sum(weights.values()))


@computes
def impossible_of_three_runs(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 7 that no number of right answers gives over three runs of a level's questions (Section 4)."""
    runs = _text(evidence, "runs averaged: count")
    off = []
    for value in evidence.printed.having("scitrek_table_7", measure="exact_match"):
        answers = int(runs * evidence.printed.number("scitrek_table_5", value.setting["level"], "#Samples"))
        span = span_of(value)
        if not any(span.low <= 100 * right / answers <= span.high for right in range(answers + 1)):
            off.append(f"{value.row} {value.column}: {span.value:g}")
    return listed(off)


@computes
def largest_correlation(evidence: Evidence, asked: Asked) -> Found:
    """The largest magnitude of a correlation in Table 8 (Section 4)."""
    found = max(evidence.printed.having("scitrek_table_8"), key=lambda value: abs(value.value or 0.0))
    return Found(exact(abs(found.value or 0.0)), f"{found.row}, {found.column}")


@computes
def stars_not_borne_out(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 8 whose star does not go with p < 0.05 over the questions at 128K, whatever rounding hides."""
    questions = evidence.printed.number(*QUESTIONS_AT_128K)
    wrong = []
    for value in evidence.printed.having("scitrek_table_8"):
        starred = _starred(value)
        r = abs(value.value or 0.0) + (0.005 if starred else -0.005)
        if starred != (incomplete_beta((questions - 2) / 2, 0.5, 1 - r * r) < SIGNIFICANT):
            wrong.append((value.row, value.column, f"{value.value:g}"))
    return listed(wrong)


@computes
def starred_properties(evidence: Evidence, asked: Asked) -> Found:
    """Starred correlations of Table 8 of thinking models or others, with or beside one property (Section 4)."""
    flags, wanted = thinking(evidence.printed), asked.get("thinking")
    one, models = asked.get("property"), asked.get("models")
    return listed(
        (value.row, value.column)
        for value in evidence.printed.having("scitrek_table_8")
        if _starred(value)
        and (not wanted or flags[value.model] == (wanted == "yes"))
        and (not models or value.model in models.split(","))
        and (not one or (value.column == PROPERTY[one.removeprefix("not ")]) != one.startswith("not "))
    )


@computes
def sql_length_not_dominant(evidence: Evidence, asked: Asked) -> Found:
    """Of the models named, those whose strongest correlate in Table 8 is not the query's length (Section 4)."""
    wrong = []
    for model in asked.need("models").split(","):
        cells = [value for value in evidence.printed.having("scitrek_table_8") if value.model == model]
        if max(cells, key=lambda value: abs(value.value or 0.0)).column != "SQL-Len":
            wrong.append(model)
    return listed(wrong)


def _starred(value: Published) -> bool:
    return value.note.startswith("p < 0.05")


@computes
def sample_share(evidence: Evidence, asked: Asked) -> Found:
    """SciTrek's training questions as a share of another corpus' (Section 5, Table 11)."""
    ours, theirs = (
        evidence.printed.number("scitrek_table_11", corpus, "#Samples") for corpus in ("SciTrek", asked.need("corpus"))
    )
    return Found(exact(ours / theirs)) if theirs else nothing("the other corpus has no samples")
