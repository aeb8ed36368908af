"""Drawing: panels of curves on one page, one legend, and a footer that says what was run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from longtrek.analysis.curves import Curve, Panel
from longtrek.analysis.run import Run, imported_note
from longtrek.analysis.statistics import Counts, Document, counts
from longtrek.analysis.style import (
    CHECK,
    EDGED,
    FAINT,
    INK,
    LEGEND_SIZE,
    PALE,
    WIDTH,
    Look,
    check_look,
    horizon_name,
    looks,
    span,
    text_width,
    wrapped,
)

NOTE_SIZE = 6.0
NOTE_WIDTH = WIDTH - 0.25
LINE_HEIGHT = 0.115
LEGEND_TOP, LEGEND_ROW = 0.27, 0.17
LEFT, BETWEEN, RIGHT = 0.52, 0.42, 0.13  # inches; placed by hand: a layout solver differs in its last bits
LEGEND_KEY = 0.47
"""Inches of a key with its gaps."""
HOLLOW: dict[str, Any] = {"ms": 7.5, "mew": 1, "zorder": 4}
"""A published value's marker, over ours."""


def sheet(
    run: Run, panels: Sequence[Panel], columns: int, panel_height: float, title: str, notes: Sequence[str] = ()
) -> Figure:
    """Draw panels in rows on a page of full width, with the legend above and the footer below.

    Args:
        panel_height: inches of each panel's own box.
        title: what all panels have in common, such as the horizon.
        notes: what a reader must know beside the caption; gaps and other horizons are added by themselves.
    """
    look = looks(_models(panels))
    handles = _legend(run, panels, look)
    lines = footer(run, _documents(panels), [*notes, *_remarks(run, panels)])
    head, foot = LEGEND_TOP + legend_height(handles), 0.1 + LINE_HEIGHT * len(lines)
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [max(map(_above, row)) + panel_height + max(map(_below, row)) for row in rows]
    height = head + sum(heights) + foot
    figure = Figure(figsize=(WIDTH, height))
    width = (WIDTH - LEFT - RIGHT - (columns - 1) * BETWEEN) / columns
    for number, row in enumerate(rows):
        bottom = foot + sum(heights[number + 1 :]) + max(map(_below, row))
        for column, panel in enumerate(row):
            left = LEFT + column * (width + BETWEEN)
            axes = figure.add_axes((left / WIDTH, bottom / height, width / WIDTH, panel_height / height))
            draw_panel(axes, panel, look, first_column=column == 0)
    figure.text(0.012, 1 - 0.16 / height, title, size=9, weight="bold", va="center")
    write_legend(figure, handles)
    write_footer(figure, lines)
    return figure


def _above(panel: Panel) -> float:
    """Inches that a panel's title and remark need."""
    return 0.28 + (0.13 if panel.remark else 0)


def _below(panel: Panel) -> float:
    """Inches that a panel's ticks and label need."""
    lines = max((tick.count("\n") + 1 for tick in panel.axis.ticks), default=1)
    return 0.1 + 0.12 * lines + (0.17 if panel.axis.label else 0)


def draw_panel(axes: Axes, panel: Panel, look: Mapping[str, Look], first_column: bool) -> None:
    """Draw one panel: gaps shaded, curves in the papers' order, checks as dashed grey."""
    drawn = [curve for curve in panel.curves if _has_values(curve)]
    models = [curve for curve in drawn if not curve.check]
    if panel.kind != "position":
        _discrete_axis(axes, panel)
    else:
        axes.set_xlim(0, 100)
        axes.set_xticks([0, 25, 50, 75, 100])
        if not models:
            axes.axvspan(0, 100, color=PALE, lw=0, zorder=0)
    step = {"line": min(0.12, 0.6 / max(1, len(models))), "dots": 0.8 / max(1, len(models)), "position": 0.0}
    for place, curve in enumerate(models):
        shift = (place - (len(models) - 1) / 2) * step[panel.kind]
        _draw_model(axes, panel, curve, look[curve.model], shift, band=min(0.14, 0.4 / len(models)))
    for curve in drawn:
        if curve.check:
            _draw_check(axes, panel, curve)
    axes.set_ylim(-0.04, 1.06)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axes.set_xlabel(panel.axis.label)
    if first_column:
        axes.set_ylabel(panel.ylabel)
        axes.yaxis.set_label_coords(-0.36 / (axes.get_position().width * WIDTH), 0.5)
    axes.set_title(f"({panel.letter}) {panel.title}", pad=14 if panel.remark else 5)
    if panel.remark:
        axes.annotate(panel.remark, (0, 1), (0, 4), "axes fraction", "offset points", size=6.5, color=FAINT)


