"""CSV files as they were written: whole, in UTF-8, every row as wide as the header."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from longtrek.errors import LongtrekError


def read_cells(path: Path, delimiter: str = ",") -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read a CSV file's header, and each row's cells with the line that it ends in, from 1.

    Raises:
        LongtrekError: the file cannot be read, is empty, is not UTF-8, ends within a line (all of the kit's own end
            with one), or a row is of another width than the header; the message names file and line.
    """
    text = read_text(path, "a CSV file with a header")
    if not text.strip():
        raise LongtrekError(f"{path}: empty; expected a CSV file with a header: restore it, or make it again")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        read = [(rows.line_num, row) for row in rows if row]
    except csv.Error as error:
        raise LongtrekError(f"{path}, line {rows.line_num}: not CSV ({error}); restore it, or make it again") from None
    (_, header), *rest = read
    for line, row in rest:
        if len(row) != len(header):
            raise LongtrekError(
                f"{path}, line {line}: {len(row)} cells; expected {len(header)}, as many as the header has. The file "
                "is cut or was changed by hand: restore it, or make it again"
            )
    if not text.endswith(("\n", "\r")):
        raise LongtrekError(
            f"{path}, line {rows.line_num}: the last line has no end, so the file may be cut; restore it, or make it "
            "again (or end the line, where it was written by hand)"
        )
    return header, rest


def read_rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Read the rows of a CSV file with exactly these columns, each with the line that it ends in.

    Raises:
        LongtrekError: as `read_cells`; or the columns are others.
    """
    header, rows = read_cells(path)
    if header != list(columns):
        raise LongtrekError(f"{path}: columns are {', '.join(header)}; expected {', '.join(columns)}")
    return [(line, dict(zip(header, row, strict=True))) for line, row in rows]


def read_text(path: Path, expected: str) -> str:
    """Read a text file in UTF-8, a byte order mark left out; `expected` says in the error what it should be.

    Raises:
        LongtrekError: the file cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise LongtrekError(f"{path}: no such file; expected {expected}") from None
    except OSError as error:
        raise LongtrekError(f"{path}: cannot be read ({error.strerror}); expected {expected}") from None
    except UnicodeDecodeError as error:
        raise LongtrekError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); expected {expected}: restore it, or make "
            "it again"
        ) from None
