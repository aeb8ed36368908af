"""SciTrek's scores under the strict rule: what a careful reader would say."""

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.answer_parts import covers, extract, fragments, key, readings
from longtrek.scitrek.scoring import paper_answer, score_paper, score_strict
from scitrek_answers import gold, strict
from scitrek_databases import SCORING_CASES as CASES
from scitrek_databases import SQL_CASES


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


@pytest.mark.skipif(not SQL_CASES.exists(), reason="the authors' queries are not beside the project")
def test_every_real_gold_answer_is_right_against_itself() -> None:
    for line in SQL_CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        assert strict(case["answer"], case["answer"], order="total"), case["answer"]
