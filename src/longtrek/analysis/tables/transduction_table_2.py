"""Table 2 of Long-Transduction: documents in which every record is right."""

from longtrek.analysis import published
from longtrek.analysis.axes import PAPER_HORIZON
from longtrek.analysis.curves import at_horizon
from longtrek.analysis.panels import what_was_run
from longtrek.analysis.run import Run
from longtrek.analysis.statistics import Counts, counts, wilson
from longtrek.analysis.style import horizon_name, in_order
from longtrek.analysis.typeset import Table

READS = ("documents",)
CAPTION = (
    "Exact completion at the largest horizon: documents in which every required record is right, and which therefore "
    "need no repair. Intervals are 95% Wilson intervals over the scored documents."
)
HEADER = (
    "model", "complete", "scored", "rate (%)", "95% interval (%)", "asked", "failed", "missing", "not asked",
    "cut at cap", "published complete", "published rate (%)",
)  # fmt: skip
NONE = "–"


def make(run: Run) -> Table:
    """One row a model with answers or with a published row, in the papers' order; checks last, named as such."""
    values = published.read("transduction_table_2", run.published)
    models = in_order({*run.models, *(value.model for value in values)})
    rows = [(run.label(model), *_ours(run, model), *_papers(values, model)) for model in models]
    rows += [(f"check: {model}", *_ours(run, model), NONE, NONE) for model in run.checks]
    documents = [document for document in run.documents if document.horizon == run.horizon]
    notes = (
        f"Reproduced {at_horizon(run)}; published at {horizon_name(PAPER_HORIZON)} of 240 documents.",
        "lost: the paper prints a number that its stored text does not hold. –: no answers, or nothing published.",
        what_was_run(run, documents),
    )
    return Table("transduction_table_2", CAPTION, HEADER, tuple(rows), notes)


def _ours(run: Run, model: str) -> tuple[str, ...]:
    documents = run.select(model, horizon=run.horizon)
    found = counts(documents)
    complete = sum(document.complete is True for document in documents)
    interval = wilson(complete, found.scored)
    if interval is None:
        return (NONE, NONE, NONE, NONE, *_asked(found))
    rate = f"{100 * complete / found.scored:.1f}"
    between = f"{100 * interval.low:.1f}–{100 * interval.high:.1f}"
    return (str(complete), str(found.scored), rate, between, *_asked(found))


def _asked(found: Counts) -> tuple[str, ...]:
    if not found.documents:
        return (NONE,) * 5
    asked = found.documents - found.not_asked
    return tuple(map(str, (asked, found.failed, found.missing, found.not_asked, found.truncated)))


def _papers(values: tuple[published.Published, ...], model: str) -> tuple[str, str]:
    cells = {value.column: value for value in values if value.model == model}
    return _cell(cells.get("complete")), _cell(cells.get("rate"))


def _cell(value: published.Published | None) -> str:
    if value is None or value.mark == "missing":
        return NONE
    return "lost" if value.value is None else f"{value.value:g}"