def footer(run: Run, documents: Iterable[Document], notes: Sequence[str]) -> list[str]:
    """The lines under a figure: notes, then what was run."""
    paragraphs = [" ".join(notes), what_was_run(run, documents)]
    return [line for text in paragraphs for line in wrapped(text, NOTE_SIZE, NOTE_WIDTH)]


def what_was_run(run: Run, documents: Iterable[Document]) -> str:
    """The sentence that every artifact carries: models, rule, documents, quick or full."""
    of_models = [document for document in documents if not document.check]
    models = [_unbroken(run.label(model)) for model in run.models] or ["none"]
    checks = f" Check, not a model: {', '.join(run.checks)}." if run.checks else ""
    return (
        f"Models: {', '.join(models)}. Rule: {run.rule}. Documents: {in_words(counts(of_models))}. "
        f"{_unbroken(f'Run: {run.kind}.')}{checks}{imported_note(map(run.label, run.models))}"
    )


def _unbroken(words: str) -> str:
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def in_words(found: Counts) -> str:
    """Counts as a reader meets them in a footer."""
    asked = found.documents - found.not_asked
    words = [f"{found.scored:,} scored of {asked:,} asked"]
    words += [f"{found.failed:,} failed (no score)"] if found.failed else []
    words += [f"{found.not_asked:,} not asked (no score)"] if found.not_asked else []
    words += [f"{found.missing:,} without an answer yet (no score)"] if found.missing else []
    words += [f"{found.truncated:,} cut at the output cap"] if found.truncated else []
    return ", ".join(words)


def write_footer(figure: Figure, lines: Sequence[str]) -> None:
    """Set the footer's lines at the bottom of the page."""
    figure.text(
        0.012,
        0.03 / figure.get_figheight(),
        "\n".join(lines),
        size=NOTE_SIZE,
        color=FAINT,
        va="bottom",
        linespacing=1.25,
    )


def _discrete_axis(axes: Axes, panel: Panel) -> None:
    ticks = panel.axis.ticks
    axes.set_xlim(-0.5, len(ticks) - 0.5)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.tick_params(axis="x", length=2)
    empty = _empty_places(panel)
    for place in empty:
        axes.axvspan(place - 0.5, place + 0.5, color=PALE, lw=0, zorder=0)
    if panel.kind == "dots":
        for edge in range(1, len(ticks)):
            axes.axvline(edge - 0.5, color="#CCCCCC", lw=0.6, zorder=0.5)
    if empty and panel.axis.label.startswith("context horizon"):
        words = f"no answers yet\nat {span([ticks[place] for place in empty], ticks)}"
        middle = (empty[0] + empty[-1]) / 2
        axes.text(middle, 0.5, words, ha="center", va="center", size=7, color=FAINT, style="italic")


