"""A query of SQLite as a statement of DuckDB: same rows, same values, same order, literals bound.

SQLite's columns are untyped, as the authors had them. What cannot be promised to be equal is refused with its
reason: numbers made of text (`title + 1`, SUM of names), columns that hold whole numbers in one row and real
numbers or text in another (CASE, COALESCE, UNION), real numbers written as text, numbers past 64 bits, ROUND past
nine digits, COLLATE, GLOB, bit operators, window and date functions, INTERSECT beside another compound operator, a
subquery on a column that the grouped query around it leaves open. Answered, but with an order that SQLite may
choose otherwise (`unsure`): joins of three tables and more, of subqueries, and LEFT JOINs with conditions on their
right side, where there is no ORDER BY.
"""

import functools
import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from longtrek.scitrek.sql.literals import Refused, Shape, shape_of
from longtrek.scitrek.sql.selects import Selects
from longtrek.scitrek.sql.syntax import check_syntax

_PLACE = re.compile(r"\$(\d+)")


@dataclass(frozen=True)
class Translation:
    """DuckDB's statement for a query, and how to read its rows.

    Columns: the answer's `width` values, then the values of the query's `sort_terms` ORDER BY terms, then the
    scan order. `places[n]` is the literal that is bound to `$n+1`; numbers past the query's literals are constants.
    """

    text: str
    places: tuple[int, ...]
    constants: tuple[str, ...]
    width: int
    sort_terms: int
    single: bool
    limited: bool
    unsure: bool

    def bound(self, shape: Shape) -> list[str | int | float]:
        """The values to bind for a query of this shape."""
        values = (*shape.values, *self.constants)
        return [values[place] for place in self.places]


# A shape's literals that a translation depends on (LIMIT 3, ORDER BY 2), and its translation for each of their values.
_baked: dict[str, tuple[int, ...]] = {}
_translations: dict[tuple[str, tuple[str | int | float, ...]], Translation] = {}
_MOST_KEPT = 20_000
_MOST_CONCATENATIONS = 8


def translate(sql: str) -> tuple[Translation, Shape]:
    """Translate a query of SQLite into DuckDB's SQL; queries of one shape are translated once.

    Raises:
        Refused: the query is not one SELECT over the three tables, uses something that is not allowed, or
            something whose result in SQLite this translation cannot promise; the message says which.
    """
    shape = shape_of(sql)
    baked = _baked.get(shape.text)
    if baked is not None:
        found = _translations.get((shape.text, tuple(shape.values[n] for n in baked)))
        if found is not None:
            return found, shape
    translation, baked = _translated(shape)
    if len(_translations) >= _MOST_KEPT:
        _baked.clear()
        _translations.clear()
    _baked[shape.text] = baked
    _translations[shape.text, tuple(shape.values[n] for n in baked)] = translation
    return translation, shape


def _translated(shape: Shape) -> tuple[Translation, tuple[int, ...]]:
    try:
        if shape.text.count("||") > _MOST_CONCATENATIONS:
            raise Refused(f"more than {_MOST_CONCATENATIONS} concatenations, which could grow a text without end")
        selects = Selects(shape.values)
        relation = selects.relation(_parsed(shape.text))
    except RecursionError:
        raise Refused("the query is nested too deeply") from None
    check_syntax(shape)
    used: dict[str, int] = {}
    text = _PLACE.sub(lambda place: f"${used.setdefault(place[1], len(used) + 1)}", relation.sorted())
    return (
        Translation(
            text=text,
            places=tuple(int(number) for number in used),
            constants=tuple(selects.constants),
            width=len(relation.names),
            sort_terms=len(relation.sort),
            single=relation.single,
            limited=relation.limited,
            unsure=relation.unsure,
        ),
        tuple(sorted(selects.baked)),
    )


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> exp.Expr:
    try:
        statements = sqlglot.parse(text, read="sqlite")
    except SqlglotError as error:
        reason = str(error).split("\n", 1)[0].rstrip(". ")
        raise Refused(f"not a query that SQLite could read: {reason[:200]}") from None
    if len(statements) != 1 or statements[0] is None:
        raise Refused("several statements or none; expected one SELECT")
    return statements[0]
