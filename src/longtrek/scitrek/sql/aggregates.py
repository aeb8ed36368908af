"""Which aggregates a query has of its own, and the one whose row gives the columns that stand outside of them."""

from collections.abc import Sequence

from sqlglot import exp

from longtrek.scitrek.sql.functions import is_aggregate
from longtrek.scitrek.sql.literals import Refused


def own_aggregates(node: exp.Expr) -> list[exp.Expr]:
    """The aggregate calls in an expression, those of its subqueries left out."""
    found = [node] if is_aggregate(node) else []
    if isinstance(node, exp.Query):
        return []
    for child in node.iter_expressions():
        found.extend(own_aggregates(child))
    return found


def extreme_of(query: exp.Select, terms: Sequence[exp.Expr]) -> exp.Min | exp.Max | None:
    """The MIN or MAX whose row gives the columns outside the aggregates: the last one that the query names."""
    having = query.args.get("having")
    places = [*query.expressions, *terms, *([having] if having is not None else [])]
    found = [call for place in places for call in own_aggregates(place) if isinstance(call, exp.Min | exp.Max)]
    if any(isinstance(call.this, exp.Distinct) for call in found):
        raise Refused("MIN or MAX of DISTINCT values; leave DISTINCT out, it changes nothing")
    return found[-1] if found else None
