"""The order in which SQLite nests the tables of a join, for tables without indexes or statistics.

The table that its own conditions narrow most is the outer loop, the earlier one on a tie. Each further table is
looked up by an index that SQLite makes for the query: by the columns that equal one of a table around it, and among
equal ones by its other columns that the query uses, in the table's order. SQLite's planner weighs more than that, so
the order of three tables and more, and of a LEFT JOIN whose right side has conditions, is called unsure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from longtrek.scitrek.sql.relations import FIRST
from longtrek.scitrek.sql.scope import Source, folded

# SQLite's guesses, as ten times the binary logarithm of the rows left: a quarter for `=`, half for `=` -1, 0 or 1.
_EQUAL, _SMALL, _OTHER = 20, 10, 1


@dataclass(frozen=True)
class Nested:
    """A join's scan order as sort terms, and whether SQLite may choose another."""

    scan: tuple[str, ...]
    unsure: bool


def nested(query: exp.Select, sources: Sequence[Source], small: Callable[[exp.Expr], bool]) -> Nested:
    """The order in which SQLite meets a join's rows.

    Args:
        sources: the join's tables in the order of the FROM clause.
        small: whether an expression is the number -1, 0 or 1.
    """
    joins = query.args.get("joins") or []
    fixed = [False, *(bool(join.args.get("side")) or join.args.get("kind") == "CROSS" for join in joins)]
    terms = list(_terms(query))
    weights = [_weight(terms, number, sources, small) for number in range(len(sources))]
    unsure = len(sources) > 2 or (any(join.args.get("side") for join in joins) and max(weights[1:]) > 0)
    first = 0 if any(fixed) else max(range(len(sources)), key=lambda number: (weights[number], -number))
    placed = [first]
    links = [*_links(terms, sources), *_shared(sources)]
    while len(placed) < len(sources):
        waiting = [number for number in range(len(sources)) if number not in placed]
        linked = [number for number in waiting if not any(fixed) and _keys(number, placed, links)]
        placed.append((linked or waiting)[0])
    scan = list(sources[first].scan)
    for place, number in enumerate(placed[1:], 1):
        keys = _keys(number, placed[:place], links)
        scan.extend(_indexed(query, number, sources, keys) if keys else sources[number].scan)
    return Nested(tuple(scan), unsure)


def _terms(query: exp.Select) -> Iterator[exp.Expr]:
    """The conditions that all must hold: those of WHERE and of ON, taken apart at AND."""
    conditions = [join.args["on"] for join in query.args.get("joins") or [] if join.args.get("on") is not None]
    if query.args.get("where") is not None:
        conditions.append(query.args["where"].this)
    for condition in conditions:
        inner = condition.unnest()
        yield from (term.unnest() for term in (inner.flatten() if isinstance(inner, exp.And) else [inner]))


def _owner(column: exp.Column, sources: Sequence[Source]) -> int | None:
    """Which source a column belongs to; None if it is none's (a text in double quotes, an outer query's column)."""
    name, table = folded(column.name), folded(column.table) if column.table else None
    for number, source in enumerate(sources):
        if name in source.columns and (source.name == table if table is not None else name not in source.merged):
            return number
    return None


def _weight(
    terms: Sequence[exp.Expr], number: int, sources: Sequence[Source], small: Callable[[exp.Expr], bool]
) -> int:
    mine = [term for term in terms if {_owner(c, sources) for c in term.find_all(exp.Column)} == {number}]
    equal = [term for term in mine if isinstance(term, exp.EQ) and _constant_side(term) is not None]
    strongest = max((_SMALL if small(side) else _EQUAL for term in equal if (side := _constant_side(term))), default=0)
    return max(strongest, _OTHER * len(mine))


def _constant_side(term: exp.EQ) -> exp.Expr | None:
    left: exp.Expr = term.this
    right: exp.Expr = term.expression
    columns = isinstance(left.unnest(), exp.Column), isinstance(right.unnest(), exp.Column)
    if columns == (True, False):
        return right
    return left if columns == (False, True) else None


Link = tuple[tuple[int, str], tuple[int, str]]


def _links(terms: Sequence[exp.Expr], sources: Sequence[Source]) -> Iterator[Link]:
    """Pairs of columns of two sources that must be equal."""
    for term in terms:
        sides = [term.this, term.expression] if isinstance(term, exp.EQ) else []
        if not all(isinstance(side, exp.Column) for side in sides):
            continue
        ends = [(owner, folded(side.name)) for side in sides if (owner := _owner(side, sources)) is not None]
        if len(ends) == 2 and ends[0][0] != ends[1][0]:
            yield ends[0], ends[1]


def _shared(sources: Sequence[Source]) -> Iterator[Link]:
    for number, source in enumerate(sources):
        for name in source.merged:
            left = next(place for place, other in enumerate(sources) if name in other.columns)
            yield (left, name), (number, name)


def _keys(number: int, placed: Sequence[int], links: Sequence[Link]) -> set[str]:
    """The columns of a source that must equal a column of the sources around it."""
    ends = [pair for link in links for pair in (link, link[::-1])]
    return {mine[1] for mine, other in ends if mine[0] == number and other[0] in placed}


def _indexed(query: exp.Select, number: int, sources: Sequence[Source], keys: set[str]) -> list[str]:
    source = sources[number]
    used = {folded(c.name) for c in query.find_all(exp.Column) if _owner(c, sources) == number}
    if any(_stands_for(item, source) for item in query.expressions):
        used = set(source.columns)
    others = [f"{piece.text} {FIRST}" for name, piece in source.columns.items() if name in used and name not in keys]
    return [*others, *source.scan]


def _stands_for(item: exp.Expr, source: Source) -> bool:
    """Whether a column of the SELECT list is `*`, or `name.*` for this source."""
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        return folded(item.table) == source.name
    return isinstance(item, exp.Star)
