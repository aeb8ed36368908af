"""The rule by which claims are judged, and numbers with bounds: what must hold whatever the numbers are."""

from hypothesis import given
from hypothesis import strategies as st

from longtrek.analysis.claims import spans, verdicts
from longtrek.analysis.claims.spans import Span
from longtrek.analysis.claims.verdicts import Found, judge

NUMBERS = st.floats(-1e6, 1e6)
WIDTHS = st.floats(0, 1e3)
RELATIONS = st.sampled_from(verdicts.RELATIONS)
ORDER = ("differs", "within noise", "reproduced")


@given(NUMBERS, RELATIONS, WIDTHS)
def test_the_published_number_itself_is_reproduced(number: float, relation: verdicts.Relation, off: float) -> None:
    assert judge(Found(spans.exact(number)), number, relation, 0) == "reproduced"
    assert judge(Found(spans.exact(number + off)), number, "=", off) == "reproduced"


@given(NUMBERS, NUMBERS, WIDTHS, WIDTHS, RELATIONS, WIDTHS, WIDTHS)
def test_more_tolerance_and_wider_bounds_never_make_a_verdict_worse(
    value: float, number: float, low: float, high: float, relation: verdicts.Relation, tolerance: float, more: float
) -> None:
    span = Span(value, value - low, value + high)
    before = ORDER.index(judge(Found(span), number, relation, tolerance))
    wider = Span(value, value - low - more, value + high + more)
    assert ORDER.index(judge(Found(wider), number, relation, tolerance)) >= before
    assert ORDER.index(judge(Found(span), number, relation, tolerance + more)) >= before


@given(NUMBERS, NUMBERS, WIDTHS, WIDTHS, WIDTHS)
def test_noise_is_told_from_a_difference_by_the_bounds_alone(
    value: float, number: float, low: float, high: float, tolerance: float
) -> None:
    found = judge(Found(Span(value, value - low, value + high)), number, "=", tolerance)
    near = abs(value - number) <= tolerance
    within = value - low - tolerance <= number <= value + high + tolerance
    if (
        abs(abs(value - number) - tolerance) > 1e-6
        and min(abs(value - low - tolerance - number), abs(value + high + tolerance - number)) > 1e-6
    ):
        assert found == ("reproduced" if near else "within noise" if within else "differs")


@given(NUMBERS, NUMBERS, WIDTHS)
def test_at_least_and_at_most_look_one_way(value: float, number: float, tolerance: float) -> None:
    found = {relation: judge(Found(spans.exact(value)), number, relation, tolerance) for relation in verdicts.RELATIONS}
    assert "reproduced" in (found[">="], found["<="])
    assert (found["="] == "reproduced") == (found[">="] == found["<="] == "reproduced")


def test_without_a_number_on_either_side_nothing_is_judged() -> None:
    assert judge(verdicts.nothing("no run"), 1.0, "=", 100) == "not run"
    assert judge(Found(spans.exact(1.0)), None, "=", 100) == "not run"


@given(st.lists(st.tuples(NUMBERS, WIDTHS, st.floats(0, 1)), min_size=2, max_size=2))
def test_computing_with_spans_keeps_what_the_numbers_may_be(parts: list[tuple[float, float, float]]) -> None:
    (a, x), (b, y) = ((Span(v, v - w, v + w), v - w + 2 * w * share) for v, w, share in parts)
    room = 1e-6 * (1 + abs(x * y))
    assert (a + b).low - 1e-6 <= x + y <= (a + b).high + 1e-6
    assert (a - b).low - 1e-6 <= x - y <= (a - b).high + 1e-6
    assert (a * b).low - room <= x * y <= (a * b).high + room
