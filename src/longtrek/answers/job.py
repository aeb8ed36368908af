"""One run over the requests that have no answer yet: in order, within bounds, each stored as it comes."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from longtrek.answers.client import Client, Door, Outcome
from longtrek.answers.engines import Engine
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared
from longtrek.answers.progress import Progress
from longtrek.answers.provenance import decoding
from longtrek.answers.retry import Patience, RequestFault
from longtrek.answers.schedule import Gate, send_order
from longtrek.errors import LongtrekError

ENGINE_STARTS = 2
WATCH_EVERY_S = 0.25
HEALTH_LIMIT_S = 30.0
# So many requests in a row that find nobody at a hosted server's address end the job.
UNREACHABLE_IN_A_ROW = 3

SUSPICIOUS = frozenset({"unreachable", "cut_stream", "server_error", "timeout"})


class EngineDied(Exception):
    """A local engine is gone, or no longer answers; the requests that were in flight are in `in_flight`."""

    def __init__(self, in_flight: list[str]) -> None:
        super().__init__(f"{len(in_flight)} requests were in flight")
        self.in_flight = in_flight


@dataclass(frozen=True)
class Job:
    """What one run asks and what it does with each outcome."""

    model: Model
    engine: Engine
    patience: Patience
    on_outcome: Callable[[str, Prepared, Outcome], None]

    def run(self, door: Door, pending: dict[str, Prepared], progress: Progress) -> None:
        """Ask all of `pending` (by key) at `door`; every outcome has been handed on when this returns.

        Raises:
            EngineDied: the local engine ended; outcomes until then have been handed on.
            LongtrekError: a hosted server is not there, or an outcome could not be stored.
        """
        asyncio.run(_Run(self, door, progress).all(pending))


class _Run:
    def __init__(self, job: Job, door: Door, progress: Progress) -> None:
        self._job = job
        self._door = door
        self._progress = progress
        self._in_flight: set[str] = set()
        self._unreachable = 0

    async def all(self, pending: dict[str, Prepared]) -> None:
        """Run the dispatcher beside a watch over the engine; whichever ends first ends the other."""
        dispatcher = asyncio.create_task(self._dispatch(pending))
        watch = asyncio.create_task(self._watch())
        await asyncio.wait({dispatcher, watch}, return_when=asyncio.FIRST_COMPLETED)
        died = not dispatcher.done()
        in_flight = sorted(self._in_flight)
        for task in (dispatcher, watch):
            task.cancel()
        ended = await asyncio.gather(dispatcher, watch, return_exceptions=True)
        if died:
            raise EngineDied(in_flight)
        if isinstance(ended[0], BaseException):
            raise _first(ended[0])

    async def _watch(self) -> None:
        while self._job.engine.alive():
            await asyncio.sleep(WATCH_EVERY_S)

    async def _dispatch(self, pending: dict[str, Prepared]) -> None:
        model = self._job.model
        gate = Gate(model.max_concurrency, model.in_flight_tokens)
        order = send_order(list(pending.items()), lambda item: item[1].request.prefix, lambda item: item[1].most_tokens)
        async with Client(self._door, self._job.patience) as client, asyncio.TaskGroup() as group:
            for number, (key, prepared) in enumerate(order):
                await gate.enter(prepared.most_tokens)
                group.create_task(self._one(client, gate, number, key, prepared))

    async def _one(self, client: Client, gate: Gate, number: int, key: str, prepared: Prepared) -> None:
        needed = prepared.needed_tokens
        self._in_flight.add(key)
        try:
            outcome = await client.ask(
                body_of(self._job.model, prepared),
                prepared.request.completion,
                lambda tokens: self._progress.received(number, tokens, needed),
            )
            if outcome.fault is not None:
                await self._suspect(outcome.fault)
            self._job.on_outcome(key, prepared, outcome)
        finally:
            gate.leave(prepared.most_tokens)
        self._in_flight.discard(key)
        used = (outcome.usage or {}).get("completion_tokens") or 0
        self._progress.finished(number, used, needed, outcome.fault is not None)

    async def _suspect(self, fault: RequestFault) -> None:
        """After a request that failed for good: is anybody there at all?"""
        self._unreachable = self._unreachable + 1 if fault.kind == "unreachable" else 0
        if self._job.engine.ours:
            if fault.kind in SUSPICIOUS and not await healthy(self._door):
                raise EngineDied(sorted(self._in_flight))
        elif self._unreachable >= UNREACHABLE_IN_A_ROW:
            raise LongtrekError(
                f"model {self._job.model.name}: nobody answers at {self._door.url} ({fault.message}); check "
                "endpoint.url in the model's entry and the network, then run again: all answers so far are kept"
            )


async def healthy(door: Door) -> bool:
    """Whether the server behind a door answers at all; its process may have ended before its end is noticed."""
    with contextlib.suppress(httpx.TransportError):
        async with httpx.AsyncClient(trust_env=False, timeout=HEALTH_LIMIT_S) as http:
            answer = await http.get(f"{door.url}/models", headers=door.headers)
            return answer.status_code == 200
    return False


def body_of(model: Model, prepared: Prepared) -> dict[str, Any]:
    """The chat request of one prepared request, without the model's name and the streaming fields."""
    settings = decoding(model)
    settings["seed"] += prepared.request.sample
    body: dict[str, Any] = {
        "messages": prepared.request.messages,
        model.endpoint.cap_field if model.endpoint else "max_tokens": prepared.max_tokens,
        **settings,
    }
    if model.template_args:
        body["chat_template_kwargs"] = model.template_args
    if model.endpoint is not None:
        body.update(model.endpoint.body)
    return body


def died_outcome(now: float) -> Outcome:
    """The outcome of a request that was in flight when the engine ended for the last time."""
    fault = RequestFault("engine_died", "the engine ended while it answered this request")
    return Outcome("", None, None, None, fault, 1, now, None, time.time() - now)


def _first(error: BaseException) -> BaseException:
    """The first real fault inside a task group's error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
