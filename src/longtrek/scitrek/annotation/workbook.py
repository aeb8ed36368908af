"""The questions as a spreadsheet: one sheet to fill in, and one for each collection with its three tables."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from openpyxl import Workbook, load_workbook
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException

from longtrek.errors import LongtrekError
from longtrek.files import atomic
from longtrek.scitrek.annotation.answers import Given
from longtrek.scitrek.annotation.sample import Item
from longtrek.scitrek.contexts import TABLE_COLUMNS
from longtrek.scitrek.sql.database import Database

QUESTIONS, INSTRUCTIONS, ANNOTATOR = "questions", "instructions", "annotator"
COLUMNS = ("session", "id", "question", "tables", "answer")
WIDTHS = {"session": 9, "id": 28, "question": 70, "tables": 12, "answer": 50}
LONGEST = 32_767
"""Characters that a cell may hold."""
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]|x005F_")
_CODED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
# What openpyxl, which trusts its files, raises on one that is damaged.
_BROKEN = (
    zipfile.BadZipFile, InvalidFileException, ParseError, zlib.error, AttributeError, EOFError, LookupError, OSError,
    RuntimeError, TypeError, ValueError,
)  # fmt: skip


def write_workbook(
    path: Path, items: Sequence[Item], databases: Mapping[str, Database], instructions: Sequence[str]
) -> None:
    """Write the sample as a spreadsheet; the same sample gives the same bytes.

    Every text is written as text, whatever it begins with, so that none becomes a formula; only answers and the
    annotator's name can be changed before the sheet's protection is lifted.

    Args:
        items: what is asked, in sessions.
        databases: the database of each collection.
        instructions: the lines of the first sheet.

    Raises:
        LongtrekError: a text cannot stand in a spreadsheet's cell unchanged.
    """
    book = Workbook()
    first = book.active
    first.title = INSTRUCTIONS
    numbers = {name: place for place, name in enumerate(dict.fromkeys(item.collection for item in items), 1)}
    _write_instructions(first, instructions)
    _write_questions(book.create_sheet(QUESTIONS), items, numbers)
    for name, number in numbers.items():
        _write_tables(book.create_sheet(_sheet(number)), databases[name])
    stream = io.BytesIO()
    book.save(stream)
    with atomic(path) as file:
        file.write(_dateless(stream.getvalue()))


def _write_instructions(sheet: Any, lines: Sequence[str]) -> None:
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 16, 100
    _put(sheet, 1, 1, ANNOTATOR, bold=True)
    _open(sheet.cell(1, 2))
    for row, line in enumerate(("write your name or code above, then answer on the next sheet", "", *lines), 2):
        _put(sheet, row, 2, line)
    sheet.protection.sheet = True


def _write_questions(sheet: Any, items: Sequence[Item], numbers: Mapping[str, int]) -> None:
    for column, name in enumerate(COLUMNS, 1):
        _put(sheet, 1, column, name, bold=True)
        sheet.column_dimensions[get_column_letter(column)].width = WIDTHS[name]
    for row, item in enumerate(items, 2):
        target = _sheet(numbers[item.collection])
        sheet.cell(row, 1, item.session).alignment = Alignment(vertical="top")
        for column, text in ((2, item.id), (3, item.question), (4, target)):
            _put(sheet, row, column, text)
        sheet.cell(row, 4).hyperlink = f"#'{target}'!A1"
        sheet.cell(row, 4).font = Font(color="0563C1", underline="single")
        _open(sheet.cell(row, 5))
    sheet.freeze_panes = "C2"
    sheet.protection.sheet = True


def _write_tables(sheet: Any, database: Database) -> None:
    """The three tables beside one another, without the columns that only number rows."""
    tables = database.as_dict()
    start = 1
    for name, columns in TABLE_COLUMNS.items():
        _put(sheet, 1, start, name, bold=True)
        for column, label in enumerate(columns, start):
            _put(sheet, 2, column, label, bold=True)
            sheet.column_dimensions[get_column_letter(column)].width = 60 if label == "article_title" else 20
            for row, values in enumerate(tables[name], 3):
                value = values[label]
                _put(sheet, row, column, value) if isinstance(value, str) else sheet.cell(row, column, value)
        start += len(columns) + 1
    sheet.freeze_panes = "A3"


def _sheet(number: int) -> str:
    return f"tables {number}"


def _put(sheet: Any, row: int, column: int, text: str, bold: bool = False) -> None:
    """Write a text as a text: a leading =, +, - or @ is a character like any other."""
    fault, coded = _UNWRITABLE.search(text), _CODED.sub("_x005F_", text)
    if fault or len(coded) > LONGEST:
        why = f"the character {fault[0]!r}" if fault else f"{len(text):,} characters; {LONGEST:,} is the most"
        raise LongtrekError(
            f"the text {text[:80]!r} cannot stand in a spreadsheet unchanged ({why}); "
            "use the Label Studio project, or correct the metadata in the corpus's corrections file"
        )
    cell = sheet.cell(row, column)
    cell.value = coded
    cell.data_type = "s"
    cell.quotePrefix = True
    cell.number_format = "@"
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    cell.font = Font(bold=bold)


def _open(cell: Any) -> None:
    """A cell to fill in, as text: a number keeps the digits that were typed."""
    cell.number_format = "@"
    cell.protection = Protection(locked=False)
    cell.fill = PatternFill("solid", fgColor="FFF8DC")
    cell.alignment = Alignment(vertical="top", wrap_text=True)


def _dateless(data: bytes) -> bytes:
    """The same workbook without the dates of its making."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as found, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name in found.namelist():
            content = found.read(name)
            if name == "docProps/core.xml":
                content = _DATES.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return stream.getvalue()


