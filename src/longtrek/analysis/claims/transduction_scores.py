"""Long-Transduction's findings, computed from this run's scores of the models that the paper names."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.spans import Span, estimated, exact
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found, nothing
from longtrek.analysis.statistics import (
    DIGITS,
    Cell,
    Document,
    Interval,
    by_cell,
    estimate,
    macro_average,
    relative_decrease,
    wilson,
)
from longtrek.transduction.grid import grid

LARGEST = 131072
ENOUGH = 0.95
"""The share of a set's documents that must have a score before it is held against the paper: what cannot fit a model,
or failed for good, may be left out, as long as every cell has a score."""
QUICK = "a quick run's scores are not held against the paper"
MATCHED = ("arithmetic", "uuid_sort", "lookup")
Group = Mapping[str, Sequence[Document]]
"""A set of documents for each model."""


class Incomplete(Exception):
    """The run has not the scores that a claim is about; says how many there are."""


def whole(evidence: Evidence, model: str, **wanted: object) -> list[Document]:
    """A model's scored documents of a set, if they are as good as all of it.

    Args:
        wanted: what the documents have in common: horizon, family, format, difficulty.

    Raises:
        Incomplete: the run is a quick one, has not asked the model, or has scored too few of the set.
    """
    if not evidence.full:
        raise Incomplete(QUICK)
    every, cells = _documents_of(tuple(sorted(wanted.items())))
    found = evidence.transduction.select(model, **wanted) if model in evidence.transduction.models else []
    scored = [document for document in found if document.accuracy is not None]
    missing = cells - {document.cell for document in scored}
    if missing or len(scored) < ENOUGH * every:
        raise Incomplete(f"{len(scored)} of {every} documents of {model} have a score")
    return scored


@cache
def _documents_of(wanted: tuple[tuple[str, object], ...]) -> tuple[int, frozenset[Cell]]:
    """How many documents of the grid have all that is wanted, and their cells."""
    every = [
        spec
        for horizon in grid().horizons
        for spec in grid().specs(horizon)
        if all(getattr(spec, key) == value for key, value in wanted)
    ]
    return len(every), frozenset((one.family, one.format, float(one.difficulty), one.horizon) for one in every)


def over_models(evidence: Evidence, **wanted: object) -> Group:
    """The paper's models with scores of a whole set; one that ends early is left out.

    Raises:
        Incomplete: a model that the papers' run asks at the set's horizons has not all of them.
    """
    config = evidence.papers.config.transduction
    horizon = wanted.get("horizon", LARGEST)
    names = [name for name in config.models if horizon in config.horizons_of(evidence.papers.models[name])]
    return {name: whole(evidence, name, **wanted) for name in names}


def when_whole(compute: Callable[[], Found]) -> Found:
    """A computation's result, or nothing where the run has not what it takes."""
    try:
        return compute()
    except Incomplete as lacking:
        return nothing(str(lacking))


def averaged(documents: Sequence[Document]) -> Span:
    """The macro average of documents with its bootstrap interval."""
    found = estimate(documents)
    assert found.value is not None
    return estimated(found.value, found.interval)


def plain(documents: Sequence[Document]) -> float:
    """The macro average of documents alone."""
    found = macro_average(by_cell(documents))
    assert found is not None
    return found


def mean_decrease(first: Group, last: Group) -> Found:
    """Mean over models of the relative decrease between two sets, in percent, with a 95% interval.

    The models' errors are taken as independent, and each as symmetric: its size is half its interval.
    """
    starts = {model: averaged(documents) for model, documents in first.items()}
    stops = {model: averaged(documents) for model, documents in last.items() if model in starts}
    found = relative_decrease(
        {model: span.value for model, span in starts.items()}, {model: span.value for model, span in stops.items()}
    )
    if found.mean is None or found.of_means is None:
        return nothing("no model scores anything at the first setting")
    errors = [_error(starts[model], stops[model]) for model in found.models]
    half = 100 * math.sqrt(math.fsum(error**2 for error in errors)) / len(errors)
    value = 100 * found.mean
    remark = f"{len(errors)} models; the decrease of their mean is {100 * found.of_means:.1f} %"
    return Found(Span(value, value - half, value + half), remark)


def _error(start: Span, stop: Span) -> float:
    ratio = stop.value / start.value
    parts = [(span.high - span.low) / 2 / span.value for span in (start, stop) if span.value]
    return ratio * math.hypot(*parts)


def _restricted(asked: Asked) -> dict[str, object]:
    found: dict[str, object] = {key: asked.get(key) for key in ("family", "format") if asked.get(key)}
    return found | ({"horizon": int(asked.get("horizon"))} if asked.get("horizon") else {})


