"""Table 1 of SciTrek: example questions with their queries and answers."""

from longtrek.analysis.scitrek_run import Row, SciTrekRun
from longtrek.analysis.scitrek_words import SKILLS
from longtrek.analysis.typeset import Table

READS = ("questions",)
CAPTION = (
    "Example questions, one of each skill, with the SQL queries that they were written from and the queries' answers."
)
LONGEST = 160


def make(run: SciTrekRun) -> Table:
    """One question of this run a skill: the first whose answer is short enough to print."""
    rows = []
    for skill, name in SKILLS.items():
        found = _example([row for row in run.questions if row["skill"] == skill])
        cells = (found["text"], found["sql"], found["answer"]) if found else ("no question in this run", "–", "–")
        rows.append((name, *cells))
    writers = sorted({row["writer"] for row in run.questions})
    notes = (
        f"Questions of this run ({len(run.questions):,} in all), written by: {', '.join(writers) or 'nobody yet'}. The "
        "paper's six examples show the same skills in the same order; their answers are in the published values.",
        f"Run: {run.kind}.",
    )
    return Table("scitrek_table_1", CAPTION, ("Skill", "Question", "SQL Query", "Answer"), tuple(rows), notes, "lppp")


def _example(rows: list[Row]) -> Row | None:
    """The first question, by id, that is short and has an answer of two parts or more where one is to be had."""
    short = [row for row in rows if not row["null"] and max(len(row["text"]), len(row["answer"])) <= LONGEST]
    lists = [row for row in short if "," in row["answer"] and row["skill"].endswith("sorting")]
    return min(lists or short, key=lambda row: row["id"], default=None)
