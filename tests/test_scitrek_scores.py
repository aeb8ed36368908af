"""SciTrek's scores: both rules, answers from elsewhere, the score table, and the paper's analyses."""

import json
import math
import time
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from longtrek.scitrek import analyses, human, released, scores
from longtrek.scitrek.answer_parts import covers, extract, fragments, key, readings
from longtrek.scitrek.scoring import Gold, gold_of, paper_answer, score_paper, score_scitrek, score_strict

CASES = Path(__file__).parents[2] / "shared/scitrek/scoring_cases.jsonl"
SQL_CASES = CASES.with_name("sql_cases.jsonl")


def gold(answer: str, **known: Any) -> Gold:
    return gold_of({"id": "q", "answer": answer, **known})


def strict(answer: str, text: str, **known: Any) -> bool:
    return score_strict(gold(answer, **known), text).correct


# The paper's rule


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


@pytest.mark.skipif(not CASES.exists(), reason="the authors' scored answers are not beside the project")
def test_strict_rule_accepts_no_real_answer_that_holds_other_words() -> None:
    """On real answers the two rules differ only where the paper's flaws, orders or number forms are at work."""
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for output, exact_match in zip(case["outputs"], case["exact_match"], strict=True):
            if strict(case["answer"], output) and not exact_match:
                ours, theirs = map(sorted_values, (output, case["answer"]))
                assert ours == theirs, (case["answer"], output)


def sorted_values(text: str) -> list[str]:
    return sorted(str(round(part, 8) if isinstance(part, Decimal) else part) for part in fragments(extract(text).text))


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


# The strict rule: what a careful reader would say


@pytest.mark.parametrize(
    ("right", "text"),
    [
        ("5", "5.0"),
        ("2.0", "2"),
        ("1234", "1,234"),
        ("1234567", "1,234,567"),
        ("1, 234", "1,234"),
        ("9.714285714285714", "9.7142857142857"),
        ("-3", "−3"),
        ("5", "5."),
        ("5", "**5**"),
        ("5", "$5$"),
        ("5", "Answer: 5"),
        ("5", "The final answer is: 5"),
        ("85, 62", "85,62"),
        ("85, 62", "62; 85"),
        ("85, 62", "[85, 62]"),
        ("85, 62", "- 85\n- 62"),
        ("4, 9, 16", "1. 4\n2. 9\n3. 16"),
        ("Ann Lee, Bo Xu, Cy Young", "Ann Lee, Bo Xu, and Cy Young"),
        ("John W. Fisher, III, Ann Lee", "Ann Lee, John W. Fisher, III"),
        ("K.YAMADA", "K. Yamada"),
        ("Anthony O'Hagan", "Anthony O’Hagan"),
        ("ON GAMES", '"On Games"'),
        ("MoS2 Transistors.", "MoS2 Transistors"),
        ("NULL", "null"),
        ("12", r"so the sum is $\boxed{\text{12}}$."),
        ("12", r"\boxed{3} was wrong, so \boxed{12}"),
        ("Sets {a} and {b}", r"\boxed{\text{Sets \{a\} and \{b\}}}"),
        ("1234", r"\boxed{1{,}234}"),
        ("R&D, Risk", r"\boxed{R\&D, Risk}"),
        ("12", "<think>It is 3? \\boxed{3}</think>12"),
        ("12", "It may be 7.</think>\n\n12"),
        ("5", r"\(5\)"),
        ("5", r"\[5\]"),
        ("1, 2", "```text\n1, 2\n```"),
    ],
)
def test_strict_rule_accepts_what_a_careful_reader_accepts(right: str, text: str) -> None:
    assert strict(right, text)


