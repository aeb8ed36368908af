"""Long-Transduction under both rules: gold and nothing, statuses, loops, and what cannot be scored."""

import time
from typing import Any

import pytest

from authors_oracle import authors_marks
from longtrek.errors import LongtrekError
from longtrek.transduction.scoring import explain, score, score_answer
from small_documents import (
    LISTS,
    PHRASES,
    POOL,
    RESOLVED,
    SUMS,
    TABLE,
    VARIANTS,
    document_of,
    small_document,
)


@pytest.mark.parametrize(("family", "form"), VARIANTS)
def test_gold_is_complete_and_nothing_is_zero_under_both_rules(family: str, form: str) -> None:
    document = small_document(family, form, 0)
    gold, nothing = score(document, document["expected"]), score(document, "")
    assert (gold.status, nothing.status, gold.loop_at) == ("scored", "empty", None)
    for rule in (gold.paper, gold.strict):
        assert rule.accuracy == 1 and rule.complete and len(rule.correct) == document["records"]
        assert all(all(marks) for marks in (rule.copied, rule.consistent) if marks is not None)
    for rule in (nothing.paper, nothing.strict):
        assert rule.accuracy == 0 and not rule.complete
        assert not any(any(marks) for marks in (rule.copied, rule.consistent) if marks is not None)


def test_notions_that_do_not_exist_are_none() -> None:
    phrases = score(PHRASES, "[1]red fox").strict
    assert phrases.copied is None and phrases.consistent == [True, False, False]
    table = score(TABLE, ",[C1],[C0]\n[R2],2222,2223").strict
    assert table.consistent is None and table.copied == [True, False, False, False, False, False]
    resolved = score(RESOLVED, ",[C0],[C1]\n[R0],red fox,a1+v1").strict
    assert resolved.copied is None and resolved.consistent == [True, False, False, False]


@pytest.mark.parametrize(
    "unit", [" ", "**a  ", "[1]", "5+6=", "\\(", "`", '"', "_a ", "a1b2c3d4,", "<", "* ", "[1] ", "\\"]
)
@pytest.mark.parametrize("document", [SUMS, LISTS, PHRASES, TABLE], ids=lambda document: document["family"])
def test_one_endless_line_is_read_in_linear_time(document: dict[str, Any], unit: str) -> None:
    text = "[1]5+6=" + unit * (100_000 // len(unit)) + "x"
    begun = time.process_time()
    assert score(document, text).paper.accuracy == 0
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(("family", "form"), VARIANTS)
def test_generated_documents_score_as_the_small_ones_do(family: str, form: str) -> None:
    from longtrek.transduction.documents import document as generate
    from longtrek.transduction.grid import grid
    from longtrek.transduction.prompts import read_prompts

    spec = next(spec for spec in grid().specs(4096, 1) if (spec.family, spec.format) == (family, form))
    document = generate(spec, 0, read_prompts())
    scored = score(document, document["expected"])
    assert scored.paper.complete and scored.strict.complete and scored.status == "scored"
    assert all(row.input and row.input in document["prompt"] for row in explain(document, "")[:1] if form == "resolve")
    assert all(row.input for row in explain(document, ""))
    cut = "\n".join(document["expected"].split("\n")[:5])
    assert score(document, cut).paper.correct == [mark[0] for mark in authors_marks(document, cut)]


@pytest.mark.parametrize(
    ("text", "finish_reason", "status", "loop"),
    [
        ("[1]5+6=11", "stop", "scored", None),
        ("[1]5+6=11", "length", "truncated", None),
        (" \n\n", "stop", "empty", None),
        ("<think>[1]5+6=11", "length", "unclosed_reasoning", None),
        ("<|channel|>analysis<|message|>5+6", "length", "unclosed_reasoning", None),
        ("I'm sorry, but the sequence is too long to process.", "stop", "refusal", None),
        ("Would you like me to output all lines?", "stop", "refusal", None),
        ("[1]5+6=11\n[2]2-5=-3\n[3]4+8-3+2=11\nLet me know if you need more.", "stop", "scored", None),
        ("garbage", "stop", "scored", None),
        ("[1]5+6=11\n\n[2]2-5=-3\n" + "[3]1+1=2\n" * 40, "length", "loop", 2),
        ("[1]5+6=11\n" + "".join(f"[{place}]1+1=2\n" for place in range(2, 40)) + "[40]1+", "length", "loop", 1),
        ("[1]5+6=11\n" * 4, "stop", "scored", None),
    ],
)
def test_answers_that_are_not_answers_are_named(text: str, finish_reason: str, status: str, loop: int | None) -> None:
    scored = score(SUMS, text, finish_reason)
    assert (scored.status, scored.loop_at) == (status, loop)


def test_lines_that_repeat_in_the_expected_output_are_no_loop() -> None:
    document = document_of("lookup", "no_ids", "\n".join(["quick fox"] * 20), POOL)
    assert score(document, document["expected"]).loop_at is None
    assert score(document, "\n".join(["quick fox"] * 24)).loop_at == 0


def test_reasoning_in_a_field_of_its_own_explains_an_empty_text() -> None:
    status, scored = score_answer(SUMS, {"id": "one", "text": "", "reasoning": "hm", "finish_reason": "length"})
    assert status == "unclosed_reasoning" and scored is not None and scored.paper.accuracy == 0


@pytest.mark.parametrize(("family", "form"), VARIANTS)
def test_explain_shows_every_record_with_its_input(family: str, form: str) -> None:
    document = small_document(family, form, 1)
    rows = explain(document, document["expected"])
    assert len(rows) == document["records"]
    assert all(row.input and row.paper_correct and row.strict_correct for row in rows)
    assert all(row.input in document["prompt"] for row in rows if not form.startswith("permute"))
    assert explain(document, "")[0].strict_given is None


def test_a_document_that_cannot_be_scored_is_an_error_that_says_why() -> None:
    for fault, field in [
        ("no text in the field 'prompt'", "prompt"),
        ("unknown family", "family"),
        ("expects", "expected"),
    ]:
        broken = {**SUMS, field: None if field == "prompt" else ""}
        with pytest.raises(LongtrekError, match=fault):
            score(broken, "")
    with pytest.raises(LongtrekError, match=r"must begin with \[2\]"):
        score({**SUMS, "expected": "[1]1+1=2\n[3]1+1=2"}, "")
