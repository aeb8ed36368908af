"""What a figure shows, as numbers: panels of curves, each point an estimate with its counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from longtrek.analysis.axes import PAPER_HORIZON, Axis
from longtrek.analysis.run import IMPORTED, Run
from longtrek.analysis.statistics import BINS, Counts, Document, Estimate, counts, estimate, position_curve
from longtrek.analysis.style import horizon_name, in_order

EMPTY = Estimate(None, None, Counts(), 0)
Lookup = Callable[[str, int], float | None]


@dataclass(frozen=True)
class Point:
    """One point: its place on the axis, the estimate, and the published value where the paper's text gives it."""

    x: float
    tick: str
    estimate: Estimate
    horizons: tuple[int, ...]
    published: float | None = None


@dataclass(frozen=True)
class Curve:
    """A model's points in a panel, and the documents behind them; `horizon` only where it is not the figure's."""

    model: str
    check: bool
    horizon: int | None
    points: tuple[Point, ...]
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Panel:
    """A panel: how it is read, and its curves in the papers' order, checks last."""

    letter: str
    title: str
    kind: Literal["line", "dots", "position"]
    axis: Axis
    ylabel: str
    curves: tuple[Curve, ...]
    remark: str = ""

    @property
    def counts(self) -> Counts:
        """The documents of the panel's models, without checks."""
        return sum((counts(curve.documents) for curve in self.curves if not curve.check), Counts())


def nothing_published(_model: str, _place: int) -> float | None:
    """For a panel of which the paper's text gives no number."""
    return None


def along(
    run: Run,
    axis: Axis,
    horizon: int | None,
    published: Lookup = nothing_published,
    known: Sequence[str] = (),
    fall_back: bool = False,
    **wanted: object,
) -> tuple[Curve, ...]:
    """Curves of macro averages along an axis, one a model.

    Args:
        horizon: the horizon of the documents, or None for all.
        published: the published value of a model at a tick.
        known: models with published values, which get a curve even without answers.
        fall_back: show a model that has nothing at the horizon at its own largest one, as the paper shows Olmo.
        wanted: what the documents have in common, such as `family`.
    """
    curves = []
    for model in (*in_order({*run.models, *known}), *run.checks):
        at = _reached(run, model, horizon) if fall_back else horizon
        documents = run.select(model, **wanted, **({} if at is None else {"horizon": at}))
        points = [
            _point(place, tick, [doc for doc in documents if axis.place(doc) == place], published(model, place))
            for place, tick in enumerate(axis.ticks)
        ]
        other = at if at != horizon else None
        curves.append(Curve(model, model in run.checks, other, tuple(points), tuple(documents)))
    return tuple(curves)


def by_position(run: Run, measure: str, horizon: int | None, **wanted: object) -> tuple[Curve, ...]:
    """Curves over the required output in 20 equal bins (Figures 5 and 7, Appendix B), one a model."""
    curves = []
    for model in (*run.models, *run.checks):
        documents = run.select(model, **wanted, **({} if horizon is None else {"horizon": horizon}))
        bins = run.positions(model, measure, documents)
        key = f"{model} {run.rule} {measure} {sorted({document.cell for document in documents})}"
        found = position_curve(documents, bins, key) or [EMPTY] * BINS
        points = [
            Point(100 * (place + 0.5) / BINS, _part(place), value, horizons_of(documents))
            for place, value in enumerate(found)
        ]
        curves.append(Curve(model, model in run.checks, None, tuple(points), tuple(documents)))
    return tuple(curves)


def position_axis() -> Axis:
    """The required output from its first record to its last, in percent."""
    return Axis("position in the required output (%)", (), lambda _document: 0)


def at_horizon(run: Run) -> str:
    """The horizon shown, in words; names the paper's where it is another."""
    if run.horizon is None:
        return f"no answers yet (paper: {horizon_name(PAPER_HORIZON)} nominal tokens)"
    if run.horizon == PAPER_HORIZON:
        return f"at {horizon_name(run.horizon)} nominal tokens"
    return f"at {horizon_name(run.horizon)} nominal tokens (paper: {horizon_name(PAPER_HORIZON)})"


def _part(place: int) -> str:
    return f"{100 * place // BINS}–{100 * (place + 1) // BINS}%"


def _point(place: int, tick: str, documents: Sequence[Document], published: float | None) -> Point:
    return Point(place, tick.replace("\n", " "), estimate(documents), horizons_of(documents), published)


def horizons_of(documents: Sequence[Document]) -> tuple[int, ...]:
    """The horizons of documents, ascending."""
    return tuple(sorted({document.horizon for document in documents}))


def _reached(run: Run, model: str, horizon: int | None) -> int | None:
    own = run.horizons(model)
    if horizon is None or not own or horizon in own:
        return horizon
    return max(own)


def numbers(run: Run, panels: Sequence[Panel]) -> list[dict[str, object]]:
    """What the panels show as rows: one a point that has documents behind it or a published value."""
    rows: list[dict[str, object]] = []
    for panel in panels:
        for curve in panel.curves:
            for point in curve.points:
                if point.estimate.counts.documents or point.published is not None:
                    place = {"panel": panel.letter, "title": panel.title, "x": point.tick}
                    row = number_row(run, curve.model, curve.check, point.horizons, point.estimate, point.published)
                    rows.append(place | row)
    return rows


def number_row(
    run: Run, model: str, check: bool, horizons: tuple[int, ...], found: Estimate, published: float | None
) -> dict[str, object]:
    """An estimate as a row of a CSV: its value and interval, what stands behind it, and the published value."""
    return {
        "model": model,
        "check": str(check).lower(),
        "imported": str(run.label(model).endswith(IMPORTED)).lower(),
        "run": run.kind,
        "rule": run.rule,
        "horizon": " ".join(map(str, horizons)) or None,
        "value": found.value,
        "low": found.interval.low if found.interval else None,
        "high": found.interval.high if found.interval else None,
        "cells": found.cells,
        "documents": found.counts.documents,
        "scored": found.counts.scored,
        "failed": found.counts.failed,
        "not_asked": found.counts.not_asked,
        "missing": found.counts.missing,
        "truncated": found.counts.truncated,
        "published": published,
    }
