"""How far a job is: a bar on a terminal, a line every ten seconds in a log."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

LOG_EVERY_S = 10.0
BAR_EVERY_S = 0.2
LEAST_SHARE = 0.01  # before that the expected finish says nothing


class Progress:
    """Counts answers and tokens of one job and tells them, as a context manager.

    The expected finish compares tokens received with the tokens that right answers take, so that it moves
    before the first answer is whole.
    """

    def __init__(
        self,
        label: str,
        total: int,
        needed_tokens: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._total = total
        self._needed = max(1, needed_tokens)
        self._stream = stream if stream is not None else sys.stderr
        self._clock = clock
        self._began = clock()
        self._told = self._began
        self._done = 0
        self._failed = 0
        self._settled_need = 0
        self._tokens_done = 0
        self._running: dict[int, tuple[int, int]] = {}
        self._bar = _Bar(label, total) if self._stream.isatty() else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.close()
        self._write(self.line())

    def received(self, request: int, tokens: int, needed: int) -> None:
        """A running request has `tokens` so far, of about `needed`."""
        self._running[request] = (tokens, needed)
        self._tell()

    def finished(self, request: int, tokens: int, needed: int, failed: bool) -> None:
        """A request has ended with `tokens` in all."""
        self._running.pop(request, None)
        self._done += 1
        self._failed += failed
        self._settled_need += needed
        self._tokens_done += tokens
        self._tell()

    def line(self) -> str:
        """The state in one line: answers, failures, tokens a second, expected finish."""
        elapsed = max(1e-9, self._clock() - self._began)
        tokens = self._tokens_done + sum(count for count, _ in self._running.values())
        failed = f", {self._failed} failed" if self._failed else ""
        left = self._left_s(elapsed)
        finish = f", about {_duration(left)} left" if left is not None and self._done < self._total else ""
        return (
            f"{self._label}: {self._done}/{self._total} answers{failed}, {tokens / elapsed:.0f} tokens/s, "
            f"{_duration(elapsed)} so far{finish}"
        )

    def _left_s(self, elapsed: float) -> float | None:
        running = sum(min(count, need) for count, need in self._running.values())
        share = (self._settled_need + running) / self._needed
        return elapsed * (1 - share) / share if LEAST_SHARE < share <= 1 else None

    def _tell(self) -> None:
        if self._clock() - self._told < (BAR_EVERY_S if self._bar else LOG_EVERY_S):
            return
        self._told = self._clock()
        if self._bar:
            self._bar.update(self._done, self.line())
        else:
            self._write(self.line())

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class _Bar:
    def __init__(self, label: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._progress = RichProgress(
            BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True
        )
        self._task = self._progress.add_task(label, total=total)
        self._progress.start()

    def update(self, done: int, line: str) -> None:
        self._progress.update(self._task, completed=done, description=line)

    def close(self) -> None:
        self._progress.stop()


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"
