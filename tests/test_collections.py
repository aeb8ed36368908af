"""Collections: grown to a level's length, four articles or more, never half alike, the same on every machine."""

import itertools
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.corpus.tables import read_table
from longtrek.errors import LongtrekError
from longtrek.scitrek import collections, commands
from longtrek.scitrek.collections import LEVELS, STRATEGIES, Collection, grow, plan, thin, write
from longtrek.transduction.stream import bounded, draws


def synthetic(count: int, links: int, seed: int = 0) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Articles of 5,000 to 33,000 tokens and random citations."""
    sizes = bounded(draws((seed, "sizes"), count), 28_000) + 5000
    ends = bounded(draws((seed, "links"), 2 * links), count)
    names = [f"a{number}" for number in range(count)]
    pairs = [(names[a], names[b]) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return dict(zip(names, sizes.tolist(), strict=True)), pairs


def half_alike(one: Collection, other: Collection) -> bool:
    """Whether two collections share half or more of either's articles."""
    shared = len(set(one.articles) & set(other.articles))
    return 2 * shared >= len(one.articles) or 2 * shared >= len(other.articles)


@given(count=st.integers(4, 48), links=st.integers(0, 80), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_every_collection_keeps_to_the_rules(count: int, links: int, seed: int) -> None:
    lengths, pairs = synthetic(count, links, seed)
    made = plan(lengths, pairs, list(LEVELS), seed, single=False).collections
    for collection in made:
        assert 4 <= len(collection.articles) == len(set(collection.articles))
        assert collection.tokens == sum(lengths[article] for article in collection.articles) <= LEVELS[collection.level]
        assert collection.id.split("-", 2)[2] in collection.articles  # the article it started at
    for level in LEVELS:
        same = [collection for collection in made if collection.level == level]
        assert not any(half_alike(one, other) for one, other in itertools.combinations(same, 2))
    assert len({collection.id for collection in made}) == len(made)


def test_growth_stops_at_the_article_that_would_pass_the_length() -> None:
    assert grow([0, 1, 2, 3], [30, 30, 50, 10], 70) == ([0, 1], True)
    assert grow([0, 1, 2, 3], [30, 30, 10, 0], 70) == ([0, 1, 2, 3], False)


CHAIN = [("a", "b"), ("c", "b"), ("c", "d"), ("a", "e"), ("e", "f")]


def test_graph_growth_goes_along_references_and_citations_both() -> None:
    graph = collections._graph(list("abcdefgh"), CHAIN)
    assert graph[0] == [1, 4] and graph[1] == [0, 2]
    deep = list(collections._walk("dfs", graph, (0,))(0))
    broad = list(collections._walk("bfs", graph, (0,))(0))
    assert deep[:6] in ([0, 1, 2, 3, 4, 5], [0, 4, 5, 1, 2, 3])
    assert broad[:6] in ([0, 1, 4, 2, 5, 3], [0, 4, 1, 5, 2, 3])


def test_graph_growth_jumps_when_a_component_is_used_up() -> None:
    graph = collections._graph(list("abcdefgh"), CHAIN)
    for strategy in ("dfs", "bfs"):
        walked = list(collections._walk(strategy, graph, (3,))(6))
        assert walked[0] == 6 and sorted(walked) == list(range(8))


def test_random_growth_visits_each_article_once() -> None:
    walked = list(collections._walk("random", [[] for _ in range(9)], (1,))(4))
    assert walked[0] == 4 and sorted(walked) == list(range(9))


def test_the_order_inside_a_collection_is_shuffled() -> None:
    lengths, pairs = synthetic(60, 90)
    made = [c for c in plan(lengths, pairs, ["128K"], 0, single=False).collections if len(c.articles) > 5]
    assert 0 < sum(c.articles[0] == c.id.split("-", 2)[2] for c in made) < len(made) / 2


def test_a_seed_gives_the_same_collections_and_another_seed_others() -> None:
    lengths, pairs = synthetic(40, 60)
    first = plan(lengths, pairs, ["64K", "128K"], 0)
    assert plan(lengths, pairs[::-1], ["64K", "128K"], 0) == first
    assert plan(lengths, pairs, ["64K", "128K"], 1) != first
    made = [collection for collection in first.collections if collection.level == "128K"]
    assert (made[0].id, made[0].articles[:3]) == PINNED


PINNED = ("128K-random-a0", ("a4", "a32", "a26"))


def test_single_articles_are_collections_of_their_own() -> None:
    lengths, pairs = synthetic(5, 3)
    alone = plan(lengths, pairs, [], 0).collections
    assert [(c.level, c.strategy, c.articles, c.tokens) for c in alone] == [
        ("single", "single", (name,), size) for name, size in lengths.items()
    ]


def test_a_corpus_too_small_for_a_level_says_so() -> None:
    lengths, pairs = dict.fromkeys("abcdefghijkl", 9_000), [("a", "b"), ("c", "d")]
    made = plan(lengths, pairs, ["64K", "1M"], 0, single=False, fill=0.5)
    assert {c.level for c in made.collections} == {"64K"}
    told = [shortfall.sentence() for shortfall in made.shortfalls if shortfall.level == "1M"]
    assert told[0] == "1M random: 0 of 12 starts gave a collection; 12 used up the corpus before the level's length"
    kept = plan(lengths, pairs, ["1M"], 0, single=False).collections
    assert len(kept) == 1 and len(kept[0].articles) == 12  # without a least share: all articles, once


def test_long_articles_that_leave_fewer_than_four_are_counted() -> None:
    made = plan(dict.fromkeys("abcdef", 40_000), [], ["64K"], 0, single=False)
    assert made.collections == [] and made.shortfalls[0].too_few_articles == 6
    assert "6 held fewer than 4 articles" in made.shortfalls[0].sentence()


def test_no_strategy_starves_another() -> None:
    lengths, pairs = synthetic(16, 25, 3)
    strategies = {c.strategy for c in plan(lengths, pairs, ["64K"], 0, single=False).collections}
    assert "random" in strategies and strategies & {"dfs", "bfs"}


def test_thinning_keeps_so_many_of_a_strategy_in_their_order() -> None:
    lengths, pairs = synthetic(80, 160)
    made = plan(lengths, pairs, list(LEVELS), 0).collections
    kept = thin(made, {"random": 7, "graph": 5, "single": 0}, 0)
    assert sum(c.strategy == "random" for c in kept) == 7
    assert sum(c.strategy in ("dfs", "bfs") for c in kept) == 5
    assert sum(c.strategy == "single" for c in kept) == 0
    assert [c for c in made if c in kept] == kept
    with pytest.raises(LongtrekError, match="'depth' is no strategy; expected random, dfs, bfs, single, graph"):
        thin(made, {"depth": 1}, 0)


@pytest.mark.parametrize(
    ("lengths", "levels", "strategies", "message"),
    [
        ({"a": 1}, ["2M"], STRATEGIES, "level '2M' is unknown; expected 64K, 128K, 512K, 1M"),
        ({"a": 1}, ["64K"], ["walk"], "strategy 'walk' is unknown; expected random, dfs, bfs"),
        ({}, ["64K"], STRATEGIES, "the corpus holds no article"),
    ],
)
def test_what_cannot_be_is_named(
    lengths: dict[str, int], levels: list[str], strategies: list[str], message: str
) -> None:
    with pytest.raises(LongtrekError, match=message):
        plan(lengths, [], levels, 0, strategies)


def test_a_table_of_collections_reads_back_as_it_was(tmp_path: Path) -> None:
    lengths, pairs = synthetic(12, 14)
    made = plan(lengths, pairs, ["64K"], 0).collections
    write(made, tmp_path / "c.parquet")
    assert read_table(tmp_path / "c.parquet") == [c.row() for c in made]


def test_the_papers_2612_collections_of_662_articles_take_seconds() -> None:
    lengths, pairs = synthetic(662, 1500)
    started = time.process_time()
    made = plan(lengths, pairs, list(LEVELS), 0, single=False).collections
    kept = thin(made, {"random": 2027, "graph": 585}, 0)
    assert len(kept) == 2612
    assert time.process_time() - started < 20


# Tables and options that do not fit


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1]}, "expected the columns id, tokens"),
        ({"id": ["a"], "tokens": [None]}, "row 0: tokens is None"),
        ({"id": ["a"], "tokens": ["9"]}, "of the kind int"),
        ({"id": ["a", "a"], "tokens": [5, 6]}, "stands there twice"),
        (None, "not a Parquet table"),
    ],
)
def test_tables_of_another_shape_are_refused_with_their_name(tmp_path: Path, columns: Any, words: str) -> None:
    table = tmp_path / "articles.parquet"
    if columns is None:
        table.write_text("no")
    else:
        pq.write_table(pa.table(columns), table)
    pq.write_table(pa.table({"citing": ["a"], "cited": ["b"]}), tmp_path / "c.parquet")
    options = ["--articles", table, "--citations", tmp_path / "c.parquet", "--out", tmp_path / "o.parquet"]
    told = CliRunner().invoke(commands.collections, [str(one) for one in options])
    assert isinstance(told.exception, LongtrekError) and words in str(told.exception)
    assert str(table) in str(told.exception)


@pytest.mark.parametrize(
    "options", [{"fill": 2.0}, {"fill": -1.0}, {"fill": float("nan")}, {"strategies": ("dfs",) * 2}]
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(LongtrekError, match=r"fill|named twice"):
        plan({"a": 5}, [], ("64K",), 0, **options)
    with pytest.raises(LongtrekError, match="'64K' is named twice"):
        plan({"a": 5}, [], ("64K", "64K"), 0)
