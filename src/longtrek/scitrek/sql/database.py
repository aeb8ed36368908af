"""The database of a collection: three tables of facts about its articles, and the DuckDB that answers on them."""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import duckdb

from longtrek.errors import LongtrekError

TEXT, INTEGER = "text", "integer"

# Table 13 of the paper: columns in order, with their kinds.
SCHEMA: dict[str, dict[str, str]] = {
    "articles": {
        "article_id": TEXT,
        "article_title": TEXT,
        "title_word_count": INTEGER,
        "author_count": INTEGER,
        "reference_count": INTEGER,
    },
    "article_author": {
        "relation_id": TEXT,
        "article_id": TEXT,
        "author_name": TEXT,
        "author_position": INTEGER,
    },
    "citing_cited": {"relation_id": TEXT, "article_id_citing": TEXT, "article_id_cited": TEXT},
}

Value = str | int | float | None
Row = tuple[Value, ...]

# Nothing outside memory can be reached, whatever a query says; the settings are locked after the tables exist.
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "512MB",
    "max_temp_directory_size": "0KiB",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}


@dataclass(frozen=True)
class Database:
    """The three tables of a collection (Table 13), rows in insertion order, values in column order."""

    articles: tuple[Row, ...]
    article_author: tuple[Row, ...]
    citing_cited: tuple[Row, ...]

    def table(self, name: str) -> tuple[Row, ...]:
        """The rows of one of the three tables, by its name."""
        rows: tuple[Row, ...] = getattr(self, name)
        return rows

    def as_dict(self) -> dict[str, list[dict[str, Value]]]:
        """The tables as lists of objects, the form in which a case or a context carries them."""
        return {
            name: [dict(zip(columns, row, strict=True)) for row in self.table(name)] for name, columns in SCHEMA.items()
        }


def title_words(title: str) -> list[str]:
    """The words of a title: what stands between spaces (Table 13: "using spaces to determine word boundaries")."""
    return [word for word in title.split(" ") if word]


def database_of(articles: Sequence[Mapping[str, Any]], citations: Iterable[tuple[str, str]]) -> Database:
    """Build a collection's database from its articles, in the collection's order, and from citations.

    Args:
        articles: each with `id`, `title`, `authors` (list of str, in order) and `reference_count`.
        citations: pairs (citing, cited) of article ids; pairs that leave the collection are dropped,
            and so are repeated ones.
    """
    members = {str(article["id"]) for article in articles}
    if len(members) < len(articles):
        raise LongtrekError("a collection holds an article twice; expected each id once: rebuild the collections")
    inside = dict.fromkeys(pair for pair in citations if pair[0] in members and pair[1] in members)
    authorship = [
        (article["id"], name, position) for article in articles for position, name in enumerate(article["authors"])
    ]
    return Database(
        articles=tuple(_article_row(article) for article in articles),
        article_author=tuple((f"author_{number}", *row) for number, row in enumerate(authorship)),
        citing_cited=tuple((f"citation_{number}", *pair) for number, pair in enumerate(inside)),
    )


def _article_row(article: Mapping[str, Any]) -> Row:
    title = article["title"]
    return (
        article["id"],
        title,
        len(title_words(title)),
        len(article["authors"]),
        article["reference_count"],
    )


def database_from(tables: Mapping[str, Any], where: str = "the database") -> Database:
    """Read the handed form: each table a list of objects; a missing column is NULL (`relation_id` often is).

    Args:
        where: how to name the place in an error, as `cases.jsonl, line 3`.

    Raises:
        LongtrekError: a table is missing or is not a list of objects, or a value has the wrong kind.
    """
    found: dict[str, tuple[Row, ...]] = {}
    for name, columns in SCHEMA.items():
        rows = tables.get(name)
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise LongtrekError(
                f"{where}: `{name}` is missing or not a list of objects; expected one with {', '.join(columns)}"
            )
        found[name] = tuple(_checked(row, name, number, where) for number, row in enumerate(rows))
    return Database(**found)


def _checked(row: Mapping[str, Any], table: str, number: int, where: str) -> Row:
    columns = SCHEMA[table]
    unknown = [name for name in row if name not in columns]
    if unknown:
        raise LongtrekError(f"{where}: `{table}[{number}]` has a column `{unknown[0]}`; expected {', '.join(columns)}")
    return tuple(_cell(row.get(name), kind, f"{where}: `{table}[{number}].{name}`") for name, kind in columns.items())


def _cell(value: Any, kind: str, where: str) -> Value:
    if value is None:
        return None
    if kind == TEXT and isinstance(value, str):
        if "\x00" in value or re.search("[\ud800-\udfff]", value):
            raise LongtrekError(f"{where} holds a NUL or half a character; expected text that UTF-8 can carry")
        return value
    if kind == INTEGER and type(value) is int and -(2**63) <= value < 2**63:
        return value
    wanted = "a string" if kind == TEXT else "a 64-bit whole number"
    raise LongtrekError(f"{where} is {value!r}; expected {wanted} or null")


