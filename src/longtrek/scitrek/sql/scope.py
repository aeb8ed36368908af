"""What a name in a query means: the rows in reach, their columns' kinds and the order in which SQLite scans them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from longtrek.scitrek.sql.literals import Refused

INTEGER, REAL, TEXT, BOOLEAN, NULL = "integer", "real", "text", "boolean", "null"


@dataclass(frozen=True)
class Piece:
    """A translated expression: DuckDB text, and the kind that its values have in SQLite (or are NULL)."""

    text: str
    kind: str


@dataclass(frozen=True)
class Source:
    """One table or subquery of a FROM clause, with its columns and its scan order as sort terms of DuckDB."""

    name: str
    columns: Mapping[str, Piece]
    scan: tuple[str, ...]
    merged: frozenset[str] = frozenset()  # columns that USING gave to a source further left


@dataclass(frozen=True)
class Grouping:
    """How a grouped query sees a row's columns: the group's own ones as they are, any other from one row of the group.

    `picked` is the sort by which SQLite's row is the first: the scan's first row, or, beside a single MIN or MAX,
    the row that holds it.
    """

    keys: frozenset[str]
    picked: tuple[str, ...]
    extreme: str | None = None  # the argument of that MIN or MAX

    def bare(self, text: str) -> str:
        """A column outside the aggregates, for the group as a whole."""
        if text in self.keys:
            return text
        first = f"first({text} ORDER BY {', '.join(self.picked)})"
        if self.extreme is None:
            return first
        # Where every argument is NULL, SQLite leaves the last row that it has read.
        scan = ", ".join(self.picked[1:])
        return f"CASE WHEN count({self.extreme}) = 0 THEN last({text} ORDER BY {scan}) ELSE {first} END"


@dataclass(frozen=True)
class Scope:
    """The names that an expression can use: sources, the SELECT list's aliases, then the enclosing query's scope."""

    sources: tuple[Source, ...] = ()
    scan: tuple[str, ...] = ()  # the order in which SQLite meets their rows, as sort terms
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    outer: "Scope | None" = None
    grouping: Grouping | None = None
    aggregates: bool = False  # whether an aggregate may stand here

    def rows(self) -> "Scope":
        """The same names as an aggregate's argument sees them: row by row."""
        return replace(self, grouping=None, aggregates=False, aliases={})

    def without_aliases(self) -> "Scope":
        """The same names without the SELECT list's, for an alias's own expression."""
        return replace(self, aliases={})

    def column(self, name: str, table: str | None, depth: int = 0) -> Piece | None:
        """The column of this name here or further out; None where there is none.

        Raises:
            Refused: two sources have it, or a subquery needs one that a grouped query around it leaves open.
        """
        found = [
            source.columns[name]
            for source in self.sources
            if name in source.columns and (source.name == table if table is not None else name not in source.merged)
        ]
        if len(found) > 1:
            raise Refused(f"the column {name} is ambiguous: {len(found)} tables of the query have it")
        if found:
            return self._seen(found[0], name, depth)
        return self.outer.column(name, table, depth + 1) if self.outer is not None else None

    def _seen(self, column: Piece, name: str, depth: int) -> Piece:
        if self.grouping is None or column.text in self.grouping.keys:
            return column
        if depth > 0:
            raise Refused(f"a subquery uses {name} of a grouped query around it, where it has no single value")
        return Piece(self.grouping.bare(column.text), column.kind)


def folded(name: str) -> str:
    """A name as SQLite compares it: ASCII letters without case."""
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in name)
