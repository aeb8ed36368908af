"""A model as a function: messages and a JSON schema in, text out; for work whose next prompt depends on an answer.

Question writing and the SQL-execution baseline talk to a model so. What it says is kept in a store as answers are:
what was said once is never asked again, so a run that was killed goes on where it was.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from longtrek.answers.client import Client, Outcome
from longtrek.answers.engines import Engine, engine_for
from longtrek.answers.job import ENGINE_STARTS, SUSPICIOUS, body_of, healthy
from longtrek.answers.key import answer_key
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared, Tokenizer, preflight
from longtrek.answers.provenance import answer_provenance, engine_version_of, identity, job_provenance
from longtrek.answers.request import Request
from longtrek.answers.retry import Patience, RequestFault
from longtrek.answers.rows import answered_row, not_asked_row
from longtrek.answers.store import Row, Store, open_store
from longtrek.answers.weights import Weights
from longtrek.errors import LongtrekError


class RequestFailed(LongtrekError):
    """No answer came to one request: the server refused it, or it cannot fit the model's window."""


class EngineGone(Exception):
    """The engine ended twice; all that was answered is kept."""


class Completer:
    """Completes messages under a JSON schema; open it with `completer`."""

    def __init__(
        self,
        model: Model,
        store: Store,
        engine: Engine,
        tokenizer: Tokenizer | None,
        fixed: dict[str, Any],
        max_tokens: int,
        tell: Callable[[str], None],
        patience: Patience,
    ) -> None:
        self._model = model
        self._store = store
        self._engine = engine
        self._tokenizer = tokenizer
        self._fixed = fixed
        self._provenance = job_provenance(model, fixed)
        self._max_tokens = max_tokens
        self._tell = tell
        self._patience = patience
        self._starts = 0
        self._client: Client | None = None
        self._starting = asyncio.Lock()
        self._room = asyncio.Semaphore(model.max_concurrency)
        self._turns: dict[str, asyncio.Lock] = {}

    async def __call__(
        self, messages: list[dict[str, str]], schema: dict[str, Any], seed: int, temperature: float
    ) -> str:
        """Complete `messages` with JSON that `schema` allows; the same request is asked once a run, however often made.

        Raises:
            RequestFailed: there is no answer; the store holds why.
            EngineGone: the engine ended, and ended again when it was started anew.
        """
        constrained = {
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
            "temperature": temperature,
            "seed": seed,
        }
        request = Request(id="", messages=messages, max_tokens=self._max_tokens)
        key = answer_key(request, self._max_tokens, {**self._fixed, "constrained": constrained})
        first = key not in self._turns
        async with self._turns.setdefault(key, asyncio.Lock()):
            if first and not self._store.settled(key):
                async with self._room:
                    await self._ask(key, request, constrained)
        return _text(self._store.get(key))

    async def _ask(self, key: str, request: Request, constrained: dict[str, Any]) -> None:
        prepared = preflight(self._model, [request], self._tokenizer)[0]
        provenance = {**answer_provenance(self._provenance, prepared), "constrained": constrained}
        if prepared.refusal is not None:
            self._store.append(not_asked_row(key, prepared, provenance))
            return
        outcome = await self._outcome(prepared, constrained)
        self._store.append(answered_row(key, prepared, outcome, provenance, self._tokenizer))

    async def _outcome(self, prepared: Prepared, constrained: dict[str, Any]) -> Outcome:
        while True:
            client, start = await self._open()
            outcome = await client.ask({**body_of(self._model, prepared), **constrained})
            if outcome.fault is None or not await self._died(outcome.fault, client):
                return outcome
            async with self._starting:
                if self._starts == start:  # the first to see it; the others ask the engine that it starts
                    await self._close()

    async def _died(self, fault: RequestFault, client: Client) -> bool:
        """Whether a fault comes of an engine that is gone; where another has noticed already, its client is another."""
        if not self._engine.ours or fault.kind not in SUSPICIOUS:
            return False
        return client is not self._client or not self._engine.alive() or not await healthy(client.door)

    async def _open(self) -> tuple[Client, int]:
        async with self._starting:
            if self._client is None:
                if self._starts == ENGINE_STARTS:
                    raise EngineGone(self._engine.log_tail())
                self._starts += 1
                self._tell(f"{self._model.name}: starting {self._model.engine}")
                self._client = Client(await asyncio.to_thread(self._engine.start), self._patience)
            return self._client, self._starts

    async def _close(self) -> None:
        if self._client is not None:
            # Not closed: others may be within it, or wait to try again, and each must find by itself that it is gone.
            self._client = None
            await asyncio.to_thread(self._engine.stop)


def _text(row: Row | None) -> str:
    if row is None or row["status"] != "answered":
        error = (row or {}).get("error") or {}
        raise RequestFailed(f"{error.get('kind', 'no answer')}: {error.get('message', '')}")
    return str(row["text"])


@contextlib.contextmanager
def completer(
    model: Model,
    *,
    store: Path,
    weights: Weights | None,
    max_tokens: int,
    tell: Callable[[str], None],
    engine: Engine | None = None,
    patience: Patience | None = None,
) -> Iterator[Completer]:
    """Open a model for completions; its engine is started by the first that is not in `store`, and ended here.

    Raises:
        LongtrekError: the model is a check, which knows no other text than gold outputs; or as `engine_for` and
            `open_store`; or the engine ended twice.
    """
    if not model.is_asked:
        told = {"reference": "a check answers with gold outputs", "imported": "its answers were made elsewhere"}
        raise LongtrekError(f"model {model.name}: {told[model.engine]}, so it cannot write; name a model that is asked")
    engine = engine or engine_for(model, weights, store.with_suffix(".engine.log"))
    tokenizer = Tokenizer(model, weights.folder) if weights is not None else None
    fixed = identity(model, weights, engine_version_of(model))
    with open_store(store, tell) as opened:
        try:
            yield Completer(model, opened, engine, tokenizer, fixed, max_tokens, tell, patience or Patience())
        except EngineGone as gone:
            raise LongtrekError(
                f"model {model.name}: the engine ended {ENGINE_STARTS} times; what it answered is kept in {store}, and "
                f"the same command asks for the rest. The end of its log:\n{gone}"
            ) from None
        finally:
            engine.stop()