@pytest.mark.parametrize(
    ("right", "text"),
    [
        ("12.5", "125"),
        ("-3", "3"),
        ("B", "A, B"),
        ("7, 7", "7"),
        ("7", "7, 7"),
        ("7, 7, 8", "7, 8, 8"),
        ("9.714285714285714", "9.71"),
        ("5", "5 articles"),
        ("5", "The answer lies between 4 and 6"),
        ("NULL", ""),
        ("NULL", "0"),
        ("5", "NULL"),
        ("The Games", "Games"),
        ("Space-time coding", "Space time coding"),
        ("Krisztina László", "Krisztina Laszlo"),
        ("1, 2", "1.2"),
        ("12", "<think>The answer is 12"),
        ("12", r"\boxed{12"),
        ("3, 4", "1. 3\n3. 4"),
        ("100000000000000000001", "100000000000000000002"),
    ],
)
def test_strict_rule_refuses_what_a_careful_reader_refuses(right: str, text: str) -> None:
    assert not strict(right, text)


def test_a_text_that_a_model_repeats_until_its_cap_is_scored_in_one_pass() -> None:
    """A loop of `\\boxed{` or `<think>` once cost as much as the square of its length: minutes an answer."""
    right = gold("1, 2, 3", order="total")
    started = time.process_time()
    for text in (
        "\\boxed{" * 20_000,
        "\\boxed{" + "\\text{" * 20_000 + "}" * 20_001,
        "<think>" * 20_000,
        "</think>" * 20_000 + "<think>" * 20_000,
        "5" + "\n" * 40_000 + "5",
        ",\n" * 40_000 + "and 5",
        "1,234" + ",567" * 20_000,
    ):
        score_strict(right, text, reasoning=True)
        score_paper("1, 2, 3", paper_answer(text, reasoning=True))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"\boxed{1} or \boxed{\text{a \{b\}}, 2}", "a {b}, 2"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"\boxed{3} and then \boxed{4", "3"),
        (r"{ { \boxed {5} }", "5"),
        (r"\boxed{\textbf{\text{x}}, \mathrm{y}}", "x, y"),
        (r"<think>\boxed{1}</think> \boxed{2}", "2"),
        (r"so \boxed{1} </think> \boxed{2} </think> 3", "3"),
    ],
)
def test_the_last_balanced_box_is_the_answer(text: str, found: str) -> None:
    assert extract(text).text == found


def test_order_is_required_only_where_the_question_says_so() -> None:
    assert strict("1, 2, 3", "3, 1, 2")
    assert strict("1, 2, 3", "3, 1, 2", order="any")
    assert not strict("1, 2, 3", "3, 1, 2", order="total")
    assert strict("1, 2, 3", "1, 2, 3", order="total")
    assert strict("9, 4, 5, 1", "9, 5, 4, 1", order="ties", ties=[[1, 2]])
    assert not strict("9, 4, 5, 1", "5, 9, 4, 1", order="ties", ties=[[1, 2]])


def test_titles_with_commas_are_single_values_when_the_rows_are_known() -> None:
    rows = ["Lions, Tigers", "Bears", "Lions"]
    assert strict("Lions, Tigers, Bears, Lions", "Bears, Lions, Lions, Tigers", parts=rows, order="any")
    assert strict("Lions, Tigers, Bears, Lions", "Lions, Lions, Tigers, Bears", parts=rows, order="any")
    assert not strict("Lions, Tigers, Bears, Lions", "Tigers, Lions, Bears, Lions", parts=rows, order="any")


def test_rows_that_begin_each_other_are_judged_in_bounded_time() -> None:
    rows = [f"A{n % 7}" + ", A1" * (n % 3) for n in range(200)]
    assert strict(", ".join(rows), ", ".join(rows[::-1]), parts=rows, order="any")
    assert not strict(", ".join(rows), ", ".join(rows[1:]), parts=rows, order="any")


def test_values_of_one_row_stay_together() -> None:
    rows = [[2, 1], [3, 1], [5, 4]]
    assert strict("2, 1, 3, 1, 5, 4", "5, 4, 2, 1, 3, 1", parts=rows, order="any")
    assert not strict("2, 1, 3, 1, 5, 4", "1, 2, 3, 1, 5, 4", parts=rows, order="any")
    assert not strict("2, 1, 3, 1, 5, 4", "1, 2, 3, 1, 5, 4", columns=2)
    assert strict("NULL", "NULL", columns=2)


