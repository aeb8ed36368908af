"""The authors' released data: questions, and instructions used as they are."""

from pathlib import Path

import pytest

from longtrek.errors import LongtrekError
from longtrek.scitrek import released
from released_rows import ROW, WITH_PROMPTS
from scitrek_answers import scored


def test_released_rows_are_questions_in_the_papers_terms() -> None:
    (question,) = released.questions([ROW])
    assert (question["level"], question["strategy"], question["skill"]) == ("1M", "dfs", "sorting")
    assert (question["topic"], question["split"], question["left_out"]) == ("title_list", "test", None)
    (with_prompts,) = released.questions([WITH_PROMPTS])
    assert with_prompts["id"] == question["id"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": "NULL"}, "the answer is NULL"),
        ({"sql_type": "multi_simple"}, "a simple question"),
        ({"question": "Which are in the database?"}, "names the database"),
        ({"question": ""}, "no question"),
    ],
)
def test_released_rows_outside_the_papers_set_say_why(change: dict[str, str], reason: str) -> None:
    (question,) = released.questions([ROW | change])
    assert question["left_out"] == reason


@pytest.mark.parametrize(
    ("sql", "columns", "order"),
    [
        ("SELECT author_count, COUNT(*) FROM articles GROUP BY author_count;", 2, "any"),
        ("SELECT author_count FROM articles ORDER BY author_count DESC;", 1, "total"),
        ("SELECT author_count FROM articles ORDER BY reference_count DESC;", 1, None),
        ("SELEC author_count FRM", None, None),
    ],
)
def test_released_queries_tell_of_order_what_they_can(sql: str, columns: int | None, order: str | None) -> None:
    (question,) = released.questions([ROW | {"sql": sql}])
    assert (question["columns"], question["order"]) == (columns, order)


def test_released_instructions_are_used_as_they_are_and_markers_replaced_once() -> None:
    full = released.released_prompt(WITH_PROMPTS, "full_text", "direct")
    assert full == "Read: # On Sets\nwith <question> inside\nQ: Which titles, fewest references first?"
    assert released.released_prompt(WITH_PROMPTS, "tables", "direct") == f"T1|T2|T3|{ROW['question']}"
    with pytest.raises(LongtrekError, match="carries no instruction_direct"):
        released.released_prompt(ROW, "tables", "direct")


def test_released_rows_can_be_asked_as_a_stream() -> None:
    rows = [WITH_PROMPTS, WITH_PROMPTS]
    asked = list(released.released_requests(iter(rows), context="tables", kind="direct", samples=3, max_tokens=64))
    assert [request.sample for request in asked] == [0, 1, 2] * 2
    assert len({request.id for request in asked}) == 2
    assert {request.expected for request in asked} == {ROW["answer"]}


def test_answers_score_against_the_released_questions(tmp_path: Path) -> None:
    (question,) = released.questions([ROW])
    texts = ["On Sets, On Games", "On Games, On Sets", ""]
    (line,) = scored(tmp_path, [question], [{"id": question["id"], "text": text} for text in texts])
    assert line["paper"]["exact_match"] == pytest.approx(1 / 3)
    assert line["samples"]["asked"] == 3


def test_a_released_row_of_another_shape_is_an_error_with_its_number() -> None:
    with pytest.raises(LongtrekError, match="row 1: sql_type 'other'"):
        list(released.questions([ROW | {"sql_type": "other"}]))
    with pytest.raises(LongtrekError, match="row 1: no `answer`"):
        list(released.questions([{"question": "?"}]))
