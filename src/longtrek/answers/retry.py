"""What to do when an answer does not come: which faults pass, how long to wait, when to give up."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRIED = frozenset({"rate_limited", "server_error", "timeout", "cut_stream", "bad_response", "unreachable"})

# How servers say that prompt and cap exceed the window; they differ in the error's code but not in these words.
_TOO_LONG = (
    "context length",
    "context_length",
    "context window",
    "maximum model length",
    "max_model_len",
    "prompt is too long",
    "too many tokens",
    "reduce the length",
)


@dataclass(frozen=True)
class Patience:
    """Limits of one request, in seconds unless named otherwise.

    `first_s` covers queueing and reading the prompt, `idle_s` the gap between two pieces of a stream. Waits
    between attempts double from `backoff_s` to `backoff_max_s`, each drawn from its upper half. A server that
    asks for more than `retry_after_max_s` is not waited for: the request fails and a later run asks again.
    """

    attempts: int = 6
    connect_s: float = 10.0
    first_s: float = 3600.0
    idle_s: float = 600.0
    backoff_s: float = 1.0
    backoff_max_s: float = 60.0
    retry_after_max_s: float = 600.0


class RequestFault(Exception):
    """One attempt failed: its kind, what the server said, and how long it asked us to wait."""

    def __init__(
        self, kind: str, message: str, http_status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.http_status = http_status
        self.retry_after_s = retry_after_s


def fault_of_status(status: int, message: str, retry_after: str | None) -> RequestFault:
    """Name the fault of an HTTP error status: 429, 408 and 5xx pass, other 4xx do not."""
    wait = retry_after_s(retry_after)
    if status == 429:
        return RequestFault("rate_limited", message, status, wait)
    if status == 408:
        return RequestFault("timeout", message, status, wait)
    if status >= 500:
        return RequestFault("server_error", message, status, wait)
    if any(words in message.lower() for words in _TOO_LONG):
        return RequestFault("context_length", message, status)
    if status >= 400:
        return RequestFault("bad_request", message, status)
    return RequestFault("bad_response", f"HTTP status {status}: {message}", status)


def retry_after_s(value: str | None) -> float | None:
    """Read a `Retry-After` header, seconds or a date, as seconds from now; None where there is none to read."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def wait_before(attempt: int, fault: RequestFault, patience: Patience, dice: random.Random) -> float | None:
    """Seconds to wait before attempt `attempt` (the second is 2), or None to give up."""
    if fault.kind not in RETRIED or attempt > patience.attempts:
        return None
    if fault.retry_after_s is not None and fault.retry_after_s > patience.retry_after_max_s:
        return None
    longest = min(patience.backoff_max_s, patience.backoff_s * 2.0 ** (attempt - 2))
    drawn = longest * dice.uniform(0.5, 1.0)
    return max(drawn, fault.retry_after_s or 0.0)
