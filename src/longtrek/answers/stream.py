"""Reads one streamed chat completion: text, reasoning, why it ended, and what was used."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from longtrek.answers.request import Completion
from longtrek.answers.retry import RequestFault, fault_of_status


@dataclass
class Reading:
    """What has been read of one stream so far."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    done: bool = False
    events: int = 0


async def data_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Split server-sent events into the payloads of their `data:` lines.

    Lines end at a line feed and nothing else: answers may hold U+2028 and the like, which general-purpose line
    splitters take for line ends.
    """
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
    if rest.startswith(b"data:"):
        yield rest[5:].strip()


async def read_stream(
    lines: AsyncIterator[bytes], reading: Reading, completion: Completion | None
) -> AsyncIterator[int]:
    """Take events into `reading` until the stream is done or the completion rule is satisfied.

    Yields the number of tokens received so far (the engine's count where it sends one, else events). A stream
    that the rule ends has finish reason `complete`.

    Raises:
        RequestFault: an event is not JSON or not a completion, or the server sent an error in mid-stream.
    """
    async for line in lines:
        if line == b"[DONE]":
            reading.done = True
            return
        fresh = _take(_event(line), reading)
        usage = reading.usage or {}
        yield int(usage.get("completion_tokens") or reading.events)
        ended = reading.finish_reason is not None
        if fresh and completion is not None and not ended and completion.feed(fresh):
            reading.finish_reason = "complete"
            return


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        raise RequestFault("bad_response", f"an event is not JSON: {line[:200]!r}") from None
    if not isinstance(event, dict):
        raise RequestFault("bad_response", f"an event is not an object: {line[:200]!r}")
    if "error" in event:
        error = event["error"] if isinstance(event["error"], dict) else {"message": str(event["error"])}
        code = error.get("code")
        raise fault_of_status(code if isinstance(code, int) else 500, str(error.get("message", error)), None)
    return event


def _take(event: dict[str, Any], reading: Reading) -> str:
    """Add one event to what has been read; return its piece of text."""
    if event.get("usage"):
        reading.usage = event["usage"]
    choices = event.get("choices")
    if choices is None:
        raise RequestFault("bad_response", f"an event without choices: {json.dumps(event)[:200]}")
    if not choices:
        return ""
    reading.events += 1
    delta = choices[0].get("delta") or {}
    text: str = delta.get("content") or ""
    reasoning = delta.get("reasoning_content") or delta.get("reasoning") or ""
    if text:
        reading.text.append(text)
    if reasoning:
        reading.reasoning.append(reasoning)
    reading.finish_reason = choices[0].get("finish_reason") or reading.finish_reason
    return text