@computes
def accuracy(evidence: Evidence, asked: Asked) -> Found:
    """A model's accuracy at a horizon, over all cells or those of a family (Figure 2, Section 4)."""
    model, wanted = asked.need("model"), _restricted(asked)
    return when_whole(lambda: Found(averaged(whole(evidence, model, **wanted)), "macro average, 95% bootstrap"))


@computes
def accuracy_gap(evidence: Evidence, asked: Asked) -> Found:
    """A model's accuracy at a horizon above another's (Section 4)."""
    wanted = _restricted(asked)

    def compute() -> Found:
        one, other = (averaged(whole(evidence, asked.need(key), **wanted)) for key in ("model", "over"))
        half = math.hypot(one.high - one.low, other.high - other.low) / 2
        value = one.value - other.value
        return Found(Span(value, value - half, value + half))

    return when_whole(compute)


@computes
def horizon_decrease(evidence: Evidence, asked: Asked) -> Found:
    """Mean relative decrease from one horizon to another over the models with both (Abstract, Section 4)."""
    ends = (int(asked.need(key)) for key in ("from", "to"))
    return when_whole(lambda: mean_decrease(*(over_models(evidence, horizon=horizon) for horizon in ends)))


@computes
def format_decrease(evidence: Evidence, asked: Asked) -> Found:
    """Mean relative decrease between two formats at 128K, of a family or of the three matched ones (Figure 3)."""
    families = (asked.get("family"),) if asked.get("family") else MATCHED

    def group(form: str) -> Group:
        parts = [over_models(evidence, horizon=LARGEST, family=family, format=form) for family in families]
        return {model: [document for part in parts for document in part[model]] for model in parts[0]}

    return when_whole(lambda: mean_decrease(group(asked.need("from")), group(asked.need("to"))))


@computes
def difficulty_decrease(evidence: Evidence, asked: Asked) -> Found:
    """Mean relative decrease from the easiest to the hardest difficulty at 128K, all families (Abstract, Figure 4)."""

    def compute() -> Found:
        there = over_models(evidence, horizon=LARGEST)
        return mean_decrease(*({model: _ranked(docs, rank) for model, docs in there.items()} for rank in (0, -1)))

    return when_whole(compute)


@computes
def families_falling_less(evidence: Evidence, asked: Asked) -> Found:
    """Of the three matched families, those that fall less than one from IDs to none, at 128K (Section 4)."""

    def compute() -> Found:
        falls = {family: _fall(evidence, family) for family in MATCHED}
        less = [family for family, fall in falls.items() if fall < falls[asked.need("than")]]
        return Found(exact(len(less)), ", ".join(f"{family}: {fall:.1f} %" for family, fall in falls.items()))

    return when_whole(compute)


def _fall(evidence: Evidence, family: str) -> float:
    ends = [over_models(evidence, horizon=LARGEST, family=family, format=form) for form in ("ordered", "no_ids")]
    found = mean_decrease(*ends)
    if found.span is None:
        raise Incomplete(found.remark)
    return found.span.value


def _ranked(documents: Iterable[Document], rank: int) -> list[Document]:
    families = grid().families
    return [one for one in documents if one.difficulty == families[one.family][one.format][rank]]


@computes
def complete_documents(evidence: Evidence, asked: Asked) -> Found:
    """A model's documents at 128K in which every record is right, with the Wilson interval of 240 (Table 2)."""

    def compute() -> Found:
        documents = whole(evidence, asked.need("model"), horizon=LARGEST)
        right = sum(document.complete is True for document in documents)
        bounds = wilson(right, len(documents))
        assert bounds is not None
        scaled = Interval(bounds.low * len(documents), bounds.high * len(documents))
        return Found(estimated(right, scaled), f"of {len(documents)}")

    return when_whole(compute)


@computes
def rising_with_horizon(evidence: Evidence, asked: Asked) -> Found:
    """Models whose accuracy rises from one horizon to the next; one below 0.05 at 4K is degenerate (Section 4)."""

    def compute() -> Found:
        by_horizon = [over_models(evidence, horizon=horizon) for horizon in grid().horizons]
        lines = {model: [plain(there[model]) for there in by_horizon if model in there] for model in by_horizon[0]}
        kept = {model: line for model, line in lines.items() if line[0] >= 0.05}
        rising = [model for model, line in kept.items() if line != sorted(line, reverse=True)]
        return Found(exact(len(rising)), f"{len(kept)} models; rising: {', '.join(rising) or 'none'}")

    return when_whole(compute)


