"""Reads one streamed chat completion: text, reasoning, why it ended, and what was used."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from longtrek.answers.request import Completion
from longtrek.answers.retry import RequestFault, fault_of_status

_PIECES = ("content", "reasoning_content", "reasoning")


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
        counted = (reading.usage or {}).get("completion_tokens")
        yield counted if isinstance(counted, int) and counted else reading.events
        ended = reading.finish_reason is not None
        if fresh and completion is not None and not ended and completion.feed(fresh):
            reading.finish_reason = "complete"
            return


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise RequestFault("bad_response", f"an event is not JSON: {line[:200]!r}") from None
    if not isinstance(event, dict):
        raise RequestFault("bad_response", f"an event is not an object: {line[:200]!r}")
    if "error" in event:
        error = event["error"] if isinstance(event["error"], dict) else {"message": str(event["error"])}
        code = error.get("code")
        raise fault_of_status(code if isinstance(code, int) else 500, str(error.get("message", error)), None)
    return event


def _take(event: dict[str, Any], reading: Reading) -> str:
    """Add one event to what has been read; return its piece of text.

    Raises:
        RequestFault: the event is no piece of a completion.
    """
    usage, choices = event.get("usage"), event.get("choices")
    if isinstance(usage, dict) and usage:
        reading.usage = usage
    if not isinstance(choices, list):
        raise RequestFault("bad_response", f"an event without choices: {json.dumps(event)[:200]}")
    if not choices:
        return ""
    reading.events += 1
    choice = choices[0] if isinstance(choices[0], dict) else {"delta": choices[0]}
    delta = choice.get("delta") or {}
    pieces: list[Any] = [delta.get(name) or "" if isinstance(delta, dict) else None for name in _PIECES]
    if not all(isinstance(piece, str) for piece in pieces):
        raise RequestFault("bad_response", f"a piece of an answer is not text: {json.dumps(event)[:200]}")
    text: str = pieces[0]
    reasoning: str = pieces[1] or pieces[2]
    if text:
        reading.text.append(text)
    if reasoning:
        reading.reasoning.append(reasoning)
    ended = choice.get("finish_reason")
    reading.finish_reason = str(ended) if ended else reading.finish_reason
    return text


def whole_text(pieces: list[str]) -> str:
    """Join the pieces of an answer. A character that a server cut in two (UTF-16 surrogates) is one again; a half
    that stays alone, which no file can hold, is U+FFFD.
    """
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
