"""Figure 7 of Long-Transduction: accuracy over the course of the output, for all twelve task variants."""

from matplotlib.figure import Figure

from longtrek.analysis import curves
from longtrek.analysis.axes import VARIANTS
from longtrek.analysis.curves import Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run

READS = ("documents", "records")
CAPTION = (
    "Accuracy over the course of the required output at the largest horizon, for each of the twelve task variants, all "
    "difficulties together. Expected records are put into 20 equal bins, averaged inside a document and bin, then over "
    "documents. Columns compare formats, rows families. A model that ends at a smaller horizon has no curve."
)


def panels(run: Run) -> list[Panel]:
    """A panel for each variant, in the paper's order."""
    axis = curves.position_axis()
    made = []
    for letter, ((family, form), title) in zip("abcdefghijkl", VARIANTS.items(), strict=True):
        found = curves.by_position(run, "correct", run.horizon, family=family, format=form)
        made.append(Panel(letter, title, "position", axis, "accuracy", found))
    return made


def draw(run: Run) -> Figure:
    """Draw four rows of three."""
    return sheet(run, panels(run), 3, 1.2, f"Accuracy by position, all variants, {curves.at_horizon(run)}")


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))
