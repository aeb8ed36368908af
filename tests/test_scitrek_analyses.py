"""SciTrek's analyses: means, correlations, negation, operators."""

import math

import pytest

from longtrek.scitrek import analyses, scores
from longtrek.scitrek.sql.operators import operator_distribution
from scitrek_score_table import table


def test_a_failed_question_lowers_the_mean() -> None:
    rows = [dict(table()[0]) | {"asked": 1, "answered": 1, "failed": 0, "paper_exact_match": 1.0}]
    rows += [dict(table()[0]) | {"asked": 1, "answered": 0, "failed": 1, "paper_exact_match": None}]
    assert analyses.mean(rows, "paper_exact_match") == 0.5


@pytest.mark.parametrize("t", [0.01, 0.5, 1.0, 2.0, 12.706, 63.66, 1e4])
def test_p_values_are_those_of_the_t_distribution(t: float) -> None:
    """One and two degrees of freedom have closed forms; the rest are from printed tables."""

    def p(freedom: float) -> float:
        return analyses.incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))

    assert p(1) == pytest.approx(1 - 2 / math.pi * math.atan(t), rel=1e-9, abs=1e-13)
    assert p(2) == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-6, abs=1e-13)


@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    [(2.2281, 10, 0.05), (3.1693, 10, 0.01), (1.9840, 100, 0.05), (1.9632, 726, 0.05), (3.3, 726, 0.001)],
)
def test_p_values_are_those_of_printed_tables(t: float, freedom: int, p: float) -> None:
    assert analyses.incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) == pytest.approx(p, rel=0.02)


def test_pearson_agrees_with_a_worked_example_and_knows_when_it_is_undefined() -> None:
    found = analyses.pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    assert found is not None
    assert found[0] == pytest.approx(0.8)
    assert found[1] == pytest.approx(0.10409, abs=1e-5)
    assert analyses.pearson([1, 1, 1], [1, 2, 3]) is None
    assert analyses.pearson([1, 2], [1, 2]) is None
    assert analyses.pearson([1, 2, 3], [2, 4, 6]) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-6))


def test_correlations_count_the_pairs_they_rest_on() -> None:
    base = dict(table()[1])
    rows = [base | {"articles": n, "paper_exact_match": n / 10, "question_words": 5} for n in range(4, 9)]
    rows.append(base | {"articles": 50, "paper_exact_match": None})
    (line,) = analyses.correlations(rows)
    assert (line["pairs"], line["questions"]) == (5, 6)
    assert line["articles_r"] == pytest.approx(1.0)
    assert line["question_words_r"] is None


def test_the_papers_negation_subset_takes_in_another() -> None:
    assert scores.negated_paper("Which articles cite another article?")
    assert not scores.negated("Which articles cite another article?")
    assert scores.negated("Which articles aren’t cited?")
    assert scores.negated("Which articles are not cited?")


def test_table_14_is_counted_by_letters_as_in_the_paper_and_by_tokens() -> None:
    queries = [
        "SELECT MIN(author_count) FROM articles WHERE author_count <= 3",
        "SELECT article_title FROM articles ORDER BY reference_count DESC",
    ]
    letters, tokens = (operator_distribution(queries, counting) for counting in ("text", "tokens"))
    found = {command: (letters[command], tokens[command]) for command in letters}
    assert found["OR"] == found["IN"] == found["<"] == (50, 0)
    assert found["<="] == found["ORDER BY"] == (50, 50)


def test_hard_questions_are_those_that_every_model_fails() -> None:
    base = dict(table()[0])
    rows = [
        base | {"model": model, "question": question, "skill": "sorting", "paper_exact_match": score}
        for question, given_scores in {"h": (0.0, 0.0), "e": (0.0, 0.5), "f": (0.0, None)}.items()
        for model, score in zip("ab", given_scores, strict=True)
    ]
    assert analyses.hard_questions(rows) == ["h"]


def test_descriptions_count_a_question_once() -> None:
    (line,) = analyses.description(table())
    assert (line["level"], line["questions"], line["articles"], line["question_words"]) == ("64K", 2, 3, 6.0)
