"""FROM clauses: tables, subqueries and joins as DuckDB text, with the names they bring and their scan order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from longtrek.scitrek.sql.database import SCHEMA
from longtrek.scitrek.sql.expressions import only
from longtrek.scitrek.sql.join_order import Nested, nested
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.relations import Relation
from longtrek.scitrek.sql.scope import Piece, Scope, Source, folded

# Beyond these, planning alone can take longer than any time limit; no question of the paper comes near them.
_MOST_JOINED, _MOST_SOURCES = 6, 24


@dataclass(frozen=True)
class CommonTable:
    """A WITH clause's query, its columns' other names, and the common tables it may use itself."""

    query: exp.Expr
    names: tuple[str, ...]
    known: Mapping[str, "CommonTable"]


@dataclass(frozen=True)
class From:
    """A translated FROM clause.

    `scan` is the order in which SQLite meets its rows; `unsure` says that SQLite's planner may choose another.
    `inner` is the subquery, where the clause is one subquery and nothing else.
    """

    text: str
    sources: tuple[Source, ...]
    scan: tuple[str, ...]
    inner: Relation | None = None
    unsure: bool = False


class FromClauses:
    """Translates FROM clauses, and numbers the tables of a whole query."""

    def __init__(
        self,
        relation: Callable[[exp.Expr, Mapping[str, CommonTable]], Relation],
        truth: Callable[[exp.Expr, Scope], str],
        small: Callable[[exp.Expr], bool],
    ) -> None:
        self._relation = relation
        self._truth = truth
        self._small = small
        self._numbered = 0

    def __call__(self, query: exp.Select, outer: Scope | None, known: Mapping[str, CommonTable]) -> From:
        """Translate one SELECT's FROM clause, in which the WITH tables `known` can be used.

        Raises:
            Refused: a table is not among the three, or the join is not among those that are allowed.
        """
        clause, joins = query.args.get("from_"), query.args.get("joins") or []
        if clause is None:
            return From("", (), ())
        tables = [clause.this, *(join.this for join in joins)]
        if len(tables) > _MOST_JOINED:
            raise Refused(f"a join of {len(tables)} tables; at most {_MOST_JOINED} are joined")
        dropping = query.args.get("order") is not None or len(tables) > 1
        source, text, inner = self._source(tables[0], known, dropping)
        if not joins:
            return From(f" FROM {text}", (source,), source.scan, inner)
        sources = [source]
        text = f" FROM {text}"
        derived = inner is not None
        for join in joins:
            source, written, inner = self._source(join.this, known, dropping)
            derived |= inner is not None
            text += self._joined(join, source, written, sources, outer)
        order: Nested = nested(query, sources, self._small)
        return From(text, tuple(sources), order.scan, None, order.unsure or derived)

    def _source(
        self, table: exp.Expr, known: Mapping[str, CommonTable], dropping: bool
    ) -> tuple[Source, str, Relation | None]:
        self._numbered += 1
        if self._numbered > _MOST_SOURCES:
            raise Refused(f"the query reads more than {_MOST_SOURCES} tables, repeated ones counted each time")
        mine = f"t{self._numbered}"
        if isinstance(table, exp.Table):
            only(table, "this", "alias")
            if not isinstance(table.this, exp.Identifier):
                raise Refused("a table function; expected articles, article_author or citing_cited")
            name = folded(table.name)
            alias = folded(table.alias) if table.alias else name
            if name in known:
                return self._derived(known[name], alias, mine, dropping)
            if name not in SCHEMA:
                raise Refused(f"no table {table.name[:60]!r}; expected articles, article_author or citing_cited")
            columns = {column: Piece(f"{mine}.{column}", kind) for column, kind in SCHEMA[name].items()}
            return Source(alias, columns, (f"{mine}.rowid",)), f"{name} AS {mine}", None
        if isinstance(table, exp.Subquery):
            only(table, "this", "alias")
            alias = folded(table.alias) if table.alias else ""
            return self._derived(CommonTable(table.this, (), known), alias, mine, dropping)
        raise Refused(f"{type(table).__name__.upper()} in FROM; expected a table or a subquery")

    def _derived(
        self, common: CommonTable, alias: str, mine: str, dropping: bool
    ) -> tuple[Source, str, Relation | None]:
        relation = self._relation(common.query, common.known)
        names = common.names or relation.names
        if len(names) != len(relation.names):
            raise Refused(f"{len(names)} names for {len(relation.names)} columns of a subquery")
        columns: dict[str, Piece] = {}
        for number, (name, kind) in enumerate(zip(names, relation.kinds, strict=True)):
            columns.setdefault(name, Piece(f"{mine}.c{number}", kind))
        # SQLite drops an inner ORDER BY that a join or the outer ORDER BY makes useless.
        kept = relation.scan if dropping and not relation.limited else relation.order
        source = Source(alias, columns, tuple(f"{mine}.{term}" for term in kept))
        return source, f"({relation.core}) AS {mine}", relation

    def _joined(self, join: exp.Join, source: Source, written: str, sources: list[Source], outer: Scope | None) -> str:
        only(join, "this", "kind", "side", "on", "using", "method")
        side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
        if side not in ("", "LEFT") or kind not in ("", "CROSS", "INNER", "OUTER"):
            raise Refused(f"{side or kind} JOIN; expected JOIN, LEFT JOIN or CROSS JOIN")
        shared = [folded(column.name) for column in join.args.get("using") or ()]
        if join.args.get("method"):
            if join.args["method"] != "NATURAL":
                raise Refused(f"{join.args['method']} JOIN; expected JOIN, LEFT JOIN or CROSS JOIN")
            shared = [name for name in source.columns if any(name in left.columns for left in sources)]
        left = Scope(tuple(sources), outer=outer)
        conditions = [_matched(name, left, source) for name in shared]
        sources.append(replace(source, merged=frozenset(shared)))
        if join.args.get("on") is not None:
            conditions.append(self._truth(join.args["on"], Scope(tuple(sources), outer=outer)))
        return f" {'LEFT ' if side else ''}JOIN {written} ON {' AND '.join(conditions) or 'TRUE'}"


def _matched(name: str, left: Scope, right: Source) -> str:
    column = left.column(name, None)
    if column is None or name not in right.columns:
        raise Refused(f"USING ({name}): both tables must have that column")
    return f"({column.text} = {right.columns[name].text})"
