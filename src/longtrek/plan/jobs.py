"""A job of the run, one start of an engine: what it reads and writes, and how long that takes at the assumed rates."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from longtrek.answers.model import Model

START_S = {"vllm": 180.0, "vllm-cpu": 60.0}
"""Assumed seconds until an engine is ready, beside the reading of its weights."""
WEIGHTS_PER_S = 1e9
"""Assumed bytes of weights that are read a second."""
HOUR = 3600.0


@dataclass(frozen=True)
class Job:
    """What one job takes; tokens are the model's own, as far as they are known.

    `read` is what of `tokens_in` is not served by the prefix cache. `tokens_out` holds where every answer is as
    long as the gold output, `tokens_most` where every one runs to its cap. `request` is the mean of what a request
    holds in the engine: prompt and cap. `estimated` says that prompts, too, are an estimate.
    """

    model: str
    study: str
    work: str
    prompts: int
    not_asked: int
    tokens_in: int
    read: int
    tokens_out: int
    tokens_most: int
    request: int
    estimated: bool

    def shards(self, model: Model) -> int:
        """In how many jobs of its own the model's entry asks this work."""
        return min(model.shards.get(self.work, 1), max(1, self.prompts))

    def hours(self, model: Model, weights: float, written: int) -> float | None:
        """Hours for `written` tokens of output at the entry's rates, of all its shards; None where it states none.

        Writing goes as fast as the requests that fit in flight together, at most the job's whole speed.
        """
        if not self.prompts or not model.is_asked:
            return 0.0
        if model.rates is None:
            return None
        fits = model.in_flight_tokens // max(1, self.request)
        shards = self.shards(model)
        at_once = max(1, min(model.max_concurrency, self.prompts // shards, fits))
        speed = min(model.rates.decode, at_once * model.rates.stream)
        start = START_S[model.engine] + weights / WEIGHTS_PER_S if model.engine in START_S else 0.0
        return (start * shards + self.read / model.rates.prefill + written / speed) / HOUR


@dataclass(frozen=True)
class Need:
    """What a model takes over all its jobs; `hours` and `most` are (nominal, at most), None where unknown.

    `longest` is the longest job's hours. GPU hours are hours times devices; dollars are a hosted model's.
    """

    jobs: int
    prompts: int
    not_asked: int
    tokens_in: int
    read: int
    tokens_out: int
    tokens_most: int
    hours: float | None
    hours_most: float | None
    longest: float | None
    gpu_hours: float
    gpu_hours_most: float
    dollars: float
    dollars_most: float

    def row(self) -> dict[str, Any]:
        """The need as JSON's values."""
        return asdict(self)


def need(model: Model, jobs: Iterable[Job], weights: float) -> Need:
    """Sum a model's jobs; `weights` are the bytes that each job's engine loads."""
    asked = list(jobs)
    nominal = [job.hours(model, weights, job.tokens_out) for job in asked]
    most = [job.hours(model, weights, job.tokens_most) for job in asked]
    hours, hours_most = _sum(nominal), _sum(most)
    alone = [(one or 0.0) / job.shards(model) for one, job in zip(nominal, asked, strict=True)]
    price = model.usd_per_million or {"in": 0.0, "out": 0.0}
    tokens_in, tokens_out = sum(job.tokens_in for job in asked), sum(job.tokens_out for job in asked)
    tokens_most = sum(job.tokens_most for job in asked)
    return Need(
        jobs=sum(job.shards(model) for job in asked),
        prompts=sum(job.prompts for job in asked),
        not_asked=sum(job.not_asked for job in asked),
        tokens_in=tokens_in,
        read=sum(job.read for job in asked),
        tokens_out=tokens_out,
        tokens_most=tokens_most,
        hours=hours,
        hours_most=hours_most,
        longest=None if hours is None else max(alone, default=0.0),
        gpu_hours=(hours or 0.0) * model.gpus,
        gpu_hours_most=(hours_most or 0.0) * model.gpus,
        dollars=(tokens_in * price["in"] + tokens_out * price["out"]) / 1e6,
        dollars_most=(tokens_in * price["in"] + tokens_most * price["out"]) / 1e6,
    )


def _sum(hours: list[float | None]) -> float | None:
    known = [one for one in hours if one is not None]
    return sum(known) if len(known) == len(hours) else None
