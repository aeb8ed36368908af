"""Translated statements as relations: columns c0, c1, …, sort terms o0, …, scan order k0, …, and what wraps them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from longtrek.scitrek.sql.expressions import DUCKDB_TYPES, only
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.scope import NULL

FIRST, LAST = "ASC NULLS FIRST", "DESC NULLS LAST"


@dataclass(frozen=True)
class Relation:
    """A translated statement: its core, the columns' names and kinds, and its order as sort terms over o… and k…."""

    core: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    sort: tuple[str, ...] = ()
    scan: tuple[str, ...] = ()
    limited: bool = False
    single: bool = False  # an aggregate without GROUP BY: always one row
    plain: bool = False  # neither grouped, distinct, limited nor compound: SQLite merges it into the query around it
    unsure: bool = False  # a join whose order SQLite's planner chooses

    @property
    def order(self) -> tuple[str, ...]:
        """All sort terms, the statement's own first."""
        return self.sort + self.scan

    def sorted(self) -> str:
        """The core with its order spelled out."""
        core = f"SELECT * FROM ({self.core}) AS whole" if self.limited else self.core
        return core + (f" ORDER BY {', '.join(self.order)}" if self.order else "")


def hidden_terms(letter: str, terms: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Sort terms as hidden columns, and the same sort over those columns."""
    hidden, sort = [], []
    for number, term in enumerate(terms):
        text, _, direction = term.partition(" ")
        hidden.append(f"{text} AS {letter}{number}")
        sort.append(f"{letter}{number} {direction or FIRST}")
    return hidden, tuple(sort)


def distinct(query: exp.Select, relation: Relation) -> Relation:
    """Keep each row's first occurrence in scan order, as SQLite does before it sorts."""
    only(query.args["distinct"])
    if relation.single:
        return relation
    row = ", ".join(f"c{n}" for n in range(len(relation.names)))
    order = f" ORDER BY {', '.join(relation.scan)}" if relation.scan else ""
    core = f"SELECT * FROM ({relation.core}) AS every QUALIFY row_number() OVER (PARTITION BY {row}{order}) = 1"
    return replace(relation, core=core, plain=False)


def common_kind(pair: tuple[str, str]) -> str:
    """The kind of a compound's column; Refused where its two sides give different ones."""
    kinds = set(pair) - {NULL}
    if len(kinds) > 1:
        raise Refused(f"a compound SELECT of {' and '.join(sorted(kinds))} in one column")
    return kinds.pop() if kinds else NULL


def aligned(relation: Relation, kinds: Sequence[str]) -> str:
    """A compound's side with its columns in the common kinds."""
    return f"SELECT {_cast_columns(kinds)} FROM ({relation.core}) AS part"


def numbered(relation: Relation, kinds: Sequence[str], place: int) -> str:
    """A side of UNION ALL with its place (k0) and its rows' numbers (k1) beside it."""
    order = f"ORDER BY {', '.join(relation.order)}" if relation.order else ""
    number = f"{place} AS k0, row_number() OVER ({order}) AS k1"
    return f"SELECT {_cast_columns(kinds)}, {number} FROM ({relation.core}) AS part"


def _cast_columns(kinds: Sequence[str]) -> str:
    return ", ".join(f"CAST(c{n} AS {DUCKDB_TYPES[kind]}) AS c{n}" for n, kind in enumerate(kinds))
