"""Averages, intervals and decreases of scored documents; pure, and the same on every machine."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BINS = 20
"""Equal parts of the required output in a position curve (Appendix B)."""
RESAMPLES = 1000
LEVEL = 0.95
Z = 1.959963984540054
"""Standard normal quantile of 0.975, for the Wilson interval."""
DIGITS = 9
"""Results are rounded to this many places, so that the last bit of a sum never reaches a file."""

Cell = tuple[str, str, float, int]
"""A document's family, format, difficulty and horizon: what weighs the same in an average."""


@dataclass(frozen=True, slots=True)
class Document:
    """One asked document of one model, with its score under one rule; no score where it failed or was not asked."""

    model: str
    check: bool
    id: str
    family: str
    format: str
    difficulty: float
    horizon: int
    sample: int
    records: int
    status: str
    finish_reason: str | None
    accuracy: float | None
    complete: bool | None
    reasoned: bool = False
    """Whether the answer holds reasoning, however short."""

    @property
    def cell(self) -> Cell:
        """The cell that the document is a sample of."""
        return (self.family, self.format, self.difficulty, self.horizon)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many documents stand behind a number.

    `failed` (request error), `not_asked` (cannot fit) and `missing` (no answer yet) have no score; `truncated`
    ones were cut at the output cap and are scored.
    """

    documents: int = 0
    scored: int = 0
    failed: int = 0
    not_asked: int = 0
    missing: int = 0
    truncated: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.documents + other.documents,
            self.scored + other.scored,
            self.failed + other.failed,
            self.not_asked + other.not_asked,
            self.missing + other.missing,
            self.truncated + other.truncated,
        )


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with what stands behind it: None where nothing is scored, no interval where none can be computed."""

    value: float | None
    interval: Interval | None
    counts: Counts
    cells: int


@dataclass(frozen=True, slots=True)
class Decrease:
    """A relative decrease over models, read both ways, as fractions; None where no model has both ends."""

    mean: float | None
    """The mean of the models' own relative decreases."""
    of_means: float | None
    """The relative decrease of the models' mean."""
    models: tuple[str, ...]


def counts(documents: Iterable[Document]) -> Counts:
    """Count documents by what became of them."""
    found = list(documents)
    return Counts(
        documents=len(found),
        scored=sum(document.accuracy is not None for document in found),
        failed=sum(document.status == "failed" for document in found),
        not_asked=sum(document.status == "not_asked" for document in found),
        missing=sum(document.status == "missing" for document in found),
        truncated=sum(document.finish_reason == "length" for document in found),
    )


def by_cell(documents: Iterable[Document], measure: str = "accuracy") -> dict[Cell, list[float]]:
    """Gather the documents' scores by cell, in the order of cells and samples; what has no score is left out.

    Args:
        measure: `accuracy` (fraction of records that are correct) or `complete` (1 where all are).
    """
    cells: dict[Cell, list[float]] = defaultdict(list)
    for document in sorted(documents, key=lambda document: (document.cell, document.sample)):
        value = document.accuracy if measure == "accuracy" else document.complete
        if value is not None:
            cells[document.cell].append(float(value))
    return dict(cells)


def macro_average(cells: Mapping[Cell, Sequence[float]]) -> float | None:
    """Mean over the documents of a cell, then every cell weighs the same (Section 2, Appendix B)."""
    filled = [values for values in cells.values() if values]
    if not filled:
        return None
    return round(math.fsum(math.fsum(values) / len(values) for values in filled) / len(filled), DIGITS)


def bootstrap(cells: Mapping[Cell, Sequence[float]], key: str) -> Interval | None:
    """95% percentile interval of the macro average, documents resampled inside their cell.

    The draws depend on `key` and the cells' sizes alone, so one model's interval never changes with another's.
    There is none when a cell holds a single document: how documents of that cell vary is then unknown.
    With the papers' five documents a cell the interval is some 10% too narrow, as every small bootstrap is.
    """
    sizes = [len(values) for values in cells.values() if values]
    if not sizes or min(sizes) < 2:
        return None
    values = np.concatenate([np.asarray(values, dtype=np.float64) for values in cells.values() if values])
    weights = np.repeat([1 / (size * len(sizes)) for size in sizes], sizes)
    means = (values[_resampled(sizes, key)] * weights).sum(axis=1)
    return _percentiles(means)


def clustered(groups: Sequence[tuple[float, float]], key: str) -> Interval | None:
    """95% percentile interval of a weighted mean, whole groups resampled.

    SciTrek's questions of a collection share its context, so that they are not independent: a collection is a group.

    Args:
        groups: for each group the sum of its values and of its weights.
        key: seeds the draws.

    Returns:
        None with fewer than two groups, or where all have one mean, so that how groups vary is unknown.
    """
    if len({round(total / weight, DIGITS) for total, weight in groups}) < 2:
        return None
    sums, weights = np.asarray(groups, dtype=np.float64).T
    picks = _resampled([len(groups)], key)
    return _percentiles(sums[picks].sum(axis=1) / weights[picks].sum(axis=1))


