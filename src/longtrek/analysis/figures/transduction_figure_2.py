"""Figure 2 of Long-Transduction: accuracy over the horizon, and by family at the largest one."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from longtrek.analysis import curves, published
from longtrek.analysis.axes import FAMILIES, PAPER_HORIZON, family_axis, horizon_axis, horizons
from longtrek.analysis.curves import Panel
from longtrek.analysis.panels import sheet
from longtrek.analysis.run import Run

READS = ("documents",)
CAPTION = (
    "Accuracy falls as the horizon grows. (a) Mean over families, formats and difficulties at each nominal horizon. "
    "(b) Each family at the largest horizon, mean over formats and difficulties. A model that ends earlier is shown "
    "at its own largest horizon and starred. Hollow markers are the values that the paper's text gives."
)


def panels(run: Run) -> list[Panel]:
    """Both panels, with the published values where the paper's text gives them."""
    values = published.read("transduction_figure_2", run.published)
    over_horizon = [value for value in values if value.place == "Figure 2a"]
    by_family = [value for value in values if value.place == "Figure 2b"]
    tiers = horizons(run.documents)
    families = list(FAMILIES)

    def at_tier(model: str, place: int) -> float | None:
        return published.number(over_horizon, {"horizon": tiers[place]}, model)

    def of_family(model: str, place: int) -> float | None:
        return published.number(by_family, {"horizon": PAPER_HORIZON, "family": families[place]}, model)

    tier_axis, kinds = horizon_axis(tiers), family_axis()
    first = curves.along(run, tier_axis, None, at_tier, _models(over_horizon))
    second = curves.along(run, kinds, run.horizon, of_family, _models(by_family), fall_back=True)
    return [
        Panel("a", "by context horizon", "line", tier_axis, "accuracy (fraction of records)", first),
        Panel("b", f"by family, {curves.at_horizon(run)}", "dots", kinds, "accuracy", second),
    ]


def draw(run: Run) -> Figure:
    """Draw the two panels side by side."""
    texts = [value for value in published.read("transduction_text", run.published) if value.place == "Section 4"]
    decrease = published.number(texts, {"from": 4096, "to": 131072}, column="4K to 128K")
    notes = [f"Published: a relative decrease of {decrease} % from 4K to 128K, averaged over models."]
    if run.horizon != PAPER_HORIZON:
        notes.append("Hollow markers in (b) are published at 128K, not at the horizon of the filled ones.")
    return sheet(run, panels(run), 2, 1.9, "Accuracy by horizon and by family", notes)


def numbers(run: Run) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return curves.numbers(run, panels(run))


def _models(values: Sequence[published.Published]) -> list[str]:
    return [value.model for value in values if value.value is not None]