def test_what_the_question_does_not_say_is_named_as_assumed() -> None:
    assert gold("5").assumed == ("order", "parts")
    assert gold("5", order="any", parts=[5]).assumed == ()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"order": "sorted"}, "expected one of any, ties, total"),
        ({"order": "ties", "ties": [[0, 5]]}, "rows 0 to 1"),
        ({"columns": 3}, "do not fill rows of 3"),
        ({"parts": ["a", ""]}, "row 1 of `parts` is empty"),
        ({"order": "ties"}, "`ties` is None"),
        ({"order": "ties", "ties": 5}, "`ties` is 5"),
        ({"order": "ties", "ties": [0, 1]}, "lists of the rows"),
        ({"order": "ties", "ties": [["0", "1"]]}, "lists of the rows"),
        ({"order": "ties", "ties": [[0, 1], [1]]}, "each once"),
        ({"columns": "2"}, "`columns` is '2'"),
        ({"columns": -1}, "`columns` is -1"),
        ({"parts": "ab"}, "expected the answer's rows as a list"),
        ({"parts": {"a": 1}}, "expected the answer's rows as a list"),
        ({"parts": [[True]]}, "`parts` holds True"),
        ({"parts": [[["a"]], "b"]}, "`parts` holds ['a']"),
        ({"parts": []}, "`parts` are not the values of `answer`"),
        ({"parts": ["b", "a"]}, "`parts` are not the values of `answer`"),
    ],
)
def test_a_question_that_contradicts_itself_is_an_error_that_names_it(known: dict[str, Any], words: str) -> None:
    with pytest.raises(LongtrekError, match="question 'q'") as caught:
        gold("1, 2", **known)
    assert words in str(caught.value)


values = st.lists(
    st.one_of(
        st.integers(-50, 50).map(str),
        st.sampled_from(["Ann Lee", "O'Hagan", "Lions, Tigers", "Lions", "12.5 of many", "Graphs: a (short) tour"]),
    ),
    min_size=1,
    max_size=8,
)


@given(values, st.randoms(use_true_random=False))
def test_any_order_is_right_where_no_order_is_asked(rows: list[str], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    assert strict(", ".join(rows), ", ".join(shuffled), parts=rows, order="any")


@given(values, st.data())
def test_tied_rows_may_be_permuted_and_no_others(rows: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(rows) - 1))
    tied = list(range(start, data.draw(st.integers(start, len(rows) - 1)) + 1))
    order = [*range(start), *data.draw(st.permutations(tied)), *range(tied[-1] + 1, len(rows))]
    text = ", ".join(rows[place] for place in order)
    assert strict(", ".join(rows), text, parts=rows, order="ties", ties=[tied])
    assert strict(", ".join(rows), text, parts=rows, order="total") == (fragments(text) == fragments(", ".join(rows)))


@given(values, values)
def test_a_right_answer_has_the_same_values_and_no_other_answer_does(rows: list[str], other: list[str]) -> None:
    same = sorted(map(str, fragments(", ".join(rows)))) == sorted(map(str, fragments(", ".join(other))))
    if strict(", ".join(rows), ", ".join(other), parts=rows, order="any"):
        assert same
    if sorted(rows) == sorted(other):
        assert strict(", ".join(rows), ", ".join(other), parts=rows, order="any")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**6), max_value=10**6))
def test_numbers_are_equal_whatever_their_form(number: Decimal) -> None:
    plain = format(number, "f")
    for form in (plain, f"{float(number)!r}", f" {plain}00 ", f"**{plain}**", f"{number:,.6f}"):
        assert strict(plain, form), form
    assert not strict(plain, format(number + 1, "f"))


@given(st.recursive(st.sampled_from(["", "a", "1,2", r"\{", r"\\"]), lambda inner: inner.map("{{{}}}x".format)))
def test_a_box_ends_at_the_brace_that_closes_it(inside: str) -> None:
    found = extract(rf"so \boxed{{old}} then \boxed{{{inside}}} end}}")
    assert found.boxed
    assert found.text == inside.replace(r"\{", "{").replace(r"\\", "\n").strip()


