"""Scores of Long-Transduction from files of documents and answers, ours or the authors', and their Parquet."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard

from longtrek.errors import LongtrekError
from longtrek.transduction.authors import TYPES, documents_of
from longtrek.transduction.reasoning import reasoned
from longtrek.transduction.scores import write_scores
from longtrek.transduction.scoring import score_transduction
from small_documents import VARIANTS, small_document


def write_lines(path: Path, rows: list[Any]) -> Path:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(zstandard.ZstdCompressor().compress(data) if path.suffix == ".zst" else data)
    return path


def theirs(kind: str, seed: int) -> dict[str, Any]:
    """One of the authors' prepared rows that asks what the small document of the same variant asks."""
    family, form = TYPES[kind]
    document = small_document(family, form, seed)
    lines = [line.split("]", 1)[-1] for line in document["expected"].split("\n")]
    row: dict[str, Any] = {"type": kind, "question": document["prompt"], "target_tokens": 2048}
    row |= {"expected_output": document["expected"], "responses_create_params": {"max_output_tokens": 3072}}
    if family == "arithmetic":
        pairs = [line.split("=") for line in lines]
        return row | {"max_operands": 2, "expressions": [{"expr": left, "answer": int(right)} for left, right in pairs]}
    if family == "uuid_sort":
        return row | {"uuids_per_line": 2, "uuid_lines": [line.split(",")[::-1] for line in lines]}
    if family == "lookup":
        return row | {"n_variables": 2, "expressions": [{"expr": "", "answer": line} for line in lines]}
    return row | {"n_rows": 7, "n_cols": 7, "vocab_fraction" if form == "resolve" else "perm_fraction": 0.2}


def test_the_authors_rows_are_scored_like_our_documents(tmp_path: Path) -> None:
    rows = [theirs(kind, 3) for kind in TYPES]
    ours = [small_document(*TYPES[kind], 3) for kind in TYPES]
    text = "\n".join(ours[0]["expected"].split("\n")[:3])
    texts = [document["expected"] for document in ours[:-1]] + [text]
    numbered = [{"id": place, "text": text} for place, text in enumerate(texts)]
    named = [{"id": document["id"], "text": text} for document, text in zip(ours, texts, strict=True)]
    their_scores = list(
        score_transduction(write_lines(tmp_path / "t.jsonl.zst", rows), write_lines(tmp_path / "a.jsonl", numbered))
    )
    our_scores = list(
        score_transduction(write_lines(tmp_path / "o.jsonl", ours), write_lines(tmp_path / "n.jsonl.zst", named))
    )
    assert [row["id"] for row in their_scores] == list(range(12))
    assert [row["id"] for row in our_scores] == [document["id"] for document in ours]
    for mine, other in zip(our_scores, their_scores, strict=True):
        assert {**mine, "id": 0} == {**other, "id": 0}
    assert [row["paper"]["complete"] for row in our_scores] == [True] * 11 + [False]


def test_the_authors_rows_are_documents_to_ask() -> None:
    documents = list(documents_of([theirs("streaming_sum", 0), theirs("streaming_sum", 1)], "rows"))
    assert [(row["id"], row["sample"], row["cap"], row["horizon"], row["difficulty"]) for row in documents] == [
        ("0", 0, 3072, 4096, 2),
        ("1", 1, 3072, 4096, 2),
    ]
    assert documents[0]["prompt"] == small_document("arithmetic", "ordered", 0)["prompt"]
    named = documents_of([theirs("streaming_sum", 0) | {"id": name} for name in (None, 7, "x")], "rows")
    assert [row["id"] for row in named] == ["0", "7", "x"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"type": "sum"}, "unknown type 'sum'"),
        ({"expressions": []}, "no records in `expressions`"),
        ({"expressions": [{"expr": "1+1"}]}, "not of the authors' shape"),
        ({"expected_output": "[1]1+1=3"}, "changed by hand"),
        ({"type": ["streaming_sum"]}, "type: found"),
        ({"target_tokens": "2048"}, "target_tokens: found"),
        ({"max_operands": {}}, "max_operands: found"),
        ({"responses_create_params": []}, "responses_create_params: found"),
        ({"responses_create_params": {"max_output_tokens": float("inf")}}, "max_output_tokens: found"),
        ({"id": 1.5}, "id: found"),
    ],
)
def test_a_row_that_is_not_the_authors_is_an_error(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(LongtrekError, match=fault):
        list(documents_of([theirs("streaming_sum", 0) | change], "rows"))


def small_tier() -> list[dict[str, Any]]:
    return [small_document(family, form, 0) for family, form in VARIANTS]


def test_answers_that_were_not_received_have_a_status_and_no_score(tmp_path: Path) -> None:
    tier = small_tier()[:4]
    answers = [
        {"id": tier[2]["id"], "text": None, "status": "failed", "error": {"kind": "timeout", "message": "late"}},
        {"id": tier[1]["id"], "text": None, "status": "not_asked", "finish_reason": None},
        {"id": tier[0]["id"], "text": tier[0]["expected"], "status": "answered", "finish_reason": "complete"},
    ]
    results = list(
        score_transduction(write_lines(tmp_path / "d.jsonl", tier), write_lines(tmp_path / "a.jsonl", answers))
    )
    assert [row["status"] for row in results] == ["scored", "not_asked", "failed", "missing"]
    assert [row["paper"] is None and row["strict"] is None for row in results] == [False, True, True, True]
    assert results[0]["finish_reason"] == "complete"


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ([{"id": "elsewhere", "text": ""}], "1 answers to documents that .* does not hold: elsewhere"),
        ([{"id": "arithmetic-ordered-0", "text": ""}] * 2, "line 2: a second answer to arithmetic-ordered-0"),
        ([{"text": ""}], "line 1: no `id`"),
        ([{"id": "arithmetic-ordered-0"}], "no text"),
        ([{"id": "arithmetic-ordered-0", "status": "done"}], "unknown status 'done'"),
    ],
)
def test_answers_that_do_not_belong_are_an_error(tmp_path: Path, answers: list[Any], fault: str) -> None:
    documents = write_lines(tmp_path / "d.jsonl", small_tier())
    with pytest.raises(LongtrekError, match=fault):
        list(score_transduction(documents, write_lines(tmp_path / "a.jsonl", answers)))


