"""SciTrek's findings, computed from this run's scores of the models that the paper names."""

from collections.abc import Callable, Iterable, Sequence

from longtrek.analysis.claims import scitrek_findings as findings
from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.scitrek_findings import Grid
from longtrek.analysis.claims.scitrek_printed import PROPERTY, TABLES, grid_of, listed, thinking
from longtrek.analysis.claims.spans import Span, estimated, exact, largest, smallest
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.transduction_scores import ENOUGH, QUICK, Incomplete, when_whole
from longtrek.analysis.claims.verdicts import Found, distance
from longtrek.analysis.scitrek_cells import score
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series
from longtrek.scitrek.analyses import PROPERTIES, correlations, failure_patterns, hard_questions, mean

COLUMNS = {"exact_match": "paper_exact_match", "f1": "paper_f1"}
TRAINED = {"sft": "SFT", "grpo": "GRPO"}
"""How a post-trained model's entry is named: `Qwen3-4B-Instruct-2507-GRPO`."""


def run_of(evidence: Evidence) -> SciTrekRun:
    """The run's scores.

    Raises:
        Incomplete: the run is a quick one, or its questions are not the paper's.
    """
    if not evidence.full:
        raise Incomplete(QUICK)
    if evidence.scitrek is None or not evidence.papers_questions:
        raise Incomplete("this run's questions are neither the released ones nor made from the paper's corpus")
    return evidence.scitrek


def rows_of(series: Iterable[Series], model: str, context: str, levels: Sequence[str]) -> list[Row]:
    """A model's rows in a context at some levels.

    Raises:
        Incomplete: there are none, or too few of their samples have an answer.
    """
    rows = [
        row
        for one in series
        if one.model == model
        for row in one.rows
        if row["context"] == context and row["level"] in levels
    ]
    asked, answered = (sum(row[name] for row in rows) for name in ("asked", "answered"))
    if not rows or {row["level"] for row in rows} != set(levels) or answered < ENOUGH * asked:
        raise Incomplete(f"{answered} of {asked} samples of {model} at {', '.join(levels)} are answered")
    return rows


def spanned(rows: Sequence[Row], column: str) -> Span:
    """Percent of a score column over rows, with its interval over collections."""
    found = score(rows, column)
    assert found.value is not None
    return estimated(found.value, found.interval)


def run_grid(evidence: Evidence, measure: str) -> Grid:
    """The run's scores where the paper prints one; a cell that is not whole is left out."""
    run, made = run_of(evidence), {}
    for model, context, level in grid_of(evidence.printed, measure):
        try:
            rows = rows_of(run.models, model, context, [level])
        except Incomplete:
            continue
        made[model, context, level] = spanned(rows, COLUMNS[measure])
    return made


def whole_grid(evidence: Evidence, measure: str) -> Grid:
    """The run's scores of every cell that the paper prints.

    Raises:
        Incomplete: one is missing.
    """
    made, wanted = run_grid(evidence, measure), grid_of(evidence.printed, measure)
    if len(made) < len(wanted):
        raise Incomplete(f"{len(made)} of the {len(wanted)} cells of the paper's table have been run")
    return made


@computes
def score_at(evidence: Evidence, asked: Asked) -> Found:
    """A model's, or the baseline's, exact match or F1 at a context and level (Tables 7 and 16)."""

    def compute() -> Found:
        run = run_of(evidence)
        series = run.baselines if asked.get("baseline") else run.models
        rows = rows_of(series, asked.need("model"), asked.need("context"), [asked.need("level")])
        return Found(spanned(rows, COLUMNS[asked.need("measure")]), f"{len(rows)} questions")

    return when_whole(compute)


