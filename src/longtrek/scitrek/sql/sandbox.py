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

from longtrek.scitrek.sql.database import Database, Engine
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.query import Result, run


@dataclass(frozen=True)
class Limits:
    """What one query may use: seconds of time, and rows of its result. Memory is the engine's, 512 MB."""

    seconds: float = 5.0
    rows: int = 10_000


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
        try:
            with self._watched(), self._reading():
                return run(self._engine, database, sql, self.limits.rows)
        except duckdb.InterruptException:
            raise Refused(f"stopped after {self.limits.seconds:g} s, the time limit") from None
        except duckdb.OutOfMemoryException:
            raise Refused("stopped at the memory limit of 512 MB") from None
        except (duckdb.FatalException, duckdb.InternalException) as error:
            self._engine.close()
            self._engine = Engine()
            raise Refused(f"the database engine broke on it: {str(error).splitlines()[0][:200]}") from None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        self._engine.begin_reading()
        try:
            yield
        finally:
            self._engine.end_reading()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(self._engine, done), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _watch(self, engine: Engine, done: threading.Event) -> None:
        if done.wait(self.limits.seconds):
            return
        # An interrupt between two statements is lost, so it is repeated until the query has ended.
        engine.interrupt()
        while not done.wait(0.05):
            engine.interrupt()
