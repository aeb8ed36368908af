"""The functions that a query may call, aggregates first, each with SQLite's result."""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from longtrek.scitrek.sql.expressions import Expressions, ascii_folded, common, compared, number, only, text_of, value
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.scope import INTEGER, NULL, REAL, TEXT, Piece, Scope, folded

AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.GroupConcat)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function."""
    return isinstance(node, AGGREGATES) or _is_total(node)


def _is_total(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and folded(node.name) == "total"


def _rows(node: exp.Expr, scope: Scope) -> Scope:
    if not scope.aggregates:
        raise Refused(f"{node.sql(dialect='sqlite')[:60]} is an aggregate where none can stand")
    return scope.rows()


def _argument(translate: Expressions, node: exp.Expr, scope: Scope) -> tuple[str, Piece]:
    """An aggregate's argument, and DISTINCT where it is asked for."""
    distinct = ""
    inner = node.this
    if isinstance(inner, exp.Distinct):
        only(inner, "expressions")
        if len(inner.expressions) != 1:
            raise Refused("DISTINCT in an aggregate takes one argument")
        distinct, inner = "DISTINCT ", inner.expressions[0]
    return distinct, translate.value(inner, _rows(node, scope))


def _count(translate: Expressions, node: exp.Count, scope: Scope) -> Piece:
    only(node, "this", "big_int")
    if node.this is None or isinstance(node.this, exp.Star):
        _rows(node, scope)
        return Piece("count(*)", INTEGER)
    distinct, inner = _argument(translate, node, scope)
    return Piece(f"count({distinct}{inner.text})", INTEGER)


def _sum(translate: Expressions, node: exp.Sum, scope: Scope) -> Piece:
    only(node, "this")
    distinct, inner = _argument(translate, node, scope)
    inner = number(inner, "SUM")
    kind = REAL if inner.kind == REAL else INTEGER
    return Piece(f"CAST(sum({distinct}{inner.text}) AS {'DOUBLE' if kind == REAL else 'BIGINT'})", kind)


def _avg(translate: Expressions, node: exp.Avg, scope: Scope) -> Piece:
    only(node, "this")
    distinct, inner = _argument(translate, node, scope)
    return Piece(f"avg({distinct}{number(inner, 'AVG').text})", REAL)


def _extreme(name: str) -> Callable[[Expressions, Any, Scope], Piece]:
    def rule(translate: Expressions, node: exp.Min | exp.Max, scope: Scope) -> Piece:
        only(node, "this")
        _, inner = _argument(translate, node, scope)
        return Piece(f"{name}({inner.text})", inner.kind)

    return rule


def _group_concat(translate: Expressions, node: exp.GroupConcat, scope: Scope) -> Piece:
    only(node, "this", "separator")
    distinct, inner = _argument(translate, node, scope)
    if len(scope.sources) > 1:
        raise Refused("GROUP_CONCAT over a join: neither its order nor its size is certain")
    if distinct:
        raise Refused("GROUP_CONCAT of DISTINCT values: their order is not certain")
    between = "','"
    if node.args.get("separator") is not None:
        between = text_of(translate(node.args["separator"], scope.rows()), "GROUP_CONCAT")
    order = f" ORDER BY {', '.join(scope.scan)}" if scope.scan else ""
    return Piece(f"string_agg({text_of(inner, 'GROUP_CONCAT')}, {between}{order})", TEXT)


def _anonymous(translate: Expressions, node: exp.Anonymous, scope: Scope) -> Piece:
    if not _is_total(node) or len(node.expressions) != 1:
        raise Refused(f"{node.name.upper()} is not among the functions that are allowed")
    inner = number(translate.value(node.expressions[0], _rows(node, scope)), "TOTAL")
    return Piece(f"coalesce(sum(CAST({inner.text} AS DOUBLE)), CAST(0 AS DOUBLE))", REAL)


