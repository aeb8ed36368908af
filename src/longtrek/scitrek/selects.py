"""SELECT statements of SQLite as statements of DuckDB that return the same rows in the same order.

SQLite's order is not left to chance where the statement has none: a scan gives rows as they were inserted, a join
nests its tables from the left, GROUP BY sorts by its terms, DISTINCT keeps first occurrences, UNION sorts by all
columns, and a sort keeps the order of equal rows. Each statement is translated to a core that returns the answer's
columns (c0, c1, …) with its ORDER BY terms (o0, …) and its scan order (k0, …) beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from longtrek.scitrek.database import SCHEMA
from longtrek.scitrek.expressions import DUCKDB_TYPES, Expressions, only, value
from longtrek.scitrek.functions import is_aggregate
from longtrek.scitrek.literals import Refused
from longtrek.scitrek.scope import INTEGER, NULL, REAL, Grouping, Piece, Scope, Source, folded

_FIRST, _LAST = "ASC NULLS FIRST", "DESC NULLS LAST"
# Beyond these, planning alone can take longer than any time limit; no question of the paper comes near them.
_MOST_JOINED, _MOST_SOURCES, _DEEPEST, _MOST_COLUMNS = 6, 24, 8, 100


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


@dataclass(frozen=True)
class CommonTable:
    """A WITH clause's query, its columns' other names, and the common tables it may use itself."""

    query: exp.Expr
    names: tuple[str, ...]
    known: Mapping[str, "CommonTable"]


@dataclass
class _Parts:
    """What a SELECT is made of while it is translated."""

    source: str
    scope: Scope
    items: list[tuple[str, exp.Expr | Piece]]
    inherited: Relation | None
    unsure: bool
    where: str = ""
    group: list[str] = field(default_factory=list)
    descending: list[bool] = field(default_factory=list)


class Selects:
    """Translates statements; the literals' values are looked at only where the translation depends on them."""

    def __init__(self, values: Sequence[str | int | float]) -> None:
        self.values = values
        self.baked: set[int] = set()
        self.constants: list[str] = []
        self.translate = Expressions(self)
        self._numbered = self._depth = 0
        self._known: Mapping[str, CommonTable] = {}

    # What expressions ask of the queries around them.

    def subquery(self, query: exp.Expr, scope: Scope) -> tuple[str, Piece]:
        """A one-column subquery as a derived table of column c0, and that column."""
        relation = self.relation(_unwrapped(query), scope)
        if len(relation.names) != 1:
            raise Refused(f"a subquery of {len(relation.names)} columns where one is expected")
        return f"({relation.core})", Piece("c0", relation.kinds[0])

    def first_value(self, query: exp.Expr, scope: Scope) -> Piece:
        """The first value of a one-column subquery, NULL if it has no row."""
        relation = self.relation(_unwrapped(query), scope)
        if len(relation.names) != 1:
            raise Refused(f"a subquery of {len(relation.names)} columns where one value is expected")
        order = f" ORDER BY {', '.join(relation.order)} LIMIT 1" if not relation.single else ""
        if not relation.single and not relation.order:
            order = " LIMIT 1"
        return Piece(f"(SELECT c0 FROM ({relation.core}) AS first_of{order})", relation.kinds[0])

    def exists(self, query: exp.Expr, scope: Scope) -> str:
        """Whether a subquery has a row."""
        return f"EXISTS (SELECT 1 FROM ({self.relation(_unwrapped(query), scope).core}) AS found)"

    def constant(self, text: str) -> str:
        """A place for a text that is bound after the literals."""
        self.constants.append(text)
        return f"${len(self.values) + len(self.constants) - 1}"

    def fixed(self, node: exp.Expr | None) -> int | float | str | None:
        """The value of a literal, remembered as one that the translation depends on; None if it is not one."""
        if isinstance(node, exp.Neg):
            inner = self.fixed(node.this)
            return -inner if isinstance(inner, int | float) else None
        if not isinstance(node, exp.Placeholder):
            return None
        number = int(node.name[1:])
        self.baked.add(number)
        return self.values[number]

    # Statements.

    def relation(self, query: exp.Expr, outer: Scope | None = None) -> Relation:
        """Translate a statement that stands inside `outer`.

        Raises:
            Refused: it is not a SELECT, or uses what is not allowed or not certain.
        """
        before = self._known
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Refused(f"queries nested more than {_DEEPEST} deep")
        try:
            self._known = self._with(query)
            if isinstance(query, exp.Select):
                return self._select(query, outer)
            if isinstance(query, exp.SetOperation):
                return self._compound(query, outer)
        finally:
            self._known = before
            self._depth -= 1
        raise Refused(f"{type(query).__name__.upper()} is not a SELECT, which alone may be run")

    def _with(self, query: exp.Expr) -> Mapping[str, CommonTable]:
        clause = query.args.get("with_")
        if clause is None:
            return self._known
        if clause.args.get("recursive"):
            raise Refused("WITH RECURSIVE: a query on the three tables has no need of recursion")
        only(clause, "expressions")
        known = dict(self._known)
        for table in clause.expressions:
            only(table, "this", "alias")
            names = tuple(folded(column.name) for column in table.args["alias"].args.get("columns") or ())
            # Only earlier tables are known inside, so none can call itself.
            known[folded(table.alias)] = CommonTable(table.this, names, dict(known))
        return known

    def _select(self, query: exp.Select, outer: Scope | None) -> Relation:
        only(
            query,
            *("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit"),
            "offset",
        )
        parts = self._parts(query, outer)
        if query.args.get("where") is not None:
            parts.where = f" WHERE {self.translate.truth(query.args['where'].this, parts.scope)}"
        terms = query.args["order"].expressions if query.args.get("order") is not None else []
        if self._is_grouped(query, terms):
            relation = self._grouped(query, parts, terms)
        else:
            relation = self._ungrouped(query, parts, terms)
        if query.args.get("distinct") is not None:
            relation = _distinct(query, relation)
        return self._limited(query, replace(relation, unsure=parts.unsure))

    def _is_grouped(self, query: exp.Select, terms: Sequence[exp.Expr]) -> bool:
        listed = any(_own_aggregates(item) for item in query.expressions)
        if query.args.get("having") is not None and query.args.get("group") is None and not listed:
            raise Refused("HAVING in a query without aggregates or GROUP BY")
        return query.args.get("group") is not None or listed or any(_own_aggregates(term) for term in terms)

    def _parts(self, query: exp.Select, outer: Scope | None) -> _Parts:
        joins = query.args.get("joins") or []
        clause = query.args.get("from_")
        tables = [clause.this, *(join.this for join in joins)] if clause is not None else []
        if len(tables) > _MOST_JOINED:
            raise Refused(f"a join of {len(tables)} tables; at most {_MOST_JOINED} are joined")
        ordered = query.args.get("order") is not None
        sources: list[Source] = []
        text, inherited = "", None
        for number, table in enumerate(tables):
            join = joins[number - 1] if number else None
            source, written, relation = self._source(table, dropping=ordered or len(tables) > 1)
            if join is None:
                text, inherited = f" FROM {written}", relation if len(tables) == 1 else None
                sources.append(source)
            else:
                text += self._joined(join, source, written, sources, outer)
        scope = Scope(tuple(sources), outer=outer)
        items = self._items(query, scope)
        aliases = {folded(item.alias): item.this for item in query.expressions if isinstance(item, exp.Alias)}
        return _Parts(text, replace(scope, aliases=aliases), items, inherited, len(tables) > 1)

    def _source(self, table: exp.Expr, dropping: bool) -> tuple[Source, str, Relation | None]:
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
            if name in self._known:
                return self._derived(self._known[name], alias, mine, dropping)
            if name not in SCHEMA:
                raise Refused(f"no table {table.name[:60]!r}; expected articles, article_author or citing_cited")
            columns = {column: Piece(f"{mine}.{column}", kind) for column, kind in SCHEMA[name].items()}
            return Source(alias, columns, (f"{mine}.rowid",)), f"{name} AS {mine}", None
        if isinstance(table, exp.Subquery):
            only(table, "this", "alias")
            common = CommonTable(table.this, (), self._known)
            return self._derived(common, folded(table.alias) if table.alias else "", mine, dropping)
        raise Refused(f"{type(table).__name__.upper()} in FROM; expected a table or a subquery")

    def _derived(
        self, common: CommonTable, alias: str, mine: str, dropping: bool
    ) -> tuple[Source, str, Relation | None]:
        before = self._known
        try:
            self._known = common.known
            relation = self.relation(common.query)
        finally:
            self._known = before
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
            conditions.append(self.translate.truth(join.args["on"], Scope(tuple(sources), outer=outer)))
        return f" {'LEFT ' if side else ''}JOIN {written} ON {' AND '.join(conditions) or 'TRUE'}"

    def _items(self, query: exp.Select, scope: Scope) -> list[tuple[str, exp.Expr | Piece]]:
        items: list[tuple[str, exp.Expr | Piece]] = []
        for item in query.expressions:
            if isinstance(item, exp.Star):
                only(item)
                items.extend(_starred(scope.sources))
            elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
                wanted = folded(item.table)
                items.extend(_starred([source for source in scope.sources if source.name == wanted], every=True))
            else:
                inner = item.this if isinstance(item, exp.Alias) else item
                items.append((folded(item.alias_or_name), inner))
        if not items:
            raise Refused("a SELECT of no columns")
        if len(items) > _MOST_COLUMNS:
            raise Refused(f"a SELECT of {len(items)} columns; at most {_MOST_COLUMNS} are returned")
        return items

    def _ungrouped(self, query: exp.Select, parts: _Parts, terms: Sequence[exp.Expr]) -> Relation:
        columns = [self._item(item, parts.scope) for _, item in parts.items]
        sort, exposed = self._terms(terms, parts, columns, parts.scope)
        scan_terms = [term for source in parts.scope.sources for term in source.scan]
        inherited = parts.inherited
        if not terms and inherited is not None and inherited.plain and inherited.sort:
            # Merged into this query, the subquery's ORDER BY becomes its own.
            count = len(inherited.sort)
            exposed, sort = _exposed("o", scan_terms[:count])
            scan_terms = scan_terms[count:]
        keys, scan = _exposed("k", scan_terms)
        listed = [f"{piece.text} AS c{n}" for n, piece in enumerate(columns)]
        core = f"SELECT {', '.join(listed + exposed + keys)}{parts.source}{parts.where}"
        plain = all(query.args.get(name) is None for name in ("distinct", "limit", "offset"))
        return Relation(core, _names(parts.items), _kinds(columns), sort, scan, plain=plain)

    def _grouped(self, query: exp.Select, parts: _Parts, terms: Sequence[exp.Expr]) -> Relation:
        group = query.args.get("group")
        if group is not None:
            only(group, "expressions")
        keys = [self._group_key(key, parts) for key in (group.expressions if group is not None else [])]
        extreme = _extreme(query, terms)
        scan = tuple(term for source in parts.scope.sources for term in source.scan)
        picked, argument = scan, None
        if extreme is not None:
            argument = self.translate.value(extreme.this, parts.scope.rows()).text
            picked = (f"{argument} {'DESC' if isinstance(extreme, exp.Max) else 'ASC'} NULLS LAST", *scan)
        scope = replace(
            parts.scope,
            grouping=Grouping(frozenset(key.text for key in keys), picked, argument),
            aggregates=True,
        )
        columns = [self._item(item, scope) for _, item in parts.items]
        sort, exposed = self._terms(terms, parts, columns, scope)
        hidden, order = self._group_order(keys, terms)
        listed = [f"{piece.text} AS c{n}" for n, piece in enumerate(columns)]
        core = f"SELECT {', '.join(listed + exposed + hidden)}{parts.source}{parts.where}"
        if keys:
            core += f" GROUP BY {', '.join(key.text for key in keys)}"
        if query.args.get("having") is not None:
            core += f" HAVING {self.translate.truth(query.args['having'].this, scope)}"
        if not keys:
            # One row; a sort of it would be idle, and DuckDB cannot mix its terms with the aggregates.
            single = query.args.get("having") is None
            return Relation(core, _names(parts.items), _kinds(columns), single=single)
        return Relation(core, _names(parts.items), _kinds(columns), sort, order)

    def _group_key(self, key: exp.Expr, parts: _Parts) -> Piece:
        position = self._position(key)
        if position is not None:
            if not 1 <= position <= len(parts.items):
                raise Refused(f"GROUP BY {position}: the SELECT has {len(parts.items)} columns")
            return self._item(parts.items[position - 1][1], parts.scope)
        return self.translate.value(key, parts.scope)

    def _group_order(self, keys: Sequence[Piece], terms: Sequence[exp.Expr]) -> tuple[list[str], tuple[str, ...]]:
        """The order in which groups come: by their keys, which SQLite sorts in the directions of an ORDER BY of as
        many terms, whatever these terms are."""
        descending = [bool(term.args.get("desc")) for term in terms]
        if len(descending) != len(keys):
            descending = [False] * len(keys)
        hidden = [f"{key.text} AS k{n}" for n, key in enumerate(keys)]
        return hidden, tuple(f"k{n} {_LAST if down else _FIRST}" for n, down in enumerate(descending))

    def _item(self, item: exp.Expr | Piece, scope: Scope) -> Piece:
        if isinstance(item, Piece):
            return Piece(scope.grouping.bare(item.text), item.kind) if scope.grouping is not None else item
        return self.translate.value(item, scope.without_aliases())

    def _terms(
        self, terms: Sequence[exp.Expr], parts: _Parts, columns: Sequence[Piece], scope: Scope
    ) -> tuple[tuple[str, ...], list[str]]:
        """An ORDER BY's terms as sort terms, and as hidden columns that hold them."""
        sort: list[str] = []
        exposed: list[str] = []
        for number, term in enumerate(terms):
            only(term, "this", "desc", "nulls_first")
            piece = self._term(term.this, parts, columns, scope)
            exposed.append(f"{piece.text} AS o{number}")
            sort.append(f"o{number} {_direction(term)}")
        return tuple(sort), exposed

    def _term(self, term: exp.Expr, parts: _Parts, columns: Sequence[Piece], scope: Scope) -> Piece:
        position = self._position(term)
        if position is not None:
            return columns[_column_number(position, len(columns))]
        if isinstance(term, exp.Column) and not term.table:
            name = folded(term.name)
            if name in scope.aliases:
                names = [alias for alias, _ in parts.items]
                return columns[names.index(name)]
        return self.translate.value(term, scope)

    def _position(self, term: exp.Expr) -> int | None:
        """A term of ORDER BY or GROUP BY that is a whole number: a column's position."""
        inner = term.unnest()
        if not isinstance(inner.this if isinstance(inner, exp.Neg) else inner, exp.Placeholder):
            return None
        position = self.fixed(inner)
        return position if isinstance(position, int) else None

    def _limited(self, query: exp.Expr, relation: Relation) -> Relation:
        limit, offset = query.args.get("limit"), query.args.get("offset")
        if limit is None and offset is None:
            return relation
        text = ""
        for word, clause in (("LIMIT", limit), ("OFFSET", offset)):
            if clause is None:
                continue
            only(clause, "expression")
            number = self.fixed(clause.expression)
            if not isinstance(number, int):
                raise Refused(f"{word} that is not a whole number")
            if number >= 0:
                text += f" {word} {number}"
        core = f"SELECT * FROM ({relation.core}) AS whole"
        core += f" ORDER BY {', '.join(relation.order)}" if relation.order else ""
        return replace(relation, core=core + text, limited=True, single=False, plain=False)

    def _compound(self, query: exp.SetOperation, outer: Scope | None) -> Relation:
        only(query, "with_", "this", "expression", "distinct", "order", "limit", "offset")
        if isinstance(query.this, exp.Subquery) or isinstance(query.expression, exp.Subquery):
            raise Refused("INTERSECT beside UNION or EXCEPT: SQLite reads them from the left, others INTERSECT first")
        sides = [self.relation(side, outer) for side in (query.this, query.expression)]
        for side, relation in zip((query.this, query.expression), sides, strict=True):
            if relation.sort or relation.limited or side.args.get("with_") is not None:
                raise Refused("ORDER BY, LIMIT or WITH inside one part of a compound SELECT")
        left, right = sides
        if len(left.names) != len(right.names):
            raise Refused(f"a compound SELECT of {len(left.names)} and {len(right.names)} columns")
        kinds = tuple(_common_kind(pair) for pair in zip(left.kinds, right.kinds, strict=True))
        bodies = [_aligned(relation, kinds) for relation in sides]
        if isinstance(query, exp.Union) and not query.args.get("distinct"):
            numbered = [_numbered(relation, kinds, place) for place, relation in enumerate(sides)]
            relation = Relation(" UNION ALL ".join(numbered), left.names, kinds, (), (f"k0 {_FIRST}", f"k1 {_FIRST}"))
        else:
            if not isinstance(query, exp.Union) and query.args.get("distinct") is False:
                raise Refused("EXCEPT ALL or INTERSECT ALL")
            word = type(query).__name__.upper()
            scan = tuple(f"c{n} {_FIRST}" for n in range(len(kinds)))
            relation = Relation(f" {word} ".join(bodies), left.names, kinds, (), scan)
        relation = replace(relation, unsure=left.unsure or right.unsure)
        return self._limited(query, self._compound_order(query, relation))

    def _compound_order(self, query: exp.SetOperation, relation: Relation) -> Relation:
        if query.args.get("order") is None:
            return relation
        sort, exposed = [], []
        for number, term in enumerate(query.args["order"].expressions):
            only(term, "this", "desc", "nulls_first")
            column = self._compound_column(term.this, relation)
            exposed.append(f"c{column} AS o{number}")
            sort.append(f"o{number} {_direction(term)}")
        core = f"SELECT *, {', '.join(exposed)} FROM ({relation.core}) AS parts"
        return replace(relation, core=core, sort=tuple(sort))

    def _compound_column(self, term: exp.Expr, relation: Relation) -> int:
        position = self._position(term)
        if position is not None:
            return _column_number(position, len(relation.names))
        if isinstance(term, exp.Column) and not term.table and folded(term.name) in relation.names:
            return relation.names.index(folded(term.name))
        raise Refused("ORDER BY of a compound SELECT by other than a column's name or number")


