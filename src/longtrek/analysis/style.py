"""One look for all figures: page, type, and each model's colour, marker and line."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import matplotlib as mpl
import yaml
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

WIDTH = 7.1
"""Full page width, inches."""
INK, FAINT, PALE = "#1A1A1A", "#595959", "#EFEFEF"
LINE = 1.4
EDGED: dict[str, Any] = {"ms": 6, "mec": "white", "mew": 0.7}
"""A marker's size and its white edge, which parts it from the lines behind it, in colour and in grey."""
FAMILY, LEGEND_SIZE = "DejaVu Sans", 7

RC = {
    "font.family": FAMILY,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": LEGEND_SIZE,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "text.color": INK,
    "lines.linewidth": LINE,
    "lines.markersize": 4.5,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "pdf.fonttype": 3,
    "svg.fonttype": "path",
    "svg.hashsalt": "longtrek",
    "path.simplify": False,
}


@dataclass(frozen=True)
class Look:
    """How a model is drawn everywhere: its colour, marker and dashes (points on, points off, …)."""

    colour: str
    marker: str
    dashes: tuple[float, ...]

    @property
    def line(self) -> Any:
        """The line style as matplotlib takes it."""
        return (0, self.dashes) if self.dashes else "-"


def page() -> AbstractContextManager[None]:
    """The kit's figure settings, for as long as the context lasts, whatever the user's own are."""
    settings: Any = dict(mpl.rcParamsDefault.items()) | RC
    del settings["backend"]  # not ours to change: figures are made without pyplot, each file by its own canvas
    return mpl.rc_context(settings)


@cache
def _table() -> Any:
    return yaml.safe_load(resources.files(__package__).joinpath("models.yaml").read_text(encoding="utf-8"))


def in_order(models: Iterable[str]) -> tuple[str, ...]:
    """Models in the papers' order, then the others by name."""
    listed = [entry["name"] for entry in _table()["models"]]
    found = set(models)
    return tuple([name for name in listed if name in found] + sorted(found - set(listed)))


def looks(models: Sequence[str]) -> dict[str, Look]:
    """Each model's look; one that is not listed takes a spare look, so that no two of a figure are the same."""
    table = _table()
    known = {entry["name"]: entry for entry in table["models"]}
    strange = sorted(set(models) - set(known))
    spare = {name: table["spare"][place % len(table["spare"])] for place, name in enumerate(strange)}
    entries = {name: known.get(name) or spare[name] for name in models}
    return {name: Look(entry["colour"], entry["marker"], tuple(entry["line"])) for name, entry in entries.items()}


@cache
def text_width(text: str, size: float) -> float:
    """Inches that a line takes in the figures' type of `size` points, by the font's own measures: no screen enters."""
    font = FontProperties(family=FAMILY, size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def wrapped(text: str, size: float, width: float) -> list[str]:
    """Break a text at its spaces, but not at those that must not break, into lines of at most `width` inches."""
    lines: list[str] = []
    for word in filter(None, text.split(" ")):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


CHECK = "check: reference solver (gold output)"
"""What the reference solver is called in figures."""


def check_look() -> Look:
    """How the reference solver is drawn: a dashed grey line without markers, never as a model."""
    return Look(_table()["check"]["colour"], "", (3, 2))


def horizon_name(horizon: int) -> str:
    """A horizon in the papers' words: 4096 is 4K."""
    return f"{horizon // 1024}K" if horizon % 1024 == 0 else str(horizon)


def span(names: Sequence[str], whole: Sequence[str]) -> str:
    """Some of an axis's ticks in words: neighbours as a range (`8K–128K`), others as a list."""
    places = [whole.index(name) for name in names if name in whole]
    if len(places) == len(names) > 1 and places == list(range(places[0], places[0] + len(places))):
        return f"{names[0]}–{names[-1]}"
    return ", ".join(names)