def _best(name: str) -> Callable[[Expressions, Any, Scope], Piece]:
    """MAX or MIN of several arguments, which in SQLite is NULL as soon as one of them is."""

    def rule(translate: Expressions, node: exp.Greatest | exp.Least, scope: Scope) -> Piece:
        only(node, "this", "expressions")
        parts = [translate.value(part, scope) for part in (node.this, *node.expressions)]
        texts, kind = common(parts, f"{'MAX' if name == 'greatest' else 'MIN'} of several")
        missing = " OR ".join(f"{text} IS NULL" for text in texts)
        return Piece(f"(CASE WHEN {missing} THEN NULL ELSE {name}({', '.join(texts)}) END)", kind)

    return rule


def _round(translate: Expressions, node: exp.Round, scope: Scope) -> Piece:
    only(node, "this", "decimals")
    inner = number(translate(node.this, scope), "ROUND")
    places = node.args.get("decimals")
    digits = 0 if places is None else translate.queries.fixed(places)
    if not isinstance(digits, int) or not 0 <= digits <= 9:
        raise Refused("ROUND to other than 0 to 9 digits, written as a number")
    # SQLite rounds the decimal writing of a number, half away from zero: 2.675 gives 2.68, as it does in DECIMAL.
    return Piece(f"CAST(round(CAST({inner.text} AS DECIMAL(38, 12)), {digits}) AS DOUBLE)", REAL)


def _abs(translate: Expressions, node: exp.Abs, scope: Scope) -> Piece:
    inner = number(translate(node.this, scope), "ABS")
    return Piece(f"abs({inner.text})", inner.kind)


def _length(translate: Expressions, node: exp.Length, scope: Scope) -> Piece:
    only(node, "this")
    return Piece(f"length({text_of(translate(node.this, scope), 'LENGTH')})", INTEGER)


def _fold(upper: bool) -> Callable[[Expressions, Any, Scope], Piece]:
    def rule(translate: Expressions, node: exp.Lower | exp.Upper, scope: Scope) -> Piece:
        inner = text_of(translate(node.this, scope), "UPPER" if upper else "LOWER")
        return Piece(ascii_folded(inner, upper), TEXT)

    return rule


def _substring(translate: Expressions, node: exp.Substring, scope: Scope) -> Piece:
    only(node, "this", "start", "length")
    parts = [text_of(translate(node.this, scope), "SUBSTR")]
    for name in ("start", "length"):
        if node.args.get(name) is not None:
            piece = value(translate(node.args[name], scope))
            if piece.kind != INTEGER:
                raise Refused("SUBSTR with a position that is not a whole number")
            parts.append(piece.text)
    return Piece(f"substring({', '.join(parts)})", TEXT)


def _instr(translate: Expressions, node: exp.StrPosition, scope: Scope) -> Piece:
    only(node, "this", "substr")
    sides = [text_of(translate(node.args[name], scope), "INSTR") for name in ("this", "substr")]
    return Piece(f"instr({', '.join(sides)})", INTEGER)


def _replace(translate: Expressions, node: exp.Replace, scope: Scope) -> Piece:
    only(node, "this", "expression", "replacement")
    names = ("this", "expression", "replacement")
    if any(node.args.get(name) is None for name in names):
        raise Refused("REPLACE takes three arguments")
    old, new = (translate.queries.fixed(node.args[name]) for name in names[1:])
    if not isinstance(old, str) or not isinstance(new, str) or len(new) > len(old):
        # Nested ones that lengthen would fill the memory outside the engine's accounts.
        raise Refused("REPLACE by a longer text, or of or by other than plain texts")
    return Piece(f"replace({', '.join(text_of(translate(node.args[n], scope), 'REPLACE') for n in names)})", TEXT)


