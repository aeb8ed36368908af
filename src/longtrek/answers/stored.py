"""Answer rows as a run keeps them, held to their form wherever a stage reads them: `schemas/answer.yaml`.

Whoever takes a row from here may take it for what the schema says. Answers from elsewhere have forms of their own
(`longtrek.answers.imported_forms`).
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.errors import LongtrekError
from longtrek.files import check_characters, parse_line, reading

MOST_TOKENS = 2**31 - 1  # what a table of scores can hold, and the schema allows
AGAIN = (
    "Something other than longtrek changed this file: remove it and run the workflow again, which makes it from the "
    "store and asks nothing twice"
)


def read_stored(path: Path) -> Iterator[dict[str, Any]]:
    """Read the answer rows of a file under `answers/`, one at a time and in its order.

    Raises:
        LongtrekError: the file is missing or not whole, or a line is no answer row; the message names file and line.
    """
    with reading(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield stored_row(line, path, number)


def stored_row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """One line of such a file as an answer row.

    Raises:
        LongtrekError: it is none; the message names file, line and field, and says what to do.
    """
    where = f"{path}, line {number}"
    try:
        row: dict[str, Any] = parse_line(line, path, number)
        check_characters(line, row, where)
        check_row(row, where)
    except LongtrekError as error:
        raise LongtrekError(f"{error}. {AGAIN}") from None
    return row


def check_row(row: Any, where: str) -> None:
    """Hold a value to the form of an answer row; `where` names its origin.

    Raises:
        LongtrekError: it is none; every fault on a line of its own.
    """
    schemas.check(row, "answer", where)
    timings = row.get("timings") or {}
    try:
        received(timings)
    except (ValueError, OverflowError):
        found = timings["started"]
        raise LongtrekError(f"{where}: timings.started: found {found!r:.80}; expected a time in ISO 8601") from None


def received(timings: Mapping[str, Any]) -> tuple[datetime, datetime] | None:
    """From when to when a row's answer came, in UTC; None where it does not say."""
    if not timings.get("started"):
        return None
    start = datetime.fromisoformat(timings["started"]).astimezone(UTC)
    return start, start + timedelta(seconds=timings.get("total_s") or 0)