def estimate(documents: Sequence[Document], measure: str = "accuracy") -> Estimate:
    """Macro average of one model's documents, with its interval and counts."""
    cells = by_cell(documents, measure)
    models = sorted({document.model for document in documents})
    return Estimate(
        value=macro_average(cells),
        interval=bootstrap(cells, f"{models} {measure} {sorted(cells)}"),
        counts=counts(documents),
        cells=len(cells),
    )


def position_curve(
    documents: Sequence[Document], bins: Mapping[str, Sequence[float | None]], key: str
) -> list[Estimate]:
    """Mean over documents in each bin of the required output (Figures 5 and 7), with intervals.

    Args:
        documents: one model's documents.
        bins: per document id, the mean of its records in each bin; None where a short document has no record.
        key: seeds the intervals, beside the documents' cells.

    Returns:
        One estimate a bin. Documents are resampled inside their cell; a bin has no interval when some cell has
        a single document with a record in it.
    """
    found = sorted(
        (document for document in documents if document.id in bins),
        key=lambda document: (document.cell, document.sample),
    )
    if not found:
        return []
    values = np.array([bins[document.id] for document in found], dtype=np.float64)
    sizes = _sizes(document.cell for document in found)
    means = _resampled_means(values, _resampled(sizes, key)) if min(sizes) > 1 else None
    edges = np.cumsum([0, *sizes])
    all_counts = counts(documents)
    curve = []
    for place in range(values.shape[1]):
        column = values[:, place]
        here = ~np.isnan(column)
        enough = all(here[low:high].sum() != 1 for low, high in pairwise(edges))
        curve.append(
            Estimate(
                value=round(math.fsum(column[here]) / int(here.sum()), DIGITS) if here.any() else None,
                interval=_percentiles(means[:, place]) if means is not None and enough else None,
                counts=all_counts,
                cells=len(sizes),
            )
        )
    return curve


def wilson(successes: int, trials: int) -> Interval | None:
    """95% Wilson score interval of a proportion; None without trials."""
    if trials == 0:
        return None
    share = successes / trials
    scale = 1 + Z**2 / trials
    centre = (share + Z**2 / (2 * trials)) / scale
    half = Z * math.sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2)) / scale
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(round(low, DIGITS), round(high, DIGITS))


def relative_decrease(first: Mapping[str, float | None], last: Mapping[str, float | None]) -> Decrease:
    """How far accuracy falls from a first setting to a last, over the models that have both.

    The paper says "averaged over all models" and leaves open which average; both are given. A model that
    scores nothing at the first setting has no relative decrease and is left out.
    """
    ends = {
        model: (start, stop)
        for model in sorted(first)
        if (start := first[model]) and (stop := last.get(model)) is not None
    }
    if not ends:
        return Decrease(None, None, ())
    own = math.fsum(1 - stop / start for start, stop in ends.values()) / len(ends)
    starts = math.fsum(start for start, _ in ends.values())
    stops = math.fsum(stop for _, stop in ends.values())
    return Decrease(round(own, DIGITS), round(1 - stops / starts, DIGITS), tuple(ends))


def _sizes(cells: Iterable[Cell]) -> list[int]:
    sizes: dict[Cell, int] = defaultdict(int)
    for cell in cells:
        sizes[cell] += 1
    return list(sizes.values())


def _resampled(sizes: Sequence[int], key: str) -> NDArray[np.int64]:
    """Indices of resampled documents, shape (RESAMPLES, documents).

    Raw output of PCG64, whose stream numpy guarantees across versions, is scaled with integers alone.
    """
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16])
    total = sum(sizes)
    raw = np.random.PCG64(seed).random_raw(RESAMPLES * total).reshape(RESAMPLES, total)
    size = np.repeat(np.asarray(sizes, dtype=np.uint64), sizes)
    start = np.repeat(np.cumsum([0, *sizes[:-1]], dtype=np.int64), sizes)
    shift = np.uint64(32)
    picks: NDArray[np.int64] = start + (((raw >> shift) * size) >> shift).astype(np.int64)
    return picks


def _resampled_means(values: NDArray[np.float64], picks: NDArray[np.int64]) -> NDArray[np.float64]:
    present = ~np.isnan(values)
    filled = np.where(present, values, 0.0)
    sums = np.stack([filled[pick].sum(axis=0) for pick in picks])
    sizes = np.stack([present[pick].sum(axis=0) for pick in picks])
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = sums / sizes
    return means


def _percentiles(means: NDArray[np.float64]) -> Interval | None:
    finite = np.sort(means[~np.isnan(means)])
    if len(finite) == 0:
        return None
    tail = (1 - LEVEL) / 2
    low = finite[math.floor(tail * (len(finite) - 1))]
    high = finite[math.ceil((1 - tail) * (len(finite) - 1))]
    return Interval(round(float(low), DIGITS), round(float(high), DIGITS))
