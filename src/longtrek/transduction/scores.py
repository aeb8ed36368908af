"""The scores stage: a model's answers to any number of tiers become two Parquet files, the same bytes every time."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.files import atomic
from longtrek.transduction.pairing import paired
from longtrek.transduction.reasoning import reasoned
from longtrek.transduction.scoring import Score, score_answer

ROW_GROUP = 1 << 18
"""Rows of a row group: fixed, so that bytes do not depend on how records arrive; it also bounds the memory."""

_NOTIONS = ("correct", "copied", "consistent")

RECORDS = pa.schema(
    [("document", pa.string()), ("record", pa.int32())]
    + [(f"{rule}_{notion}", pa.bool_()) for rule in ("paper", "strict") for notion in _NOTIONS]
)
"""A row a scored record; `record` is its place among the expected ones, from 0. Null: the notion does not exist."""

DOCUMENTS = pa.schema(
    [
        ("model", pa.string()),
        ("check", pa.bool_()),
        ("document", pa.string()),
        ("family", pa.string()),
        ("format", pa.string()),
        ("difficulty", pa.float64()),
        ("horizon", pa.int32()),
        ("sample", pa.int32()),
        ("records", pa.int32()),
        ("status", pa.string()),
        ("finish_reason", pa.string()),
        ("loop_at", pa.int32()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
        ("fits", pa.bool_()),
        ("reasoned", pa.bool_()),
        ("paper_accuracy", pa.float64()),
        ("paper_complete", pa.bool_()),
        ("strict_accuracy", pa.float64()),
        ("strict_complete", pa.bool_()),
        ("error", pa.string()),
    ]
)
"""A row an asked document; accuracies are null where no answer was received (`failed`, `not_asked`, `missing`)."""


def write_scores(
    tiers: Iterable[tuple[Path, Path]],
    records: Path,
    documents: Path,
    model: str,
    check: bool = False,
    asked: Callable[[Mapping[str, Any]], bool] | None = None,
) -> int:
    """Score a model's answers, tier by tier, into `transduction.parquet` and `transduction_documents.parquet`.

    Args:
        tiers: for each tier, the file of documents and the file of answers.
        records: the file to write, a row a record (`RECORDS`).
        documents: the file to write, a row a document (`DOCUMENTS`).
        model: the model's name.
        check: whether it is the reference solver, which no figure may show as a model.
        asked: which documents the study asks; all of a tier where None. One that was asked and has no answer is listed
            as `missing`.

    Returns:
        the number of scored records.

    Raises:
        LongtrekError: as `scoring.score_transduction`. Then neither file is written.
    """
    with atomic(records) as record_sink, atomic(documents) as document_sink, contextlib.ExitStack() as stack:
        record_rows = stack.enter_context(_Rows(record_sink, RECORDS))
        document_rows = stack.enter_context(_Rows(document_sink, DOCUMENTS))
        for document, answer in _pairs(tiers, asked):
            status, scored = score_answer(document, answer)
            document_rows.add(_document_row(model, check, document, answer, status, scored))
            if scored is not None:
                record_rows.add(_record_rows(document["id"], scored))
        return record_rows.count


def _pairs(
    tiers: Iterable[tuple[Path, Path]], asked: Callable[[Mapping[str, Any]], bool] | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    for document_file, answer_file in tiers:
        for document, answer in paired(document_file, answer_file, stored=True):
            if answer is not None or asked is None or asked(document):
                yield document, answer


def _record_rows(document: str, scored: Score) -> pa.Table:
    count = len(scored.paper.correct)
    codes = pa.array(np.zeros(count, dtype=np.int32))
    columns = [
        pa.DictionaryArray.from_arrays(codes, pa.array([document])).cast(pa.string()),
        pa.array(np.arange(count, dtype=np.int32)),
    ]
    for rule in (scored.paper, scored.strict):
        for marks in (rule.correct, rule.copied, rule.consistent):
            columns.append(pa.nulls(count, pa.bool_()) if marks is None else pa.array(marks, pa.bool_()))
    return pa.Table.from_arrays(columns, schema=RECORDS)


def _document_row(
    model: str,
    check: bool,
    document: Mapping[str, Any],
    answer: Mapping[str, Any] | None,
    status: str,
    scored: Score | None,
) -> pa.Table:
    answer = answer or {}
    usage = answer.get("usage") or {}
    row = {
        "model": model,
        "check": check,
        "document": document["id"],
        **{name: document[name] for name in ("family", "format", "difficulty", "horizon", "sample", "records")},
        "status": status,
        "finish_reason": answer.get("finish_reason"),
        "loop_at": scored.loop_at if scored else None,
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "fits": answer.get("fits"),
        "reasoned": reasoned(answer),
        "paper_accuracy": scored.paper.accuracy if scored else None,
        "paper_complete": scored.paper.complete if scored else None,
        "strict_accuracy": scored.strict.accuracy if scored else None,
        "strict_complete": scored.strict.complete if scored else None,
        "error": _error(answer.get("error")),
    }
    return pa.Table.from_pylist([row], schema=DOCUMENTS)


def _error(error: Any) -> str | None:
    """An answer's error as one line: its kind and message."""
    if isinstance(error, Mapping):
        return ": ".join(str(error[part]) for part in ("kind", "message") if error.get(part))
    return None if error is None else str(error)


class _Rows:
    """Collects tables and writes full row groups of one size; the rest when it is left."""

    def __init__(self, sink: BinaryIO, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(sink, schema, compression="zstd", compression_level=3)
        self._schema = schema
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self.count = 0

    def add(self, table: pa.Table) -> None:
        """Take rows of any number."""
        self._waiting.append(table)
        self._rows += table.num_rows
        self.count += table.num_rows
        while self._rows >= ROW_GROUP:
            self._write(ROW_GROUP)

    def _write(self, rows: int) -> None:
        # Chunks would end pages where documents end: one chunk a group keeps the bytes a function of the rows alone.
        waiting = pa.concat_tables(self._waiting)
        self._writer.write_table(waiting.slice(0, rows).combine_chunks(), row_group_size=rows)
        self._waiting = [waiting.slice(rows)]
        self._rows -= rows

    def __enter__(self) -> "_Rows":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._rows:
            self._write(self._rows)
        self._writer.close()
