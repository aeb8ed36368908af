"""Figure 3 of Long-Transduction: how much the input format matters, by family."""

from matplotlib.figure import Figure

from longtrek.analysis import curves, published
from longtrek.analysis.axes import FAMILIES, format_axis
from longtrek.analysis.curves import Curve, Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run
from longtrek.analysis.statistics import Decrease, relative_decrease

READS = ("documents",)
CAPTION = (
    "Accuracy by input format at the largest horizon, mean over difficulties, for the three families whose formats "
    "hold the same records. Each panel gives the relative decrease from ordered records with IDs to records without, "
    "averaged over models, beside the paper's at 128K; it is undefined where nothing is right with IDs. "
    "Table transform is in Figure 9b."
)
PANELS = {"a": "arithmetic", "b": "uuid_sort", "c": "lookup"}


def panels(run: Run) -> list[Panel]:
    """A panel for each of the three families."""
    values = published.read("transduction_figure_3", run.published)
    made = []
    for letter, family in PANELS.items():
        axis = format_axis(family)
        found = curves.along(run, axis, run.horizon, fall_back=True, family=family)
        paper = published.number(values, {"family": family, "from": "ordered", "to": "no_ids"})
        remark = f"no IDs: {_here(decrease(found))} (published −{paper} %)"
        made.append(Panel(letter, FAMILIES[family], "line", axis, "accuracy", found, remark))
    return made


def decrease(found: tuple[Curve, ...]) -> Decrease:
    """Relative decrease from ordered to no IDs over the models of a panel."""
    models = [curve for curve in found if not curve.check]
    first = {curve.model: curve.points[0].estimate.value for curve in models}
    last = {curve.model: curve.points[2].estimate.value for curve in models}
    return relative_decrease(first, last)


def draw(run: Run) -> Figure:
    """Draw the three panels in a row."""
    return sheet(run, panels(run), 3, 1.65, f"Format sensitivity {curves.at_horizon(run)}")


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))


def _here(found: Decrease) -> str:
    if found.mean is None:
        return "undefined"
    change = round(-100 * found.mean, 1)
    return f"{change:+.1f} %".replace("-", "−") if change else "0.0 %"
