"""Table 18 of SciTrek: questions that negate."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import EMPTY, FOUR, beside, counted, notes_on, ours, score
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series, setting_of
from longtrek.analysis.scitrek_words import INITIALS, MEASURES, nulls_left_out, setting_words, what_was_run
from longtrek.analysis.typeset import Table
from longtrek.scitrek.analyses import LEVELS

READS = ("scitrek",)
CAPTION = (
    "Exact match (%) on questions that negate, by skill and over all of them. F: Filtering; A: Aggregating; S: "
    "Sorting; R: Relational Filtering."
)
SKILLS = ("filtering", "filtering_aggregating", "filtering_sorting", "relational_filtering", "all")
HEADS = tuple(INITIALS.get(skill, "All") for skill in SKILLS)


def make(run: SciTrekRun) -> Table:
    """The paper's rows in its order, each with ours under it, then other models that were run."""
    values = published.read("scitrek_table_18", run.published)
    flag = "negation_paper" if run.rule == "paper" else "negation"
    wanted = [("full_text", level) for level in LEVELS if level != "single"]
    shown = setting_of((row for series in run.models for row in series.rows), wanted)
    context, levels = shown or ("", ())

    def groups(series: Series) -> list[list[Row]]:
        there = [row for row in series.rows if row["context"] == context and row["level"] in levels and row[flag]]
        return [[row for row in there if skill in (row["skill"], "all")] for skill in SKILLS]

    rows = beside(
        run,
        values,
        HEADS,
        cells=lambda series: [ours(score(found, run.column)) for found in groups(series)],
        counts=lambda series: counted(groups(series)),
    )
    chosen = (
        "Chosen as the authors did, by the letters `not` and `never` anywhere in the question (`another` counts)"
        if run.rule == "paper"
        else "Chosen by negating words of the question"
    )
    texts = published.read("scitrek_text", run.published)
    counts = {value.column: f"{value.value:g}" for value in texts if value.row == "negation questions"}
    notes = (
        f"{chosen}. Published: {counts.pop('all')} questions ({', '.join(counts.values())} by skill).",
        f"Reproduced: {MEASURES[run.rule][0]} (%) under the {run.rule} rule, {setting_words(shown)}. {FOUR} {EMPTY} "
        "Rows (SFT) and (GRPO) take post-training (Table 9).",
        *nulls_left_out(run),
        *notes_on(values),
        what_was_run(run, run.series),
    )
    return Table("scitrek_table_18", CAPTION, ("Model", "source", *HEADS), tuple(rows), notes, "ll" + "r" * len(HEADS))
