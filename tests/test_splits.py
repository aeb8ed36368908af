"""Splits: by article without leaks, by question as the paper has them."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions import splits


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    articles = [f"a{n}" for n in range(draw(st.integers(5, 60)))]
    groups = st.lists(st.sampled_from(articles), min_size=1, max_size=6, unique=True)
    collections = [
        {"id": f"c{n}", "level": draw(st.sampled_from(["64K", "1M"])), "articles": draw(groups)}
        for n in range(draw(st.integers(1, 30)))
    ]
    rows = [
        {"id": f"{one['id']}-{n}", "collection": one["id"], "skill": "sorting", "topic": f"topic {n % 2}"}
        for one in collections
        for n in range(4)
    ]
    return rows, collections


@settings(deadline=None)
@given(studies(), st.integers(0, 1000))
def test_by_article_puts_no_article_into_two_splits(
    study: tuple[list[dict[str, Any]], list[dict[str, Any]]], seed: int
) -> None:
    rows, collections = study
    made = splits.split(rows, collections, "by_article", seed)
    held: dict[str, set[str]] = defaultdict(set)
    articles = {one["id"]: set(one["articles"]) for one in collections}
    for row in rows:
        held[made[row["id"]]] |= articles[row["collection"]]
    kept = [held[name] for name in ("train", "dev", "test")]
    assert not kept[0] & kept[1] and not kept[0] & kept[2] and not kept[1] & kept[2]
    assert made.keys() == {row["id"] for row in rows}
    assert set(made.values()) <= {"train", "dev", "test", "left_out"}
    assert "test" in made.values()


@settings(deadline=None)
@given(studies(), st.integers(0, 1000))
def test_by_question_takes_its_shares_within_each_skill_and_topic(
    study: tuple[list[dict[str, Any]], list[dict[str, Any]]], seed: int
) -> None:
    rows, collections = study
    made = splits.split(rows, collections, "by_question", seed)
    for topic in ("topic 0", "topic 1"):
        names = [made[row["id"]] for row in rows if row["topic"] == topic]
        assert names.count("test") == round(0.10 * len(names))
        assert names.count("dev") == round(0.05 * len(names))
    assert made == splits.split(rows[::-1], collections, "by_question", seed)


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(LongtrekError, match="by_article"):
        splits.split([], [], "by_luck", 1)
