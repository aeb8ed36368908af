"""SELECT statements of SQLite as statements of DuckDB that return the same rows in the same order.

SQLite's order is not left to chance where the statement has none: a scan gives rows as they were inserted, a join
nests its tables from the left, GROUP BY sorts by its terms, DISTINCT keeps first occurrences, UNION sorts by all
columns, and a sort keeps the order of equal rows. Each statement is translated to a core that returns the answer's
columns (c0, c1, …) with its ORDER BY terms (o0, …) and its scan order (k0, …) beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from longtrek.scitrek.sql.aggregates import extreme_of, own_aggregates
from longtrek.scitrek.sql.expressions import Expressions, only, value
from longtrek.scitrek.sql.from_clause import CommonTable, From, FromClauses
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.relations import FIRST, LAST, Relation, aligned, common_kind, distinct, hidden_terms, numbered
from longtrek.scitrek.sql.scope import Grouping, Piece, Scope, Source, folded

# Deeper ones, or wider, can take longer to plan than any time limit; no question of the paper comes near them.
_DEEPEST, _MOST_COLUMNS = 8, 100


@dataclass
class _Parts:
    """What a SELECT is made of while it is translated."""

    tables: From
    scope: Scope
    items: list[tuple[str, exp.Expr | Piece]]
    where: str = ""

    @property
    def text(self) -> str:
        """The FROM and WHERE clauses."""
        return self.tables.text + self.where


class Selects:
    """Translates statements; the literals' values are looked at only where the translation depends on them."""

    def __init__(self, values: Sequence[str | int | float]) -> None:
        self.values = values
        self.baked: set[int] = set()
        self.constants: list[str] = []
        self.translate = Expressions(self)
        self._from = FromClauses(
            self._known_relation, self.translate.truth, lambda node: self.fixed(node) in (-1, 0, 1)
        )
        self._depth = 0
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
            relation = distinct(query, relation)
        return self._limited(query, replace(relation, unsure=parts.tables.unsure))

    def _is_grouped(self, query: exp.Select, terms: Sequence[exp.Expr]) -> bool:
        listed = any(own_aggregates(item) for item in query.expressions)
        if query.args.get("having") is not None and query.args.get("group") is None and not listed:
            raise Refused("HAVING in a query without aggregates or GROUP BY")
        return query.args.get("group") is not None or listed or any(own_aggregates(term) for term in terms)

    def _parts(self, query: exp.Select, outer: Scope | None) -> _Parts:
        tables = self._from(query, outer, self._known)
        scope = Scope(tables.sources, outer=outer, scan=tables.scan)
        items = self._items(query, scope)
        aliases = {folded(item.alias): item.this for item in query.expressions if isinstance(item, exp.Alias)}
        return _Parts(tables, replace(scope, aliases=aliases), items)

    def _known_relation(self, query: exp.Expr, known: Mapping[str, CommonTable]) -> Relation:
        before = self._known
        try:
            self._known = known
            return self.relation(query)
        finally:
            self._known = before

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
        scan_terms = list(parts.scope.scan)
        inherited = parts.tables.inner
        kept = inherited is not None and (inherited.plain or query.args.get("distinct") is None)
        if not terms and inherited is not None and inherited.sort and kept:
            # SQLite merges a plain subquery into this query, and its ORDER BY becomes this one's.
            count = len(inherited.sort)
            exposed, sort = hidden_terms("o", scan_terms[:count])
            scan_terms = scan_terms[count:]
        keys, scan = hidden_terms("k", scan_terms)
        listed = [f"{piece.text} AS c{n}" for n, piece in enumerate(columns)]
        core = f"SELECT {', '.join(listed + exposed + keys)}{parts.text}"
        plain = all(query.args.get(name) is None for name in ("distinct", "limit", "offset"))
        return Relation(core, _names(parts.items), _kinds(columns), sort, scan, plain=plain)

    def _grouped(self, query: exp.Select, parts: _Parts, terms: Sequence[exp.Expr]) -> Relation:
        group = query.args.get("group")
        if group is not None:
            only(group, "expressions")
        keys = [self._group_key(key, parts) for key in (group.expressions if group is not None else [])]
        extreme = extreme_of(query, terms)
        scan = parts.scope.scan
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
        core = f"SELECT {', '.join(listed + exposed + hidden)}{parts.text}"
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
        return hidden, tuple(f"k{n} {LAST if down else FIRST}" for n, down in enumerate(descending))

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
        kinds = tuple(common_kind(pair) for pair in zip(left.kinds, right.kinds, strict=True))
        if isinstance(query, exp.Union) and not query.args.get("distinct"):
            bodies = [numbered(relation, kinds, place) for place, relation in enumerate(sides)]
            relation = Relation(" UNION ALL ".join(bodies), left.names, kinds, (), (f"k0 {FIRST}", f"k1 {FIRST}"))
        else:
            if not isinstance(query, exp.Union) and query.args.get("distinct") is False:
                raise Refused("EXCEPT ALL or INTERSECT ALL")
            bodies = [aligned(relation, kinds) for relation in sides]
            word = type(query).__name__.upper()
            scan = tuple(f"c{n} {FIRST}" for n in range(len(kinds)))
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


def _direction(term: exp.Expr) -> str:
    return f"{'DESC' if term.args.get('desc') else 'ASC'} NULLS {'FIRST' if term.args.get('nulls_first') else 'LAST'}"


def _column_number(position: int, width: int) -> int:
    if not 1 <= position <= width:
        raise Refused(f"ORDER BY {position}: the SELECT has {width} columns")
    return position - 1
