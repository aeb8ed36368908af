"""Scoring of Long-Transduction: the authors' rule against an oracle, a careful reader's against a table of cases."""

import json
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from authors_oracle import authors_marks
from longtrek.errors import LongtrekError
from longtrek.transduction.authors import TYPES, documents_of
from longtrek.transduction.scores import write_scores
from longtrek.transduction.scoring import explain, score, score_answer, score_transduction
from longtrek.transduction.strict_table import longest_increasing
from small_documents import ADJECTIVES, NOUNS, VARIANTS, small_document

variants = st.sampled_from(VARIANTS)
seeds = st.integers(0, 5)


def document_of(family: str, form: str, expected: str, prompt: str = "") -> dict[str, Any]:
    return {"id": "one", "family": family, "format": form, "prompt": prompt, "expected": expected}


POOL = "".join(f"{place:03x}={word}\n" for place, word in enumerate(ADJECTIVES + NOUNS))
SUMS = document_of("arithmetic", "ordered", "[1]5+6=11\n[2]2-5=-3\n[3]4+8-3+2=11")
PLAIN_SUMS = document_of("arithmetic", "no_ids", "5+6=11\n2-5=-3\n4+8-3+2=11")
LISTS = document_of("uuid_sort", "ordered", "[1]a1b2c3d4,c0a8e1d2\n[2]01234567,f0e1d2c3")
PLAIN_LISTS = document_of("uuid_sort", "no_ids", "a1b2c3d4,c0a8e1d2\n01234567,f0e1d2c3")
PHRASES = document_of("lookup", "ordered", "[1]quick fox\n[2]quiet harbor\n[3]big dog", POOL)
PLAIN_PHRASES = document_of("lookup", "no_ids", "quick fox\nquiet harbor\nbig dog", POOL)
TABLE = document_of("table", "permute_homogeneous", ",[C1],[C0]\n[R2],1111,2222\n[R0],3333,4444\n[R1],5555,6666")
RESOLVED = document_of("table", "resolve", ",[C0],[C1]\n[R0],quick fox,red cat\n[R1],big dog,lazy table", POOL)


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


def test_every_mutation_is_scored_as_the_authors_would() -> None:
    seen: set[str] = set()

    @settings(max_examples=1500, deadline=None)
    @given(variants, seeds, st.data())
    def check(variant: tuple[str, str], seed: int, data: st.DataObject) -> None:
        document = small_document(*variant, seed)
        text = data.draw(mutated(document["expected"]))
        marks = authors_marks(document, text)
        paper = score(document, text).paper
        assert paper.correct == [mark[0] for mark in marks], text
        if variant[0] in ("arithmetic", "uuid_sort"):
            assert paper.copied == [mark[1] for mark in marks], text
            assert paper.consistent == [mark[2] for mark in marks], text
        else:
            assert paper.copied == paper.correct
        seen.add("some" if 0 < paper.accuracy < 1 else "all" if paper.complete else "none")

    check()
    assert seen == {"some", "all", "none"}


@st.composite
def mutated(draw: st.DrawFn, gold: str) -> str:
    """A gold output with up to four things done to its lines, then perhaps wrapped, cut or joined otherwise."""
    lines = gold.split("\n")
    for _ in range(draw(st.integers(0, 4))):
        if not lines:
            break
        place = draw(st.integers(0, len(lines) - 1))
        change = draw(st.sampled_from(CHANGES))
        lines[place : place + 1] = change(lines[place], lines[draw(st.integers(0, len(lines) - 1))])
    text = draw(st.sampled_from(["\n", "\n", "\n\n", "\r\n", " \n "])).join(lines)
    text = draw(st.sampled_from(WRAPS)).replace("@", text)
    return text[: draw(st.one_of(st.just(len(text)), st.integers(0, len(text))))]


