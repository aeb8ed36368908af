"""Does an engine repeat itself? The same prompts, asked twice at each of two batch sizes, and compared as texts.

Greedy decoding is no promise of equal answers: sums of rounded numbers depend on how requests are batched and on what
a prefix cache holds. What is reported was measured, on one engine and one machine; nothing is kept in a store.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from longtrek.answers.client import Outcome
from longtrek.answers.engines import Engine
from longtrek.answers.job import EngineDied, Job
from longtrek.answers.metrics import EngineFacts, engine_facts
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared
from longtrek.answers.progress import Progress
from longtrek.answers.reference import reference_outcome
from longtrek.answers.retry import Patience
from longtrek.errors import LongtrekError

AROUND = 24
"""Characters of both answers that a difference shows, from where they part."""


@dataclass(frozen=True)
class Pass:
    """All prompts asked once: answers in the prompts' order (None: the request failed), seconds, tokens written.

    `cached` and `queried` are prompt tokens that the prefix cache served and was asked for; None where no engine says.
    """

    batch: int
    number: int
    answers: tuple[str | None, ...]
    seconds: float
    tokens: int
    cached: int | None
    queried: int | None

    @property
    def name(self) -> str:
        """How a pass is called in tables."""
        return f"batch {self.batch}, pass {self.number}"


@dataclass(frozen=True)
class Difference:
    """Where two answers to one prompt part: the character, from 0, and what each says from there."""

    prompt: str
    at: int
    first: str
    second: str


@dataclass(frozen=True)
class Comparison:
    """Two passes over the same prompts; `failed` are prompts without an answer in either."""

    name: str
    equal: int
    failed: int
    differences: tuple[Difference, ...]

    @property
    def prompts(self) -> int:
        """Prompts in all."""
        return self.equal + self.failed + len(self.differences)


def ask_repeatedly(
    model: Model,
    prepared: Sequence[Prepared],
    engine: Engine | None,
    batches: tuple[int, int],
    *,
    patience: Patience | None = None,
    say: Callable[[str], None],
) -> list[Pass]:
    """Ask all of `prepared` twice at each batch size, one after the other, of one start of the engine.

    Without an engine (the reference solver) the gold outputs are the answers. The batch size is the number of requests
    in flight; how many an engine really computes together is its own affair.

    Raises:
        LongtrekError: the engine did not start, or ended.
    """
    if engine is None:
        golds = [reference_outcome(one.request, time.time()) for one in prepared]
        none = EngineFacts()
        return [_pass(batch, number, golds, 0.0, none, none) for batch in batches for number in (1, 2)]
    say(f"{model.name}: starting {model.engine}")
    door = engine.start()
    made = []
    try:
        for batch in batches:
            for number in (1, 2):
                before = engine_facts(door) if engine.ours else EngineFacts()
                began = time.monotonic()
                outcomes = _outcomes(replace(model, max_concurrency=batch), engine, door, prepared, patience)
                took = time.monotonic() - began
                after = engine_facts(door) if engine.ours else EngineFacts()
                made.append(_pass(batch, number, outcomes, took, before, after))
    except EngineDied:
        raise LongtrekError(f"model {model.name}: the engine ended. Its log:\n{engine.log_tail()}") from None
    finally:
        engine.stop()
    return made


def _outcomes(
    model: Model, engine: Engine, door: Any, prepared: Sequence[Prepared], patience: Patience | None
) -> list[Outcome]:
    found: dict[str, Outcome] = {}
    pending = {str(place): one for place, one in enumerate(prepared)}
    need = sum(one.needed_tokens for one in prepared)
    job = Job(model, engine, patience or Patience(), lambda key, _, outcome: found.__setitem__(key, outcome))
    with Progress(f"{model.name}, batch {model.max_concurrency}", len(pending), need) as progress:
        job.run(door, pending, progress)
    return [found[key] for key in pending]


def _pass(
    batch: int, number: int, outcomes: Sequence[Outcome], took: float, before: EngineFacts, after: EngineFacts
) -> Pass:
    tokens = sum((one.usage or {}).get("completion_tokens") or 0 for one in outcomes)
    cached = queried = None
    if after.prefix_hits is not None and after.prefix_queries is not None:
        cached = after.prefix_hits - (before.prefix_hits or 0)
        queried = after.prefix_queries - (before.prefix_queries or 0)
    answers = tuple(None if one.fault else (one.reasoning or "") + one.text for one in outcomes)
    return Pass(batch, number, answers, round(took, 2), tokens, cached, queried)


def compare_all(prompts: Sequence[str], passes: Sequence[Pass]) -> list[Comparison]:
    """The passes held against each other: each batch size with itself, then the two with one another."""
    small, small_again, large, large_again = passes
    return [
        compare(f"batch {small.batch}, asked twice", prompts, small, small_again),
        compare(f"batch {large.batch}, asked twice", prompts, large, large_again),
        compare(f"batch {small.batch} against {large.batch}", prompts, small_again, large_again),
    ]


def compare(name: str, prompts: Sequence[str], one: Pass, other: Pass) -> Comparison:
    """Compare two passes text by text, character by character."""
    differences, failed = [], 0
    for prompt, first, second in zip(prompts, one.answers, other.answers, strict=True):
        if first is None or second is None:
            failed += 1
        elif first != second:
            at = parting(first, second)
            differences.append(Difference(prompt, at, first[at : at + AROUND], second[at : at + AROUND]))
    return Comparison(name, len(prompts) - failed - len(differences), failed, tuple(differences))


def parting(first: str, second: str) -> int:
    """The first character at which two different texts part; the shorter one's length where one begins the other."""
    for at, (mine, yours) in enumerate(zip(first, second, strict=False)):
        if mine != yours:
            return at
    return min(len(first), len(second))


def lines(passes: Sequence[Pass], comparisons: Sequence[Comparison]) -> list[str]:
    """Both tables as text: what each pass took, and how many answers differ."""
    told = [f"{'pass':<26}{'seconds':>9}{'tokens':>8}{'from the prefix cache':>34}"]
    for one in passes:
        cached = "not known" if one.queried is None else f"{one.cached:,} of {one.queried:,} prompt tokens"
        told.append(f"{one.name:<26}{one.seconds:>9.1f}{one.tokens:>8,}{cached:>34}")
    told += ["", f"{'compared':<26}{'equal':>9}{'differ':>8}{'failed':>8}{'first difference at character':>34}"]
    for found in comparisons:
        told.append(f"{found.name:<26}{found.equal:>9}{len(found.differences):>8}{found.failed:>8}{_where(found):>34}")
    return told


def _where(found: Comparison) -> str:
    places = [difference.at for difference in found.differences]
    return f"{min(places)} to {max(places)}, median {statistics.median(places):g}" if places else "–"


def as_json(
    facts: dict[str, Any], prompts: Sequence[str], passes: Sequence[Pass], comparisons: Sequence[Comparison]
) -> dict[str, Any]:
    """The whole report as one JSON object: `facts` of model and engine, passes with their answers, comparisons."""
    return {
        **facts,
        "prompts": list(prompts),
        "passes": [asdict(one) for one in passes],
        "comparisons": [
            {**asdict(found), "prompts": found.prompts, "differ": len(found.differences)} for found in comparisons
        ],
    }
