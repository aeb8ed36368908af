"""Figure 1 of Long-Transduction: the loop of reading, mutating and writing that every task repeats."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from longtrek.analysis.panels import write_footer
from longtrek.analysis.run import Run
from longtrek.analysis.style import FAINT, INK, WIDTH

READS = ()
CAPTION = (
    "The loop that transduction tasks and long workflows share: read the next record's state from the context, apply "
    "the operation, append the result to the output. Here a stream of sums at its third record; what is written "
    "becomes context, and the place in the input must be kept until the last record."
)
RECORDS = (("[1]5+6", "[1]5+6=11"), ("[2]2+4-1", "[2]2+4-1=5"), ("[3]4+8-3+2", "[3]4+8-3+2=11"), ("[4]9-7", "[4]9-7=2"))
"""The paper's three example records of Appendix A, and one that has yet to be read."""
CURRENT = 2
HEIGHT = 2.75
READ, MUTATE, OUTPUT = "#0072B2", "#D55E00", "#009E73"


def draw(run: Run) -> Figure:
    """Draw context, operation and output stream, and the arrows between them; nothing is measured."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.set_axis_off()
    axes.text(
        0.09, HEIGHT - 0.16, "Read, mutate, output: the loop that is repeated", size=9, weight="bold", va="center"
    )
    _stream(axes, 0.35, "context (input records)", [source for source, _ in RECORDS], len(RECORDS), READ)
    _stream(axes, 5.05, "output so far", [made for _, made in RECORDS], CURRENT + 1, OUTPUT)
    _operation(axes)
    _arrow(axes, (2.1, 1.33), (2.72, 1.53), READ)
    axes.text(2.39, 1.68, "1 read", size=8, color=READ, ha="center", weight="bold")
    _arrow(axes, (4.38, 1.53), (5.0, 1.33), OUTPUT)
    axes.text(4.72, 1.68, "3 output", size=8, color=OUTPUT, ha="center", weight="bold")
    right, left, low = 5.9, 1.2, 0.5
    axes.plot([right, right, left, left], [0.82, low, low, 0.7], color=FAINT, lw=1.4, solid_joinstyle="round")
    _arrow(axes, (left, 0.6), (left, 0.84), FAINT)
    words = "repeat: next record, with a longer context – thousands of times, without losing the place"
    box = {"facecolor": "white", "edgecolor": "none", "pad": 4}
    axes.text((left + right) / 2, low, words, size=7, color=FAINT, ha="center", va="center", style="italic", bbox=box)
    write_footer(figure, [f"A drawing; no model's answers are shown. Run: {run.kind}."])
    return figure


def numbers(_run: Run) -> list[dict[str, object]]:
    """The records of the drawing, as rows."""
    return [{"step": step, "read": source, "output": made} for step, (source, made) in enumerate(RECORDS, 1)]


def _stream(axes: Any, x: float, title: str, records: list[str], written: int, colour: str) -> None:
    width, top = 1.7, 2.05
    axes.text(x + width / 2, top + 0.18, title, size=8, ha="center", va="center", weight="bold")
    for place, record in enumerate(records):
        y = top - 0.31 * (place + 1) + 0.06
        here = place == CURRENT
        edge = colour if here else "#AAAAAA"
        dashes = "-" if place < written else (0, (2, 2))
        axes.add_patch(_box(x, y, width, 0.25, "white", edge, 1.6 if here else 0.8, dashes))
        words = record if place < written else "…"
        axes.text(x + 0.12, y + 0.125, words, size=8, family="DejaVu Sans Mono", va="center", color=INK)


def _operation(axes: Any) -> None:
    axes.add_patch(_box(2.75, 1.05, 1.6, 0.95, "#FFF6EF", MUTATE, 1.4, "-"))
    axes.text(3.55, 1.82, "2 mutate", size=8, color=MUTATE, ha="center", va="center", weight="bold")
    axes.text(3.55, 1.53, "4+8-3+2 → 11", size=8, family="DejaVu Sans Mono", ha="center", va="center")
    axes.text(3.55, 1.24, "add, sort, look up, permute", size=6.5, color=FAINT, ha="center", va="center")


def _box(x: float, y: float, width: float, height: float, fill: str, edge: str, line: float, dashes: Any) -> Any:
    shape = "round,pad=0,rounding_size=0.05"
    return FancyBboxPatch((x, y), width, height, boxstyle=shape, fc=fill, ec=edge, lw=line, ls=dashes)


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=colour, lw=1.4, shrinkA=0, shrinkB=0)
    axes.add_patch(arrow)
