"""SciTrek's scores under the paper's rule, flaws and all."""

import json

import pytest

from longtrek.scitrek.scoring import paper_answer, score_paper
from scitrek_databases import SCORING_CASES as CASES


@pytest.mark.skipif(not CASES.exists(), reason="the authors' scored answers are not beside the project")
def test_paper_rule_gives_the_authors_scores_on_every_real_answer() -> None:
    outputs = 0
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for output, exact_match, f1 in zip(case["outputs"], case["exact_match"], case["f1"], strict=True):
            found = score_paper(case["answer"], output)
            assert found.exact_match == exact_match, (case["answer"], output)
            assert found.f1 == pytest.approx(f1, abs=1e-9), (case["answer"], output)
            outputs += 1
    assert outputs == 1297


@pytest.mark.parametrize(
    ("right", "text", "exact_match", "f1"),
    [
        ("125", "12.5", 1, 1.0),
        ("3", "-3", 1, 1.0),
        ("B", "A, B", 1, 1.0),
        ("5.0", "5", 0, 0.0),
        ("1234", "1,234", 0, 0.0),
        ("1, 2, 3", "3, 2, 1", 0, 1.0),
        ("7, 7", "7", 0, 1.0),
        ("the", "a", 1, 0.0),  # nothing is left on either side
    ],
)
def test_the_papers_flaws_are_kept_as_they_are(right: str, text: str, exact_match: int, f1: float) -> None:
    found = score_paper(right, text)
    assert (found.exact_match, found.f1) == (exact_match, f1)


def test_paper_rule_reads_the_last_box_of_a_reasoned_answer_and_all_of_a_direct_one() -> None:
    text = r"First \boxed{4}, no: $\boxed{5}$"
    assert paper_answer(text, reasoning=True) == "5"
    assert paper_answer(text, reasoning=False) == text
    assert paper_answer("no box", reasoning=True) == ""
