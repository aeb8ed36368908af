"""Table 15 of SciTrek: the models."""

from typing import Any

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_cells import NONE, by_row, notes_on, tick
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.style import in_order
from longtrek.analysis.typeset import Table

READS = ()
CAPTION = (
    "The models. #Params: billions of parameters, those active per token in brackets; Think: prompted to reason first; "
    "Context Size: most input tokens. Right: what this run uses of each, from its model entries."
)
HEADER = ("Model", "#Params", "Think", "Context Size", "Release Date", "in this run", "window", "weights or endpoint")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def make(run: SciTrekRun) -> Table:
    """The paper's models in its order, then others of this run; checks are named as such."""
    values = published.read("scitrek_table_15", run.published)
    printed = by_row(values)
    rows = [(name, *_theirs(cells), *_ours(run, next(iter(cells.values())).model)) for name, cells in printed.items()]
    listed = {value.model for value in values}
    for model in in_order(set(run.asked) - listed):
        name = f"check: {model}" if run.is_check(model) else run.label(model)
        rows.append((name, NONE, NONE, NONE, NONE, *_ours(run, model)))
    notes = (
        "Parameters of proprietary models are not disclosed (–).",
        *notes_on(value for value in values if value.mark is None),
        f"Run: {run.kind}.",
    )
    return Table("scitrek_table_15", CAPTION, HEADER, tuple(rows), notes, "lrcrlcrl")


def _theirs(cells: dict[str, Published]) -> tuple[str, ...]:
    size, active = cells["#Params"].value, cells.get("#Params, active")
    params = "–" if size is None else f"{size:g}B" + (f" ({active.value:g}B)" if active else "")
    year, month = (int(cells[f"Release Date, {part}"].value or 0) for part in ("year", "month"))
    return (params, tick(cells["Think"]), f"{cells['Context Size'].value:,.0f}", f"{MONTHS[month - 1]} {year}")


def _ours(run: SciTrekRun, model: str) -> tuple[str, str, str]:
    entry: Any = run.entries.get(model)
    if entry is None:
        return ("no entry", NONE, NONE)
    window = f"{entry['window']:,}" if "window" in entry else NONE
    where = entry.get("repository", NONE) + (f" @ {entry['revision']}" if "revision" in entry else "")
    return ("✓" if model in run.asked else "✗", window, where)