class Engine:
    """One in-memory DuckDB, closed to the outside, whose three tables hold one database at a time.

    Opening one costs tens of milliseconds and loading two, so keep one and `load` collection after collection.
    """

    def __init__(self) -> None:
        self._loaded: Database | None = None
        self._connection = duckdb.connect(":memory:", config=SETTINGS)
        types = {TEXT: "VARCHAR", INTEGER: "BIGINT"}
        for name, columns in SCHEMA.items():
            listed = ", ".join(f"{column} {types[kind]}" for column, kind in columns.items())
            self._connection.execute(f"CREATE TABLE {name} ({listed})")
        self._connection.execute("SET lock_configuration = true")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the engine's memory; it answers no more."""
        self._connection.close()

    def load(self, database: Database) -> None:
        """Replace the rows of the three tables, unless this very database is loaded already."""
        if self._loaded is database:
            return
        self._loaded = None
        self._connection.begin()
        for name, columns in SCHEMA.items():
            self._connection.execute(f"DELETE FROM {name}")
            rows = database.table(name)
            if rows:
                self._connection.execute(
                    _insertion(name, columns), [list(column) for column in zip(*rows, strict=True)]
                )
        self._connection.commit()
        self._loaded = database

    def fetch(self, text: str, values: Sequence[Value]) -> list[Row]:
        """Run DuckDB's own SQL with bound values and fetch all rows."""
        return self._connection.execute(text, list(values)).fetchall()

    def begin_reading(self) -> None:
        """Start a transaction in which DuckDB itself refuses every write."""
        self._connection.execute("BEGIN TRANSACTION READ ONLY")

    def end_reading(self) -> None:
        """End that transaction, whatever became of its query."""
        self._connection.rollback()

    def interrupt(self) -> None:
        """Stop the running query, from another thread."""
        self._connection.interrupt()


def _insertion(table: str, columns: Mapping[str, str]) -> str:
    types = {TEXT: "VARCHAR[]", INTEGER: "BIGINT[]"}
    unnested = ", ".join(f"unnest(${n}::{types[kind]})" for n, kind in enumerate(columns.values(), 1))
    return f"INSERT INTO {table} SELECT {unnested}"


def perturbed(database: Database, seed: int, n: int) -> list[Database]:
    """Copies of a database with other facts, to see whether two queries agree by meaning or by luck.

    Each copy drops and adds articles, changes counts and positions, swaps authors between articles and redraws
    citations; the ids that link the tables stay consistent and names and titles come from the database itself,
    so that a query's own values still occur. Equal seeds give equal copies.
    """
    return [_perturbed(database, random.Random(f"{seed}/{number}")) for number in range(n)]


def _perturbed(database: Database, draw: random.Random) -> Database:
    kept = [row for row in database.articles if draw.random() > 0.2] or list(database.articles)
    titles = [row[1] for row in database.articles]
    ids = [row[0] for row in kept]
    added = [f"added_{number}" for number in range(draw.randint(1, 3))]
    articles = [_redrawn(row, database, draw) for row in kept]
    if database.articles:
        articles += [_redrawn((name, draw.choice(titles), 0, 0, 0), database, draw) for name in added]
        ids += added
    draw.shuffle(articles)
    authors = _redrawn_authors(database, ids, draw)
    pairs = [(citing, cited) for citing in ids for cited in ids if citing != cited and draw.random() < 0.25]
    return Database(
        articles=tuple(articles),
        article_author=tuple((f"author_{number}", *row) for number, row in enumerate(authors)),
        citing_cited=tuple((f"citation_{number}", *pair) for number, pair in enumerate(pairs)),
    )


def _redrawn(row: Row, database: Database, draw: random.Random) -> Row:
    counts = [_redrawn_count([other[column] for other in database.articles], draw) for column in (2, 3, 4)]
    title = draw.choice(database.articles)[1] if draw.random() < 0.3 else row[1]
    return (row[0], title, *(new if draw.random() < 0.6 else old for new, old in zip(counts, row[2:], strict=True)))


def _redrawn_count(seen: Sequence[Value], draw: random.Random) -> int:
    near = draw.choice(seen)
    return max(0, (near if isinstance(near, int) else 0) + draw.choice((-2, -1, 0, 0, 1, 2)))


def _redrawn_authors(database: Database, ids: Sequence[Value], draw: random.Random) -> list[Row]:
    names = [row[2] for row in database.article_author]
    if not names:
        return []
    return [(article, draw.choice(names), position) for article in ids for position in range(draw.randint(1, 6))]
