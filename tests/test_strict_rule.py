"""Long-Transduction under the strict rule: what a careful reader would credit."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.transduction.scoring import score
from longtrek.transduction.strict_table import longest_increasing
from mutated_answers import seeds, variants
from small_documents import (
    LISTS,
    PHRASES,
    PLAIN_LISTS,
    PLAIN_PHRASES,
    PLAIN_SUMS,
    RESOLVED,
    SUMS,
    TABLE,
    small_document,
)


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
