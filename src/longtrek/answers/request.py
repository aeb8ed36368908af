"""What is asked, and the rule by which a stream may end early."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Completion(Protocol):
    """Watches one answer as it streams and says when no further token can change any score."""

    def feed(self, delta: str) -> bool:
        """Take the next piece of text; True once the answer's scores are settled."""
        ...


@dataclass(frozen=True)
class Request:
    """One prompt for one sample, with all that a study knows about it.

    `max_tokens` is the output cap in the model's own tokens. Requests with an equal, non-empty `prefix` are
    sent together so that an engine's prefix cache serves them. `expected` is the gold text: preflight counts it
    to tell whether it `fits`, and the reference solver answers with it. `completion` makes a fresh rule for one
    stream; without it the answer runs to its own end. `facts` are what the study wants to stand beside the answer,
    in its provenance; they are no part of its key.
    """

    id: str
    messages: list[dict[str, str]]
    max_tokens: int
    sample: int = 0
    prefix: str = ""
    expected: str = ""
    completion: Callable[[], Completion] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
