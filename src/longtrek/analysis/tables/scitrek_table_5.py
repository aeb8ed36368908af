"""Table 5 of SciTrek: the questions described."""

from collections.abc import Iterable

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import NONE, by_row, notes_on, theirs
from longtrek.analysis.scitrek_run import Row, SciTrekRun
from longtrek.analysis.typeset import Table
from longtrek.scitrek.analyses import description
from longtrek.scitrek.scores import words

READS = ("questions", "collections")
CAPTION = (
    "Questions by context length: how many, the mean number of articles of their contexts, and the mean lengths of "
    "questions and gold answers in space-separated words."
)
HEADER = ("Context Length", "source", "#Samples", "#Context Articles", "Question Length", "Gold-answer Length")
COLUMNS = HEADER[2:]


def make(run: SciTrekRun) -> Table:
    """Each level as published, then this run's test split and all its questions; NULL answers left out."""
    values = published.read("scitrek_table_5", run.published)
    printed = by_row(values)
    kept = [row for row in run.questions if not row["null"]]
    test = _described(run, (row for row in kept if row["split"] == "test"))
    every = _described(run, kept)
    rows: list[tuple[str, ...]] = []
    for level in dict.fromkeys([*every, *printed]) if "single" in every else dict.fromkeys([*printed, *every]):
        if level in printed:
            cells = [theirs(printed[level][column], int(column != "#Samples")) for column in COLUMNS]
            rows.append((level, "published", *cells))
        rows += [(level, "reproduced, test split", *test.get(level, (NONE,) * 4))] if kept else []
        rows += [(level, "reproduced, all splits", *every.get(level, (NONE,) * 4))] if kept else []
    total = sum(cells["#Samples"].value or 0 for cells in printed.values())
    nulls = len(run.questions) - len(kept)
    notes = (
        f"Published: {total:,.0f} test questions in all. This run: {len(kept):,} questions, {nulls:,} more whose "
        "answer is NULL are left out, as in the paper.",
        *notes_on(values),
        f"Computed from the questions; no model's answers enter. Run: {run.kind}.",
    )
    return Table("scitrek_table_5", CAPTION, HEADER, tuple(rows), notes, "llrrrr")


def _described(run: SciTrekRun, questions: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    rows = [
        {
            "question": row["id"],
            "level": row["level"],
            "articles": _articles(run, row),
            "question_words": words(row["text"]),
            "answer_words": words(row["answer"]),
        }
        for row in questions
    ]
    return {
        found["level"]: (
            str(found["questions"]),
            *(_mean(found[name]) for name in ("articles", "question_words", "answer_words")),
        )
        for found in description(rows)
    }


def _articles(run: SciTrekRun, question: Row) -> int | None:
    """Articles of a question's context; a released question has no collection in the run, and may not say."""
    return len(run.members.get(question["collection"]) or question.get("articles") or ()) or None


def _mean(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"
