"""The one client: asks a server that speaks the OpenAI chat API, streams, retries, and keeps within bounds."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from longtrek.answers.request import Completion
from longtrek.answers.retry import Patience, RequestFault, fault_of_status, wait_before
from longtrek.answers.stream import Reading, data_lines, read_stream, whole_text

FINISH_REASONS = frozenset({"stop", "length", "complete"})


@dataclass(frozen=True)
class Door:
    """Where a server is asked: base URL up to the version, headers, and the name it knows the model by."""

    url: str
    model: str
    headers: dict[str, str] = field(default_factory=dict)
    counts_as_it_streams: bool = False  # vLLM's `continuous_usage_stats`; other servers may refuse the field


@dataclass(frozen=True)
class Outcome:
    """How one request ended: an answer, or the last fault of all attempts. Times are in seconds."""

    text: str
    reasoning: str | None
    finish_reason: str | None
    usage: dict[str, Any] | None
    fault: RequestFault | None
    attempts: int
    started: float
    first_token_s: float | None
    total_s: float


class Client:
    """Asks one server over one pool of connections; use as an async context manager."""

    def __init__(self, door: Door, patience: Patience, seed: int = 0) -> None:
        self.door = door
        self._patience = patience
        self._dice = random.Random(seed)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        timeout = httpx.Timeout(patience.connect_s, read=None, write=patience.idle_s, pool=None)
        # Proxies of the environment are for hosted servers; a local engine is always reached directly.
        local = httpx.URL(door.url).host in {"127.0.0.1", "localhost", "::1"}
        self._http = httpx.AsyncClient(headers=door.headers, limits=limits, timeout=timeout, trust_env=not local)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(
        self,
        body: dict[str, Any],
        completion: Callable[[], Completion] | None = None,
        on_tokens: Callable[[int], None] = lambda _: None,
    ) -> Outcome:
        """Ask once and again until there is an answer, a fault that will not pass, or no patience left.

        `body` is the chat request without the model's name and the streaming fields; `on_tokens` is told the
        number of tokens received so far in the current attempt.
        """
        started = time.time()
        clock = time.monotonic()
        attempt = 1
        while True:
            reading = Reading()
            first = FirstToken(on_tokens)
            fault: RequestFault | None = None
            try:
                await self._attempt(body, reading, completion() if completion else None, first)
            except RequestFault as error:
                fault = error
            wait = wait_before(attempt + 1, fault, self._patience, self._dice) if fault else None
            if wait is None:
                return self._outcome(reading, fault, attempt, started, clock, first)
            attempt += 1
            on_tokens(0)
            await asyncio.sleep(wait)

    def _outcome(
        self,
        reading: Reading,
        fault: RequestFault | None,
        attempts: int,
        started: float,
        clock: float,
        first: "FirstToken",
    ) -> Outcome:
        return Outcome(
            text="" if fault else whole_text(reading.text),
            reasoning=None if fault else whole_text(reading.reasoning) or None,
            finish_reason=None if fault else reading.finish_reason,
            usage=None if fault else reading.usage,
            fault=fault,
            attempts=attempts,
            started=started,
            first_token_s=None if first.at is None else first.at - clock,
            total_s=time.monotonic() - clock,
        )

    async def _attempt(
        self, body: dict[str, Any], reading: Reading, completion: Completion | None, first: "FirstToken"
    ) -> None:
        options = {"include_usage": True}
        if self.door.counts_as_it_streams:
            options["continuous_usage_stats"] = True
        whole = {"model": self.door.model, **body, "stream": True, "stream_options": options}
        try:
            async with asyncio.timeout(self._patience.first_s) as limit:
                await self._stream(whole, reading, completion, first, limit)
        except TimeoutError:
            what = "between two pieces of the answer" if first.at else "before the first piece of the answer"
            raise RequestFault("timeout", f"the server was silent for too long {what}") from None
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise RequestFault("unreachable", f"no connection to {self.door.url}: {error}") from None
        except httpx.TimeoutException as error:
            raise RequestFault("timeout", f"{type(error).__name__}: {error}") from None
        except httpx.TransportError as error:
            where = "in mid-answer" if first.at else "without an answer"
            raise RequestFault("cut_stream", f"the connection ended {where}: {error}") from None
        except httpx.RequestError as error:  # content that is not what its headers say
            raise RequestFault("bad_response", f"{type(error).__name__}: {error}") from None
        _check_whole(reading)

    async def _stream(
        self,
        whole: dict[str, Any],
        reading: Reading,
        completion: Completion | None,
        first: "FirstToken",
        limit: asyncio.Timeout,
    ) -> None:
        loop = asyncio.get_running_loop()
        url = f"{self.door.url}/chat/completions"
        async with self._http.stream("POST", url, json=whole) as response:
            if response.status_code != 200:
                message = _error_message(await response.aread())
                raise fault_of_status(response.status_code, message, response.headers.get("retry-after"))
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                sent = (await response.aread())[:200]
                raise RequestFault("bad_response", f"expected a stream of events, got {sent!r}", 200)
            async for tokens in read_stream(data_lines(response.aiter_bytes()), reading, completion):
                limit.reschedule(loop.time() + self._patience.idle_s)
                if tokens:
                    first.seen(tokens)


class FirstToken:
    """Remembers when the first token came, and passes every count on."""

    def __init__(self, on_tokens: Callable[[int], None]) -> None:
        self._on_tokens = on_tokens
        self.at: float | None = None

    def seen(self, tokens: int) -> None:
        """Take the count of tokens received so far."""
        if self.at is None:
            self.at = time.monotonic()
        self._on_tokens(tokens)


def _check_whole(reading: Reading) -> None:
    """Refuse a stream that ended before the server said why, or that ended for no reason of an answer's."""
    if reading.events == 0:
        raise RequestFault("bad_response", "the stream held no answer", 200)
    if reading.finish_reason is None or reading.finish_reason == "abort":
        raise RequestFault("cut_stream", "the stream ended before the answer did", 200)
    if reading.finish_reason not in FINISH_REASONS:
        raise RequestFault("bad_response", f"the answer ended with {reading.finish_reason!r}", 200)


def _error_message(body: bytes) -> str:
    """The message of an error body: OpenAI's form, FastAPI's, or the body's beginning."""
    text = body.decode(errors="replace").strip()
    try:
        value = httpx.Response(200, content=body).json()
    except ValueError:
        return text[:500] or "(empty body)"
    if isinstance(value, dict):
        inner = value.get("error", value)
        if isinstance(inner, dict) and isinstance(inner.get("message"), str):
            return str(inner["message"])
        if isinstance(inner, str):
            return inner
    return text[:500]
