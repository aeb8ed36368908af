"""Documents beside their answers, one pair at a time, in the documents' order."""

import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from longtrek.answers.imported_forms import rollout
from longtrek.answers.stored import stored_row
from longtrek.errors import LongtrekError
from longtrek.files import parse_line, read_jsonl, reading
from longtrek.transduction.authors import documents_of, is_authors

_STATUSES = ("answered", "failed", "not_asked", "missing")


def paired(
    documents: Path, answers: Path, *, stored: bool = False
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Give each document with its answer row, or None where there is none.

    Of the answers only ids and positions are held. A compressed file, or standard input (`-`), is first written to
    a temporary file.

    Args:
        documents: this kit's documents, or the authors' prepared rows.
        answers: their answers, made here or elsewhere.
        stored: whether answers are a run's own, and each must have the form of an answer row.

    Raises:
        LongtrekError: an id is unknown or given twice, or a line is not an answer or not a document. An unknown id is
            known for certain, and told, after the last document.
    """
    if str(documents) == str(answers) == "-":
        raise LongtrekError("documents and answers cannot both come from standard input; give one of them as a file")
    with _seekable(answers) as stream:
        positions = _positions(stream, answers, stored)
        seen: set[str] = set()
        for document in read_documents(documents):
            if document["id"] in seen:
                raise LongtrekError(f"{documents}: two documents have the id {document['id']}; ids must be unique")
            seen.add(document["id"])
            position = positions.pop(document["id"], None)
            yield document, None if position is None else _row_at(stream, position, document["id"], answers)
    if positions:
        unknown = ", ".join(list(positions)[:5]) + (" …" if len(positions) > 5 else "")
        raise LongtrekError(
            f"{answers}: {len(positions)} answers to documents that {documents} does not hold: {unknown}; "
            "score answers against the documents they were asked with"
        )


def read_documents(path: Path) -> Iterator[dict[str, Any]]:
    """Read documents of this kit, or the authors' prepared rows as documents; never both in one file."""
    rows = read_jsonl(path)
    for first in rows:
        theirs = is_authors(first)
        alike = _alike(itertools.chain([first], rows), theirs, path)
        yield from documents_of(alike, str(path)) if theirs else alike


def _alike(rows: Iterable[Any], theirs: bool, path: Path) -> Iterator[Any]:
    kind = "the authors' prepared rows" if theirs else "documents of this kit"
    for index, row in enumerate(rows):
        if is_authors(row) != theirs or not (theirs or _is_document(row)):
            raise LongtrekError(
                f"{path}, row {index} (from 0): not one of {kind}, as which the file begins; expected one kind in a "
                "file: lines as `longtrek document` prints them, or the authors' prepared JSON lines"
            )
        yield row


def _is_document(row: Any) -> bool:
    """Whether a row has what every reader of documents takes for granted."""
    if not isinstance(row, dict):
        return False
    texts = all(isinstance(row.get(name), str) for name in ("id", "family", "format", "prompt", "expected"))
    return texts and all(type(row.get(name)) is int for name in ("horizon", "sample", "records"))


def row_status(row: Mapping[str, Any] | None) -> str:
    """`answered`, `failed`, `not_asked` or `missing`; `missing` without a row. A row without a status was answered.

    Raises:
        LongtrekError: the status is another, or an answered row has no text.
    """
    if row is None:
        return "missing"
    status = row.get("status") or "answered"
    if status not in _STATUSES:
        raise LongtrekError(f"answer to {row['id']}: unknown status {status!r}; expected one of {', '.join(_STATUSES)}")
    if status == "answered" and not isinstance(row.get("text"), str):
        raise LongtrekError(
            f"answer to {row['id']}: no text; expected the field `text`, or a `status` of failed, not_asked or missing"
        )
    return str(status)


@contextlib.contextmanager
def _seekable(path: Path) -> Iterator[BinaryIO]:
    with reading(path) as source:
        if str(path) != "-" and source.seekable():
            yield source
            return
        with tempfile.TemporaryFile() as stream:
            shutil.copyfileobj(source, stream)
            stream.seek(0)
            yield stream


def _positions(stream: BinaryIO, path: Path, stored: bool) -> dict[str, int]:
    positions: dict[str, int] = {}
    position = rows = 0
    for number, line in enumerate(iter(stream.readline, b""), 1):
        if line.strip():
            row = stored_row(line, path, number) if stored else parse_line(line, path, number)
            key = _answer_id(row, path, number, rows)
            rows += 1
            if key in positions:
                raise LongtrekError(
                    f"{path}, line {number}: a second answer to {key}; expected one answer a document (score several "
                    "samples as several files)"
                )
            positions[key] = position
        position += len(line)
    return positions


def _answer_id(row: Any, path: Path, number: int, index: int) -> str:
    """An answer's id; a rollout without one is called by its place, as the document that it holds is."""
    key = row.get("id") if isinstance(row, dict) else None
    if key is None and isinstance(row, dict) and isinstance(row.get("response"), dict):
        key = index
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise LongtrekError(f"{path}, line {number}: no `id` (a text, or the line index of one of the authors' rows)")
    return str(key)


def _row_at(stream: BinaryIO, position: int, key: str, path: Path) -> dict[str, Any]:
    stream.seek(position)
    row: dict[str, Any] = json.loads(stream.readline())  # was parsed before; a byte order mark is read over
    return _of_rollout(row, key, path) if isinstance(row.get("response"), dict) else row


def _of_rollout(row: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    said = rollout(row, 0, f"{path}, {key}")
    error = said.error and {"kind": "foreign", "message": said.error}
    return {
        "id": key,
        "text": said.text,
        "reasoning": said.reasoning,
        "finish_reason": said.finish_reason,
        "status": "failed" if error else "answered",
        "error": error,
    }
