"""Files of human annotation: texts pass a spreadsheet and Label Studio unchanged, and bad files are refused."""

import json
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filled_in_forms import database, filled_in, item, labelled
from longtrek.errors import LongtrekError
from longtrek.scitrek.annotation import label_studio, workbook

ODD = (
    "=1+1",
    '=HYPERLINK("http://example.org")',
    "+5",
    "-3",
    "@SUM(A1)",
    "'quoted",
    "Niamh O'Hagan",
    "_x0041_",
    "山田 太郎",
)
"""Texts that spreadsheets are known to change: formulas, signs, quotes, coded characters; and letters of all kinds."""


# A cell holds no control characters but tab and line feed, and no halves or non-characters.
texts = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=40),
).filter(lambda text: text.strip() and "x005F_" not in text)
few = settings(max_examples=25, deadline=None)


@few
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), texts)
def test_every_text_comes_back_from_the_spreadsheet_unchanged(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], annotator: str
) -> None:
    folder = tmp_path_factory.mktemp("book")
    items = [item(number, question) for number, (question, _) in enumerate(pairs)]
    workbook.write_workbook(folder / "q.xlsx", items, {"c": database(*(question for question, _ in pairs))}, ["Read."])
    answers = {f"q{number}": answer for number, (_, answer) in enumerate(pairs)}
    found = list(workbook.read_workbook(filled_in(folder / "a.xlsx", folder / "q.xlsx", "Ann", answers)))
    assert [(one.id, one.question, one.answer) for one in found] == [
        (one.id, one.question, answers[one.id]) for one in items
    ]
    shown = openpyxl.load_workbook(folder / "q.xlsx")["tables 1"]
    titles = [shown.cell(row, 2) for row in range(3, 3 + len(pairs))]
    assert [cell.value.replace("_x005F_x", "_x") for cell in titles] == [question for question, _ in pairs]
    assert {cell.data_type for cell in titles} == {"s"}


@pytest.mark.parametrize("text", ODD)
def test_no_text_becomes_a_formula(tmp_path: Path, text: str) -> None:
    workbook.write_workbook(tmp_path / "q.xlsx", [item(1, text)], {"c": database(text)}, [text])
    book = openpyxl.load_workbook(tmp_path / "q.xlsx")
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    same = [cell for cell in cells if str(cell.value).replace("_x005F_x", "_x") == text]
    assert len(same) == 4, "instructions, question, title and author"
    assert all(cell.quotePrefix and cell.number_format == "@" for cell in same)


@pytest.mark.parametrize(
    ("typed", "read_"),
    [(7, "7"), (7.0, "7"), (9.714285714285714, "9.714285714285714"), (True, "TRUE"), ("NULL", "NULL"), ("  ", None)],
)
def test_numbers_that_were_typed_are_read_as_text(tmp_path: Path, typed: Any, read_: str | None) -> None:
    workbook.write_workbook(tmp_path / "q.xlsx", [item(1)], {"c": database()}, [])
    (found,) = workbook.read_workbook(filled_in(tmp_path / "a.xlsx", tmp_path / "q.xlsx", 42, {"q1": typed}))
    assert (found.annotator, found.answer) == ("42", read_)


def test_only_answers_and_the_name_can_be_changed_and_the_bytes_are_always_the_same(tmp_path: Path) -> None:
    for name in ("one", "two"):
        workbook.write_workbook(tmp_path / f"{name}.xlsx", [item(1), item(2)], {"c": database()}, ["Read."])
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()
    book = openpyxl.load_workbook(tmp_path / "one.xlsx")
    unlocked = {
        (sheet.title, cell.coordinate)
        for sheet in (book["instructions"], book["questions"])
        for row in sheet.iter_rows()
        for cell in row
        if not cell.protection.locked and sheet.protection.sheet
    }
    assert unlocked == {("instructions", "B1"), ("questions", "E2"), ("questions", "E3")}


@pytest.mark.parametrize("text", ["a\x00b", "a\rb", "\ud800", "a\uffffb", "x005F_", "x" * 40_000])
def test_a_text_that_no_cell_can_hold_is_an_error_and_never_changed(tmp_path: Path, text: str) -> None:
    with pytest.raises(LongtrekError, match="cannot stand in a spreadsheet unchanged"):
        workbook.write_workbook(tmp_path / "q.xlsx", [item(1, text)], {"c": database()}, [])
    assert list(tmp_path.iterdir()) == []


