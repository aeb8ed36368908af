"""Statistics: averages, intervals and decreases of scored documents."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtrek.analysis import statistics
from longtrek.analysis.statistics import Document, Interval


def scored(accuracy: float | None, status: str = "scored", **changes: Any) -> Document:
    base = Document(
        "m", False, "d", "arithmetic", "ordered", 2.0, 4096, 0, 10, status, "stop", accuracy, accuracy == 1.0
    )
    return replace(base, **changes)


def test_every_cell_weighs_the_same_however_many_documents_it_has() -> None:
    documents = [
        scored(1.0),
        scored(0.0, sample=1),
        scored(0.5, sample=2),
        scored(0.1, difficulty=4.0),
        scored(0.3, format="no_ids"),
    ]
    assert statistics.macro_average(statistics.by_cell(documents)) == pytest.approx((0.5 + 0.1 + 0.3) / 3)


def test_failed_and_not_asked_documents_are_counted_and_never_averaged() -> None:
    documents = [
        scored(0.5),
        scored(None, "failed", sample=1, finish_reason=None),
        scored(None, "not_asked", sample=2, finish_reason=None),
        scored(None, "missing", sample=3, finish_reason=None),
        scored(0.7, "truncated", sample=4, finish_reason="length"),
    ]
    found = statistics.estimate(documents)
    assert found.value == pytest.approx(0.6)
    assert found.counts == statistics.Counts(documents=5, scored=2, failed=1, not_asked=1, missing=1, truncated=1)


def test_nothing_scored_has_no_value_and_no_interval() -> None:
    found = statistics.estimate([scored(None, "failed")])
    assert (found.value, found.interval, found.counts.failed) == (None, None, 1)


def test_a_cell_with_a_single_document_has_no_interval() -> None:
    pair = [scored(0.2), scored(0.4, sample=1)]
    assert statistics.estimate(pair).interval is not None
    assert statistics.estimate([*pair, scored(0.5, difficulty=4.0)]).interval is None


def test_the_bootstrap_is_the_same_on_every_numpy() -> None:
    cells = {("f", "g", 2.0, 4096): [0.0, 0.5, 1.0, 0.25], ("f", "g", 4.0, 4096): [0.1, 0.9]}
    assert statistics.bootstrap(cells, "key") == Interval(0.14375, 0.825)
    assert statistics.bootstrap(cells, "another key") != statistics.bootstrap(cells, "key")


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=5), min_size=1, max_size=6))
def test_the_average_lies_in_its_interval_and_the_interval_among_the_scores(cells: list[list[float]]) -> None:
    named = {("f", "g", float(place), 4096): values for place, values in enumerate(cells)}
    average, interval = statistics.macro_average(named), statistics.bootstrap(named, "k")
    assert average is not None and interval is not None
    flat = [value for values in cells for value in values]
    assert min(flat) - 1e-8 <= interval.low <= interval.high <= max(flat) + 1e-8
    assert min(flat) - 1e-8 <= average <= max(flat) + 1e-8


def test_bins_without_a_record_of_a_short_document_are_left_out_of_the_mean() -> None:
    documents = [scored(0.5, id="long"), scored(0.5, id="short", sample=1)]
    bins = {"long": [0.0] * 20, "short": [1.0, None] * 10}
    curve = statistics.position_curve(documents, bins, "k")
    assert [point.value for point in curve] == [0.5, 0.0] * 10
    assert curve[0].interval is not None
    assert curve[1].interval is None, "one document alone has no interval"


def test_relative_decreases_are_averaged_over_models_that_have_both_ends() -> None:
    found = statistics.relative_decrease({"a": 0.8, "b": 0.4, "c": 0.5, "z": 0.0}, {"a": 0.4, "b": 0.3, "c": None})
    assert found.mean == pytest.approx((0.5 + 0.25) / 2)
    assert found.of_means == pytest.approx(1 - 0.7 / 1.2)
    assert found.models == ("a", "b")
    assert statistics.relative_decrease({"a": 0.5}, {}).mean is None


def test_wilson_bounds_are_the_rates_that_the_test_just_rejects() -> None:
    found = statistics.wilson(41, 240)
    assert found is not None
    for bound in (found.low, found.high):
        assert abs(41 / 240 - bound) == pytest.approx(1.959964 * math.sqrt(bound * (1 - bound) / 240), abs=1e-7)
    assert statistics.wilson(0, 0) is None


@given(st.integers(1, 500), st.data())
def test_wilson_intervals_hold_the_rate(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    found = statistics.wilson(successes, trials)
    assert found is not None and 0 <= found.low <= successes / trials <= found.high <= 1


def test_intervals_resample_collections_whole() -> None:
    assert statistics.clustered([(3.0, 10.0)], "k") is None
    assert statistics.clustered([(3.0, 10.0), (6.0, 20.0)], "k") is None, "two equal means tell of no spread"
    found = statistics.clustered([(0.0, 10.0), (10.0, 10.0), (5.0, 10.0)], "k")
    assert found is not None and found.low <= 0.5 <= found.high
    assert statistics.clustered([(0.0, 10.0), (10.0, 10.0), (5.0, 10.0)], "k") == found
