"""The rows of a store: what is kept of an answer, a failure, and a request that cannot be asked."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from longtrek.answers.client import Outcome
from longtrek.answers.preflight import Prepared, Tokenizer
from longtrek.answers.store import Row
from longtrek.answers.stored import MOST_TOKENS


def answered_row(
    key: str, prepared: Prepared, outcome: Outcome, provenance: dict[str, Any], tokenizer: Tokenizer | None
) -> Row:
    """The row of a finished request: `answered`, or `failed` with the last fault of all attempts."""
    fault = outcome.fault
    error = None
    if fault is not None:
        error = {
            "kind": fault.kind,
            "message": fault.message[:2000],
            "http_status": fault.http_status,
            "attempts": outcome.attempts,
        }
    return {
        **_head(key, prepared),
        "text": outcome.text,
        "reasoning": outcome.reasoning,
        "status": "failed" if fault else "answered",
        "finish_reason": outcome.finish_reason,
        "usage": _usage(prepared, outcome, tokenizer),
        "fits": prepared.fits,
        "error": error,
        "timings": {
            "started": datetime.fromtimestamp(outcome.started, UTC).isoformat(timespec="milliseconds"),
            "first_token_s": None if outcome.first_token_s is None else round(outcome.first_token_s, 3),
            "total_s": round(outcome.total_s, 3),
        },
        "provenance": provenance,
    }


def not_asked_row(key: str, prepared: Prepared, provenance: dict[str, Any]) -> Row:
    """The row of a request that preflight refused: no answer, and no score."""
    error = {"kind": "window", "message": prepared.refusal, "http_status": None, "attempts": 0}
    return {
        **_head(key, prepared),
        "text": "",
        "reasoning": None,
        "status": "not_asked",
        "finish_reason": None,
        "usage": {
            "prompt_tokens": prepared.prompt_tokens,
            "completion_tokens": None,
            "cached_tokens": None,
            "reasoning_tokens": None,
            "counted_by": "preflight",
        },
        "fits": prepared.fits,
        "error": error,
        "timings": {"started": None, "first_token_s": None, "total_s": None},
        "provenance": provenance,
    }


def _head(key: str, prepared: Prepared) -> Row:
    return {"key": key, "id": prepared.request.id, "sample": prepared.request.sample}


def _usage(prepared: Prepared, outcome: Outcome, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Tokens used, by the engine's own count where the stream held one, else by the model's tokenizer.

    A stream that was ended early has no closing usage event: there cached and reasoning tokens are not known.
    """
    used = outcome.usage
    if used is not None:
        details = (used.get(f"{kind}_tokens_details") for kind in ("prompt", "completion"))
        read, written = (one if isinstance(one, dict) else {} for one in details)
        return {
            "prompt_tokens": _count(used, "prompt_tokens"),
            "completion_tokens": _count(used, "completion_tokens"),
            "cached_tokens": _count(read, "cached_tokens"),
            "reasoning_tokens": _count(written, "reasoning_tokens"),
            "counted_by": "engine",
        }
    if outcome.fault is None and tokenizer is not None:
        return {
            "prompt_tokens": prepared.prompt_tokens,
            "completion_tokens": tokenizer.count([(outcome.reasoning or "") + outcome.text])[0],
            "cached_tokens": None,
            "reasoning_tokens": None,
            "counted_by": "tokenizer",
        }
    return {
        "prompt_tokens": prepared.prompt_tokens,
        "completion_tokens": None,
        "cached_tokens": None,
        "reasoning_tokens": None,
        "counted_by": None if prepared.prompt_tokens is None else "preflight",
    }


def _count(used: Mapping[str, Any], name: str) -> int | None:
    """A server's count of tokens; None where what it sends is no such number."""
    value = used.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None
