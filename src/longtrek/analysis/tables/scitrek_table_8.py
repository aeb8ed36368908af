"""Table 8 of SciTrek: what of a question goes with its being answered right."""

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_cells import FOUR, NONE, by_row, notes_on
from longtrek.analysis.scitrek_run import SciTrekRun, Series, setting_of
from longtrek.analysis.scitrek_words import MEASURES, four, nulls_left_out, setting_words, what_was_run
from longtrek.analysis.typeset import Table
from longtrek.scitrek.analyses import PROPERTIES, correlations

READS = ("scitrek",)
CAPTION = (
    "Pearson correlation of a question's exact match with its number of articles and with the lengths of question "
    "(Q-Len), SQL query (SQL-Len) and gold answer (GA-Len) in space-separated words; full-text articles, 128K. "
    "∗: p < 0.05."
)
HEADER = ("Model", *PROPERTIES.values(), "pairs", "asked/answered/failed/cut", *(
    f"{head}, published" for head in PROPERTIES.values()
))  # fmt: skip


def make(run: SciTrekRun) -> Table:
    """The paper's models in its order, then others; checks have no spread and are left out."""
    values = published.read("scitrek_table_8", run.published)
    shown = setting_of((row for series in run.models for row in series.rows), [("full_text", "128K")])
    found = {series.label: _ours(run, series, shown) for series in run.models}
    by_model = {series.model: series.label for series in run.models}
    rows = []
    for name, cells in by_row(values).items():
        model = next(iter(cells.values())).model
        our = found.pop(by_model.get(model, ""), (NONE,) * 6)
        rows.append((name, *our, *(_theirs(cells.get(head)) for head in PROPERTIES.values())))
    rows += [(label, *our, *[NONE] * 4) for label, our in found.items()]
    notes = (
        f"Reproduced with {MEASURES[run.rule][0]} under the {run.rule} rule, {setting_words(shown)} (paper: full-text "
        "articles at 128K). –: no answers, or one side is the same for every question.",
        FOUR,
        *nulls_left_out(run),
        *notes_on(values),
        what_was_run(run, run.series),
    )
    return Table("scitrek_table_8", CAPTION, HEADER, tuple(rows), notes)


def _ours(run: SciTrekRun, series: Series, shown: tuple[str, tuple[str, ...]] | None) -> tuple[str, ...]:
    context, levels = shown or ("", ())
    rows = [row for row in series.rows if row["context"] == context and row["level"] in levels]
    lines = correlations(rows, run.column)
    if not lines:
        return (NONE,) * 6
    cells = [_cell(lines[0][f"{name}_r"], lines[0][f"{name}_p"]) for name in PROPERTIES]
    return (*cells, str(lines[0]["pairs"]), four(rows))


def _cell(r: float | None, p: float | None) -> str:
    return NONE if r is None or p is None else f"{round(r, 2) + 0.0:.2f}" + ("∗" if p < 0.05 else "")


def _theirs(value: Published | None) -> str:
    if value is None or value.value is None:
        return NONE
    return f"{value.value:.2f}" + ("∗" if value.note.startswith("p < 0.05") else "")
