"""Reasoning is dropped before an answer is read, the same way under both rules.

In this order (the authors'): what follows the last `</think>`; nothing where a `<think>` was never closed; what
follows the last `final` channel of harmony output; nothing where only its `analysis` channel was begun.
"""

from collections.abc import Mapping
from typing import Any

CLOSED = "</think>"
OPENED = "<think>"
FINAL = "<|channel|>final<|message|>"
ANALYSIS = "<|channel|>analysis<|message|>"


def answer_part(text: str) -> tuple[str, bool]:
    """The answer in a model's text, and whether reasoning was begun and never ended (then the answer is empty)."""
    reasoning = Reasoning()
    kept = reasoning.follow(text)
    return ("", True) if reasoning.unclosed else (text if kept is None else kept, False)


def reasoned(row: Mapping[str, Any]) -> bool:
    """Whether an answer row holds reasoning: in a field of its own, counted in its usage, or marked in its text."""
    counted = (row.get("usage") or {}).get("reasoning_tokens")
    text = row.get("text") or ""
    return bool(row.get("reasoning") or counted) or any(mark in text for mark in (CLOSED, OPENED, ANALYSIS))


class Reasoning:
    """Follows a text piece by piece; a marker must lie whole within one piece (a line will do)."""

    def __init__(self) -> None:
        self._closed = False
        self._opened = False
        self._final = False
        self._analysis = False

    @property
    def unclosed(self) -> bool:
        """Whether the text so far, taken as a whole, is reasoning without an end."""
        if self._closed:
            return False
        return self._opened or (self._analysis and not self._final)

    def follow(self, piece: str) -> str | None:
        """Take the next piece: None where it leaves what stands so far as it was, else all that the answer now is.

        Whoever gets a string must forget every earlier piece and read that string instead.
        """
        if CLOSED in piece:
            self._closed = True
            return piece.rpartition(CLOSED)[2]
        if self._closed:
            return None
        self._opened = self._opened or OPENED in piece
        self._analysis = self._analysis or ANALYSIS in piece
        if FINAL in piece:
            self._final = True
            return piece.rpartition(FINAL)[2]
        return None
