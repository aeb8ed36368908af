"""Does the query that was read back from a question ask for the same as the one it was written from?

The paper compares the two results on the collection's database (Section 3.3). Two empty results are equal too
easily, and so are two counts of a small collection, so the queries are also compared on perturbed copies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from longtrek.errors import LongtrekError
from longtrek.scitrek.sql.database import Database, Engine
from longtrek.scitrek.sql.order import agree
from longtrek.scitrek.sql.query import Result, run

PASSED, LUCKY, FAILED = "passed", "lucky", "failed"

Execute = Callable[[Database, str], Result]


@dataclass(frozen=True)
class Verdict:
    """What became of a round trip.

    `passed`: equal on the collection and on every copy. `lucky`: equal on the collection, as the paper checks it,
    but not on every copy. `failed`: not even that, or the query could not be run. `reason` says why it is not
    `passed`.
    """

    verdict: str
    reason: str = ""

    @property
    def plain(self) -> bool:
        """Whether the paper's own check, on the collection alone, is passed."""
        return self.verdict in (PASSED, LUCKY)


class Engines:
    """A few engines, each with one database loaded, so that a collection and its copies are loaded once each.

    `run` is an `Execute` for queries of ours; a model's belong into the sandbox.
    """

    def __init__(self, count: int = 4) -> None:
        self._free = [Engine() for _ in range(count)]
        self._loaded: dict[int, tuple[Database, Engine]] = {}

    def run(self, database: Database, sql: str) -> Result:
        """Run a query on a database, on the engine that has it or else on the one unused for longest."""
        known = self._loaded.pop(id(database), None)
        if known is not None:
            engine = known[1]
        elif self._free:
            engine = self._free.pop()
        else:
            engine = self._loaded.pop(next(iter(self._loaded)))[1]
        self._loaded[id(database)] = (database, engine)
        return run(engine, database, sql)


def same_text(one: str, other: str) -> bool:
    """Whether two queries differ in spaces and a last semicolon at most."""
    return one.rstrip("; \n").split() == other.rstrip("; \n").split()


def check(sql: str, back: str, database: Database, copies: Sequence[Database], execute: Execute) -> Verdict:
    """Compare a query read back with the one it was written from, on a collection's database and its perturbed copies.

    Args:
        sql: the query that a question was written from.
        back: the one read back from it.
        database: the collection's.
        copies: perturbed copies of it, see `database.perturbed`.
        execute: runs a query on a database; a query that it refuses is a failed round trip.
    """
    if same_text(sql, back):
        return Verdict(PASSED)
    for number, tables in enumerate([database, *copies]):
        reason = difference(sql, back, tables, execute)
        if reason:
            return Verdict(LUCKY, f"{reason} on copy {number}") if number else Verdict(FAILED, reason)
    return Verdict(PASSED)


def difference(sql: str, back: str, database: Database, execute: Execute) -> str:
    """Why two queries do not give the same result on a database, in the sense of `order.agree`; empty if they do."""
    wanted = execute(database, sql)
    try:
        found = execute(database, back)
    except LongtrekError as error:
        return f"the query read back is refused: {error}"
    return "" if agree(wanted, found) else f"results differ: {_shown(wanted)} against {_shown(found)}"


def _shown(result: Result, longest: int = 80) -> str:
    text = result.answer
    return text if len(text) <= longest else f"{text[:longest]}…"
