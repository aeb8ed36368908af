"""Training, development and test questions, split by article or, as the authors did, by question."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.transduction.stream import permutation

TRAIN, DEV, TEST, LEFT_OUT = "train", "dev", "test", "left_out"
SHARES = {TEST: 0.10, DEV: 0.05}

Row = Mapping[str, Any]


def split(questions: Sequence[Row], collections: Iterable[Row], mode: str, seed: int) -> dict[str, str]:
    """The split of every question, by id.

    Args:
        questions: rows with `id`, `collection`, `skill` and `topic`.
        collections: rows with `id`, `level` and `articles`, of at least the questions' collections.
        mode: `by_question`, the authors' way: 10 % test and 5 % dev within each skill and topic, which puts
            questions on one article into several splits. `by_article`: no article is in two splits; questions
            of collections that reach across are `left_out`.
        seed: equal seeds give equal splits.
    """
    if mode == "by_question":
        return _by_question(questions, seed)
    if mode == "by_article":
        of_collection = split_collections(list(collections), seed)
        return {row["id"]: of_collection[row["collection"]] for row in questions}
    raise LongtrekError(f"split: {mode!r} is not known; expected `by_article` or `by_question`")


def _by_question(questions: Sequence[Row], seed: int) -> dict[str, str]:
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in questions:
        cells[row["skill"], row["topic"]].append(row["id"])
    made: dict[str, str] = {}
    for cell, ids in sorted(cells.items()):
        ids.sort()
        order = [ids[place] for place in permutation((seed, "split", *cell), len(ids))]
        test = round(SHARES[TEST] * len(ids))
        dev = round(SHARES[DEV] * len(ids))
        for place, name in enumerate(order):
            made[name] = TEST if place < test else DEV if place < test + dev else TRAIN
    return made


def split_collections(collections: Sequence[Row], seed: int) -> dict[str, str]:
    """The split of every collection such that no article is in two splits.

    Test and dev take articles, collection by collection and level by level, always the collection that adds the
    fewest, until they hold their shares of all articles; whatever then touches articles of two splits is left
    out.
    """
    articles = {row["id"]: frozenset(row["articles"]) for row in collections}
    everything = frozenset().union(*articles.values()) if articles else frozenset()
    taken: dict[str, set[str]] = {}
    for name in (TEST, DEV):
        others = set().union(*taken.values())
        taken[name] = _take(collections, others, SHARES[name] * len(everything), (seed, name))
    return {name: _side(held, taken) for name, held in articles.items()}


def _take(collections: Sequence[Row], others: set[str], share: float, key: tuple[int, str]) -> set[str]:
    held: set[str] = set()
    levels: dict[str, list[frozenset[str]]] = defaultdict(list)
    ordered = sorted(collections, key=lambda row: row["id"])
    for place in permutation((key[0], "split", key[1]), len(ordered)):
        row = ordered[place]
        if not others & set(row["articles"]):
            levels[row["level"]].append(frozenset(row["articles"]))
    for level in itertools.cycle(sorted(levels)):
        if len(held) >= share or not any(levels.values()):
            break
        free = [articles for articles in levels[level] if not articles <= held]
        levels[level] = free
        if free:
            held |= min(free, key=lambda articles: len(articles - held))
    return held


def _side(articles: frozenset[str], taken: Mapping[str, set[str]]) -> str:
    touched = {name for name, held in taken.items() if articles & held}
    if not touched:
        return TRAIN
    name = min(touched)
    return name if len(touched) == 1 and articles <= taken[name] else LEFT_OUT


def counts(splits: Mapping[str, str]) -> dict[str, int]:
    """How many questions are in each split, those left out included."""
    return dict(sorted(Counter(splits.values()).items()))