def _trim(translate: Expressions, node: exp.Trim, scope: Scope) -> Piece:
    only(node, "this", "expression", "position")
    name = {"": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[str(node.args.get("position") or "").upper()]
    inner, signs = text_of(translate(node.this, scope), name.upper()), "' '"
    if node.args.get("expression") is not None:
        signs = text_of(translate(node.args["expression"], scope), name.upper())
    return Piece(f"{name}({inner}, {signs})", TEXT)


def _concatenation(translate: Expressions, node: exp.DPipe, scope: Scope) -> Piece:
    sides = [translate(side, scope) for side in (node.this, node.expression)]
    if any(side.kind == NULL for side in sides):
        return Piece("NULL", NULL)
    return Piece(f"({' || '.join(text_of(side, '||') for side in sides)})", TEXT)


def _coalesce(translate: Expressions, node: exp.Coalesce, scope: Scope) -> Piece:
    only(node, "this", "expressions")
    texts, kind = common([translate(part, scope) for part in (node.this, *node.expressions)], "COALESCE")
    return Piece(f"coalesce({', '.join(texts)})", kind)


def _nullif(translate: Expressions, node: exp.Nullif, scope: Scope) -> Piece:
    left, right = translate.value(node.this, scope), translate.value(node.expression, scope)
    return Piece(f"(CASE WHEN {compared('=', left, right).text} THEN NULL ELSE {left.text} END)", left.kind)


def _case(translate: Expressions, node: exp.Case, scope: Scope) -> Piece:
    only(node, "this", "ifs", "default")
    subject = translate(node.this, scope) if node.this is not None else None
    conditions = [
        translate.truth(branch.this, scope)
        if subject is None
        else compared("=", subject, translate(branch.this, scope)).text
        for branch in node.args["ifs"]
    ]
    results = [translate(branch.args["true"], scope) for branch in node.args["ifs"]]
    default = node.args.get("default")
    results.append(Piece("NULL", NULL) if default is None else translate(default, scope))
    texts, kind = common(results, "CASE")
    branches = " ".join(f"WHEN {when} THEN {then}" for when, then in zip(conditions, texts[:-1], strict=True))
    return Piece(f"(CASE {branches} ELSE {texts[-1]} END)", kind)


def _if(translate: Expressions, node: exp.If, scope: Scope) -> Piece:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    results = [translate(node.args["true"], scope)]
    results.append(Piece("NULL", NULL) if otherwise is None else translate(otherwise, scope))
    texts, kind = common(results, "IIF")
    return Piece(f"(CASE WHEN {translate.truth(node.this, scope)} THEN {texts[0]} ELSE {texts[1]} END)", kind)


def _cast(translate: Expressions, node: exp.Cast, scope: Scope) -> Piece:
    only(node, "this", "to", "_type")
    inner, target = value(translate(node.this, scope)), node.to.sql(dialect="sqlite").upper()
    if target in ("TEXT", "VARCHAR"):
        return Piece(text_of(inner, "CAST"), TEXT)
    if target in ("REAL", "FLOAT", "DOUBLE"):
        return Piece(f"CAST({number(inner, 'CAST to REAL').text} AS DOUBLE)", REAL)
    if target not in ("INTEGER", "INT", "BIGINT"):
        raise Refused(f"CAST to {target[:40]}; expected INTEGER, REAL or TEXT")
    if inner.kind == TEXT:
        digits = f"regexp_extract({inner.text}, '^[ \\t\\n\\v\\f\\r]*([+-]?[0-9]+)', 1)"
        return Piece(
            f"(CASE WHEN {inner.text} IS NOT NULL THEN coalesce(TRY_CAST({digits} AS BIGINT), 0) END)", INTEGER
        )
    return Piece(f"CAST(trunc({inner.text}) AS BIGINT)" if inner.kind == REAL else inner.text, INTEGER)


Function = Callable[[Expressions, Any, Scope], Piece]
FUNCTIONS: dict[type[exp.Expr], Function] = {
    exp.Count: _count,
    exp.Sum: _sum,
    exp.Avg: _avg,
    exp.Min: _extreme("min"),
    exp.Max: _extreme("max"),
    exp.GroupConcat: _group_concat,
    exp.Anonymous: _anonymous,
    exp.Greatest: _best("greatest"),
    exp.Least: _best("least"),
    exp.Round: _round,
    exp.Abs: _abs,
    exp.Length: _length,
    exp.Lower: _fold(upper=False),
    exp.Upper: _fold(upper=True),
    exp.Substring: _substring,
    exp.StrPosition: _instr,
    exp.Replace: _replace,
    exp.Trim: _trim,
    exp.DPipe: _concatenation,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
}
