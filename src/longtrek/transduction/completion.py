"""When a streamed answer's scores are settled, so that generation may stop there.

A document is complete once every record's first occurrence stands on a line that has ended, under both rules: what
follows can neither replace nor shift a record. The readers that score are the readers that watch, so the two agree.

What is claimed: for every continuation without a reasoning marker, all marks (`correct`, `copied`, `consistent`) of
both rules are those of the text so far. What is not: a `</think>`, `<think>` or harmony channel that comes later would
discard the answer; a model that has answered in full and then begins to reason is stopped before it does. `status`
and `loop_at` describe the text received; an answer stopped here cannot show a loop that would have followed.
Inside an unclosed `<think>` (or a harmony `analysis` channel) nothing is ever complete.

An answer that leaves a record out is never complete and runs to its own end or to its cap.
"""

from collections.abc import Mapping
from typing import Any

from longtrek.transduction import paper_rule, strict_rule
from longtrek.transduction.gold import gold_of
from longtrek.transduction.reasoning import Reasoning


class Completion:
    """Watches one answer to one document; the work is linear in the length of the stream."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._gold = gold_of(document)
        self._reasoning = Reasoning()
        self._tail: list[str] = []
        self._forget()

    def feed(self, delta: str) -> bool:
        """Take the next piece of text; True once no further token can change any score."""
        if "\n" in delta:
            *lines, tail = ("".join(self._tail) + delta).split("\n")
            self._tail = [tail]
            for line in lines:
                self._line(line)
        else:
            self._tail.append(delta)
        return self._complete

    @property
    def _complete(self) -> bool:
        return not self._reasoning.unclosed and self._paper.full and self._strict.full

    def _line(self, line: str) -> None:
        restart = self._reasoning.follow(line) if "<" in line else None
        if restart is not None:
            self._forget()
        kept = line if restart is None else restart
        self._paper.take(kept)
        self._strict.take(kept)

    def _forget(self) -> None:
        self._paper = paper_rule.reader(self._gold)
        self._strict = strict_rule.reader(self._gold)


def completion_of(document: Mapping[str, Any]) -> Completion:
    """A fresh watcher for one answer to a document (its JSON object)."""
    return Completion(document)
