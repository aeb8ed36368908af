"""Collections of articles up to a level's length: random, and along the citation graph depth-first or breadth-first.

Section 3 and appendix A of SciTrek. A collection starts at each article in turn and grows until the next article would
pass the level's length. Pure but for `write`: lengths and citations in, collections out. All draws come from SHAKE-128
streams, so that a seed gives the same collections on every machine.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longtrek.errors import LongtrekError
from longtrek.transduction.stream import permutation

K = 1024
LEVELS = {"64K": 64 * K, "128K": 128 * K, "512K": 512 * K, "1M": 1024 * K}
STRATEGIES = ("random", "dfs", "bfs")
SINGLE = "single"
FEWEST = 4


@dataclass(frozen=True)
class Collection:
    """Articles asked about together, in their order in the context; `tokens` is the sum of their lengths."""

    id: str
    level: str
    strategy: str
    articles: tuple[str, ...]
    tokens: int

    def row(self) -> dict[str, Any]:
        """The collection as a row of `collections.parquet`."""
        return {
            "id": self.id,
            "level": self.level,
            "strategy": self.strategy,
            "articles": list(self.articles),
            "tokens": self.tokens,
        }


@dataclass(frozen=True)
class Shortfall:
    """Why a level or strategy gave no or few collections: how many starts, and what became of those left out."""

    level: str
    strategy: str
    starts: int
    made: int
    too_few_articles: int
    corpus_used_up: int
    overlapping: int

    def sentence(self) -> str:
        """The same in words."""
        reasons = [
            f"{self.too_few_articles} held fewer than {FEWEST} articles" if self.too_few_articles else "",
            f"{self.corpus_used_up} used up the corpus before the level's length" if self.corpus_used_up else "",
            f"{self.overlapping} shared half or more of their articles with an earlier one" if self.overlapping else "",
        ]
        told = "; ".join(reason for reason in reasons if reason)
        return f"{self.level} {self.strategy}: {self.made} of {self.starts} starts gave a collection" + (
            f"; {told}" if told else ""
        )


@dataclass(frozen=True)
class Plan:
    """All collections of a corpus, and for each level and strategy how the starts fared."""

    collections: list[Collection]
    shortfalls: list[Shortfall]


Walk = Callable[[int], Iterator[int]]


class Taken:
    """The collections of a level so far, as bit sets, to see at once whether a new one overlaps any of them."""

    def __init__(self, articles: int, most: int) -> None:
        """Make room for `most` collections over `articles` articles."""
        self.width = -(-articles // 64)
        self.bits = np.zeros((most, self.width), dtype=np.uint64)
        self.sizes = np.zeros(most, dtype=np.int64)
        self.count = 0

    def add(self, members: Sequence[int]) -> bool:
        """Take a collection in, unless it shares half or more of the articles of either with one that is there."""
        mask = np.zeros(self.width, dtype=np.uint64)
        for member in members:
            mask[member // 64] |= np.uint64(1 << (member % 64))
        shared = np.bitwise_count(self.bits[: self.count] & mask).sum(axis=1, dtype=np.int64)
        smaller = np.minimum(self.sizes[: self.count], len(members))  # the smaller one reaches its half first
        if np.any(2 * shared >= smaller):
            return False
        self.bits[self.count], self.sizes[self.count] = mask, len(members)
        self.count += 1
        return True


def plan(
    lengths: dict[str, int],
    citations: Iterable[tuple[str, str]],
    levels: Sequence[str],
    seed: int,
    strategies: Sequence[str] = STRATEGIES,
    single: bool = True,
    fill: float = 0.0,
) -> Plan:
    """Make the collections of a corpus.

    Args:
        lengths: tokens of each article, in the corpus's order.
        citations: pairs (citing, cited); both directions are walked (references and citations).
        levels: names out of 64K, 128K, 512K, 1M (K = 1,024 tokens).
        seed: root of all draws.
        strategies: tried in this order at each start; an earlier collection of the level has the right of way.
        single: also make each article a collection of its own.
        fill: the least share of the level's length that a collection must reach when the corpus runs out of articles
            before the level is full; 0 keeps all (a small corpus then has one short collection of all its articles).

    Raises:
        LongtrekError: a level or strategy is unknown or named twice, `fill` is no share, or there is no article.
    """
    _check(lengths, levels, strategies)
    if not 0 <= fill <= 1:
        raise LongtrekError(f"fill {fill:g}; expected a share from 0 to 1 of a level's length")
    names = list(lengths)
    graph = _graph(names, citations)
    sizes = [lengths[name] for name in names]
    found: list[Collection] = []
    shortfalls: list[Shortfall] = []
    for level in levels:
        walks = {name: _walk(name, graph, (seed, "collection", level, name)) for name in strategies}
        made, fared = _grow_all(walks, sizes, level, fill)
        shortfalls += fared
        found += [
            _collection(seed, level, strategy, start, members, names, sizes)
            for strategy in strategies
            for start, members in made[strategy]
        ]
    if single:
        found += [Collection(f"{SINGLE}-{name}", SINGLE, SINGLE, (name,), lengths[name]) for name in names]
    return Plan(found, shortfalls)


def thin(collections: Sequence[Collection], most: dict[str, int], seed: int) -> list[Collection]:
    """Keep at most so many collections of a strategy, drawn over all levels; the order stays.

    Args:
        collections: of any levels and strategies.
        most: by `random`, `dfs`, `bfs`, `graph` (dfs and bfs together) or `single`; what is not named is kept whole.
        seed: root of the draws.

    Raises:
        LongtrekError: a key is none of these.
    """
    groups = {**{name: (name,) for name in (*STRATEGIES, SINGLE)}, "graph": ("dfs", "bfs")}
    left_out: set[str] = set()
    for name, count in most.items():
        if name not in groups:
            raise LongtrekError(f"most: {name!r} is no strategy; expected {', '.join(groups)}")
        ids = [collection.id for collection in collections if collection.strategy in groups[name]]
        left_out.update(ids[place] for place in permutation((seed, "thin", name), len(ids))[count:])
    return [collection for collection in collections if collection.id not in left_out]


def _check(lengths: dict[str, int], levels: Sequence[str], strategies: Sequence[str]) -> None:
    for level in levels:
        if level not in LEVELS:
            raise LongtrekError(f"level {level!r} is unknown; expected {', '.join(LEVELS)}")
    for strategy in strategies:
        if strategy not in STRATEGIES:
            raise LongtrekError(f"strategy {strategy!r} is unknown; expected {', '.join(STRATEGIES)}")
    twice = [name for names in (levels, strategies) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise LongtrekError(f"{twice[0]!r} is named twice; expected each level and strategy once")
    if not lengths:
        raise LongtrekError("the corpus holds no article; expected at least one to make collections of")


def _graph(names: list[str], citations: Iterable[tuple[str, str]]) -> list[list[int]]:
    """Neighbours of each article, by references and citations both, without itself."""
    number = {name: place for place, name in enumerate(names)}
    neighbours: list[set[int]] = [set() for _ in names]
    for citing, cited in citations:
        if citing in number and cited in number and citing != cited:
            neighbours[number[citing]].add(number[cited])
            neighbours[number[cited]].add(number[citing])
    return [sorted(near) for near in neighbours]


def _walk(strategy: str, graph: list[list[int]], key: tuple[str | int, ...]) -> Walk:
    """How a strategy goes on from an article: an endless supply until each article was visited once."""

    def random(start: int) -> Iterator[int]:
        yield start
        yield from (other for other in permutation((*key, start), len(graph)) if other != start)

    def along(start: int) -> Iterator[int]:
        # One random order per start ranks neighbours and says where to jump when a component is used up.
        order = permutation((*key, start), len(graph))
        rank = {article: place for place, article in enumerate(order)}
        visited: set[int] = set()
        jumps = iter(order)
        waiting: deque[int] = deque([start])
        while True:
            while waiting:
                article = waiting.pop() if strategy == "dfs" else waiting.popleft()
                if article in visited:
                    continue
                visited.add(article)
                yield article
                # A stack is taken from its end, so that it gets the first-ranked neighbour last.
                near = sorted(graph[article], key=rank.__getitem__, reverse=strategy == "dfs")
                waiting.extend(other for other in near if other not in visited)
            following = next((article for article in jumps if article not in visited), None)
            if following is None:
                return
            waiting.append(following)

    return random if strategy == "random" else along


def _grow_all(
    walks: dict[str, Walk], sizes: list[int], level: str, fill: float
) -> tuple[dict[str, list[tuple[int, list[int]]]], list[Shortfall]]:
    """Grow a collection from each article by each strategy in turn, so that no strategy starves the next of room."""
    made: dict[str, list[tuple[int, list[int]]]] = {strategy: [] for strategy in walks}
    fate = {strategy: Counter[str]() for strategy in walks}
    taken = Taken(len(sizes), len(sizes) * len(walks))
    for start in range(len(sizes)):
        for strategy, walk in walks.items():
            members, full = grow(walk(start), sizes, LEVELS[level])
            if len(members) < FEWEST:
                fate[strategy]["few"] += 1
            elif not full and sum(sizes[member] for member in members) < fill * LEVELS[level]:
                fate[strategy]["short"] += 1
            elif taken.add(members):
                made[strategy].append((start, members))
            else:
                fate[strategy]["overlap"] += 1
    return made, [
        Shortfall(level, strategy, len(sizes), len(made[strategy]), fates["few"], fates["short"], fates["overlap"])
        for strategy, fates in fate.items()
    ]


def grow(supply: Iterable[int], sizes: Sequence[int], length: int) -> tuple[list[int], bool]:
    """Take articles in the supply's order until the next one would pass the length.

    Returns:
        The articles taken, and whether the length (and not the supply) ended the growth.
    """
    members: list[int] = []
    total = 0
    for article in supply:
        if total + sizes[article] > length:
            return members, True
        members.append(article)
        total += sizes[article]
    return members, False


def _collection(
    seed: int, level: str, strategy: str, start: int, members: list[int], names: list[str], sizes: list[int]
) -> Collection:
    order = permutation((seed, "order", level, strategy, start), len(members))
    return Collection(
        id=f"{level}-{strategy}-{names[start]}",
        level=level,
        strategy=strategy,
        articles=tuple(names[members[place]] for place in order),
        tokens=sum(sizes[member] for member in members),
    )


def write(collections: Sequence[Collection], path: Path) -> None:
    """Write `collections.parquet`: id, level, strategy, article ids in order, tokens."""
    import pyarrow as pa

    from longtrek.corpus.tables import write_table

    columns = [("id", pa.string()), ("level", pa.string()), ("strategy", pa.string())]
    columns += [("articles", pa.list_(pa.string())), ("tokens", pa.int64())]
    write_table(path, [collection.row() for collection in collections], pa.schema(columns))