@computes
def cells_agreeing(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 7 or 16, without the baseline's, that the run gives within the tolerance or its interval."""
    measure = asked.need("measure")
    allowed = float(asked.need("points"))

    def compute() -> Found:
        printed, made = grid_of(evidence.printed, measure), whole_grid(evidence, measure)
        agree = [place for place, span in made.items() if _agrees(span, printed[place].value, allowed)]
        return Found(exact(len(agree)), f"of {len(printed)} cells of {TABLES[measure]}")

    return when_whole(compute)


def _agrees(span: Span, published: float, allowed: float) -> bool:
    near = distance(span.value, span.value, published, "=")
    return min(near, distance(span.low, span.high, published, "=")) <= allowed


def _finding(evidence: Evidence, measure: str, judge: Callable[[Grid], Found]) -> Found:
    return when_whole(lambda: judge(whole_grid(evidence, measure)))


@computes
def rising_with_level(evidence: Evidence, asked: Asked) -> Found:
    """Cells above the next smaller level's (Section 4: every model degrades)."""
    return _finding(evidence, asked.need("measure"), lambda grid: listed(findings.rising(grid)))


@computes
def best_score(evidence: Evidence, asked: Asked) -> Found:
    """The best model's exact match at a context and level (Abstract)."""

    def judge(grid: Grid) -> Found:
        scores = findings.column(grid, asked.need("context"), asked.need("level"))
        best = max(scores, key=lambda model: scores[model].value)
        return Found(scores[best], best)

    return _finding(evidence, asked.need("measure"), judge)


@computes
def thinking_gain(evidence: Evidence, asked: Asked) -> Found:
    """The smallest or largest gain of thinking at matched size (Section 4)."""

    def judge(grid: Grid) -> Found:
        gains = findings.thinking_gains(grid, asked.need("context"))
        return Found((smallest if asked.need("end") == "lowest" else largest)(gains.values()))

    return _finding(evidence, "exact_match", judge)


@computes
def tables_not_above(evidence: Evidence, asked: Asked) -> Found:
    """Cells with tables that are not above those with articles (Section 1)."""
    return _finding(evidence, "exact_match", lambda grid: listed(findings.not_above_articles(grid)))


@computes
def cells_above(evidence: Evidence, asked: Asked) -> Found:
    """Cells above the leader's of the same column (Section 4)."""
    return _finding(evidence, "exact_match", lambda grid: listed(findings.above(grid, asked.need("leader"))))


@computes
def strongest_correlation(evidence: Evidence, asked: Asked) -> Found:
    """The largest magnitude of a correlation of exact match with a property, full text at 128K (Table 8)."""

    def compute() -> Found:
        found = [abs(r) for model in thinking(evidence.printed) for r in _correlations(evidence, model).values()]
        if not found:
            raise Incomplete("no correlation is defined")
        return Found(exact(max(found)), f"{len(found)} correlations")

    return when_whole(compute)


@computes
def correlation(evidence: Evidence, asked: Asked) -> Found:
    """A model's correlation of exact match with one property, full text at 128K (Table 8)."""
    name, model = PROPERTY[asked.need("property")], asked.need("model")

    def compute() -> Found:
        found = _correlations(evidence, model)
        if name not in found:
            raise Incomplete(f"{model}: every question has the same score, or the same {name}")
        return Found(exact(found[name]))

    return when_whole(compute)


def _correlations(evidence: Evidence, model: str) -> dict[str, float]:
    rows = rows_of(run_of(evidence).models, model, "full_text", ["128K"])
    (line,) = correlations(rows)
    return {head: line[f"{name}_r"] for name, head in PROPERTIES.items() if line[f"{name}_r"] is not None}


@computes
def spread_by_subject(evidence: Evidence, asked: Asked) -> Found:
    """The largest spread over subjects of a model's exact match, full text at 128K (Figure 2: little variation)."""

    def compute() -> Found:
        spreads = []
        for model in _six_best(evidence):
            rows = rows_of(run_of(evidence).models, model, "full_text", ["128K"])
            by_subject = [[row for row in rows if row["subject"] == name] for name in {row["subject"] for row in rows}]
            means = [100 * (mean(members, "paper_exact_match") or 0.0) for members in by_subject]
            spreads.append(max(means) - min(means))
        return Found(exact(max(spreads)), f"{len(spreads)} models")

    return when_whole(compute)


@computes
def below_on(evidence: Evidence, asked: Asked) -> Found:
    """How many of the six best models score lower on one skill or topic than on another (Figure 2, Section 4)."""

    def compute() -> Found:
        lower = 0
        for model in _six_best(evidence):
            rows = rows_of(run_of(evidence).models, model, "full_text", ["128K"])
            ends = [
                mean([row for row in rows if row[asked.need("by")] == asked.need(key)], "paper_exact_match") or 0.0
                for key in ("on", "than")
            ]
            lower += ends[0] < ends[1]
        return Found(exact(lower), "of six models")

    return when_whole(compute)


def _six_best(evidence: Evidence) -> list[str]:
    scores = findings.column(whole_grid(evidence, "exact_match"), "full_text", "128K")
    return sorted(scores, key=lambda model: -scores[model].value)[:6]


@computes
def negation_score(evidence: Evidence, asked: Asked) -> Found:
    """A model's exact match on the questions that negate, full text, as the authors select them (Table 18)."""

    def compute() -> Found:
        rows = rows_of(run_of(evidence).models, asked.need("model"), "full_text", ["64K", "128K"])
        return Found(spanned([row for row in rows if row["negation_paper"]], "paper_exact_match"))

    return when_whole(compute)


@computes
def failure_share(evidence: Evidence, asked: Asked) -> Found:
    """A model's share of NULL answers, or of broken forms, by skill over questions that all models fail (Table 17)."""
    column = {"null": "null_answers", "form": "non_compliant"}[asked.need("pattern")]

    def compute() -> Found:
        run, models = run_of(evidence), thinking(evidence.printed)
        there = [row for model in models for row in rows_of(run.models, model, "full_text", ["128K"])]
        drawn = set(hard_questions(there))
        mine = [row for row in there if row["model"] == asked.need("model") and row["question"] in drawn]
        lines = {line["skill"]: line for line in failure_patterns(mine)}
        if asked.need("skill") not in lines:
            raise Incomplete("no question of that skill is failed by every model")
        line = lines[asked.need("skill")]
        return Found(exact(100 * line[column]), f"{line['questions']} questions")

    return when_whole(compute)


@computes
def tables_prompt_tokens(evidence: Evidence, asked: Asked) -> Found:
    """Mean prompt tokens with tables as context, the models' own, in K tokens (Table 7: about 2K)."""

    def compute() -> Found:
        rows = [row for series in run_of(evidence).models for row in series.rows if row["context"] == "tables"]
        counts = [row["prompt_tokens"] for row in rows if row["prompt_tokens"] is not None]
        if not counts:
            raise Incomplete("no model was asked on tables")
        return Found(exact(sum(counts) / len(counts) / 1024), f"{len(counts)} prompts, instructions included")

    return when_whole(compute)


@computes
def trained_score(evidence: Evidence, asked: Asked) -> Found:
    """Exact match on contexts of at most 128K after post-training, by skill or overall (Table 9).

    A run shows a post-trained model as an entry of its own, `<model>-SFT` or `<model>-GRPO`.
    """

    def compute() -> Found:
        post, skill = asked.need("post"), asked.need("skill")
        model = "-".join([asked.need("model"), *([TRAINED[post]] if post in TRAINED else [])])
        rows = rows_of(run_of(evidence).models, model, "full_text", ["64K", "128K"])
        return Found(spanned([row for row in rows if skill in ("all", row["skill"])], "paper_exact_match"))

    return when_whole(compute)