def _draw_model(axes: Axes, panel: Panel, curve: Curve, look: Look, shift: float, band: float) -> None:
    """Draw a model's points with their intervals, beside those of others by `shift`; bands as opaque as `band`."""
    points = [point for point in curve.points if panel.kind != "position" or point.estimate.value is not None]
    x = np.array([point.x + shift for point in points])
    estimates = [point.estimate for point in points]
    y = np.array([np.nan if found.value is None else found.value for found in estimates])
    low = np.array([found.interval.low if found.interval else np.nan for found in estimates])
    high = np.array([found.interval.high if found.interval else np.nan for found in estimates])
    if panel.kind == "position":
        axes.fill_between(x, low, high, color=look.colour, alpha=band, lw=0, zorder=1.5)
        axes.plot(x, y, color=look.colour, ls=look.line, marker=look.marker, ms=3, markevery=(2, 5), zorder=3)
    else:
        axes.vlines(x, low, high, color=look.colour, lw=0.9, zorder=2)
        if panel.kind == "line":
            axes.plot(x, y, color=look.colour, ls=look.line, zorder=2.5)
        axes.plot(x, y, color=look.colour, ls="none", marker=look.marker, **EDGED, zorder=3)
    published = [(point.x + shift, point.published) for point in curve.points if point.published is not None]
    if published:
        places, values = zip(*published, strict=True)
        (hollow,) = axes.plot(places, values, ls="none", marker=look.marker, mfc="none", mec=look.colour, **HOLLOW)
        hollow.set_path_effects([withStroke(linewidth=1.8, foreground="white")])


def _draw_check(axes: Axes, panel: Panel, curve: Curve) -> None:
    look = check_look()
    values = [(point.x, point.estimate.value) for point in curve.points if point.estimate.value is not None]
    if panel.kind == "position":
        axes.plot(*zip(*values, strict=True), color=look.colour, ls=look.line, lw=1.2, zorder=1.8)
    else:
        for x, value in values:
            axes.hlines(value, x - 0.5, x + 0.5, color=look.colour, ls=look.line, lw=1.2, zorder=1.8)


def _legend(run: Run, panels: Sequence[Panel], look: Mapping[str, Look]) -> list[Artist]:
    """Entries for models with answers, published values, the check and gaps; only what is drawn."""
    joined = any(panel.kind != "dots" for panel in panels)
    starred = {curve.model for panel in panels for curve in panel.curves if curve.horizon}
    handles: list[Artist] = []
    for model in _models(panels):
        entry = look[model]
        answered = any(_answered(c) for panel in panels for c in panel.curves if c.model == model)
        handles.append(
            Line2D(
                [], [], color=entry.colour, marker=entry.marker, ls=entry.line if joined and answered else "none",
                mfc=entry.colour if answered else "none", ms=5 if answered else 6,
                label=run.label(model) + ("*" if model in starred else ""),
            )
        )  # fmt: skip
    points = [point for panel in panels for curve in panel.curves for point in curve.points]
    if any(point.published is not None for point in points):
        handles.append(
            Line2D([], [], color=INK, marker="o", mfc="none", ms=6.5, ls="none", label="hollow: published value")
        )
    if any(curve.check and _answered(curve) for panel in panels for curve in panel.curves):
        check = check_look()
        handles.append(Line2D([], [], color=check.colour, ls=check.line, lw=1.2, label=CHECK))
    if any(_empty_places(panel) or not any(map(_answered, panel.curves)) for panel in panels):
        handles.append(Patch(color=PALE, label="no scored answers"))
    return handles