def read_workbook(path: Path) -> Iterator[Given]:
    """Read a spreadsheet that was filled in; an empty answer is one left open.

    Raises:
        LongtrekError: the file is no spreadsheet, lacks a sheet, a column or the annotator's name, or an answer is
            not text or a number; the message names sheet and row.
    """
    try:
        book = load_workbook(path)
    except _BROKEN as error:
        raise LongtrekError(
            f"{path}: not a spreadsheet that can be read ({error or type(error).__name__}); expected the .xlsx that "
            "`longtrek annotation export` wrote, filled in"
        ) from None
    for name in (INSTRUCTIONS, QUESTIONS):
        if name not in book.sheetnames:
            raise LongtrekError(f"{path}: no sheet {name!r}; expected the sheets as they were exported")
    annotator = _text(book[INSTRUCTIONS].cell(1, 2), f"{path}, sheet {INSTRUCTIONS}, cell B1")
    if annotator is None:
        raise LongtrekError(f"{path}, sheet {INSTRUCTIONS}, cell B1: no name; expected who answered, or a code")
    yield from _rows(book[QUESTIONS], path, annotator)


def _rows(sheet: Any, path: Path, annotator: str) -> Iterator[Given]:
    header = [cell.value for cell in next(sheet.iter_rows(max_row=1), ())]
    needed = ("id", "question", "answer")
    missing = [name for name in needed if header.count(name) != 1]
    if missing:
        raise LongtrekError(
            f"{path}, sheet {QUESTIONS}, row 1: the columns are {header}; expected {', '.join(missing)} once each, "
            "as they were exported"
        )
    # A word typed far to the right would otherwise make millions of cells.
    rows = sheet.iter_rows(min_row=2, max_col=1 + max(map(header.index, needed)))
    for number, cells in enumerate(rows, 2):
        where = f"{path}, sheet {QUESTIONS}, row {number}"
        found = {name: _text(cells[header.index(name)], where) for name in needed}
        if any(found.values()):
            yield Given(where, annotator, found["id"] or "", found["question"] or "", found["answer"])


def _text(cell: Any, where: str) -> str | None:
    """A cell's text as it was typed, None where it is empty."""
    value = cell.value
    if cell.data_type == "f":
        raise LongtrekError(f"{where}: {value!r} is a formula; expected text, so type it into a cell of format Text")
    if cell.data_type == "e" or not isinstance(value, str | int | float | None):
        raise LongtrekError(f"{where}: {value!r} is no text; expected an answer, typed into a cell of format Text")
    if value is None or isinstance(value, str):
        text = re.sub("_x005F_(?=x[0-9A-Fa-f]{4}_)", "_", value or "")
        return text if text.strip() else None
    if isinstance(value, bool):
        return str(value).upper()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