@computes
def models_above(evidence: Evidence, asked: Asked) -> Found:
    """Models above the leader at any horizon that it shares with them (Section 4: DeepSeek leads throughout)."""

    def compute() -> Found:
        above = set()
        for horizon in grid().horizons:
            scores = {model: plain(docs) for model, docs in over_models(evidence, horizon=horizon).items()}
            above |= {model for model, score in scores.items() if score > scores[asked.need("leader")]}
        return Found(exact(len(above)), ", ".join(sorted(above)))

    return when_whole(compute)


@computes
def harder_not_lower(evidence: Evidence, asked: Asked) -> Found:
    """Models that are not worse at the hardest difficulty than at the easiest, at 128K, by family (Figure 4)."""

    def compute() -> Found:
        there = over_models(evidence, horizon=LARGEST, family=asked.need("family"))
        ends = {model: [plain(_ranked(documents, rank)) for rank in (0, -1)] for model, documents in there.items()}
        wrong = [model for model, (easy, hard) in ends.items() if easy >= 0.05 and hard >= easy]
        return Found(exact(len(wrong)), ", ".join(sorted(wrong)))

    return when_whole(compute)


@computes
def no_ids_not_below_shuffled(evidence: Evidence, asked: Asked) -> Found:
    """Of the three matched families, those in which records without IDs do not score below shuffled ones (Figure 3)."""

    def compute() -> Found:
        wrong = []
        for family in MATCHED:
            means = [_mean_over_models(evidence, family, form) for form in ("no_ids", "shuffled")]
            wrong += [family] if means[0] >= means[1] else []
        return Found(exact(len(wrong)), ", ".join(wrong))

    return when_whole(compute)


def _mean_over_models(evidence: Evidence, family: str, form: str) -> float:
    there = over_models(evidence, horizon=LARGEST, family=family, format=form)
    return math.fsum(plain(documents) for documents in there.values()) / len(there)


@computes
def less_consistent_than_correct(evidence: Evidence, asked: Asked) -> Found:
    """Model and bin of the output where lines are not more often self-consistent than correct (Figure 5)."""

    def compute() -> Found:
        ends = _bins_of_sorted_lines(evidence, "correct")
        return Found(
            exact(sum(consistent < correct for consistent, correct in ends)), f"{len(ends)} bins of all models"
        )

    return when_whole(compute)


@computes
def consistent_longer_than_copied(evidence: Evidence, asked: Asked) -> Found:
    """Share of models and bins in which lines are self-consistent at least as often as copied (Figure 5's caption)."""

    def compute() -> Found:
        ends = _bins_of_sorted_lines(evidence, "copied")
        kept = sum(consistent >= copied for consistent, copied in ends)
        return Found(exact(kept / len(ends)), f"{kept} of {len(ends)} bins of all models")

    return when_whole(compute)


@computes
def answers_with_reasoning(evidence: Evidence, asked: Asked) -> Found:
    """Answers of the paper's models that hold reasoning, counted or marked, over the whole grid (Appendix D)."""

    def compute() -> Found:
        config = evidence.papers.config.transduction
        found = [
            document
            for model in config.models
            for horizon in config.horizons_of(evidence.papers.models[model])
            for document in whole(evidence, model, horizon=horizon)
        ]
        models = sorted({document.model for document in found if document.reasoned})
        told = f" of {', '.join(models)}" if models else ""
        return Found(exact(sum(document.reasoned for document in found)), f"of {len(found):,} answers{told}")

    return when_whole(compute)


def _bins_of_sorted_lines(evidence: Evidence, measure: str) -> list[tuple[float, float]]:
    """Shares of UUID-sorting lines without IDs, self-consistent and as measured, by model and bin (Figure 5)."""
    run, config = evidence.transduction, evidence.papers.config.transduction
    pairs: list[tuple[float, float]] = []
    for model in config.models:
        horizons = config.horizons_of(evidence.papers.models[model])
        documents = [
            one for h in horizons for one in whole(evidence, model, family="uuid_sort", format="no_ids", horizon=h)
        ]
        ends = [_by_bin(run.positions(model, name, documents)) for name in ("consistent", measure)]
        pairs += zip(*ends, strict=True)
    return pairs


def _by_bin(positions: Mapping[str, Sequence[float | None]]) -> list[float]:
    columns = zip(*positions.values(), strict=True)
    kept = [[value for value in column if value is not None] for column in columns]
    return [round(math.fsum(column) / len(column), DIGITS) for column in kept if column]
