"""Long-Transduction's part of a plan: every document built as the run will, counted, and judged for every model."""

import concurrent.futures
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longtrek.answers.model import Model
from longtrek.answers.preflight import ENGINE_RENDERED_ALLOWANCE, Prepared, judge
from longtrek.answers.request import Request
from longtrek.answers.studies import Selection, transduction_request
from longtrek.config import Transduction
from longtrek.plan.counting import Counter, estimates
from longtrek.plan.jobs import Job
from longtrek.transduction.authors import read_documents
from longtrek.transduction.documents import Document, documents_of
from longtrek.transduction.grid import DocumentSpec, grid, groups
from longtrek.transduction.prompts import Prompts, read_prompts
from longtrek.transduction.released import named

FITS, CUT, NOT_ASKED = "fits", "gold output over the cap", "not asked"


@dataclass(frozen=True)
class Size:
    """A document's tokens by counter; `prompt` is rendered by a tokenizer at hand, else it has what templates add."""

    spec: DocumentSpec
    prefix: str
    cap: int
    prompt: Mapping[str, int]
    gold: Mapping[str, int]


@dataclass(frozen=True)
class Verdict:
    """How one document fares with one model. `sure` unless the estimate's error could change it."""

    size: Size
    prepared: Prepared
    outcome: str
    sure: bool


@dataclass(frozen=True)
class _Work:
    seed: int
    prompts: Prompts
    asked: Selection
    counters: tuple[Counter, ...]

    def __call__(self, specs: Sequence[DocumentSpec]) -> list[Size]:
        """Build and count the documents of one group that are asked."""
        documents = documents_of(specs, self.seed, self.prompts)
        return [self.size(spec, document) for spec, document in zip(specs, documents, strict=True)]

    def size(self, spec: DocumentSpec, document: Document) -> Size:
        """Count one document."""
        request = transduction_request(document, early_stop=False)
        prompt = estimates(document["prompt"], document["prompt_tokens"])
        prompt = {name: tokens + ENGINE_RENDERED_ALLOWANCE for name, tokens in prompt.items()}
        gold = estimates(document["expected"], document["expected_tokens"])
        for counter in self.counters:
            if counter.tokenizer is not None:
                prompt[counter.name], gold[counter.name] = counter.tokenizer.sizes(request)
        return Size(spec, request.prefix, request.max_tokens, prompt, gold)


_work: _Work | None = None  # what forked processes inherit: tokenizers are not sent to them


def _measured(specs: Sequence[DocumentSpec]) -> list[Size]:
    assert _work is not None
    return _work(specs)


def _measured_released(document: Document) -> list[Size]:
    assert _work is not None
    spec, made = named(document)
    return [_work.size(spec, made)] if _work.asked.holds(made) else []


def sizes(
    settings: Transduction, models: Mapping[str, Model], counters: Mapping[str, Counter], cores: int
) -> dict[int, list[Size]]:
    """Build all documents that some model is asked and count each, by horizon.

    Args:
        settings: the config's part.
        models: the models that are asked, by name.
        counters: how each model's tokens are counted.
        cores: processes.
    """
    global _work
    horizons = sorted({horizon for model in models.values() for horizon in settings.horizons_of(model)})
    own = tuple(counter for counter in counters.values() if counter.exact)
    _work = _Work(settings.seed, read_prompts(settings.prompts), settings.ask, own)
    found: dict[int, list[Size]] = {horizon: [] for horizon in horizons}
    if settings.released:
        rows = (row for row in read_documents(settings.released) if row["horizon"] in found)
        parts = list(_mapped(_measured_released, rows, cores))
    else:
        wanted = [group for horizon in horizons for group in _groups(horizon, settings.samples, settings.ask)]
        # The largest are built first, so that no core is left alone with one at the end.
        parts = list(_mapped(_measured, wanted[::-1], cores))[::-1]
    for part in parts:
        for size in part:
            found[size.spec.horizon].append(size)
    return found


def _groups(horizon: int, samples: int, asked: Selection) -> list[list[DocumentSpec]]:
    cut = [[spec for spec in group if asked.holds(vars(spec))] for group in groups(grid().specs(horizon, samples))]
    return [group for group in cut if group]


def _mapped(measure: Callable[[Any], list[Size]], wanted: Iterable[Any], cores: int) -> Iterator[list[Size]]:
    if cores == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(measure, wanted)
        return
    with concurrent.futures.ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(measure, wanted)


def verdict(model: Model, counter: Counter, size: Size) -> Verdict:
    """Judge one document as the preflight will, and whether the estimate's error could change the outcome."""
    off = counter.margin(size.spec)
    prompt, gold = size.prompt[counter.name], size.gold[counter.name]
    request = Request(size.spec.id, [], size.cap)
    judged = [
        judge(model, request, round(prompt * (1 + by * off[0])), round(gold * (1 + by * off[1])), "")
        for by in (0, -1, 1)
    ]
    outcomes = {outcome(one) for one in judged}
    return Verdict(size, judged[0], outcome(judged[0]), len(outcomes) == 1)


def outcome(prepared: Prepared) -> str:
    """What the preflight found, in words."""
    if prepared.refusal is not None:
        return NOT_ASKED
    return FITS if prepared.fits else CUT


def job(model: Model, horizon: int, verdicts: Sequence[Verdict]) -> Job:
    """The job that asks a model one tier."""
    asked = [one for one in verdicts if one.outcome != NOT_ASKED]
    tokens_in = sum(one.prepared.prompt_size for one in asked)
    read = tokens_in
    if model.prefix_caching:
        seen: set[str] = set()
        for one in asked:
            if one.size.prefix and one.size.prefix in seen:
                read -= one.prepared.prompt_size
            seen.add(one.size.prefix)
    return Job(
        model=model.name,
        study="transduction",
        work=str(horizon),
        prompts=len(asked),
        not_asked=len(verdicts) - len(asked),
        tokens_in=tokens_in,
        read=read,
        tokens_out=sum(one.prepared.needed_tokens for one in asked),
        tokens_most=sum(one.prepared.max_tokens for one in asked),
        request=sum(one.prepared.most_tokens for one in asked) // max(1, len(asked)),
        estimated=False,
    )
