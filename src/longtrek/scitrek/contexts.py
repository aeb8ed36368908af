"""What a question is asked about: the articles' full text or the three tables, and what fits a model's window."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from longtrek.errors import LongtrekError

Policy = Literal["refuse", "truncate"]
POLICIES: tuple[Policy, ...] = ("refuse", "truncate")

# The columns that a reader sees. `relation_id` only numbers the rows; the authors leave it out as well.
TABLE_COLUMNS = {
    "articles": ("article_id", "article_title", "title_word_count", "author_count", "reference_count"),
    "article_author": ("article_id", "author_name", "author_position"),
    "citing_cited": ("article_id_citing", "article_id_cited"),
}


def full_text(markdowns: Iterable[str]) -> str:
    """Join the articles' Markdown texts in the collection's order, a line end between them."""
    return "\n".join(text.rstrip("\n") for text in markdowns)


def tables(database: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Write a collection's three tables (Table 13) as text: a name, then lines of comma-separated values.

    Values that hold a comma or a quote are quoted, so that `John W. Fisher, III` stays one value.

    Raises:
        LongtrekError: a table or a column is missing.
    """
    return "\n\n".join(f"{name}\n{_table(name, database)}" for name in TABLE_COLUMNS)


def _table(name: str, database: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    columns = TABLE_COLUMNS[name]
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(columns)
    try:
        writer.writerows([row[column] for column in columns] for row in database[name])
    except KeyError as missing:
        raise LongtrekError(f"table {name}: {missing} is missing; expected columns {', '.join(columns)}") from None
    return sink.getvalue().rstrip("\n")


@dataclass(frozen=True)
class WindowDecision:
    """What was decided about one prompt's length; all lengths in tokens of the window's own counter.

    `action`: `fits`, `truncated` (the context's end is cut to `kept_tokens`), `refused`, or `unchecked`.
    """

    action: Literal["fits", "truncated", "refused", "unchecked"]
    prompt_tokens: int
    context_tokens: int
    kept_tokens: int

    def record(self) -> dict[str, Any]:
        """The decision as it stands beside an answer."""
        return asdict(self)


@dataclass(frozen=True)
class Window:
    """A model's window in tokens, what to do with a prompt that passes it, and how to count and cut.

    `encode` and `decode` are the counting tokenizer's; `margin` is left for the chat template's own tokens.
    Nothing is ever cut without a decision that says so.
    """

    tokens: int
    policy: Policy
    encode: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    margin: int = 64

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self.encode(text))

    def decide(self, around_tokens: int, context_tokens: int, max_tokens: int) -> WindowDecision:
        """Decide about one prompt: `around_tokens` of instructions and question, the context, and the output cap.

        A prompt that fits exactly is asked. Under `truncate` the context loses its end, as in the authors'
        scripts; where not one token of it would be left the prompt is refused all the same.
        """
        if self.policy not in POLICIES:
            raise LongtrekError(f"window policy {self.policy!r}; expected {' or '.join(POLICIES)}")
        room = self.tokens - max_tokens - self.margin - around_tokens
        prompt_tokens = around_tokens + context_tokens
        if context_tokens <= room:
            return WindowDecision("fits", prompt_tokens, context_tokens, context_tokens)
        if self.policy == "refuse" or room <= 0:
            return WindowDecision("refused", prompt_tokens, context_tokens, 0)
        return WindowDecision("truncated", prompt_tokens, context_tokens, room)

    def cut(self, text: str, tokens: int) -> str:
        """Keep a text's first tokens; a character that the cut splits is dropped."""
        kept = self.decode(self.encode(text)[:tokens]).rstrip("\ufffd")
        return kept if text.startswith(kept) else _common_start(kept, text)


def _common_start(one: str, other: str) -> str:
    for position, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return one[:position]
    return one[: len(other)]
