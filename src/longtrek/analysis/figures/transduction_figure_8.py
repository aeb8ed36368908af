"""Figure 8 of Long-Transduction: every variant and model as a heat map."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from longtrek.analysis import curves
from longtrek.analysis.axes import VARIANTS
from longtrek.analysis.panels import LINE_HEIGHT, footer, write_footer
from longtrek.analysis.run import Run
from longtrek.analysis.statistics import Document, Estimate, estimate
from longtrek.analysis.style import FAINT, INK, WIDTH, horizon_name, text_width

READS = ("documents",)
CAPTION = (
    "Accuracy of every task variant and model at the largest horizon, mean over difficulties and samples. Grey dashes "
    "mark models that have no scored answers there. A dagger marks cells in which every record of every "
    "document is wrong."
)
COLOURS = "cividis"
ROW, COLUMN, SLANT = 0.26, 1.3, 40
"""Inches of a row and of the widest column; degrees at which models are named."""


@dataclass(frozen=True)
class Square:
    """One cell of the map and the documents behind it."""

    model: str
    check: bool
    variant: tuple[str, str]
    estimate: Estimate
    documents: tuple[Document, ...]


def squares(run: Run) -> list[Square]:
    """All squares, model by model in the papers' order, checks last."""
    made = []
    for model in (*run.models, *run.checks):
        for family, form in VARIANTS:
            documents = run.select(model, family=family, format=form, horizon=run.horizon)
            made.append(Square(model, model in run.checks, (family, form), estimate(documents), tuple(documents)))
    return made


def draw(run: Run) -> Figure:
    """Draw the map with its numbers in the squares."""
    found = squares(run)
    models = [*run.models, *run.checks]
    documents = [document for square in found for document in square.documents]
    lines = footer(run, documents, _notes(run, found))
    foot = 0.08 + LINE_HEIGHT * len(lines)
    labels = ["check: gold output" if model in run.checks else run.label(model) for model in models]
    top, left, right = 0.5 + max(map(_risen, labels), default=0), 2.05, 0.75
    height = ROW * len(VARIANTS) + top + foot
    width = min(COLUMN * len(models), WIDTH - left - right)
    figure = Figure(figsize=(WIDTH, height))
    box = (left / WIDTH, foot / height, width / WIDTH, ROW * len(VARIANTS) / height)
    axes = figure.add_axes(box)
    _fill(axes, found, models)
    axes.set_xticks([x + 0.5 for x in range(len(models))], labels, rotation=SLANT, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.set_yticks([y + 0.5 for y in range(len(VARIANTS))], list(VARIANTS.values()))
    axes.tick_params(length=0)
    for name in ("left", "bottom"):
        axes.spines[name].set_visible(False)
    _bar(figure, (left + width + 0.15) / WIDTH, foot / height, ROW * len(VARIANTS) / height)
    title = f"Accuracy by variant and model {curves.at_horizon(run)}"
    figure.text(0.012, 1 - 0.16 / height, title, size=9, weight="bold", va="center")
    write_footer(figure, lines)
    return figure


def _risen(label: str) -> float:
    """Inches that a slanted label rises above the map."""
    return text_width(label, 7) * math.sin(math.radians(SLANT))


def numbers(run: Run) -> list[dict[str, object]]:
    """What the map shows, as rows."""
    return [
        {"family": square.variant[0], "format": square.variant[1]}
        | curves.number_row(
            run, square.model, square.check, curves.horizons_of(square.documents), square.estimate, None
        )
        for square in squares(run)
    ]


def _fill(axes: Any, found: Sequence[Square], models: Sequence[str]) -> None:
    axes.set(xlim=(0, len(models)), ylim=(len(VARIANTS), 0))
    axes.grid(False)
    places = {variant: row for row, variant in enumerate(VARIANTS)}
    for square in found:
        x, y, value = models.index(square.model), places[square.variant], square.estimate.value
        colour = colormaps[COLOURS](value) if value is not None else "#F2F2F2"
        axes.add_patch(Rectangle((x, y), 1, 1, fc=colour, ec="white", lw=1.2))
        words = "–" if value is None else f"{value:.3f}" + ("†" if value == 0 else "")
        ink = FAINT if value is None else INK if value > 0.5 else "#F2F2F2"
        axes.text(x + 0.5, y + 0.52, words, ha="center", va="center", size=7, color=ink)
    for line in (3, 6, 9):
        axes.axhline(line, color=INK, lw=0.8)
    checks = [place for place, model in enumerate(models) if any(s.model == model and s.check for s in found)]
    if checks:
        axes.axvline(checks[0], color="white", lw=5)


def _bar(figure: Figure, x: float, y: float, height: float) -> None:
    axes = figure.add_axes((x, y, 0.13 / WIDTH, height))
    steps = 64
    for step in range(steps):
        # each to the top, and the next one over it, so that no seam shows
        axes.axhspan(step / steps, 1, color=colormaps[COLOURS]((step + 0.5) / steps), lw=0)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[])
    axes.grid(False)
    axes.yaxis.tick_right()
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axes.yaxis.set_label_position("right")
    axes.set_ylabel("accuracy (fraction of records)")
    axes.spines[:].set_visible(False)


def _notes(run: Run, found: Sequence[Square]) -> list[str]:
    empty = [
        model for model in run.models if all(square.estimate.value is None for square in found if square.model == model)
    ]
    notes = []
    for model in empty:
        own = run.horizons(model)
        end = f"; its answers end at {horizon_name(max(own))}" if own else ""
        notes.append(f"{run.label(model)} has no scored answers at this horizon{end}.")
    if any(square.estimate.value == 0 and square.model in run.models for square in found):
        notes.append("† on the floor: no record of any document is right.")
    return notes
