"""Table 9 of SciTrek: exact match by skill, before and after post-training."""

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_cells import EMPTY, FOUR, NONE, counted, notes_on, ours, score, theirs
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series, setting_of
from longtrek.analysis.scitrek_words import MEASURES, POST, SKILLS, nulls_left_out, setting_words, what_was_run
from longtrek.analysis.typeset import Table

READS = ("scitrek",)
CAPTION = (
    "Exact match (%) by skill on SciTrek's test set, full-text contexts of at most 128K tokens: zero-shot and after "
    "post-training on SciTrek (SFT, GRPO). F+A: Filtering+Aggregating; F+S: Filtering+Sorting."
)
COLUMNS = {
    "aggregating": "Aggregating",
    "sorting": "Sorting",
    "filtering": "Filtering",
    "filtering_aggregating": "F+A",
    "filtering_sorting": "F+S",
    "relational_filtering": "Relational",
    "all": "Overall",
}


def make(run: SciTrekRun) -> Table:
    """The paper's rows, each zero-shot one with ours under it, then every other model that was run."""
    values = published.read("scitrek_table_9", run.published)
    wanted = [("full_text", "64K"), ("full_text", "128K")]
    shown = setting_of((row for series in run.models for row in series.rows), wanted)
    rows: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for (name, post), cells in _printed(values).items():
        rows.append((name, POST[post], "published", *(theirs(cells.get(skill)) for skill in COLUMNS)))
        for series in run.models:
            if post == "zero-shot" and series.model == next(iter(cells.values())).model:
                rows += _ours(run, series, name, shown)
                seen.add(series.label)
    for series in run.series:
        if series.label not in seen:
            rows += _ours(run, series, f"check: {series.label}" if series.check else series.label, shown)
    notes = (
        "SFT and GRPO are not run: they take post-training of three models on 7,703 questions of up to 128K tokens "
        "(GRPO: about five days a model on the authors' four H200). A model entry for each result fills a row here.",
        f"Reproduced: {MEASURES[run.rule][0]} (%) under the {run.rule} rule, {setting_words(shown)}. {FOUR} {EMPTY}",
        *nulls_left_out(run),
        *notes_on(values),
        what_was_run(run, run.series),
    )
    header = ("Model", "Post-training", "source", *COLUMNS.values())
    return Table("scitrek_table_9", CAPTION, header, tuple(rows), notes, "lll" + "r" * len(COLUMNS))


def _printed(values: tuple[Published, ...]) -> dict[tuple[str, str], dict[str, Published]]:
    found: dict[tuple[str, str], dict[str, Published]] = {}
    for value in values:
        found.setdefault((value.row, value.setting["post"]), {})[value.setting["skill"]] = value
    return found


def _ours(
    run: SciTrekRun, series: Series, name: str, shown: tuple[str, tuple[str, ...]] | None
) -> list[tuple[str, ...]]:
    context, levels = shown or ("", ())
    there: list[Row] = [row for row in series.rows if row["context"] == context and row["level"] in levels]
    groups = [[row for row in there if skill in (row["skill"], "all")] for skill in (*SKILLS, "all")]
    cells = [ours(score(rows, run.column)) for rows in groups]
    return [(name, NONE, series.source, *cells), (name, NONE, "asked/answered/failed/cut", *counted(groups))]