def legend_height(handles: Sequence[Artist]) -> float:
    """Inches that a legend's rows need."""
    return LEGEND_ROW * -(-len(handles) // _legend_columns(handles)) if handles else 0


def write_legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """Set the legend under the page's title, in as many columns as fit."""
    anchor = (0.008, 1 - LEGEND_TOP / figure.get_figheight())
    figure.legend(
        handles=handles, loc="upper left", ncols=_legend_columns(handles), bbox_to_anchor=anchor, borderaxespad=0,
        borderpad=0.2, columnspacing=1.4, handlelength=2.4,
    )  # fmt: skip


def _legend_columns(handles: Sequence[Artist]) -> int:
    """The most columns that fit the page; a legend fills its columns one after the other."""
    labels = [str(handle.get_label()) for handle in handles]
    for columns in range(len(labels), 1, -1):
        rows, longer = divmod(len(labels), columns)
        sizes = [rows + 1] * longer + [rows] * (columns - longer)
        starts = [sum(sizes[:place]) for place in range(columns)]
        widest = [
            max(text_width(label, LEGEND_SIZE) for label in labels[start : start + size])
            for start, size in zip(starts, sizes, strict=True)
        ]
        if sum(LEGEND_KEY + width for width in widest) <= WIDTH:
            return columns
    return 1


def _remarks(run: Run, panels: Sequence[Panel]) -> list[str]:
    """What the curves themselves call for: other horizons, gaps, missing intervals, floors."""
    curves = [curve for panel in panels for curve in panel.curves if not curve.check]
    starred = {curve.model: curve.horizon for curve in curves if curve.horizon}
    remarks = [
        f"* {run.label(model)} is shown at {horizon_name(at)}, its largest horizon with answers."
        for model, at in starred.items()
    ]
    gaps = _gaps(run, panels)
    remarks += [f"No scored answers: {'; '.join(gaps)}."] if gaps else []
    valued = [point.estimate for curve in curves for point in curve.points if point.estimate.value is not None]
    if valued:
        bare = sum(found.interval is None for found in valued)
        drawn = "Bars and bands: 95% bootstrap over documents, resampled inside their cell."
        none = "No interval where a cell holds a single document"
        remarks.append(drawn if not bare else f"{none}." if bare == len(valued) else f"{drawn} {none}.")
    floor = [found for found in valued if found.value == 0]
    if floor:
        remarks.append(f"On the floor: {len(floor)} of {len(valued)} points are exactly 0.")
    return remarks


def _gaps(run: Run, panels: Sequence[Panel]) -> list[str]:
    """Models that lack a point where another model has one, in words."""
    found: dict[tuple[str, str], list[str]] = {}
    for panel in panels:
        empty = _empty_places(panel)
        for curve in panel.curves:
            values = [point.estimate.value for point in curve.points]
            lacking = [place for place, value in enumerate(values) if value is None and place not in empty]
            if panel.kind == "position" and len(lacking) < len(values):
                continue  # documents shorter than the bins leave some without a record
            if lacking and curve.documents and not curve.check:
                where = f"({panel.letter})"
                if panel.axis.label.startswith("context"):
                    where += f" at {span([panel.axis.ticks[place] for place in lacking], panel.axis.ticks)}"
                found.setdefault((run.label(curve.model), _why(panel, curve, lacking)), []).append(where)
    letters = [f"({panel.letter})" for panel in panels]
    return [f"{model} in {span(where, letters)}{why}" for (model, why), where in found.items()]


def _why(panel: Panel, curve: Curve, lacking: Sequence[int]) -> str:
    there = [doc for doc in curve.documents if panel.kind == "position" or panel.axis.place(doc) in lacking]
    return " (does not fit)" if there and all(doc.status == "not_asked" for doc in there) else ""


def _empty_places(panel: Panel) -> list[int]:
    """Places on the axis at which no model has an answer."""
    models = [curve for curve in panel.curves if not curve.check]
    return [
        place
        for place in range(len(panel.axis.ticks))
        if all(curve.points[place].estimate.value is None for curve in models)
    ]


def _models(panels: Sequence[Panel]) -> list[str]:
    """Models that some panel draws, in the papers' order, checks left out."""
    drawn = {c.model: None for panel in panels for c in panel.curves if not c.check and _has_values(c)}
    order = [curve.model for curve in panels[0].curves]
    return sorted(drawn, key=order.index)


def _documents(panels: Sequence[Panel]) -> list[Document]:
    found = {(doc.model, doc.id): doc for panel in panels for curve in panel.curves for doc in curve.documents}
    return list(found.values())


def _answered(curve: Curve) -> bool:
    return any(point.estimate.value is not None for point in curve.points)


def _has_values(curve: Curve) -> bool:
    return _answered(curve) or any(point.published is not None for point in curve.points)
