"""Expressions of SQLite as expressions of DuckDB that have the same value, NULL and kind.

The authors' columns were untyped in SQLite: numbers sort before text, no value is converted to be compared,
whole numbers divide to whole numbers, division by zero is NULL, LIKE folds ASCII letters only.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sqlglot import exp

from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.scope import BOOLEAN, INTEGER, NULL, REAL, TEXT, Piece, Scope, folded

DUCKDB_TYPES = {INTEGER: "BIGINT", REAL: "DOUBLE", TEXT: "VARCHAR", BOOLEAN: "BOOLEAN", NULL: "BIGINT"}
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_RANGES = (exp.In, exp.Like, exp.Between, exp.Is, exp.Escape, exp.EQ, exp.NEQ, exp.NullSafeNEQ, exp.NullSafeEQ)


class Queries(Protocol):
    """What an expression needs of the query around it: subqueries, and the values of its literals."""

    def subquery(self, query: exp.Expr, scope: Scope) -> tuple[str, Piece]:
        """A one-column subquery as a derived table of column c0 in no special order, and that column."""
        ...

    def first_value(self, query: exp.Expr, scope: Scope) -> Piece:
        """The first value of a one-column subquery."""
        ...

    def exists(self, query: exp.Expr, scope: Scope) -> str:
        """Whether a subquery has a row."""
        ...

    def constant(self, text: str) -> str:
        """A place for a text that is bound with the literals."""
        ...

    def fixed(self, node: exp.Expr | None) -> int | float | str | None:
        """The value of a literal that the translation itself depends on; None if it is not one."""
        ...


def only(node: exp.Expr, *known: str) -> None:
    """Refuse a clause or an argument that this translation does not know."""
    for name, value in node.args.items():
        if value and name not in known:
            what = value.sql(dialect="sqlite")[:60] if isinstance(value, exp.Expr) else name.strip("_")
            raise Refused(f"{type(node).__name__.upper()} with {what!r} is not among what is allowed")


def ascii_folded(text: str, upper: bool = False) -> str:
    """Text with its ASCII letters folded, others left as they are, as SQLite does without ICU."""
    source, target = (_LOWER, _UPPER) if upper else (_UPPER, _LOWER)
    return f"translate({text}, '{source}', '{target}')"


def value(piece: Piece) -> Piece:
    """A piece as a value: SQLite's truth values are the numbers 1 and 0."""
    return Piece(f"CAST({piece.text} AS BIGINT)", INTEGER) if piece.kind == BOOLEAN else piece


def number(piece: Piece, what: str) -> Piece:
    """A piece as a number.

    Raises:
        Refused: it is text, which SQLite would turn into a number of a kind that only each value decides.
    """
    if piece.kind == TEXT:
        raise Refused(f"{what} of text: SQLite would read a number from each text's beginning; name a count instead")
    return value(piece)


def text_of(piece: Piece, what: str) -> str:
    """A piece as text.

    Raises:
        Refused: it is a real number, which the two engines write differently.
    """
    if piece.kind == REAL:
        raise Refused(f"{what} of a real number: its digits differ from engine to engine")
    return piece.text if piece.kind == TEXT else f"CAST({value(piece).text} AS VARCHAR)"


def common(pieces: Sequence[Piece], what: str) -> tuple[list[str], str]:
    """Pieces as values of one kind, and that kind.

    Raises:
        Refused: SQLite would give a whole number in one row and a real number or text in the next.
    """
    kinds = {value(piece).kind for piece in pieces} - {NULL}
    if len(kinds) > 1:
        raise Refused(f"{what} gives {' or '.join(sorted(kinds))} from row to row; expected one kind of value")
    kind = kinds.pop() if kinds else NULL
    return [f"CAST({value(piece).text} AS {DUCKDB_TYPES[kind]})" for piece in pieces], kind


def compared(sign: str, left: Piece, right: Piece) -> Piece:
    """A comparison as SQLite makes it between untyped values: every number comes before every text."""
    if NULL in (left.kind, right.kind):
        return Piece("CAST(NULL AS BOOLEAN)", BOOLEAN)
    left, right = value(left), value(right)
    if (left.kind == TEXT) == (right.kind == TEXT):
        return Piece(f"({left.text} {sign} {right.text})", BOOLEAN)
    outcome = sign == "<>" or (sign if right.kind == TEXT else _MIRRORED[sign]) in ("<", "<=")
    return Piece(
        f"(CASE WHEN {left.text} IS NULL OR {right.text} IS NULL THEN NULL ELSE {str(outcome).upper()} END)", BOOLEAN
    )


