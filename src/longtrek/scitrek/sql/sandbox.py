"""Model-written SQL on a collection's tables: read-only, bounded in time, memory and rows, each refusal with a reason.

Three walls, each enough for most attacks. The text is read by an allow-list: one SELECT, three tables, known
functions; what DuckDB runs is written anew from the syntax tree with literals bound, so no character of the query
reaches it. DuckDB itself has no file, network, extension or setting access and runs in a read-only transaction. A
watch interrupts what takes too long.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import duckdb

from longtrek.errors import LongtrekError
from longtrek.scitrek.sql.database import Database, Engine
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.query import Result, run

LONGEST_SECONDS = 86_400


@dataclass(frozen=True)
class Limits:
    """What one query may use: seconds of time, and rows of its result. Memory is the engine's, 512 MB."""

    seconds: float = 5.0
    rows: int = 10_000

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= LONGEST_SECONDS:
            raise LongtrekError(
                f"a time limit of {self.seconds:g} s for a query; expected more than 0 and at most {LONGEST_SECONDS:,}"
            )
        if self.rows < 1:
            raise LongtrekError(f"a limit of {self.rows} rows for a query; expected at least 1")


class Sandbox:
    """Runs queries from anyone on one engine; an engine that breaks is replaced."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._engine = Engine()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.close()

    def run(self, database: Database, sql: str) -> Result:
        """Run one query on a database.

        Raises:
            Refused: the query is not allowed or went over a limit; the message is the reason.
        """
        self._engine.load(database)
        stopped = threading.Event()
        try:
            with self._watched(stopped), self._reading():
                return run(self._engine, database, sql, self.limits.rows)
        except duckdb.Error as error:
            # Whatever DuckDB says of one query is that query's fault, and never ends a run of thousands.
            self._replace_engine()
            raise Refused(self._reason(error, stopped.is_set())) from None

    def _replace_engine(self) -> None:
        """After an error, which may have left a transaction or the engine itself broken."""
        self._engine.close()
        self._engine = Engine()

    def _reason(self, error: duckdb.Error, stopped: bool) -> str:
        if stopped:  # also where the interrupt showed as another error, such as an aborted transaction
            return f"stopped after {self.limits.seconds:g} s, the time limit"
        if isinstance(error, duckdb.OutOfMemoryException):
            return "stopped at the memory limit of 512 MB"
        return f"the database engine could not run it: {str(error).splitlines()[0][:200]}"

    @contextmanager
    def _reading(self) -> Iterator[None]:
        self._engine.begin_reading()
        try:
            yield
        finally:
            self._engine.end_reading()

    @contextmanager
    def _watched(self, stopped: threading.Event) -> Iterator[None]:
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(self._engine, done, stopped), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _watch(self, engine: Engine, done: threading.Event, stopped: threading.Event) -> None:
        if done.wait(self.limits.seconds):
            return
        # An interrupt between two statements is lost, so it is repeated until the query has ended.
        stopped.set()
        engine.interrupt()
        while not done.wait(0.05):
            engine.interrupt()
