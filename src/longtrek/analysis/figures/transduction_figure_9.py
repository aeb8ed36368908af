"""Figure 9 of Long-Transduction: the two marginals that Figures 3 and 4 leave out."""

from matplotlib.figure import Figure

from longtrek.analysis import curves
from longtrek.analysis.axes import FAMILIES, difficulty_axis, format_axis
from longtrek.analysis.curves import Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run

READS = ("documents",)
CAPTION = (
    "The marginals that Figures 3 and 4 leave out, at the largest horizon. (a) Variable lookup by size of the "
    "definition pool, mean over formats. (b) Table transform by operation, mean over difficulties. The paper labels "
    "panel (a) Arithmetic, but sends the reader of Figure 4 here for variable lookup."
)


def panels(run: Run) -> list[Panel]:
    """Lookup by difficulty and table by format."""
    pool, operation = difficulty_axis("lookup"), format_axis("table")
    lookup = curves.along(run, pool, run.horizon, fall_back=True, family="lookup")
    table = curves.along(run, operation, run.horizon, fall_back=True, family="table")
    return [
        Panel("a", f"{FAMILIES['lookup']} by difficulty", "line", pool, "accuracy", lookup),
        Panel("b", f"{FAMILIES['table']} by format", "line", operation, "accuracy", table),
    ]


def draw(run: Run) -> Figure:
    """Draw the two panels side by side."""
    return sheet(run, panels(run), 2, 1.65, f"Lookup difficulty and table format {curves.at_horizon(run)}")


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))