@given(st.text())
def test_no_text_breaks_the_scorers(text: str) -> None:
    score_paper("5, A, B", text)
    score_strict(gold("5, A, B"), text)
    assert all(covers(reading, [reading], [0]) for reading in readings(text) if reading)


@given(st.text().filter(lambda text: any(map(str.isalnum, text))))
def test_what_stands_around_a_value_does_not_count(text: str) -> None:
    assert key(f'  "{text}" ') == key(f"**{text}**") == key(text)


@pytest.mark.parametrize(
    ("right", "text", "known", "compliant"),
    [
        ("90", "14, 14, 18", {"skill": "aggregating"}, False),
        ("56, 21", 'The article "Merging e-values" has 21 references.', {}, False),
        ("56, 21", "4, 5", {}, True),
        ("Merging e-values, On Sets", "3. Merging e-values - 2 authors", {}, False),
        ("Merging e-values", "On Sets", {}, True),
        ("Merging e-values", "3", {}, False),
        ("56", "NULL", {}, True),
        ("56", "", {}, True),
    ],
)
def test_an_answer_in_another_form_than_asked_is_told_from_a_wrong_one(
    right: str, text: str, known: dict[str, Any], compliant: bool
) -> None:
    found = score_strict(gold(right, **known), text)
    assert not found.correct
    assert found.compliant is compliant


def test_a_reasoned_answer_without_its_box_breaks_the_form() -> None:
    assert not score_strict(gold("5"), "5", reasoning=True).compliant
    assert score_strict(gold("5"), r"\boxed{5}", reasoning=True).compliant


# Answers made elsewhere