def broken(folder: Path, harm: str) -> Path:
    """A filled-in spreadsheet to which something was done."""
    source = folder / "q.xlsx"
    workbook.write_workbook(source, [item(1), item(2)], {"c": database()}, [])
    path = filled_in(folder / "a.xlsx", source, "Ann", {"q1": "2, 3"})
    book = openpyxl.load_workbook(path)
    sheet = book["questions"]
    match harm:
        case "no answer column":
            sheet["E1"] = "my answers"
        case "no id column":
            sheet.delete_cols(2)
        case "no sheet":
            book.remove(sheet)
        case "no name":
            book["instructions"]["B1"] = None
        case "a formula":
            sheet["E2"] = "=1+1"
        case "a date":
            sheet["E2"] = __import__("datetime").date(2026, 3, 4)
        case "not a spreadsheet":
            path.write_text("id,answer\n")
            return path
        case "cut":
            path.write_bytes(path.read_bytes()[:3000])
            return path
        case "absent":
            return folder / "none.xlsx"
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("no answer column", r"sheet questions, row 1: .*expected answer once"),
        ("no id column", "expected id once"),
        ("no sheet", "no sheet 'questions'"),
        ("no name", "cell B1: no name"),
        ("a formula", "row 2: '=1\\+1' is a formula"),
        ("a date", "row 2: .* is no text"),
        ("not a spreadsheet", "not a spreadsheet"),
        ("cut", "not a spreadsheet"),
        ("absent", "No such file"),
    ],
)
def test_a_spreadsheet_that_cannot_be_taken_as_it_is_is_an_error_that_says_where(
    tmp_path: Path, harm: str, said: str
) -> None:
    path = broken(tmp_path, harm)
    with pytest.raises(LongtrekError, match=said) as error:
        list(workbook.read_workbook(path))
    assert str(path) in str(error.value)


@few
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_every_text_comes_back_from_label_studio_unchanged(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("project")
    items = [item(number, question) for number, (question, _) in enumerate(pairs)]
    titles = [question for question, _ in pairs]
    label_studio.write_project(folder, items, {"c": database(*titles)}, ["Read."])
    made = json.loads((folder / "label_studio.json").read_text(encoding="utf-8"))
    done = [labelled(task, {"email": "ann@example.org"}, answer) for task, (_, answer) in zip(made, pairs, strict=True)]
    (folder / "export.json").write_text(json.dumps(done), encoding="utf-8")
    found = list(label_studio.read_export(folder / "export.json"))
    assert [(one.id, one.question, one.answer) for one in found] == [
        (one.id, one.question, answer) for one, (_, answer) in zip(items, pairs, strict=True)
    ]
    shown = ElementTree.fromstring(f"<x>{made[0]['data']['tables']}</x>")
    assert [row[1].text for row in shown[1][1]] == titles


def test_the_interface_shows_what_a_task_holds_and_asks_for_what_is_read_back(tmp_path: Path) -> None:
    label_studio.write_project(tmp_path, [item(1)], {"c": database()}, ["Read."])
    interface = ElementTree.parse(tmp_path / "label_studio.xml")
    (task,) = json.loads((tmp_path / "label_studio.json").read_text())
    values = {node.get("value") for node in interface.iter() if (node.get("value") or "").startswith("$")}
    assert {value[1:] for value in values if value} == task["data"].keys() - {"id", "session"}
    (field,) = interface.iter("TextArea")
    assert (field.get("name"), field.get("toName"), field.get("maxSubmissions")) == ("answer", "question", "1")


TASK = {"data": {"id": "q1", "question": "How many?"}}


def test_skipped_tasks_and_empty_answers_are_left_open(tmp_path: Path) -> None:
    skipped = labelled(TASK, 3, "2", was_cancelled=True)
    path = tmp_path / "e.json"
    path.write_text(json.dumps([skipped, labelled(TASK, 3), labelled(TASK, {"id": 4}, " "), labelled(TASK, "x", "2")]))
    found = list(label_studio.read_export(path))
    assert [(one.annotator, one.answer) for one in found] == [("3", None), ("3", None), ("4", None), ("x", "2")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be read"),
        ("[" * 20_000, "cannot be read"),
        ({"tasks": []}, "a dict"),
        ([5], "task 1: no `data`"),
        ([{"data": {"id": "q1", "question": "?"}, "answer": "2", "annotator": 1}], "not JSON-MIN"),
        ([labelled({"data": {"question": "?"}}, 1, "2")], "no text in 'id'"),
        ([labelled({"data": {"id": "q1"}}, 1, "2")], "no text in 'question'"),
        ([labelled(TASK, None, "2")], "completed_by"),
        ([labelled(TASK, 1, "2", "3")], "expected one text"),
        ([labelled(TASK, 1, "\ud800")], "cannot be read"),
        ([labelled(TASK, "\ud800", "2")], "cannot be read"),
        ([labelled(TASK, 1, result=[{"value": {}}])], "`result` is not of this project"),
        ([TASK | {"annotations": [1]}], "an annotation is 1"),
    ],
)
def test_an_export_of_another_form_is_an_error(tmp_path: Path, content: Any, said: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(LongtrekError, match=said):
        list(label_studio.read_export(path))


def test_a_word_far_off_is_not_waited_for(tmp_path: Path) -> None:
    workbook.write_workbook(tmp_path / "q.xlsx", [item(1, "Why?")], {"c": database("Why?")}, ["Read."])
    path = filled_in(tmp_path / "a.xlsx", tmp_path / "q.xlsx", "Ann", {"q1": "4"})
    book = openpyxl.load_workbook(path)
    book["questions"]["ZZ20000"] = "far off"
    book.save(path)
    before = time.process_time()
    assert [one.answer for one in workbook.read_workbook(path)] == ["4"]
    assert time.process_time() - before < 5
