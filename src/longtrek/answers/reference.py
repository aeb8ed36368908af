"""The reference solver: answers with the gold output. A check of the chain, never a model."""

from longtrek.answers.client import Outcome
from longtrek.answers.request import Request
from longtrek.answers.retry import RequestFault


def reference_outcome(request: Request, now: float) -> Outcome:
    """The gold output as an answer, or a fault where a request carries none."""
    fault = None
    if not request.expected:
        fault = RequestFault("bad_request", "the request carries no gold output")
    return Outcome(
        text=request.expected,
        reasoning=None,
        finish_reason=None if fault else "stop",
        usage=None,
        fault=fault,
        attempts=1,
        started=now,
        first_token_s=0.0,
        total_s=0.0,
    )
