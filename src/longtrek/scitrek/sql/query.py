"""The answer of a query on a collection's database."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from longtrek.scitrek.sql.database import Database, Engine, Row, Value
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.translate import Translation, translate


@dataclass(frozen=True)
class Result:
    """A query's rows in SQLite's order, and beside each row the values of the query's ORDER BY terms."""

    rows: tuple[Row, ...]
    sort_keys: tuple[Row, ...]
    translation: Translation

    @property
    def answer(self) -> str:
        """The gold answer: the rows' values joined with `, `."""
        return answer_text(self.rows)


def answer_text(rows: Sequence[Row]) -> str:
    """Rows as the text of an answer: all values in order joined with `, `, numbers in full, NULL for none."""
    values = [shown(value) for row in rows for value in row]
    return ", ".join(values) if values else "NULL"


def shown(value: Value) -> str:
    """One value as an answer shows it: `9.714285714285714`, `5`, `NULL`."""
    return "NULL" if value is None else str(value)


def run(engine: Engine, database: Database, sql: str, most: int | None = None) -> Result:
    """Run one query on a database, which the engine loads unless it has it already.

    Args:
        most: refuse a result of more rows than this; None allows any number.

    Raises:
        Refused: the query is not allowed, or DuckDB could not run it; the message says why.
    """
    translation, shape = translate(sql)
    engine.load(database)
    text = translation.text if most is None else f"{translation.text} LIMIT {most + 1}"
    try:
        rows = engine.fetch(text, translation.bound(shape))
    except (duckdb.OutOfRangeException, duckdb.ConversionException):
        raise Refused("a number of the result or on the way to it has more than 64 bits") from None
    except (duckdb.BinderException, duckdb.ParserException, duckdb.NotImplementedException) as error:
        raise Refused(f"the query cannot be run as it stands: {_first_line(error)}") from None
    if most is not None and len(rows) > most:
        raise Refused(f"the result has more than {most:,} rows")
    return _result(rows, translation)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:200]


def _result(rows: Sequence[Row], translation: Translation) -> Result:
    width, last = translation.width, translation.width + translation.sort_terms
    return Result(
        rows=tuple(row[:width] for row in rows),
        sort_keys=tuple(row[width:last] for row in rows),
        translation=translation,
    )
