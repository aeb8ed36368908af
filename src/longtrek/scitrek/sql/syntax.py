"""Whether SQLite itself would take a query: the translation's parser reads more than SQLite does."""

import re
import sqlite3

from longtrek.scitrek.sql.database import SCHEMA
from longtrek.scitrek.sql.literals import Refused, Shape

_WHOLE = re.compile(r"(?<= ):i([0-9]+)(?= |$)")
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
# Builds of SQLite differ in these, and the translation knows which columns and functions there are.
_OURS = ("no such column", "no such function")


def check_syntax(shape: Shape) -> None:
    """Have SQLite compile a query on three empty tables; nothing is run.

    A model may leave out an AND, a comma or a parenthesis, and what is guessed in its place must not be credited.

    Raises:
        Refused: SQLite cannot read the query; the message is SQLite's.
    """
    connection = sqlite3.connect(":memory:")
    try:
        for name, columns in SCHEMA.items():
            connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
        # Whole numbers are put back in their places: ORDER BY 2 means a column, ORDER BY :i0 does not.
        text = _WHOLE.sub(lambda mark: str(shape.values[int(mark[1])]), shape.text)
        values = {f"{kind}{number}": None for number in range(len(shape.values)) for kind in "sr"}
        connection.execute(f"EXPLAIN {text}", values)
    except sqlite3.Error as error:
        if not str(error).startswith(_OURS):
            raise Refused(f"not a query that SQLite could read: {error}") from None
    finally:
        connection.close()