def scored(tmp_path: Path, questions: Iterable[Any], answers: Iterable[Any]) -> list[dict[str, Any]]:
    write_jsonl(tmp_path / "questions.jsonl", questions)
    write_jsonl(tmp_path / "answers.jsonl", answers)
    return list(score_scitrek(tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"))


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


# The score table


QUESTIONS = [
    {
        "id": "q1",
        "collection": "c1",
        "level": "64K",
        "strategy": "random",
        "skill": "sorting",
        "topic": "author_count",
        "template": "t1",
        "sql": "SELECT author_count FROM articles ORDER BY author_count ASC",
        "text": "How many authors do another journal's articles have?",
        "answer": "1, 2",
        "order": "total",
        "split": "test",
        "writer": "grammar",
        "articles": ["x", "y", "z"],
    },
    {
        "id": "q2",
        "collection": "c1",
        "level": "64K",
        "skill": "filtering",
        "text": "Which are not old?",
        "answer": "NULL",
    },
]
REQUESTS = [(f"{q}/{c}/direct", s) for q in ("q1", "q2") for c in ("tables", "full_text") for s in (0, 1)]
ANSWERS = [
    {"id": "q1/tables/direct", "sample": 0, "text": "1, 2", "usage": {"prompt_tokens": 90, "completion_tokens": 4}},
    {"id": "q1/tables/direct", "sample": 1, "text": "NULL", "usage": {"prompt_tokens": 90, "completion_tokens": 2}},
    {"id": "q1/full_text/direct", "sample": 0, "status": "failed", "error": {"kind": "timeout"}},
    {"id": "q2/tables/direct", "sample": 0, "text": "NULL"},
]


def table(model: str = "m") -> list[dict[str, Any]]:
    return list(scores.score_rows(model, QUESTIONS, REQUESTS, ANSWERS, {"x": "Math", "y": "Biology", "z": "Biology"}))


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


# The analyses


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
    everywhere = analyses.negation(table(), "paper")
    assert [(line["skill"], line["questions"]) for line in everywhere] == [("sorting", 2), ("filtering", 2), ("all", 4)]
    assert [line["skill"] for line in analyses.negation(table(), "strict")] == ["filtering", "all"]


def test_table_14_is_counted_by_letters_as_in_the_paper_and_by_tokens() -> None:
    queries = [
        "SELECT MIN(author_count) FROM articles WHERE author_count <= 3",
        "SELECT article_title FROM articles ORDER BY reference_count DESC",
    ]
    found = {line["command"]: (line["text"], line["tokens"]) for line in analyses.operators(queries)}
    assert found["OR"] == (50, 0)
    assert found["IN"] == (50, 0)
    assert found["<"] == (50, 0)
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


# The authors' data


ROW = {
    "articles": ["p1", "p2"],
    "sample_level": "multi_dfs_1024",
    "sql_type": "multi_ran_organizing",
    "focus": "title_entire",
    "sql": "SELECT article_title FROM articles ORDER BY reference_count ASC;",
    "template": "SELECT article_title FROM articles ORDER BY reference_count ASC;",
    "question": "Which titles, fewest references first?",
    "answer": "On Sets, On Games",
    "label": "test",
}
WITH_PROMPTS = ROW | {
    "prompt_full": {
        "question": ROW["question"],
        "answer": ROW["answer"],
        "context": "# On Sets\nwith <question> inside",
        "instruction_direct": "Read: <articles>\nQ: <question>",
        "instruction_reasoning": "Think. <articles> <question>",
    },
    "prompt_meta": {
        "question": ROW["question"],
        "answer": ROW["answer"],
        "table_articles_text": "T1",
        "table_article_author_text": "T2",
        "table_citing_cited_text": "T3",
        "instruction_direct": "<table-articles>|<table-article_author>|<table-citing_cited>|<question>",
        "instruction_reasoning": "<question>",
    },
}


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
    rows = [WITH_PROMPTS, WITH_PROMPTS | {"answer": "NULL"}, WITH_PROMPTS]
    asked = list(released.released_requests(iter(rows), context="tables", kind="direct", samples=3, max_tokens=64))
    assert [request.sample for request in asked] == [0, 1, 2] * 2
    assert len({request.id for request in asked}) == 2
    assert {request.expected for request in asked} == {ROW["answer"]}


def test_the_authors_answer_files_score_against_the_released_questions(tmp_path: Path) -> None:
    rows = [ROW | {"generations": ["On Sets, On Games", "On Games, On Sets", ""], "reasonings": ["r1", "r2", "r3"]}]
    answers = list(released.answers(rows))
    assert [answer["reasoning"] for answer in answers] == ["r1", "r2", "r3"]
    (line,) = scored(tmp_path, released.questions([ROW]), answers)
    assert line["paper"]["exact_match"] == pytest.approx(1 / 3)
    assert line["samples"]["asked"] == 3
    assert list(released.answers([ROW])) == []


def test_a_released_row_of_another_shape_is_an_error_with_its_number() -> None:
    with pytest.raises(LongtrekError, match="row 1: sql_type 'other'"):
        list(released.questions([ROW | {"sql_type": "other"}]))
    with pytest.raises(LongtrekError, match="row 1: no `answer`"):
        list(released.questions([{"question": "?"}]))


@pytest.mark.skipif(not SQL_CASES.exists(), reason="the authors' queries are not beside the project")
def test_every_real_gold_answer_is_right_against_itself() -> None:
    for line in SQL_CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        assert strict(case["answer"], case["answer"], order="total"), case["answer"]


# Human answers


def annotation(instance: str, user: str, text: str) -> dict[str, Any]:
    meta = {"sql_type": "multi_ran_organizing", "question": "?", "answer": "2, 3"}
    return {"instance_id": instance, "user_id": user, "meta": meta, "label_annotations": {"answer": {"text_box": text}}}


def test_agreement_and_alignment_need_two_of_three() -> None:
    rows = [annotation("a", user, text) for user, text in zip("uvw", ("2,3", "2, 3", "9"), strict=True)]
    rows += [annotation("b", user, text) for user, text in zip("uvw", ("9", "9", "2, 3"), strict=True)]
    rows += [annotation("c", user, text) for user, text in zip("uvw", ("1", "2", "3"), strict=True)]
    rows += [annotation("d", "u", "2, 3"), annotation("e_testing", "u", "2, 3")]
    skill, everything = human.agreement(human.annotations(rows))
    assert (skill["skill"], everything["skill"]) == ("sorting", "all")
    assert (skill["questions"], skill["left_out"]) == (3, 1)
    assert (skill["agree"], skill["align"]) == (pytest.approx(200 / 3), pytest.approx(100 / 3))
