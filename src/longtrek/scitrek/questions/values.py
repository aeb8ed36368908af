"""Values for a template's placeholders, drawn from the collection's own data (Section 3.2)."""

import operator
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.templates import PLACEHOLDER, Template, dull_words
from longtrek.scitrek.sql.literals import literal
from longtrek.transduction.stream import Key, permutation

Tables = Mapping[str, Sequence[Mapping[str, Any]]]

# What a number is compared with: a column, or two columns with an operator between them.
_BEFORE = re.compile(r"(?:(\w+) ([+-]) )?(\w+) (=|<>|<=|>=|<|>|BETWEEN|IN)\W*$")
_WORD = re.compile(r"[^\W\d_]{4,}")
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


class NoValue(LongtrekError):
    """A collection has no value for one of a template's placeholders."""


def instantiate(template: Template, tables: Tables, key: Key) -> str:
    """Fill a template's placeholders with values of one collection's database.

    Comparisons get a value that keeps some rows and not all, where there is one; several values of one kind
    are distinct and ascending, so that BETWEEN has its bounds in order. Equal keys give equal queries. Text
    goes in as a quoted SQL literal.

    Raises:
        NoValue: the database holds too few values for a placeholder (one author, where two are named).
    """
    groups: dict[Hashable, list[re.Match[str]]] = {}
    for match in PLACEHOLDER.finditer(template.sql):
        groups.setdefault((match[1], _left_side(template.sql, match)), []).append(match)
    chosen: dict[int, str] = {}
    for number, group in enumerate(groups.values()):
        values = _values(template, tables, group, (*key, template.id, number))
        chosen.update({match.start(): literal(value) for match, value in zip(group, values, strict=True)})
    return PLACEHOLDER.sub(lambda match: chosen[match.start()], template.sql)


def _left_side(sql: str, match: re.Match[str]) -> Hashable:
    """The expression that a placeholder is compared with; values of a list or a range share it."""
    before = _BEFORE.search(PLACEHOLDER.sub("", _opened(sql[: match.start()])))
    return before.group(1, 2, 3) if before else None


def _opened(before: str) -> str:
    """What stands before a list's or a range's first value, for every later one."""
    return re.sub(r"(?:\{[a-z-]+\}(?:, | AND ))+$", "", before)


def _values(template: Template, tables: Tables, group: list[re.Match[str]], key: Key) -> list[Any]:
    kind = group[0][1]
    if kind == "author-name":
        pool: Sequence[Any] = _names(template.sql, tables)
    elif kind == "article-title-fragment":
        pool = [f"%{word}%" for word in _words(template.sql, tables)]
    else:
        return _numbers(template, tables, group, key)
    values = _distinct(pool, len(group), key)
    if len(values) < len(group):
        raise _nothing(template, kind)
    return values


def _nothing(template: Template, kind: str) -> NoValue:
    return NoValue(
        f"template {template.id}: the collection has too few values for {{{kind}}}; expected articles with titles "
        "and authors; check the collection's articles"
    )


def _names(sql: str, tables: Tables) -> list[str]:
    first = "author_position = 0" in sql
    rows = tables["article_author"]
    return [row["author_name"] for row in rows if row["author_name"] and (not first or row["author_position"] == 0)]


def _words(sql: str, tables: Tables) -> list[str]:
    """Words of titles, as people would ask for them; of cited articles where the query is about those."""
    articles = tables["articles"]
    if "article_id_cited IN" in sql:
        cited = {row["article_id_cited"] for row in tables["citing_cited"]}
        articles = [row for row in articles if row["article_id"] in cited] or articles
    titles = " ".join(row["article_title"] for row in articles if row["article_title"])
    words = [word for word in _WORD.findall(titles) if word.lower() not in dull_words()]
    return words or [word for word in titles.split() if not set(word) & set("%_")]


def _numbers(template: Template, tables: Tables, group: list[re.Match[str]], key: Key) -> list[int]:
    before = _BEFORE.search(PLACEHOLDER.sub("", _opened(template.sql[: group[0].start()])))
    if before is None:
        raise LongtrekError(f"template {template.id}: {group[0][0]} is compared with nothing; see templates.yaml")
    other, sign, column, test = before.groups()
    rows = tables["article_author" if column == "author_position" else "articles"]
    pool = [_result(row, other, sign, column) for row in rows]
    known = [value for value in pool if value is not None]
    if not known:
        raise _nothing(template, group[0][1])
    if len(group) == 1 and test in _TESTS:
        telling = _telling(Counter(known), _TESTS[test])
        return _distinct([value for value in known if value in telling] or known, 1, key)
    values = _distinct(known, len(group), key)
    while len(values) < len(group):  # a collection with one author count only still gets two distinct ones
        values.append(max(values) + 1)
    return sorted(values)


def _telling(counts: Counter[int], holds: Callable[[Any, Any], bool]) -> set[int]:
    """The values that keep some rows and not all."""
    kept = {bound: sum(n for value, n in counts.items() if holds(value, bound)) for bound in counts}
    return {bound for bound, rows in kept.items() if 0 < rows < counts.total()}


def _result(row: Mapping[str, Any], other: str | None, sign: str | None, column: str) -> int | None:
    value: int | None = row[column]
    if other is None or value is None or row[other] is None:
        return None if other is not None else value
    return int(row[other] + value if sign == "+" else row[other] - value)


def _distinct(pool: Sequence[Any], count: int, key: Key) -> list[Any]:
    """Up to `count` distinct values; a value that many rows have is drawn more often."""
    order = (pool[index] for index in permutation(key, len(pool)))
    return list(dict.fromkeys(order))[:count]
