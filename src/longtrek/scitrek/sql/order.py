"""Whether a query fixes the order of its answer, and whether two queries agree."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from longtrek.scitrek.sql.database import Row, Value
from longtrek.scitrek.sql.query import Result

ANY, TIES, TOTAL = "any", "ties", "total"


@dataclass(frozen=True)
class Order:
    """How far a query fixes the order of its answer's rows.

    `total`: wholly (so too if there is one row, or all are equal). `ties`: but for rows with equal sort keys and
    different values; `ties` holds each such group's row positions, from 0. `any`: there is no ORDER BY.
    """

    kind: str
    ties: tuple[tuple[int, ...], ...] = ()


def order_of(result: Result) -> Order:
    """The order of a query's result, from the values of its ORDER BY terms beside each row.

    A LIMIT that cuts through rows with equal sort keys leaves open *which* rows there are; the order says nothing
    of that.
    """
    if len(set(result.rows)) <= 1:
        return Order(TOTAL)
    if not result.translation.sort_terms:
        return Order(ANY)
    groups = _tied(result)
    return Order(TIES, groups) if groups else Order(TOTAL)


def _tied(result: Result) -> tuple[tuple[int, ...], ...]:
    positions = range(len(result.rows))
    runs = [tuple(run) for _, run in groupby(positions, key=lambda position: result.sort_keys[position])]
    return tuple(run for run in runs if len({result.rows[position] for position in run}) > 1)


def agree(expected: Result, found: Result) -> bool:
    """Whether a result is another's: same rows, in the same order wherever the expected query fixes it (Section 3.3).

    Where it does, the other query must have an ORDER BY too: rows that come in order by luck do not count. Numbers
    are equal up to the twelfth digit, so that an average may be a sum over a count.
    """
    ours, theirs = _comparable(expected.rows), _comparable(found.rows)
    if len(ours) != len(theirs) or expected.translation.width != found.translation.width:
        return False
    order = order_of(expected)
    if order.kind == ANY:
        return Counter(ours) == Counter(theirs)
    if len(set(ours)) > 1 and not found.translation.sort_terms:
        return False
    free = {position for group in order.ties for position in group}
    fixed = [position for position in range(len(ours)) if position not in free]
    return all(ours[position] == theirs[position] for position in fixed) and all(
        Counter(ours[position] for position in group) == Counter(theirs[position] for position in group)
        for group in order.ties
    )


def _comparable(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    return [tuple(_plain(value) for value in row) for row in rows]


def _plain(value: Value) -> Any:
    return float(f"{value:.12g}") if isinstance(value, float) else value