CHANGES = [
    lambda line, other: [],
    lambda line, other: [line, line],
    lambda line, other: [other, line],
    lambda line, other: [other],
    lambda line, other: [f"  {line}\t"],
    lambda line, other: [line.replace("+", " + ").replace("=", " = ").replace(",", " , ").replace(" ", "  ")],
    lambda line, other: [line.upper()],
    lambda line, other: [line + ".0"],
    lambda line, other: [line + "."],
    lambda line, other: [line + "..1"],
    lambda line, other: [line + " ok"],
    lambda line, other: [f"**{line}**"],
    lambda line, other: [line.replace("]", "] ")],
    lambda line, other: [line.replace("[", "[0")],
    lambda line, other: [line.partition("]")[2]],
    lambda line, other: [f"[1]{line}"],
    lambda line, other: [line.replace("1", "2")],
    lambda line, other: [line.replace("=-", "= - ")],
    lambda line, other: [line.replace("=", "=+")],
    lambda line, other: [line.replace("-", "--")],
    lambda line, other: [line[: len(line) // 2]],
    lambda line, other: [line[1:]],
    lambda line, other: [line + ",deadbeef"],
    lambda line, other: ["Here is deadbeef for you:", line],
    lambda line, other: ["", "...", line],
    lambda line, other: ["[1]", line],
    lambda line, other: [",".join(reversed(line.split(",")))],
    lambda line, other: [line.replace(",", "),(")],
]

WRAPS = [
    *["@"] * 6,
    "```\n@\n```",
    "```csv\n@\n```\nDone.",
    "Sure!\n@",
    "<think>hm</think>\n@",
    "<think>@",
    "@</think>",
    "hm</think>\n@\n<think>again",
    "<|channel|>analysis<|message|>hm<|channel|>final<|message|>@",
    "<|channel|>analysis<|message|>@",
    "<think><|channel|>final<|message|>@",
]


@pytest.mark.parametrize(
    ("document", "line", "marks"),
    [
        (SUMS, "[1]5+6=11", (True, True, True)),
        (SUMS, "[1] 5 + 6 = 11.0", (True, True, True)),
        (SUMS, "[1]5+6=12", (False, True, False)),
        (SUMS, "[1]5+7=12", (False, False, True)),
        (SUMS, "[1]6+5=11", (False, False, True)),
        (SUMS, "[1]5+6=11.", (True, True, True)),
        (SUMS, "[1]5+6=+11", (False, False, False)),
        (SUMS, "[1]5+6=11.0.0", (False, False, False)),
        (SUMS, "[1]5+6=11 ok", (False, False, False)),
        (SUMS, "[01]5+6=11", (True, True, True)),
        (SUMS, "[1]5++6=11", (False, False, False)),
        (SUMS, "[1] =0", (False, False, True)),
        (SUMS, "[" + "9" * 5000 + "]5+6=11\n[1]5+6=11", (True, True, True)),
        (SUMS, "[1]" + "9" * 5000 + "=" + "9" * 5000, (False, False, False)),
        (SUMS, "[1]5+6=" + "9" * 400, (False, True, False)),
        (LISTS, "[1](A1B2C3D4), (C0A8E1D2) !", (True, True, True)),
        (LISTS, "[1]c0a8e1d2,a1b2c3d4", (False, True, False)),
        (LISTS, "[1]a1b2c3d4,a1b2c3d4,c0a8e1d2", (False, True, True)),
        (LISTS, "[1]a1b2c3d,a1b2c3d4,c0a8e1d2", (True, True, True)),
        (LISTS, "[1]nothing\n[1]a1b2c3d4,c0a8e1d2", (True, True, True)),
        (PHRASES, "[1]Quick   FOX", (True, True, True)),
        (PHRASES, "[1]big fox", (False, False, True)),
        (PHRASES, "[1]slow fox", (False, False, False)),
        (PHRASES, "[1]\n[1]quick fox", (False, False, False)),
    ],
)
def test_paper_rule_on_the_first_record(document: dict[str, Any], line: str, marks: tuple[bool, bool, bool]) -> None:
    paper = score(document, line).paper
    assert paper.copied is not None and paper.consistent is not None
    assert (paper.correct[0], paper.copied[0], paper.consistent[0]) == marks


@pytest.mark.parametrize(
    ("document", "text", "correct"),
    [
        # presentation is read through
        (SUMS, "**[1]** 5+6 = **11**", [1, 0, 0]),
        (SUMS, "**[1]**5+6=**11**\n[2]2−5=−3\n`[3]4+8-3+2=11`", [1, 1, 1]),
        (SUMS, "[1]5+6=\\*\\*11\\*\\*\n\\[2\\]2\\-5\\=\\-3", [1, 1, 0]),
        (SUMS, "[1] $5+6=11$\n[2]2-5=\\boxed{-3}\n[3]\\(4+8-3+2=11\\)", [1, 1, 1]),
        (SUMS, "[1]5+6=<b>11</b>\n[2]2–5=–3<|im_end|>", [1, 1, 0]),
        (SUMS, "> [1]5+6=11\r\n> [2]2-5=-3\r\n> [3]4+8-3+2=11", [1, 1, 1]),
        (SUMS, "Here you are:\n```text\n[1]5+6=11\n[2]2-5=-3\n```\nThe rest:\n```\n[3]4+8-3+2=11\n```", [1, 1, 1]),
        (SUMS, "1. 5+6=11\n2. 2-5=-3\n- [3]4+8-3+2=11", [1, 1, 1]),
        (SUMS, "[1]5+6=11 [2]2-5=-3 [3]4+8-3+2=11", [1, 1, 1]),
        (SUMS, "[1]5+6=11,[2]2-5=-3;[3]4+8-3+2=11", [1, 1, 1]),
        (SUMS, "[1]: 5+6=11\n[2]. 2-5=-3\n[ 3 ] 4+8-3+2=11", [1, 1, 1]),
        (SUMS, "[1]5+6=+11\n[2]2-5=- 3\n[3]4+8-3+2=11.", [1, 1, 1]),
        (SUMS, "[1]5+6=11.0\n[2]2-5=(-3)\n[3]4+8-3+2=11.00", [1, 1, 1]),
        (SUMS, "[1]5+6=11 ✅\n[2]2-5=-3 (negative)\n[3]4+8-3+2=11 # easy", [1, 1, 1]),
        (SUMS, "［１］５＋６＝１１\n[2]\u00a02-5\u2009=\u2009-3", [1, 1, 0]),
        (SUMS, "**[1]5+6=11\n[2]2-5=-3\n[3]4+8-3+2=11**", [1, 1, 1]),
        # … and what is not said is not credited
        (SUMS, "[1]5+6=11.5\n[2]2-5=3\n[3]4+8-3+2=", [0, 0, 0]),
        (SUMS, "[1]5+6=11 or 12\n[2]2-5=-3 (or 3)\n[3]4+8-3+2=11=11", [0, 0, 0]),
        (SUMS, "[1]5+6=12\n[1]5+6=11", [0, 0, 0]),
        (SUMS, "[1]5+6=11\n[1]5+6=12", [1, 0, 0]),
        (SUMS, "[1]5+6=11\n[2]2-5=-3\n[1]9+9=18\n[2]1+1=2\n[3]4+8-3+2=11", [1, 1, 1]),
        (SUMS, "[1]6+5=11\n[2]5-2=-3\n[3]4+8-3=9", [0, 0, 0]),
        (SUMS, "[1]5+6=1*1\n[2]2-5=-~~3~~\n[3]4+8-3+2=1 1", [0, 0, 0]),
        (SUMS, "5+6=11\n2-5=-3\n4+8-3+2=11", [0, 0, 0]),
        (SUMS, "Records [1] and [2] are 5+6=11 and 2-5=-3.", [0, 0, 0]),
        (PLAIN_SUMS, "Result:\n5+6=11\nNow:\n2-5=-3\n4+8-3+2=11\nDone.", [1, 1, 1]),
        (PLAIN_SUMS, "1. 5+6=11\n2. 2-5=-3\n3. 4+8-3+2=11", [1, 1, 1]),
        (PLAIN_SUMS, "[1]5+6=11\n[2]2-5=-3\n[3]4+8-3+2=11", [1, 1, 1]),
        (PLAIN_SUMS, "- 5+6=11\n- 2-5=-3\n* 4+8-3+2=11", [1, 1, 1]),
        (PLAIN_SUMS, "5+6=?\n2-5=-3\n4+8-3+2=11", [0, 1, 1]),
        (PLAIN_SUMS, "2-5=-3\n4+8-3+2=11", [0, 0, 0]),
        (LISTS, "[1] `a1b2c3d4`, `c0a8e1d2`\n[2] \"01234567\",\"f0e1d2c3\",", [1, 1]),
        (LISTS, "[1]A1B2C3D4,C0A8E1D2\n[2]01234567 f0e1d2c3.", [1, 1]),
        (LISTS, "[1]a1b2c3d4,c0a8e1d2 [2]01234567,f0e1d2c3", [1, 1]),
        (LISTS, "[1]a1b2c3d4,c0a8e1d2,c0a8e1d\n[2]01234567,f0e1d2c3,f0e1d2c3", [0, 0]),
        (LISTS, "[1]a1b2c3d4,c0a8e1d2 and [2]01234567,f0e1d2c3", [0, 1]),
        (LISTS, "[1]a1b2c3d4;c0a8e1d2\n[2]01234567|f0e1d2c3", [0, 0]),
        (PLAIN_LISTS, "The list with deadbeef:\na1b2c3d4,c0a8e1d2\n01234567,f0e1d2c3", [1, 1]),
        (PLAIN_LISTS, "a1b2c3d,c0a8e1d2\n01234567,f0e1d2c3", [0, 1]),
        (PHRASES, "[1]Quick Fox\n[2] **quiet harbor**\n[3] \"big dog\".", [1, 1, 1]),
        (PHRASES, "[1]quick fox, [2]quiet harbor, [3]big dog", [1, 1, 1]),
        (PHRASES, "1. quick fox\n2) quiet harbor\n(3) big dog", [1, 1, 1]),
        (PHRASES, "1. First, I read the pool\n2) Then sort\n[1]quick fox\n[2]quiet harbor\n[3]big dog", [1, 1, 1]),
        (PHRASES, "[1]fox quick\n[2]quietharbor\n[3]big red dog", [0, 0, 0]),
        (PHRASES, "[1]000+006=quick fox", [0, 0, 0]),
        (PLAIN_PHRASES, "Sure thing!\nThe quick one:\n```\nquick fox\nquiet harbor\nbig dog\n```\nDone.", [1, 1, 1]),
        (PLAIN_PHRASES, "## Output\nquick fox\n\nquiet harbor\r\nbig dog", [1, 1, 1]),
        (PLAIN_PHRASES, "1. quick fox\n2. quiet harbor\n3. big dog", [1, 1, 1]),
        (PLAIN_PHRASES, "slow fox\nquiet harbor\nbig dog", [0, 1, 1]),
        (PLAIN_PHRASES, "quick fox\nunknown\nbig dog", [1, 0, 1]),
        (PLAIN_PHRASES, "quick fox\nbig dog", [1, 0, 0]),
    ],
)  # fmt: skip
def test_strict_rule_credits_what_a_careful_reader_would(
    document: dict[str, Any], text: str, correct: list[int]
) -> None:
    assert score(document, text).strict.correct == [bool(mark) for mark in correct]


@pytest.mark.parametrize(
    ("document", "text", "correct"),
    [
        (TABLE, "[C1],[C0]\n[R2],1111,2222\n[R0],3333,4444\n[R1],5555,6666", [1, 1, 1, 1, 1, 1]),
        (TABLE, '"","[C1]","[C0]"\r\n"[R2]","1111","2222"\r\n"[R0]", "3333", "4444"', [1, 1, 1, 1, 0, 0]),
        (TABLE, "Here:\n```csv\n,[C1],[C0]\n[R2],**1111**,2222\n```", [1, 1, 0, 0, 0, 0]),
        (TABLE, ",\\[C1\\],\\[C0\\]\n\\[R2\\],1111,2222\nR0,3333,4444", [1, 1, 1, 1, 0, 0]),
        (TABLE, ",[C1],[C0]\n[R0],3333,4444\n[R1],5555,6666", [0, 0, 1, 1, 1, 1]),
        (TABLE, ",[C1],[C0]\n[R0],3333,4444\n[R2],1111,2222\n[R1],5555,6666", [1, 1, 0, 0, 1, 1]),
        (TABLE, ",[C1],[C0]\n[R1],1111,2222\n[R0],3333,4444", [0, 0, 1, 1, 0, 0]),
        (TABLE, ",[C1],[C0]\n[R2],1111,9999\n[R2],1111,2222", [1, 0, 0, 0, 0, 0]),
        (TABLE, ",[C1]\n[R2],1111\n[R0],3333", [1, 0, 1, 0, 0, 0]),
        (TABLE, ",[C0],[C1]\n[R2],1111,2222", [0, 0, 0, 0, 0, 0]),
        (TABLE, ",[C0],[C1]\n[R2],2222,1111", [1, 0, 0, 0, 0, 0]),
        (TABLE, "[R2],1111,2222\n[R0],3333,4444\n[R1],5555,6666", [0, 0, 0, 0, 0, 0]),
        (TABLE, ",[C1],[C0]\n1111,2222\n3333,4444", [0, 0, 0, 0, 0, 0]),
        (TABLE, "| |[C1]|[C0]|\n|---|---|---|\n|[R2]|1111|2222|", [0, 0, 0, 0, 0, 0]),
        (TABLE, ",[C1],[C0]\n[R2],1111\n[R0],,4444\n[R1],5555,6666,7777", [1, 0, 0, 1, 1, 1]),
        (RESOLVED, ",[C0],[C1]\n[R0],Quick  Fox,red cat\n[R1],big dog , lazy table", [1, 1, 1, 1]),
        (RESOLVED, ",[C0],[C1]\n[R0],red fox,a1+v1", [0, 0, 0, 0]),
    ],
)  # fmt: skip
def test_strict_rule_reads_tables_by_their_labels(document: dict[str, Any], text: str, correct: list[int]) -> None:
    assert score(document, text).strict.correct == [bool(mark) for mark in correct]


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
    begun = time.perf_counter()
    assert score(document, text).paper.accuracy == 0
    assert time.perf_counter() - begun < 2


@settings(max_examples=300, deadline=None)
@given(variants, seeds, st.sets(st.integers(0, 6)))
def test_a_line_left_out_costs_only_itself_where_lines_have_names(
    variant: tuple[str, str], seed: int, dropped: set[int]
) -> None:
    document = small_document(*variant, seed)
    if variant[1] == "no_ids":
        return
    first = 1 if variant[0] == "table" else 0
    lines = document["expected"].split("\n")
    kept = [line for place, line in enumerate(lines) if place < first or place - first not in dropped]
    strict = score(document, "\n".join(kept)).strict.correct
    width = document["records"] // (len(lines) - first)
    assert strict == [place not in dropped for place in range(len(lines) - first) for _ in range(width)]


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


@settings(max_examples=300, deadline=None)
@given(variants, seeds, st.sampled_from(["```\n@\n```", "Here is the output:\n\n@\n\nDone.", "<think>x</think>\n@\n"]))
def test_what_stands_around_an_answer_changes_no_strict_score(variant: tuple[str, str], seed: int, around: str) -> None:
    document = small_document(*variant, seed)
    assert score(document, around.replace("@", document["expected"])).strict.complete


@given(st.permutations(range(7)))
def test_rows_kept_are_a_longest_increasing_subsequence(positions: list[int]) -> None:
    best = [1] * len(positions)
    for place, position in enumerate(positions):
        best[place] = 1 + max((best[i] for i in range(place) if positions[i] < position), default=0)
    kept = longest_increasing(positions)
    assert len(kept) == max(best) and kept == sorted(kept)
    assert [positions[place] for place in kept] == sorted(positions[place] for place in kept)


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


# Files of documents and answers


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
    answers = [{"id": row["id"], "text": row["expected"], "usage": {"prompt_tokens": 5}} for row in tier[:-2]]
    answers.append({"id": tier[-2]["id"], "status": "failed", "error": {"kind": "timeout", "message": "late"}})
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
        write_lines(tmp_path / "a.jsonl", [{"id": "x", "text": ""}]),
    )
    with pytest.raises(LongtrekError, match="does not hold: x"):
        write_scores([files], tmp_path / "r.parquet", tmp_path / "q.parquet", "m")
    assert not list(tmp_path.glob("*.parquet*"))
