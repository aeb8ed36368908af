"""A query's text apart: its shape, with every literal replaced by a typed mark, and the literals' values.

Queries that came from one template share a shape, so the shape is translated once; and as the values are only
ever bound, no character of a query's text reaches the database engine.
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from longtrek.errors import LongtrekError

LONGEST, MOST_TOKENS, DEEPEST = 20_000, 4_000, 40
LONGEST_NUMBER = 4_000  # digits; Python reads no more as a whole number, and float() takes what is longer

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><>|<=|>=|!=|==|\|\||[-+*/%<>=(),.;])
    """,
    re.VERBOSE | re.DOTALL,
)
_HALF = re.compile("[\ud800-\udfff]")
_AFTER_LIST = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT")
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9-]*)\}")


class Refused(LongtrekError):
    """A query that is not run, with the reason as its message."""


@dataclass(frozen=True)
class Shape:
    """A query with its literals taken out: `:s0` marks a string, `:i1` a whole number, `:r2` a real number."""

    text: str
    values: tuple[str | int | float, ...]


def shape_of(sql: str) -> Shape:
    """Take a query's literals out of its text.

    Raises:
        Refused: the text is empty, too long or too deeply nested, is not one SELECT, or holds a character or a kind
            of literal that no query on the three tables needs.
    """
    if half := _HALF.search(sql):
        raise Refused(f"half a character ({half[0]!a}) at {half.start()}: the query is no text that UTF-8 can carry")
    if len(sql) > LONGEST:
        raise Refused(f"the query has {len(sql):,} characters; at most {LONGEST:,} are read")
    pieces: list[str] = []
    values: list[str | int | float] = []
    at = depth = 0
    while at < len(sql):
        found = _TOKEN.match(sql, at)
        if found is None:
            raise Refused(_unreadable(sql, at))
        kind, piece = str(found.lastgroup), found.group()
        if kind == "string" and sql[max(at - 1, 0) : at].isalpha():
            raise Refused(f"a blob or prefixed string at character {at}: only plain strings are read")
        depth += (piece == "(") - (piece == ")")
        if depth > DEEPEST:
            raise Refused(f"parentheses nested more than {DEEPEST} deep")
        if kind == "string" and pieces and pieces[-1].upper() == "AS":
            # SQLite takes a text after AS as a name.
            kind, piece = "quoted", '"' + piece[1:-1].replace("''", "'").replace('"', '""') + '"'
        pieces.extend(_mark(kind, piece, values))
        at = found.end()
    return Shape(_one_select(pieces), tuple(values))


def _unreadable(sql: str, at: int) -> str:
    if sql[at] in "'\"`[":
        return f"the quote {sql[at]} at character {at} is never closed"
    return f"the character {sql[at]!r} at {at} has no place in a query on the three tables"


def _mark(kind: str, piece: str, values: list[str | int | float]) -> list[str]:
    if kind == "space":
        return []
    if kind == "string":
        values.append(piece[1:-1].replace("''", "'"))
        return [f":s{len(values) - 1}"]
    if kind == "number":
        whole = piece.isdigit() and len(piece) <= LONGEST_NUMBER and int(piece) < 2**63
        values.append(int(piece) if whole else float(piece))
        return [f":{'i' if whole else 'r'}{len(values) - 1}"]
    if kind == "quoted" and piece[0] in "`[":
        if not piece[1:-1].isidentifier():
            raise Refused(f"the quoted name {piece[:40]} names nothing in the three tables")
        return [piece[1:-1]]
    return [piece]


def _one_select(pieces: list[str]) -> str:
    while pieces and pieces[-1] == ";":
        pieces.pop()
    if not pieces:
        raise Refused("the query is empty; expected one SELECT")
    if ";" in pieces:
        raise Refused("several statements; expected one SELECT")
    if len(pieces) > MOST_TOKENS:
        raise Refused(f"the query has {len(pieces):,} words and signs; at most {MOST_TOKENS:,} are read")
    if pieces[0].upper() not in ("SELECT", "WITH"):
        raise Refused(f"the query starts with {pieces[0][:40]!r}; expected one SELECT, which only reads")
    for piece, following in itertools.pairwise([*pieces, ")"]):
        if piece == "," and (following == ")" or following.upper() in _AFTER_LIST):
            raise Refused("a comma with nothing after it")
    return " ".join(pieces)


def instantiate(template: str, values: Mapping[str, str | int]) -> str:
    """Put values in a template's places, each as a literal of SQL: `{author-name}` with O'Hagan is `'O''Hagan'`.

    Args:
        template: SQL with places such as `{author-count}`; a number after the name (`{author-count-2}`) makes
            another place.
        values: a value for each place; for `{article-title-fragment}` the whole pattern, as `%word%`.

    Raises:
        LongtrekError: a place has no value, or a value fits no place.
    """
    places = set(_PLACEHOLDER.findall(template))
    if places != set(values):
        odd = sorted(places.symmetric_difference(values))
        raise LongtrekError(
            f"template {template!r}: {', '.join(odd)} stands only among the places or only among the values;"
            " expected one value for each place"
        )
    return _PLACEHOLDER.sub(lambda place: literal(values[place.group(1)]), template)


def literal(value: str | int | float) -> str:
    """A value as SQL text that reads back as this very value."""
    if isinstance(value, str):
        return exp.Literal.string(value).sql(dialect="sqlite")
    written = exp.Literal.number(abs(value)).sql(dialect="sqlite")
    return f"-{written}" if value < 0 else written
