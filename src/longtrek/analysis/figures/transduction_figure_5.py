"""Figure 5 of Long-Transduction: right answers and self-consistent ones over the course of the output."""

from matplotlib.figure import Figure

from longtrek.analysis import curves
from longtrek.analysis.axes import horizons
from longtrek.analysis.curves import Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run
from longtrek.analysis.style import horizon_name, span

READS = ("documents", "records")
CAPTION = (
    "UUID sorting without IDs over the course of the required output, all horizons and difficulties together. "
    "(a) Share of records that are correct. (b) Share of records that are sorted lists of anything: what a model "
    "keeps up after it has lost its place in the input. Expected records are put into 20 equal bins, averaged inside "
    "a document and bin, then over documents."
)
WHERE = {"family": "uuid_sort", "format": "no_ids"}


def panels(run: Run) -> list[Panel]:
    """Correct and self-consistent."""
    axis = curves.position_axis()
    correct = curves.by_position(run, "correct", None, **WHERE)
    consistent = curves.by_position(run, "consistent", None, **WHERE)
    return [
        Panel("a", "answer correct", "position", axis, "fraction of records", correct),
        Panel("b", "self-consistent", "position", axis, "fraction of records", consistent),
    ]


def draw(run: Run) -> Figure:
    """Draw the two panels side by side."""
    return sheet(run, panels(run), 2, 1.8, f"UUID sorting without IDs, {_horizons(run)}")


def _horizons(run: Run) -> str:
    tiers = horizons(run.documents)
    reached = {horizon for model in run.models for horizon in run.horizons(model)}
    names = [horizon_name(tier) for tier in tiers if tier in reached]
    whole = [horizon_name(tier) for tier in tiers]
    shown = f"{'horizons' if len(names) > 1 else 'horizon'} {span(names, whole)}" if names else "no answers yet"
    return shown if names == whole else f"{shown} (paper: {whole[0]}–{whole[-1]})"


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))
