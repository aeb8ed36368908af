"""Prompts as figures: each file in a box as it is sent, placeholders in colour."""

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from longtrek.analysis.panels import LINE_HEIGHT, NOTE_SIZE, NOTE_WIDTH, write_footer
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.style import FAINT, INK, WIDTH, wrapped
from longtrek.scitrek.prompts import FOLDER, Prompt, prompt

MARK = "#B34700"
CHARACTER = 16 / 300
"""Inches of a character: a whole number of dots in the PNG, or hinting would widen lines there."""
SIZE = CHARACTER * 72 / (1233 / 2048)
"""Points at which a character of DejaVu Sans Mono, 1233 of 2048 units wide, has that width."""
LINE = SIZE * 1.32 / 72
EDGE, PAD, HEAD, BETWEEN = 0.09, 0.09, 0.2, 0.1
COLUMNS = int((WIDTH - 2 * EDGE - 2 * PAD) / CHARACTER)
_PLACEHOLDER = re.compile(r"(\{[a-z_]+\})")


def prompts_of(run: SciTrekRun, names: Sequence[str]) -> list[Prompt]:
    """The prompt files of a figure, from the run's folder or the kit's own."""
    return [prompt(name, run.prompts or Path(FOLDER)) for name in names]


def draw(run: SciTrekRun, title: str, names: Sequence[str], note: str) -> Figure:
    """Draw prompts under one another, lines broken where they are too long for the page."""
    found = prompts_of(run, names)
    folded = [_folded(one) for one in found]
    footer = [*wrapped(note, NOTE_SIZE, NOTE_WIDTH), f"Colour marks what is filled in. Run: {run.kind}."]
    heights = [HEAD + LINE * len(lines) + 2 * PAD for lines in folded]
    foot = 0.1 + LINE_HEIGHT * len(footer)
    whole = 0.32 + sum(heights) + BETWEEN * (len(heights) - 1) + 0.08 + foot
    figure = Figure(figsize=(WIDTH, whole))
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, whole))
    axes.set_axis_off()
    axes.text(EDGE, whole - 0.16, title, size=9, weight="bold", va="center")
    top = whole - 0.32
    for one, lines, height in zip(found, folded, heights, strict=True):
        _box(axes, one, lines, top, height)
        top -= height + BETWEEN
    write_footer(figure, footer)
    return figure


def numbers(run: SciTrekRun, names: Sequence[str]) -> list[dict[str, object]]:
    """The prompts line by line, with each file's SHA-256, which goes with every answer."""
    return [
        {"prompt": one.name, "sha256": one.sha256, "line": place, "text": line}
        for one in prompts_of(run, names)
        for place, line in enumerate(one.text.split("\n"), 1)
    ]


def _folded(one: Prompt) -> list[str]:
    lines: list[str] = []
    for line in one.text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2) if line.lstrip().startswith("-") else ""
        lines += textwrap.wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return lines


def _box(axes: Any, one: Prompt, lines: Sequence[str], top: float, height: float) -> None:
    shape = "round,pad=0,rounding_size=0.05"
    box = (EDGE, top - height)
    axes.add_patch(FancyBboxPatch(box, WIDTH - 2 * EDGE, height, boxstyle=shape, fc="#FAFAFA", ec="#AAAAAA", lw=0.8))
    axes.text(EDGE + PAD, top - 0.13, one.name, size=7, weight="bold", va="center", color=FAINT)
    y = top - HEAD - PAD - LINE * 0.4
    for line in lines:
        _line(axes, EDGE + PAD, y, line)
        y -= LINE


def _line(axes: Any, x: float, y: float, line: str) -> None:
    for part in _PLACEHOLDER.split(line):
        marked = _PLACEHOLDER.fullmatch(part) is not None
        if part.strip():
            axes.text(
                x, y, part.replace("$", r"\$"), size=SIZE, family="DejaVu Sans Mono", va="center",
                color=MARK if marked else INK, weight="bold" if marked else "normal",
            )  # fmt: skip
        x += CHARACTER * len(part)
