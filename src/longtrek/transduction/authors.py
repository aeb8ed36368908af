"""The authors' prepared JSON lines as documents, so that the paper can be reproduced on the authors' own prompts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl

TYPES = {
    "streaming_sum": ("arithmetic", "ordered"),
    "shuffled_streaming_sum": ("arithmetic", "shuffled"),
    "unnumbered_streaming_sum": ("arithmetic", "no_ids"),
    "streaming_uuid_sort": ("uuid_sort", "ordered"),
    "shuffled_streaming_uuid_sort": ("uuid_sort", "shuffled"),
    "unnumbered_uuid_sort": ("uuid_sort", "no_ids"),
    "streaming_var_expand": ("lookup", "ordered"),
    "shuffled_streaming_var_expand": ("lookup", "shuffled"),
    "unnumbered_var_expand": ("lookup", "no_ids"),
    "csv_permutation_homogeneous": ("table", "permute_homogeneous"),
    "csv_permutation_heterogeneous": ("table", "permute_heterogeneous"),
    "csv_kv_lookup": ("table", "resolve"),
}
"""The family and format of each of the authors' types."""

_UNTYPED = "unnumbered_streaming_sum"  # what the authors' verifier takes a row without a type for
_MARKS = ("expected_output", "expressions", "uuid_lines")
_DIFFICULTIES = ("max_operands", "uuids_per_line", "n_variables", "perm_fraction", "vocab_fraction")


def is_authors(row: Any) -> bool:
    """Whether a JSON value is one of the authors' prepared rows rather than a document of this kit."""
    return isinstance(row, dict) and "family" not in row and any(mark in row for mark in _MARKS)


def read_documents(path: Path) -> Iterator[dict[str, Any]]:
    """Read the authors' prepared file (`.jsonl` or `.jsonl.zst`) as documents, one at a time.

    Raises:
        LongtrekError: the file is missing, or a row is not of the authors' shape; the message names the row.
    """
    return documents_of(read_jsonl(path), str(path))


def documents_of(rows: Iterable[Any], where: str) -> Iterator[dict[str, Any]]:
    """Turn the authors' rows into documents; `where` is named in errors.

    A row without an `id` gets its index, from 0, as text. `sample` counts the rows of a type, difficulty and budget
    in file order. Horizon is twice the input budget (`target_tokens`).
    """
    seen: Counter[tuple[str, float, int]] = Counter()
    for index, row in enumerate(rows):
        if not is_authors(row):
            raise LongtrekError(
                f"{where}, row {index} (from 0): not one of the authors' prepared rows; expected the fields `type`, "
                f"`question` and one of {', '.join(_MARKS)}"
            )
        place = f"{where}, row {index} (from 0)"
        schemas.check(row, "authors", place)
        document = _document(row, index, place)
        cell = document["family"] + document["format"], document["difficulty"], document["horizon"]
        document["sample"] = seen[cell]
        seen[cell] += 1
        yield document


def _document(row: Mapping[str, Any], index: int, where: str) -> dict[str, Any]:
    kind = row.get("type") or _UNTYPED
    if kind not in TYPES:
        raise LongtrekError(f"{where}: unknown type {kind!r}; known: {', '.join(TYPES)}")
    family, form = TYPES[kind]
    expected = _expected(row, family, form, where)
    budget = int(row.get("target_tokens") or 0)
    parameters = row.get("responses_create_params") or {}
    lines = [line for line in expected.split("\n") if line.strip()]
    return {
        "id": str(index if row.get("id") is None else row["id"]),
        "family": family,
        "format": form,
        "difficulty": next((row[name] for name in _DIFFICULTIES if row.get(name) is not None), 0),
        "horizon": 2 * budget,
        "sample": 0,
        "prompt": prompt_of(row),
        "expected": expected,
        "budget": budget,
        "cap": int(parameters.get("max_output_tokens") or budget * 3 // 2),
        "records": len(lines) if family != "table" else (len(lines) - 1) * lines[0].count(","),
        "prompt_tokens": row.get("approx_prompt_tokens"),
        "expected_tokens": None,
        "prompt_sha256": None,
    }


def prompt_of(row: Mapping[str, Any]) -> str:
    """The prompt of one of the authors' rows, prepared or with a response beside it; empty where it states none."""
    question = row.get("question")
    if isinstance(question, str):
        return question
    messages = (row.get("responses_create_params") or {}).get("input") or ""
    return messages if isinstance(messages, str) else str(messages[-1].get("content") or "")


def _expected(row: Mapping[str, Any], family: str, form: str, where: str) -> str:
    """The expected text: a table's as it stands; a stream's from the records that the authors' verifier compares."""
    stated = row.get("expected_output")
    if family == "table":
        return _table(row, stated, where)
    field = "uuid_lines" if family == "uuid_sort" else "expressions"
    records = row.get(field)
    if not isinstance(records, list) or not records:
        raise LongtrekError(f"{where}: no records in `{field}`, which {family} is scored by")
    try:
        texts = [_record(record, family) for record in records]
    except (KeyError, TypeError, AttributeError):
        raise LongtrekError(
            f"{where}: a record in `{field}` is not of the authors' shape; expected "
            + ("a list of identifiers" if family == "uuid_sort" else "an object with `expr` and `answer`")
        ) from None
    if form != "no_ids":
        texts = [f"[{place}]{text}" for place, text in enumerate(texts, 1)]
    expected = "\n".join(texts)
    if isinstance(stated, str) and stated.split() != expected.split():
        raise LongtrekError(f"{where}: `expected_output` is not what `{field}` gives; the row was changed by hand")
    return expected


def _record(record: Any, family: str) -> str:
    if family == "uuid_sort":
        return ",".join(sorted(identifier.lower() for identifier in record))
    return f"{record['expr']}={record['answer']}" if family == "arithmetic" else str(record["answer"])


def _table(row: Mapping[str, Any], stated: Any, where: str) -> str:
    if not isinstance(stated, str) or not stated.strip():
        raise LongtrekError(f"{where}: no table in `expected_output`")
    lines = [line for line in stated.split("\n") if line.strip()]
    size = len(lines) - 1, lines[0].count(",")
    named = row.get("n_rows"), row.get("n_cols")
    if None not in named and named != size:
        raise LongtrekError(
            f"{where}: `expected_output` has {size[0]} rows and {size[1]} columns, "
            f"but n_rows and n_cols are {named[0]} and {named[1]}"
        )
    return stated
