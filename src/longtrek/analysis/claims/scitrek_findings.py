"""What SciTrek finds in a grid of scores, whoever's: models by context and level, the paper's or a run's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from longtrek.analysis.claims.spans import Span

Place = tuple[str, str, str]
"""Model, context (`full_text`, `tables`) and level."""
Grid = Mapping[Place, Span]
LEVELS = ("64K", "128K", "512K", "1M")
CONTEXTS = ("full_text", "tables")
PAIRS = (
    ("Qwen3-4B-Thinking-2507", "Qwen3-4B-Instruct-2507"),
    ("Qwen3-30B-A3B-Thinking-2507", "Qwen3-30B-A3B-Instruct-2507"),
    ("DeepSeek-R1-Distill-Llama-70B", "Llama-3.3-70B-Instruct"),
)
"""Models that think, each with one of its size that does not."""


def models_of(grid: Grid) -> list[str]:
    """The models of a grid in its order."""
    return list(dict.fromkeys(model for model, _, _ in grid))


def column(grid: Grid, context: str, level: str, models: Iterable[str] | None = None) -> dict[str, Span]:
    """Scores of one context and level by model, of some models or all."""
    wanted = models_of(grid) if models is None else models
    return {model: grid[model, context, level] for model in wanted if (model, context, level) in grid}


def rising(grid: Grid) -> list[Place]:
    """Cells that are above the same model's cell at the next smaller level that it has."""
    found = []
    for model in models_of(grid):
        for context in CONTEXTS:
            levels = [level for level in LEVELS if (model, context, level) in grid]
            found += [
                (model, context, longer)
                for shorter, longer in pairwise(levels)
                if grid[model, context, longer].value > grid[model, context, shorter].value
            ]
    return found


def thinking_gains(grid: Grid, context: str) -> dict[tuple[str, str], Span]:
    """What thinking adds at matched size, by thinking model and level."""
    return {
        (thinking, level): grid[thinking, context, level] - grid[plain, context, level]
        for thinking, plain in PAIRS
        for level in LEVELS
        if (thinking, context, level) in grid and (plain, context, level) in grid
    }


def not_above_articles(grid: Grid) -> list[Place]:
    """Cells with tables as context that are not above the same model's with full-text articles."""
    return [
        (model, context, level)
        for (model, context, level), span in grid.items()
        if context == "tables"
        and (model, "full_text", level) in grid
        and span.value <= grid[model, "full_text", level].value
    ]


def above(grid: Grid, leader: str) -> list[Place]:
    """Cells of other models above the leader's of the same context and level."""
    return [
        place
        for place, span in grid.items()
        if (leader, *place[1:]) in grid and span.value > grid[leader, place[1], place[2]].value
    ]


def ordered_pairs(one: Grid, other: Grid, models: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Pairs of models at each context and level, and whether a second grid has them in another order; ties are none."""
    for context in CONTEXTS:
        for level in LEVELS:
            first, second = (column(grid, context, level, models) for grid in (one, other))
            for a, b in combinations([model for model in models if model in first and model in second], 2):
                orders = [(scores[a].value > scores[b].value) - (scores[a].value < scores[b].value)
                          for scores in (first, second)]  # fmt: skip
                yield f"{a}, {b}, {context} {level}", orders[0] * orders[1] < 0
