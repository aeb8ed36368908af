"""Table 17 of SciTrek: answers of NULL, and answers that break the asked form."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import EMPTY, FOUR, NONE, beside, counted, notes_on
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series, setting_of
from longtrek.analysis.scitrek_words import INITIALS, nulls_left_out, setting_words, what_was_run
from longtrek.analysis.typeset import Table
from longtrek.scitrek.analyses import failure_patterns, hard_questions

READS = ("scitrek",)
CAPTION = (
    "Answers (%) that are NULL although there is an answer, and answers that break the asked form, by skill, over "
    "questions that every model fails (ten of each skill, full text, 128K). A: Aggregating; S: Sorting; F: Filtering; "
    "R: Relational Filtering."
)
HEADS = (*(f"NULL {letter}" for letter in INITIALS.values()), *(f"form {letter}" for letter in INITIALS.values()))


def make(run: SciTrekRun) -> Table:
    """The paper's rows in its order, each with ours under it; questions are drawn anew from those all models fail."""
    values = published.read("scitrek_table_17", run.published)
    rows = [row for series in run.models for row in series.rows]
    shown = setting_of(rows, [("full_text", "128K")])
    context, levels = shown or ("", ())
    there = [row for row in rows if row["context"] == context and row["level"] in levels]
    drawn = set(hard_questions(there, rule=run.rule))

    def inspected(series: Series) -> list[Row]:
        kept = [row for row in series.rows if row["question"] in drawn]
        return [row for row in kept if row["context"] == context and row["level"] in levels]

    made = beside(
        run,
        values,
        HEADS,
        cells=lambda series: _shares(inspected(series)),
        counts=lambda series: counted(
            [row for row in inspected(series) if row["skill"] == skill] for _ in range(2) for skill in INITIALS
        ),
        digits=0,
    )
    notes = (
        f"Reproduced over {len(drawn)} questions that every model of this run fails under the {run.rule} rule, at most "
        f"ten of each skill, {setting_words(shown)} (paper: 60, full-text articles at 128K). With few models these are "
        "easier questions than the paper's.",
        "The paper judged the form by hand; here the strict rule's reader judges it. Rows (SFT) and (GRPO) take "
        "post-training (Table 9).",
        f"{FOUR} {EMPTY}",
        *nulls_left_out(run),
        *notes_on(values),
        what_was_run(run, run.series),
    )
    header = ("Model", "source", *HEADS)
    return Table("scitrek_table_17", CAPTION, header, tuple(made), notes, "ll" + "r" * len(HEADS))


def _shares(rows: list[Row]) -> list[str]:
    found = {line["skill"]: line for line in failure_patterns(rows)}
    return [
        NONE if skill not in found or found[skill][name] is None else f"{100 * found[skill][name]:.0f}"
        for name in ("null_answers", "non_compliant")
        for skill in INITIALS
    ]
