"""Figure 6 of Long-Transduction: accuracy by local difficulty, for all twelve task variants."""

from matplotlib.figure import Figure

from longtrek.analysis import curves
from longtrek.analysis.axes import VARIANTS, difficulty_axis
from longtrek.analysis.curves import Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run

READS = ("documents",)
CAPTION = (
    "Accuracy by local difficulty at the largest horizon, for each of the twelve task variants. Columns compare "
    "formats, rows families. A model that ends at a smaller horizon has no point."
)


def panels(run: Run) -> list[Panel]:
    """A panel for each variant, in the paper's order."""
    made = []
    for letter, ((family, form), title) in zip("abcdefghijkl", VARIANTS.items(), strict=True):
        axis = difficulty_axis(family, form)
        found = curves.along(run, axis, run.horizon, family=family, format=form)
        made.append(Panel(letter, title, "line", axis, "accuracy", found))
    return made


def draw(run: Run) -> Figure:
    """Draw four rows of three."""
    return sheet(run, panels(run), 3, 1.2, f"Local difficulty, all variants, {curves.at_horizon(run)}")


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))
