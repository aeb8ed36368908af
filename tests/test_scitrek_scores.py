"""SciTrek's scores: answers from elsewhere, and the score table of a run."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from longtrek.errors import LongtrekError
from longtrek.scitrek import scores
from scitrek_answers import gold, scored
from scitrek_score_table import QUESTIONS, REQUESTS, table


def test_answers_from_elsewhere_are_averaged_a_line_a_question(tmp_path: Path) -> None:
    questions = [
        {"id": "b", "answer": "1, 2", "order": "total"},
        {"id": "a", "answer": "5"},
        {"id": "c", "answer": "5"},
    ]
    answers = [
        {"id": "a", "text": "5"},
        {"id": "b", "text": "2, 1"},
        {"id": "a", "text": "5.0"},
        {"id": "b", "text": "1, 2"},
    ]
    b, a, c = scored(tmp_path, questions, answers)
    assert [row["id"] for row in (b, a, c)] == ["b", "a", "c"]
    assert b["paper"] == {"rule": "paper-1", "exact_match": 0.5, "f1": 1.0}
    assert (b["strict"]["correct"], b["strict"]["assumed"]) == (0.5, ["parts"])
    assert a["paper"]["exact_match"] == 0.5
    assert (a["strict"]["correct"], a["strict"]["order"]) == (1.0, "any")
    assert (c["status"], c["paper"]["exact_match"], c["strict"]["correct"]) == ("missing", None, None)


@pytest.mark.parametrize("error", ["boom", {}, {"kind": None}, {"kind": ["x"]}, {"message": "no"}, {"kind": "\ud800"}])
def test_an_error_of_any_form_is_a_failure_that_can_be_printed(tmp_path: Path, error: Any) -> None:
    answer = {"id": "a", "status": "failed", "error": error}
    tally = scores.Tally(gold("5"))
    tally.add(answer, reasoning=False)
    assert (tally.failed, tally.status) == (1, "failed")
    json.dumps(dict(tally.errors), ensure_ascii=False).encode()


def test_a_failed_request_stays_in_the_denominator_as_an_error(tmp_path: Path) -> None:
    questions = [{"id": "half", "answer": "5"}, {"id": "none", "answer": "5"}]
    error = {"kind": "context_length", "message": "too long"}
    answers = [
        {"id": "half", "text": "5", "finish_reason": "length"},
        {"id": "half", "text": "", "status": "failed", "error": error},
        {"id": "none", "text": None, "status": "failed", "error": error},
    ]
    half, none = scored(tmp_path, questions, answers)
    assert half["samples"] == {"asked": 2, "answered": 1, "failed": 1, "not_asked": 0, "truncated": 1}
    assert (half["status"], half["paper"]["exact_match"], half["strict"]["correct"]) == ("scored", 0.5, 0.5)
    assert (none["status"], none["paper"]["exact_match"]) == ("failed", None)
    assert none["errors"] == {"context_length": 1}


@pytest.mark.parametrize(
    ("questions", "answers", "words"),
    [
        ([{"id": "a", "answer": "5"}], [{"id": "x", "text": "5"}], "'x' is no question"),
        ([{"id": "a", "answer": "5"}] * 2, [], "two questions have the id 'a'"),
        ([{"id": "a"}], [], "`answer` is None"),
        ([{"id": "a", "answer": "5"}], [{"id": "a"}], "`text` is None"),
        ([{"id": "a", "answer": "5"}], [{"text": "5"}], "without an `id`"),
        ([{"id": "a", "answer": "5"}], [{"id": "a", "text": "5", "status": "done"}], "status 'done'"),
        ([{"id": "a\u2028", "answer": "5"}], [], "cannot be printed"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, questions: Any, answers: Any, words: str) -> None:
    with pytest.raises(LongtrekError, match=words):
        scored(tmp_path, questions, answers)


def test_a_row_of_the_score_table_holds_scores_counts_and_lengths() -> None:
    row = next(row for row in table() if row["question"] == "q1" and row["context"] == "tables")
    assert (row["paper_exact_match"], row["paper_f1"], row["strict_correct"]) == (0.5, 0.5, 0.5)
    assert (row["asked"], row["answered"], row["missing"], row["null_answers"]) == (2, 2, 0, 0.5)
    assert (row["articles"], row["question_words"], row["sql_words"], row["answer_words"]) == (3, 8, 8, 2)
    assert (row["subject"], row["completion_tokens"]) == ("Biology", 3.0)


def test_what_was_requested_and_not_answered_is_a_row_and_not_a_gap() -> None:
    rows = {(row["question"], row["context"]): row for row in table()}
    assert len(rows) == 4
    failed = rows["q1", "full_text"]
    assert (failed["status"], failed["asked"], failed["failed"], failed["missing"]) == ("failed", 2, 1, 1)
    assert failed["paper_exact_match"] is None
    assert rows["q2", "full_text"]["status"] == "missing"
    assert rows["q2", "tables"]["paper_exact_match"] == 0.5


def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    assert scores.write_scores(tmp_path / "one.parquet", table()) == 4
    scores.write_scores(tmp_path / "two.parquet", table())
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert pq.read_table(tmp_path / "one.parquet").to_pylist() == table()


def test_an_answer_that_nobody_requested_is_an_error() -> None:
    stray = [{"id": "q1/tables/direct", "sample": 7, "text": "5"}]
    with pytest.raises(LongtrekError, match="was not requested"):
        list(scores.score_rows("m", QUESTIONS, REQUESTS, stray))
