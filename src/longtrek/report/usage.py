"""What answers took: tokens, time and what became of them, for one model and one paper, counted as they pass."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from longtrek.answers.stored import received
from longtrek.files import canonical_json

OWN = ("window", "prompt_sha256", "prompt_tokens", "gold_tokens", "max_tokens", "cap", "early_stop")
"""What of an answer's provenance is its own; the rest is the same for the whole job."""


@dataclass
class Usage:
    """Counts of one model's answers to one paper; tokens are the model's own."""

    answers: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    finishes: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cached_of: int = 0
    """Prompt tokens of the answers whose engine said how many of them it found in its cache."""
    uncounted: int = 0
    """Answers whose tokens nobody counted."""
    seconds: float = 0.0
    """Seconds from request to answer, added up; requests run side by side."""
    first: datetime | None = None
    last: datetime | None = None

    def add(self, status: str, answer: Mapping[str, Any] | None) -> None:
        """Count one answer, or that there is none."""
        self.answers += 1
        self.statuses[status] += 1
        answer = answer or {}
        if answer.get("status") == "answered":
            self.finishes[answer.get("finish_reason") or "not said"] += 1
            self._tokens(answer.get("usage") or {})
        self._time(answer.get("timings") or {})

    def _tokens(self, usage: Mapping[str, Any]) -> None:
        read, written, cached = (usage.get(f"{kind}_tokens") for kind in ("prompt", "completion", "cached"))
        self.uncounted += written is None
        self.prompt_tokens += read or 0
        self.completion_tokens += written or 0
        if cached is not None and read:
            self.cached_tokens += cached
            self.cached_of += read

    def _time(self, timings: Mapping[str, Any]) -> None:
        seconds = timings.get("total_s") or 0.0
        self.seconds += seconds
        if span := received(timings):
            self.first = min(self.first or span[0], span[0])
            self.last = max(self.last or span[1], span[1])

    @property
    def hit_rate(self) -> float | None:
        """Share of prompt tokens found in the prefix cache, where the engine said; None where it never did."""
        return self.cached_tokens / self.cached_of if self.cached_of else None


class Jobs:
    """The provenance that a job's answers share, each kept once: engine, weights, template, machine."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self.all: list[dict[str, Any]] = []

    def place(self, model: str, provenance: Mapping[str, Any]) -> int:
        """The place of an answer's job among all of them, from 0."""
        shared = {"answered_as": model} | {name: value for name, value in provenance.items() if name not in OWN}
        key = canonical_json(shared)
        if key not in self._places:
            self._places[key] = len(self.all)
            self.all.append(shared)
        return self._places[key]


def own(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an answer's provenance that is its own."""
    return {name: provenance[name] for name in OWN if name in provenance}