class Expressions:
    """Translates expressions; every kind of node it has no rule for is refused."""

    def __init__(self, queries: Queries) -> None:
        from longtrek.scitrek.sql.functions import FUNCTIONS

        self.queries = queries
        self._rules: dict[type[exp.Expr], Callable[[Any, Scope], Piece]] = {
            exp.Column: self._column,
            exp.Placeholder: self._literal,
            exp.Null: lambda node, scope: Piece("NULL", NULL),
            exp.Boolean: lambda node, scope: Piece(str(int(node.this)), INTEGER),
            exp.Paren: lambda node, scope: self(node.this, scope),
            exp.Neg: self._negative,
            exp.Not: lambda node, scope: Piece(f"(NOT {self.truth(node.this, scope)})", BOOLEAN),
            exp.And: lambda node, scope: self._logical("AND", node, scope),
            exp.Or: lambda node, scope: self._logical("OR", node, scope),
            exp.Is: self._is,
            exp.NullSafeEQ: self._is,
            exp.NullSafeNEQ: lambda node, scope: Piece(f"(NOT {self._is(node, scope).text})", BOOLEAN),
            exp.Between: self._between,
            exp.In: self._in,
            exp.Like: self._like,
            exp.Escape: self._like,
            exp.Exists: lambda node, scope: Piece(self.queries.exists(node.this, scope), BOOLEAN),
            exp.Subquery: lambda node, scope: self.queries.first_value(node, scope),
            **dict.fromkeys(_COMPARISONS, self._comparison),
            **dict.fromkeys(_ARITHMETIC, self._arithmetic),
        }
        self._functions = FUNCTIONS

    def __call__(self, node: exp.Expr, scope: Scope) -> Piece:
        """Translate one expression.

        Raises:
            Refused: it is not among the expressions that are allowed, or its value is not certain.
        """
        rule = self._rules.get(type(node))
        if rule is not None:
            return rule(node, scope)
        function = self._functions.get(type(node))
        if function is not None:
            return function(self, node, scope)
        name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
        raise Refused(f"{name.upper()} is not among the expressions and functions that are allowed")

    def value(self, node: exp.Expr, scope: Scope) -> Piece:
        """Translate one expression where a value is needed."""
        return value(self(node, scope))

    def truth(self, node: exp.Expr, scope: Scope) -> str:
        """Translate one expression where SQLite asks whether it is true: a number other than zero."""
        piece = self(node, scope)
        if piece.kind == BOOLEAN:
            return piece.text
        if piece.kind == NULL:
            return "CAST(NULL AS BOOLEAN)"
        return f"({number(piece, 'the truth').text} <> 0)"

    def _column(self, node: exp.Column, scope: Scope) -> Piece:
        only(node, "this", "table")
        if isinstance(node.this, exp.Star):
            raise Refused("* stands where one value is expected")
        name, table = folded(node.name), folded(node.table) if node.table else None
        found = scope.column(name, table)
        if found is not None:
            return found
        if table is None and name in scope.aliases:
            return self(scope.aliases[name], scope.without_aliases())
        if table is None and node.this.args.get("quoted"):
            # SQLite reads a name in double quotes that names nothing as text.
            return Piece(f"CAST({self.queries.constant(node.name)} AS VARCHAR)", TEXT)
        raise Refused(f"no column {table + '.' if table else ''}{name} in the query's tables")

    def _literal(self, node: exp.Placeholder, scope: Scope) -> Piece:
        kind = {"s": TEXT, "i": INTEGER, "r": REAL}[node.name[0]]
        return Piece(f"CAST(${node.name[1:]} AS {DUCKDB_TYPES[kind]})", kind)

    def _negative(self, node: exp.Neg, scope: Scope) -> Piece:
        inner = number(self(node.this, scope), "the negative")
        return Piece(f"(- {inner.text})", inner.kind)

    def _logical(self, word: str, node: exp.Connector, scope: Scope) -> Piece:
        terms: list[exp.Expr] = []
        rest: exp.Expr = node
        while type(rest) is type(node):
            terms.append(rest.args["expression"])
            rest = rest.this
        terms.append(rest)
        joined = f" {word} ".join(self.truth(term, scope) for term in reversed(terms))
        return Piece(f"({joined})", BOOLEAN)

    def _comparison(self, node: exp.Binary, scope: Scope) -> Piece:
        if isinstance(node.expression, _RANGES):
            raise Refused("a comparison after a comparison without parentheses: SQLite reads it from the left")
        left, right = self._compared_kinds(node.this, node.expression, scope)
        return compared(_COMPARISONS[type(node)], left, right)

    def _compared_kinds(self, one: exp.Expr, other: exp.Expr, scope: Scope) -> tuple[Piece, Piece]:
        left, right = self(one, scope), self(other, scope)
        if (left.kind == TEXT) != (right.kind == TEXT) and any(
            isinstance(side.unnest(), exp.Cast | exp.Subquery) for side in (one, other)
        ):
            raise Refused("a number compared with text through CAST or a subquery: SQLite may convert either")
        return left, right

    def _arithmetic(self, node: exp.Binary, scope: Scope) -> Piece:
        sign = _ARITHMETIC[type(node)]
        left, right = (number(self(side, scope), sign) for side in (node.this, node.expression))
        if NULL in (left.kind, right.kind):
            return Piece("NULL", NULL)
        real = REAL in (left.kind, right.kind)
        if sign == "%" and real:
            whole = [f"CAST(trunc({side.text}) AS BIGINT)" for side in (left, right)]
            return Piece(f"CAST(({whole[0]} % NULLIF({whole[1]}, 0)) AS DOUBLE)", REAL)
        if sign in "/%":
            written = "//" if sign == "/" and not real else sign
            return Piece(f"({left.text} {written} NULLIF({right.text}, 0))", REAL if real else INTEGER)
        return Piece(f"({left.text} {sign} {right.text})", REAL if real else INTEGER)

    def _is(self, node: exp.Binary, scope: Scope) -> Piece:
        if isinstance(node.expression, exp.Null):
            return Piece(f"({self(node.this, scope).text} IS NULL)", BOOLEAN)
        if isinstance(node.expression, exp.Boolean):
            sought = str(bool(node.expression.this)).upper()
            return Piece(f"({self.truth(node.this, scope)} IS NOT DISTINCT FROM {sought})", BOOLEAN)
        left, right = (value(side) for side in self._compared_kinds(node.this, node.expression, scope))
        if NULL in (left.kind, right.kind) or (left.kind == TEXT) != (right.kind == TEXT):
            return Piece(f"({left.text} IS NULL AND {right.text} IS NULL)", BOOLEAN)
        return Piece(f"({left.text} IS NOT DISTINCT FROM {right.text})", BOOLEAN)

    def _between(self, node: exp.Between, scope: Scope) -> Piece:
        only(node, "this", "low", "high")
        low = compared(">=", *self._compared_kinds(node.this, node.args["low"], scope))
        high = compared("<=", *self._compared_kinds(node.this, node.args["high"], scope))
        return Piece(f"({low.text} AND {high.text})", BOOLEAN)

    def _in(self, node: exp.In, scope: Scope) -> Piece:
        only(node, "this", "expressions", "query")
        sought = value(self(node.this, scope))
        if node.args.get("query") is not None:
            return self._in_subquery(node, sought, scope)
        members = [self._compared_kinds(node.this, member, scope)[1] for member in node.expressions]
        if not members:
            return Piece("FALSE", BOOLEAN)
        if sought.kind == NULL:
            return Piece("CAST(NULL AS BOOLEAN)", BOOLEAN)
        equal = [compared("=", sought, member).text for member in members]
        alike = [value(m).text for m in members if m.kind != NULL and (m.kind == TEXT) == (sought.kind == TEXT)]
        if len(alike) == len(members):
            return Piece(f"({sought.text} IN ({', '.join(alike)}))", BOOLEAN)
        return Piece(f"({' OR '.join(equal)})", BOOLEAN)

    def _in_subquery(self, node: exp.In, sought: Piece, scope: Scope) -> Piece:
        table, column = self.queries.subquery(node.args["query"], scope)
        if sought.kind != NULL and column.kind != NULL and (sought.kind == TEXT) == (column.kind == TEXT):
            return Piece(f"({sought.text} IN (SELECT c0 FROM {table} AS members))", BOOLEAN)
        # Of two kinds no values are equal; what is left is whether a NULL makes the answer unknown.
        unknown = f"SELECT 1 FROM {table} AS members WHERE {sought.text} IS NULL OR members.c0 IS NULL"
        return Piece(f"(CASE WHEN EXISTS ({unknown}) THEN NULL ELSE FALSE END)", BOOLEAN)

    def _like(self, node: exp.Like | exp.Escape, scope: Scope) -> Piece:
        like, escape = (node.this, node.expression) if isinstance(node, exp.Escape) else (node, None)
        only(like, "this", "expression", "negate")
        if not isinstance(like, exp.Like):
            raise Refused("ESCAPE without LIKE")
        subject, pattern = (self(side, scope) for side in (like.this, like.expression))
        if NULL in (subject.kind, pattern.kind):
            return Piece("CAST(NULL AS BOOLEAN)", BOOLEAN)
        sides = [ascii_folded(text_of(side, "LIKE")) for side in (subject, pattern)]
        text = f"{sides[0]} LIKE {sides[1]}"
        if escape is not None:
            text += f" ESCAPE {self._escape(escape)}"
        return Piece(f"(NOT ({text}))" if like.args.get("negate") else f"({text})", BOOLEAN)

    def _escape(self, node: exp.Expr) -> str:
        sign = self.queries.fixed(node)
        if not isinstance(sign, str) or len(sign) != 1 or sign.isalnum() or sign in "%_'":
            raise Refused("ESCAPE with other than one sign such as '!' or '\\'")
        return f"'{sign}'"
