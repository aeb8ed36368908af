"""Asks a model all of a study's requests, of which only those without an answer cost anything.

What the run's end means: every request has a row, and the rule's output is written, also where some requests
failed. Those rows carry their error, are never a score, and their counts are told. The output is not written,
and the run is an error, where the engine failed twice, where nothing at all was answered, or where an answer
could not be stored. Asking again takes the same command: failures that may pass are asked again.
"""

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longtrek import messages
from longtrek.answers.client import Door, Outcome
from longtrek.answers.engines import Engine, engine_for
from longtrek.answers.job import ENGINE_STARTS, EngineDied, Job, died_outcome
from longtrek.answers.key import answer_key
from longtrek.answers.metrics import EngineFacts, engine_facts
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared, Tokenizer, preflight
from longtrek.answers.progress import Progress
from longtrek.answers.provenance import answer_provenance, engine_version_of, identity, job_provenance
from longtrek.answers.reference import reference_outcome
from longtrek.answers.request import Request
from longtrek.answers.retry import Patience
from longtrek.answers.rows import answered_row, not_asked_row
from longtrek.answers.shards import WHOLE, Shard, share
from longtrek.answers.store import Store, open_store
from longtrek.answers.weights import Weights
from longtrek.errors import LongtrekError


@dataclass(frozen=True)
class Summary:
    """How a job ended: rows by status, requests asked in this run, failures by kind."""

    requests: int
    asked: int
    answered: int
    failed: int
    not_asked: int
    errors: dict[str, int]

    def line(self) -> str:
        """The counts in one line."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.errors.items()))
        return (
            f"{self.requests} requests: {self.answered} answered, {self.failed} failed"
            f"{f' ({kinds})' if kinds else ''}, {self.not_asked} not asked; {self.asked} asked in this run"
        )


def ask(
    model: Model,
    requests: Sequence[Request],
    *,
    store: Path,
    out: Path,
    weights: Weights | None = None,
    engine: Engine | None = None,
    patience: Patience | None = None,
    retry_failed: bool = False,
    shard: Shard = WHOLE,
    say: Callable[[str], None] | None = None,
) -> Summary:
    """Ask what `store` lacks of `requests` and write all rows, in the requests' order, to `out`.

    `weights` are required for the engines that run here; a hosted model may have them for its tokenizer alone.
    `engine` replaces the one that the model's entry names. `retry_failed` asks again also what a server refused
    for good. A `shard` asks its share of the requests alone. `say` takes a line for the log.

    Raises:
        LongtrekError: see the module's text; also two requests with the same id and sample.
    """
    tell = say or messages.tell
    _check_ids(requests)
    places = share(requests, shard)
    requests = [requests[place] for place in places]
    if engine is None and model.engine != "reference":
        engine = engine_for(model, weights, shard.file(store).with_suffix(".engine.log"))
    tokenizer = Tokenizer(model, weights.folder) if weights is not None else None
    fixed = identity(model, weights, engine_version_of(model))
    prepared = preflight(model, requests, tokenizer)
    keys = [answer_key(one.request, one.max_tokens, fixed) for one in prepared]
    with open_store(store, tell, shard) as opened:
        work = _Work(model, opened, tokenizer, job_provenance(model, fixed), tell)
        pending = work.missing(keys, prepared, retry_failed)
        tell(f"{model.name}: {len(pending)} of {len(keys)} requests to ask")
        if pending and engine is None:
            work.solve(pending)
        elif pending and engine is not None:
            work.ask(engine, pending, patience or Patience())
        rows = [opened.get(key) or {} for key in keys]
        summary = _summary(rows, len(pending))
        tell(f"{model.name}: {summary.line()}")
        _tell_thoughts(model, rows, tell)
        if summary.failed and not summary.answered:
            first = next(row["error"] for row in rows if row["status"] == "failed")
            raise LongtrekError(
                f"model {model.name}: nothing was answered, {summary.failed} requests failed "
                f"({first['kind']}: {first['message'][:300]}); nothing was written to {out}"
            )
        wanted = [(key, one.request.id, one.request.sample) for key, one in zip(keys, prepared, strict=True)]
        opened.export(out, wanted, places if shard.count > 1 else None)
    return summary


def _check_ids(requests: Sequence[Request]) -> None:
    counts = Counter((request.id, request.sample) for request in requests)
    twice = [f"{name} (sample {sample})" for (name, sample), count in counts.items() if count > 1]
    if twice:
        raise LongtrekError(f"requests must differ in id or sample; found more than once: {', '.join(twice[:5])}")


def _summary(rows: list[dict[str, Any]], asked: int) -> Summary:
    statuses = Counter(row["status"] for row in rows)
    errors = Counter(row["error"]["kind"] for row in rows if row["status"] == "failed")
    return Summary(len(rows), asked, statuses["answered"], statuses["failed"], statuses["not_asked"], dict(errors))


def _tell_thoughts(model: Model, rows: list[dict[str, Any]], tell: Callable[[str], None]) -> None:
    """A template may take the switch that turns thinking off and the model think all the same: look at the output."""
    thoughts = sum(bool(row.get("reasoning")) or "</think>" in row["text"] for row in rows)
    if thoughts and model.thinking != "on":
        tell(f"{model.name}: {thoughts} answers hold reasoning although thinking is {model.thinking!r}")


class _Work:
    """One job's open store and what goes into every row."""

    def __init__(
        self,
        model: Model,
        store: Store,
        tokenizer: Tokenizer | None,
        provenance: dict[str, Any],
        tell: Callable[[str], None],
    ) -> None:
        self._model = model
        self._store = store
        self._tokenizer = tokenizer
        self._provenance = provenance
        self._tell = tell
        self._outcomes: dict[str, Outcome] = {}

    def missing(self, keys: list[str], prepared: list[Prepared], retry_failed: bool) -> dict[str, Prepared]:
        """What has to be asked, by key, each once; what cannot be asked is recorded here."""
        pending: dict[str, Prepared] = {}
        for key, one in zip(keys, prepared, strict=True):
            if self._store.settled(key, retry_failed):
                continue
            if one.refusal is None:
                pending[key] = one
                continue
            standing = self._store.get(key)
            if standing is None or standing["error"]["message"] != one.refusal:
                self._store.append(not_asked_row(key, one, answer_provenance(self._provenance, one)))
        return pending

    def solve(self, pending: dict[str, Prepared]) -> None:
        """Answer with the gold outputs."""
        for key, one in pending.items():
            self._keep(key, one, reference_outcome(one.request, time.time()))

    def ask(self, engine: Engine, pending: dict[str, Prepared], patience: Patience) -> None:
        """Ask an engine, which is started again once when it dies."""
        job = Job(self._model, engine, patience, self._keep)
        need = sum(one.needed_tokens for one in pending.values())
        left = dict(pending)
        with self._recorded(len(pending)) as record, Progress(self._model.name, len(pending), need) as progress:
            for start in range(1, ENGINE_STARTS + 1):
                record["engine_starts"] = start
                death = self._ask_once(job, engine, left, progress, record)
                if death is None:
                    return
                left = {key: one for key, one in pending.items() if key not in self._outcomes}
                self._tell(f"{self._model.name}: the engine ended; {len(left)} requests have no answer yet")
                if start == ENGINE_STARTS:
                    self._give_up(death, left, engine)

    def _ask_once(
        self, job: Job, engine: Engine, left: dict[str, Prepared], progress: Progress, record: dict[str, Any]
    ) -> EngineDied | None:
        """Ask what is left, of one start of the engine; how it died, if it did."""
        self._tell(f"{self._model.name}: starting {self._model.engine}")
        began = time.monotonic()
        door = engine.start()
        try:
            facts = self._note(door, time.monotonic() - began)
            job.run(door, left, progress)
            self._note_cache(facts, engine_facts(door) if engine.ours else EngineFacts(), record)
        except EngineDied as death:
            return death
        finally:
            engine.stop()
        return None

    def _note(self, door: Door, start_s: float) -> EngineFacts:
        """Keep what the engine says of its cache, for every answer's provenance."""
        facts = engine_facts(door)
        if facts.prefix_caching is not None:
            self._provenance["engine"]["prefix_caching"] = facts.prefix_caching
        self._provenance["engine"]["kv_cache_tokens"] = facts.kv_cache_tokens
        self._tell(f"{self._model.name}: ready after {start_s:.0f} s")
        return facts

    def _note_cache(self, before: EngineFacts, after: EngineFacts, record: dict[str, Any]) -> None:
        if after.prefix_queries is None or after.prefix_hits is None:
            return
        queries = after.prefix_queries - (before.prefix_queries or 0)
        hits = after.prefix_hits - (before.prefix_hits or 0)
        record["prefix_cache"] = {"queried_tokens": queries, "hit_tokens": hits}
        share = 100 * hits / queries if queries else 0.0
        self._tell(f"{self._model.name}: prefix cache served {hits} of {queries} prompt tokens ({share:.1f} %)")

    def _keep(self, key: str, prepared: Prepared, outcome: Outcome) -> None:
        provenance = answer_provenance(self._provenance, prepared)
        self._store.append(answered_row(key, prepared, outcome, provenance, self._tokenizer))
        self._outcomes[key] = replace(outcome, text="", reasoning=None)

    def _give_up(self, death: EngineDied, left: dict[str, Prepared], engine: Engine) -> None:
        for key in death.in_flight:
            self._keep(key, left[key], died_outcome(time.time()))
        raise LongtrekError(
            f"model {self._model.name}: the engine ended {ENGINE_STARTS} times; {len(self._outcomes)} outcomes of this "
            f"run are kept in {self._store.path}, and the same command asks for the rest. The end of its log:\n"
            f"{engine.log_tail()}"
        ) from None

    @contextlib.contextmanager
    def _recorded(self, asked: int) -> Iterator[dict[str, Any]]:
        """Add a line on this run beside the store: when, how much, how fast, how often the prefix cache helped."""
        record: dict[str, Any] = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "asked": asked}
        began = time.monotonic()
        try:
            yield record
        finally:
            took = time.monotonic() - began
            done = list(self._outcomes.values())
            tokens = sum((one.usage or {}).get("completion_tokens") or 0 for one in done)
            record["answered"] = sum(one.fault is None for one in done)
            record["failed"] = sum(one.fault is not None for one in done)
            record.update(seconds=round(took, 1), completion_tokens=tokens, engine=self._provenance["engine"])
            self._write_record(record)

    def _write_record(self, record: dict[str, Any]) -> None:
        """Append a run's record; where that fails, say so and let the run end as it would have."""
        path = self._store.path.with_suffix(".runs.jsonl")
        try:
            with path.open("a", encoding="utf-8") as runs:
                runs.write(json.dumps(record, ensure_ascii=False) + "\n")
        except OSError as error:
            self._tell(f"{path}: this run's record could not be written ({error.strerror}); answers are not affected")
