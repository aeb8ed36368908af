"""Figure 4 of Long-Transduction: accuracy by local difficulty."""

from matplotlib.figure import Figure

from longtrek.analysis import curves
from longtrek.analysis.axes import FAMILIES, difficulty_axis
from longtrek.analysis.curves import Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run

READS = ("documents",)
CAPTION = (
    "Accuracy by local difficulty at the largest horizon, mean over formats: operands, identifiers, and for tables the "
    "share of rows and columns moved (permutations) or of the vocabulary in use (variables). Variable lookup is in "
    "Figure 9a, the twelve variants one by one in Figure 6."
)
PANELS = {"a": "arithmetic", "b": "uuid_sort", "c": "table"}


def panels(run: Run) -> list[Panel]:
    """A panel for each of the three families."""
    return [
        Panel(
            letter,
            FAMILIES[family],
            "line",
            difficulty_axis(family),
            "accuracy",
            curves.along(run, difficulty_axis(family), run.horizon, fall_back=True, family=family),
        )
        for letter, family in PANELS.items()
    ]


def draw(run: Run) -> Figure:
    """Draw the three panels in a row."""
    return sheet(run, panels(run), 3, 1.65, f"Local difficulty {curves.at_horizon(run)}")


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))
