"""The questions as a Label Studio project: the labelling interface, the tasks, and the export read back."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.files import write_text
from longtrek.scitrek.annotation.answers import Given
from longtrek.scitrek.annotation.sample import Item
from longtrek.scitrek.contexts import TABLE_COLUMNS
from longtrek.scitrek.sql.database import Database

ANSWER = "answer"
"""The name of the text field that is filled in."""
EXPECTED = "expected Label Studio's export as JSON (not JSON-MIN) of the project of `longtrek annotation export`"


INTERFACE = f"""<View>
  <Collapse><Panel value="How to answer"><Text name="instructions" value="$instructions"/></Panel></Collapse>
  <Header value="Question"/>
  <Text name="question" value="$question"/>
  <TextArea name="{ANSWER}" toName="question" rows="2" maxSubmissions="1" editable="true" required="true"
            requiredMessage="Please answer, or skip the task."/>
  <HyperText name="tables" value="$tables"/>
</View>
"""
"""The labelling interface: how to answer, the question, one field for the answer, and the tables."""


def tasks(
    items: Sequence[Item], databases: Mapping[str, Database], instructions: Sequence[str]
) -> list[dict[str, Any]]:
    """A task for each question, with its tables as HTML."""
    shown = {name: tables_html(databases[name]) for name in {item.collection for item in items}}
    told = "\n".join(instructions)
    return [
        {
            "data": {
                "id": item.id,
                "session": item.session,
                "question": item.question,
                "instructions": told,
                "tables": shown[item.collection],
            }
        }
        for item in items
    ]


def tables_html(database: Database) -> str:
    """A collection's three tables as HTML in which every text is text."""
    tables = database.as_dict()
    return "".join(_table(name, columns, tables[name]) for name, columns in TABLE_COLUMNS.items())


def _table(name: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(row[column]))}</td>" for column in columns) + "</tr>" for row in rows
    )
    return f'<h4>{name}</h4><table border="1"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def write_project(
    folder: Path, items: Sequence[Item], databases: Mapping[str, Database], instructions: Sequence[str]
) -> None:
    """Write `label_studio.xml` (the project's labelling interface) and `label_studio.json` (its tasks)."""
    write_text(folder / "label_studio.xml", INTERFACE)
    made = json.dumps(tasks(items, databases, instructions), ensure_ascii=False, indent=1)
    write_text(folder / "label_studio.json", made + "\n")


def read_export(path: Path) -> Iterator[Given]:
    """Read a project's export; a task that someone skipped is one left open, drafts and predictions are not read.

    Raises:
        LongtrekError: the file is not such an export; the message names the task.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        json.dumps(content, ensure_ascii=False).encode()  # half a character (a lone surrogate) could not be kept
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise LongtrekError(f"{path}: cannot be read ({error}); {EXPECTED}") from None
    if not isinstance(content, list):
        raise LongtrekError(f"{path}: a {type(content).__name__}; {EXPECTED}")
    for number, task in enumerate(content, 1):
        yield from _task(task, f"{path}, task {number}")


def _task(task: Any, where: str) -> Iterator[Given]:
    data = task.get("data") if isinstance(task, dict) else None
    made = task.get("annotations") if isinstance(task, dict) else None
    if not isinstance(data, dict) or not isinstance(made, list):
        raise LongtrekError(f"{where}: no `data` or no `annotations`; {EXPECTED}")
    for name in ("id", "question"):
        if not isinstance(data.get(name), str):
            raise LongtrekError(f"{where}: `data` has no text in {name!r}; {EXPECTED}")
    for annotation in made:
        if not isinstance(annotation, dict):
            raise LongtrekError(f"{where}: an annotation is {annotation!r}; {EXPECTED}")
        answer = None if annotation.get("was_cancelled") else _answer(annotation, where)
        yield Given(where, _annotator(annotation, where), data["id"], data["question"], answer)


def _annotator(annotation: Mapping[str, Any], where: str) -> str:
    """Who answered: an e-mail address, or a number where the export holds no more."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    if not isinstance(who, str | int) or isinstance(who, bool) or not str(who).strip():
        raise LongtrekError(f"{where}: an annotation does not say who made it (`completed_by`); {EXPECTED}")
    return str(who)


def _answer(annotation: Mapping[str, Any], where: str) -> str | None:
    try:
        found = [part["value"]["text"] for part in annotation["result"] if part["from_name"] == ANSWER]
    except (KeyError, TypeError):
        raise LongtrekError(f"{where}: an annotation's `result` is not of this project; {EXPECTED}") from None
    texts = [text for part in found for text in (part if isinstance(part, list) else [part])]
    if len(texts) > 1 or not all(isinstance(text, str) for text in texts):
        raise LongtrekError(f"{where}: the answer is {texts!r}; expected one text, its parts separated by commas")
    return texts[0] if texts and texts[0].strip() else None
