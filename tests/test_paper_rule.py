"""Long-Transduction under the authors' rule, against an oracle."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authors_oracle import authors_marks
from longtrek.transduction.scoring import score
from mutated_answers import mutated, seeds, variants
from small_documents import LISTS, PHRASES, SUMS, small_document


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