def _unwrapped(query: exp.Expr) -> exp.Expr:
    while isinstance(query, exp.Subquery):
        only(query, "this")
        query = query.this
    return query


def _own_aggregates(node: exp.Expr) -> list[exp.Expr]:
    """The aggregate calls in an expression, those of its subqueries left out."""
    found = [node] if is_aggregate(node) else []
    if isinstance(node, exp.Query):
        return []
    for child in node.iter_expressions():
        found.extend(_own_aggregates(child))
    return found


def _extreme(query: exp.Select, terms: Sequence[exp.Expr]) -> exp.Min | exp.Max | None:
    """The MIN or MAX whose row gives the columns outside the aggregates: the last one that the query names."""
    having = query.args.get("having")
    places = [*query.expressions, *terms, *([having] if having is not None else [])]
    found = [call for place in places for call in _own_aggregates(place) if isinstance(call, exp.Min | exp.Max)]
    if any(isinstance(call.this, exp.Distinct) for call in found):
        raise Refused("MIN or MAX of DISTINCT values; leave DISTINCT out, it changes nothing")
    return found[-1] if found else None


def _matched(name: str, left: Scope, right: Source) -> str:
    column = left.column(name, None)
    if column is None or name not in right.columns:
        raise Refused(f"USING ({name}): both tables must have that column")
    return f"({column.text} = {right.columns[name].text})"


