"""What annotators send back: a spreadsheet that was filled in, a task that was labelled."""

from pathlib import Path
from typing import Any

import openpyxl

from longtrek.scitrek.annotation.sample import Item
from longtrek.scitrek.sql.database import Database, database_of


def database(*titles: str) -> Database:
    rows = [
        {"id": f"a{n}", "title": title, "authors": [title, "Bo Ek"][: 1 + n % 2], "reference_count": n}
        for n, title in enumerate(titles or ("On Sets", "On Games"))
    ]
    return database_of(rows, [("a0", "a1")] if len(rows) > 1 else [])


def item(number: int, question: str = "How many?", **changes: Any) -> Item:
    facts: dict[str, Any] = {"session": 1, "collection": "c", "skill": "sorting", "gold": "2, 3"}
    return Item(**{"id": f"q{number}", "question": question, **facts, **changes})


def filled_in(path: Path, source: Path, annotator: Any, answers: dict[str, Any]) -> Path:
    """A copy of a spreadsheet with a name and answers typed into it, as an annotator saves it."""
    book = openpyxl.load_workbook(source)
    book["instructions"]["B1"] = annotator
    for row in book["questions"].iter_rows(min_row=2):
        if row[1].value in answers:
            row[4].value = answers[row[1].value]
            if isinstance(row[4].value, str):
                row[4].data_type = "s"
    book.save(path)
    return path


def labelled(task: dict[str, Any], who: Any, *texts_: str, **changes: Any) -> dict[str, Any]:
    """A task as Label Studio exports it, with one annotation."""
    result = {"from_name": "answer", "to_name": "question", "type": "textarea", "value": {"text": list(texts_)}}
    made = {"id": 1, "completed_by": who, "was_cancelled": False, "result": [result] if texts_ else []}
    return {"id": 7, **task, "annotations": [made | changes], "predictions": []}
