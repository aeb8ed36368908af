"""Table 6 of SciTrek: agreement of annotators, and alignment of the queries' answers with theirs."""

from typing import Any

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import NONE, by_row, notes_on, theirs
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table
from longtrek.scitrek.human import agreement, annotations

READS = ("annotations",)
CAPTION = (
    "Questions on which two or more of three annotators gave the same answer (Agree), and on which two or more gave "
    "the answer of the SQL query (Align)."
)
HEADER = ("Skill", "Agree (%)", "Align (%)", "questions", "Agree (%), published", "Align (%), published")


def make(run: SciTrekRun) -> Table:
    """The published percentages, beside those of this run's annotations where there are any."""
    values = published.read("scitrek_table_6", run.published)
    found = {row["skill"]: row for row in agreement(annotations(run.annotations))} if run.annotations else {}
    rows = [
        (name, *_ours(found.get(cells["Agree"].setting["skill"])), theirs(cells["Agree"]), theirs(cells["Align"]))
        for name, cells in by_row(values).items()
    ]
    left = sum(row["left_out"] for row in found.values() if row["skill"] == "all")
    filled = (
        f"Questions without exactly three answers, left out: {left}."
        if found
        else "Not run: it takes people. Filled by three people's answers to each of 120 questions, 20 of each skill "
        "(Section 3.4: sessions of 5.5 minutes): longtrek annotation export, then import."
    )
    notes = (filled, *notes_on(values), f"Run: {run.kind}.")
    return Table("scitrek_table_6", CAPTION, HEADER, tuple(rows), notes)


def _ours(row: dict[str, Any] | None) -> tuple[str, str, str]:
    if row is None or row["agree"] is None:
        return (NONE, NONE, NONE)
    return (f"{row['agree']:.1f}", f"{row['align']:.1f}", str(row["questions"]))