def _starred(sources: Sequence[Source], every: bool = False) -> list[tuple[str, exp.Expr | Piece]]:
    if not sources:
        raise Refused("* without a table that it could stand for")
    return [
        (name, column)
        for source in sources
        for name, column in source.columns.items()
        if every or name not in source.merged
    ]


def _names(items: Sequence[tuple[str, exp.Expr | Piece]]) -> tuple[str, ...]:
    return tuple(name for name, _ in items)


def _kinds(columns: Sequence[Piece]) -> tuple[str, ...]:
    return tuple(value(column).kind for column in columns)


def _exposed(letter: str, terms: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Sort terms as hidden columns, and the same sort over those columns."""
    hidden, sort = [], []
    for number, term in enumerate(terms):
        text, _, direction = term.partition(" ")
        hidden.append(f"{text} AS {letter}{number}")
        sort.append(f"{letter}{number} {direction or _FIRST}")
    return hidden, tuple(sort)


def _direction(term: exp.Expr) -> str:
    return f"{'DESC' if term.args.get('desc') else 'ASC'} NULLS {'FIRST' if term.args.get('nulls_first') else 'LAST'}"


def _column_number(position: int, width: int) -> int:
    if not 1 <= position <= width:
        raise Refused(f"ORDER BY {position}: the SELECT has {width} columns")
    return position - 1


def _distinct(query: exp.Select, relation: Relation) -> Relation:
    """Keep each row's first occurrence in scan order, as SQLite does before it sorts."""
    only(query.args["distinct"])
    if relation.single:
        return relation
    row = ", ".join(f"c{n}" for n in range(len(relation.names)))
    order = f" ORDER BY {', '.join(relation.scan)}" if relation.scan else ""
    core = f"SELECT * FROM ({relation.core}) AS every QUALIFY row_number() OVER (PARTITION BY {row}{order}) = 1"
    return replace(relation, core=core, plain=False)


def _common_kind(pair: tuple[str, str]) -> str:
    kinds = set(pair) - {NULL}
    if len(kinds) > 1:
        raise Refused(f"a compound SELECT of {' and '.join(sorted(kinds))} in one column")
    return kinds.pop() if kinds else NULL


def _aligned(relation: Relation, kinds: Sequence[str]) -> str:
    return f"SELECT {_cast_columns(kinds)} FROM ({relation.core}) AS part"


def _numbered(relation: Relation, kinds: Sequence[str], place: int) -> str:
    order = f"ORDER BY {', '.join(relation.order)}" if relation.order else ""
    number = f"{place} AS k0, row_number() OVER ({order}) AS k1"
    return f"SELECT {_cast_columns(kinds)}, {number} FROM ({relation.core}) AS part"


def _cast_columns(kinds: Sequence[str]) -> str:
    return ", ".join(f"CAST(c{n} AS {DUCKDB_TYPES[kind]}) AS c{n}" for n, kind in enumerate(kinds))


__all__ = ["INTEGER", "REAL", "Relation", "Selects"]
