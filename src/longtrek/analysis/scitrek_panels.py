"""Panels of SciTrek's Figure 2: scores of models by category, a dot a model with its interval."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from longtrek.analysis.panels import (
    LEGEND_TOP,
    LINE_HEIGHT,
    NOTE_SIZE,
    NOTE_WIDTH,
    legend_height,
    write_footer,
    write_legend,
)
from longtrek.analysis.scitrek_cells import Score, score
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series
from longtrek.analysis.style import CHECK, EDGED, FAINT, PALE, WIDTH, Look, check_look, looks, wrapped

LEFT, RIGHT = 0.52, 0.1
ABOVE, BELOW = 0.28, 0.36


@dataclass(frozen=True)
class Category:
    """A place on the axis: its label, and which rows belong there."""

    label: str
    holds: Callable[[Row], bool]


@dataclass(frozen=True)
class Panel:
    """Scores by category: for each series one score a category."""

    letter: str
    title: str
    by: str
    categories: tuple[Category, ...]
    scores: tuple[tuple[Series, tuple[Score, ...]], ...]


def panel(run: SciTrekRun, letter: str, by: str, categories: Sequence[Category], series: Sequence[Series]) -> Panel:
    """Score every series in every category; `by` names the categories, such as `topic`."""
    scores = [
        (one, tuple(score((row for row in one.rows if place.holds(row)), run.column) for place in categories))
        for one in series
    ]
    return Panel(letter, f"by {by}", by, tuple(categories), tuple(scores))


def sheet(panels: Sequence[Panel], title: str, ylabel: str, height: float, paragraphs: Sequence[str]) -> Figure:
    """Draw panels one under another, `height` inches each, with the legend above and the notes below."""
    series = [one for one, _ in panels[0].scores]
    look = looks([one.model for one in series if not one.check])
    handles = _legend(series, look)
    lines = [line for text in paragraphs for line in wrapped(text, NOTE_SIZE, NOTE_WIDTH)]
    head = LEGEND_TOP + legend_height(handles)
    foot = 0.1 + LINE_HEIGHT * len(lines)
    each = ABOVE + height + BELOW
    whole = head + each * len(panels) + foot
    figure = Figure(figsize=(WIDTH, whole))
    for place, one in enumerate(panels):
        bottom = foot + each * (len(panels) - place - 1) + BELOW
        box = (LEFT / WIDTH, bottom / whole, (WIDTH - LEFT - RIGHT) / WIDTH, height / whole)
        _draw(figure.add_axes(box), one, look, ylabel)
    figure.text(0.012, 1 - 0.16 / whole, title, size=9, weight="bold", va="center")
    if handles:
        write_legend(figure, handles)
    write_footer(figure, lines)
    return figure


def _draw(axes: Any, one: Panel, look: dict[str, Look], ylabel: str) -> None:
    count = len(one.categories)
    axes.set(xlim=(-0.5, max(count, 1) - 0.5), ylim=(-4, 104))
    axes.set_xticks(range(count), [textwrap.fill(place.label.replace("+", "+ "), 14) for place in one.categories])
    axes.tick_params(axis="x", length=2)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_ylabel(ylabel)
    axes.yaxis.set_label_coords(-0.36 / (axes.get_position().width * WIDTH), 0.5)
    axes.set_title(f"({one.letter}) {one.title}", pad=5)
    for edge in range(1, count):
        axes.axvline(edge - 0.5, color="#CCCCCC", lw=0.6, zorder=0.5)
    models = [(series, scores) for series, scores in one.scores if not series.check]
    for place in range(count):
        if all(scores[place].value is None for _, scores in models):
            axes.axvspan(place - 0.5, place + 0.5, color=PALE, lw=0, zorder=0)
            axes.text(place, 50, "no answers", ha="center", va="center", size=7, color=FAINT, style="italic")
    step = 0.8 / max(1, len(models))
    for number, (series, scores) in enumerate(models):
        _points(axes, look[series.model], scores, (number - (len(models) - 1) / 2) * step)
    for series, scores in one.scores:
        if series.check:
            _lines(axes, scores)


def _points(axes: Any, look: Look, scores: Sequence[Score], shift: float) -> None:
    for place, found in enumerate(scores):
        if found.value is None:
            continue
        if found.interval:
            low, high = found.interval.low, found.interval.high
            axes.vlines(place + shift, low, high, color=look.colour, lw=0.9, zorder=2)
        axes.plot(
            [place + shift], [found.value], ls="none", color=look.colour, marker=look.marker, **EDGED,
            zorder=3, clip_on=False,
        )  # fmt: skip


def _lines(axes: Any, scores: Sequence[Score]) -> None:
    look = check_look()
    for place, found in enumerate(scores):
        if found.value is not None:
            axes.hlines(found.value, place - 0.5, place + 0.5, color=look.colour, ls=look.line, lw=1.2, zorder=1.8)


def _legend(series: Sequence[Series], look: dict[str, Look]) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], color=look[one.model].colour, marker=look[one.model].marker, ls="none", ms=5.5, label=one.label)
        for one in series
        if not one.check
    ]
    if any(one.check for one in series):
        check = check_look()
        handles.append(Line2D([], [], color=check.colour, ls=check.line, lw=1.2, label=CHECK))
    return handles


def numbers(panels: Sequence[Panel]) -> list[dict[str, object]]:
    """What the panels show, as rows: a score a model and category, with the samples behind it."""
    return [
        {
            "panel": one.letter,
            "by": one.by,
            "category": place.label,
            "model": series.model,
            "label": series.label,
            "check": str(series.check).lower(),
            "score": found.value,
            "low": found.interval.low if found.interval else None,
            "high": found.interval.high if found.interval else None,
            "questions": len(found.rows),
            **{name: sum(row[name] for row in found.rows) for name in ("asked", "answered", "failed", "truncated")},
        }
        for one in panels
        for series, scores in one.scores
        for place, found in zip(one.categories, scores, strict=True)
    ]