def test_documents_of_both_kinds_in_one_file_are_an_error(tmp_path: Path) -> None:
    answers = write_lines(tmp_path / "a.jsonl", [])
    for rows in ([*small_tier(), theirs("streaming_sum", 0)], [theirs("streaming_sum", 0), *small_tier()]):
        with pytest.raises(LongtrekError, match="expected one kind in a file"):
            list(score_transduction(write_lines(tmp_path / "d.jsonl", rows), answers))


def test_parquet_holds_a_row_a_record_and_a_row_a_document_in_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtrek.transduction.scores.ROW_GROUP", 16)
    tier = small_tier()
    answers = [{"id": row["id"], "text": row["expected"]} for row in tier[:-2]]
    answers = [row | {"status": "answered", "usage": {"prompt_tokens": 5}} for row in answers]
    answers.append(
        {"id": tier[-2]["id"], "text": "", "status": "failed", "error": {"kind": "timeout", "message": "late"}}
    )
    files = write_lines(tmp_path / "d.jsonl.zst", tier), write_lines(tmp_path / "a.jsonl", answers)
    records, documents = tmp_path / "records.parquet", tmp_path / "documents.parquet"
    count = write_scores([files], records, documents, "gold", check=True)
    again = [path.with_suffix(".again") for path in (records, documents)]
    write_scores([files], *again, "gold", check=True)
    assert [path.read_bytes() for path in again] == [records.read_bytes(), documents.read_bytes()]

    table, asked = pq.read_table(records), pq.read_table(documents).to_pylist()
    assert count == table.num_rows == sum(row["records"] for row in tier[:-2])
    assert {pq.ParquetFile(records).metadata.row_group(group).num_rows for group in range(3)} == {16}
    assert table["paper_correct"].to_pylist() == table["strict_correct"].to_pylist() == [True] * count
    first = table.filter([name == tier[0]["id"] for name in table["document"].to_pylist()])
    assert first["record"].to_pylist() == list(range(7)) and first["strict_copied"].to_pylist() == [True] * 7
    assert [row["status"] for row in asked] == ["scored"] * 10 + ["failed", "missing"]
    assert asked[0]["paper_accuracy"] == 1 and asked[0]["check"] and asked[0]["prompt_tokens"] == 5
    assert asked[-2]["error"] == "timeout: late" and asked[-2]["strict_complete"] is None

    write_scores([files], *again, "gold", asked=lambda document: document["family"] != "table")
    assert [row["status"] for row in pq.read_table(again[1]).to_pylist()] == ["scored"] * 10 + ["failed"]


def test_scores_that_cannot_be_made_leave_no_file(tmp_path: Path) -> None:
    files = (
        write_lines(tmp_path / "d.jsonl", small_tier()),
        write_lines(tmp_path / "a.jsonl", [{"id": "x", "text": "", "status": "answered"}]),
    )
    with pytest.raises(LongtrekError, match="does not hold: x"):
        write_scores([files], tmp_path / "r.parquet", tmp_path / "q.parquet", "m")
    assert not list(tmp_path.glob("*.parquet*"))


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        ({"text": "[1]1+1=2"}, False),
        ({"text": "", "reasoning": None, "usage": None}, False),
        ({"text": "2", "usage": {"reasoning_tokens": 0}}, False),
        ({"text": "2", "usage": {"reasoning_tokens": 3}}, True),
        ({"text": "2", "reasoning": "Let me see."}, True),
        ({"text": "Let me see.</think>2"}, True),
        ({"text": "<think>Let me"}, True),
    ],
)
def test_reasoning_is_seen_however_it_comes(row: dict[str, Any], holds: bool) -> None:
    assert reasoned(row) is holds
