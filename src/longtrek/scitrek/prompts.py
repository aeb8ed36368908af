"""SciTrek's prompts (Figures 3 and 5 to 8): text files with `{placeholders}`, and the requests made with them."""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.answers.request import Request
from longtrek.errors import LongtrekError
from longtrek.paths import shipped
from longtrek.scitrek.contexts import Window, WindowDecision

FOLDER = Path("config/prompts/scitrek")
CONTEXTS = ("full_text", "tables")
PROMPTS = ("direct", "reasoning")

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt file: its name, its text, and the SHA-256 of its bytes, which goes with every answer."""

    name: str
    text: str
    sha256: str

    @property
    def placeholders(self) -> frozenset[str]:
        """The names in braces that `fill` replaces; other braces are text."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    def fill(self, **values: str) -> str:
        """Put the values in, in one pass: braces inside an article or a question are left as they are.

        Raises:
            LongtrekError: a placeholder of the file has no value, or a value no placeholder.
        """
        if self.placeholders != values.keys():
            found, given = ", ".join(sorted(self.placeholders)), ", ".join(sorted(values))
            raise LongtrekError(f"prompt {self.name}: the file holds {{{found}}}, the values are {{{given}}}")
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


@functools.cache
def prompt(name: str, folder: Path) -> Prompt:
    """Read a prompt file by name (`direct_full_text`); a relative folder is looked for in the kit's root."""
    path = shipped(folder) / f"{name}.txt"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise LongtrekError(f"{path}: no such prompt file; expected one text file a prompt") from None
    return Prompt(name, data.decode().rstrip("\n"), hashlib.sha256(data).hexdigest())


def question_prompt(kind: str, context: str, folder: Path) -> Prompt:
    """The prompt of one setting: direct or reasoning, on full text (Figures 6, 7) or tables (Figures 7, 8)."""
    if kind not in PROMPTS or context not in CONTEXTS:
        known = f"{' or '.join(PROMPTS)} on {' or '.join(CONTEXTS)}"
        raise LongtrekError(f"no prompt for {kind!r} on {context!r}; expected {known}")
    return prompt(f"{kind}_{context}", folder)


def request_id(question: str, context: str, kind: str) -> str:
    """Name a request: `<question>/<context>/<prompt>`; `split_request_id` takes it apart."""
    return f"{question}/{context}/{kind}"


def split_request_id(identity: str) -> tuple[str, str, str]:
    """Give back question, context and prompt of a request's id."""
    parts = identity.rsplit("/", 2)
    if len(parts) != 3 or parts[1] not in CONTEXTS or parts[2] not in PROMPTS:
        raise LongtrekError(f"request id {identity!r}: expected <question>/<context>/<prompt>")
    return parts[0], parts[1], parts[2]


def question_requests(
    questions: Iterable[Mapping[str, Any]],
    contexts: Mapping[str, str],
    *,
    context: str,
    kind: str,
    samples: int,
    max_tokens: int,
    folder: Path,
    window: Window | None = None,
) -> Iterator[Request]:
    """Make the requests of one setting, `samples` for each question, questions of a collection together.

    Args:
        questions: rows with `id`, `collection`, `text`, `answer`.
        contexts: the context text of each collection; read once a collection, so a lazy mapping will do.
        context: `full_text` or `tables`; `kind`: `direct` or `reasoning`.
        samples: answers wanted a question; the paper averages three.
        max_tokens: the output cap in the model's tokens.
        folder: the prompt files.
        window: the model's window and what to do with a longer prompt; None leaves all to the preflight.

    The decision about its length stands in each request's facts, as `window`. A refused request is yielded too: the
    preflight, which counts with the model's own template, records it as not asked.
    """
    file = question_prompt(kind, context, folder)
    by_collection: dict[str, list[Mapping[str, Any]]] = {}
    for question in questions:
        by_collection.setdefault(question["collection"], []).append(question)
    for collection, members in by_collection.items():
        text = contexts[collection]
        length = window.count(text) if window else 0
        for question in members:
            body, decision = _fit(file, text, length, question["text"], max_tokens, window)
            for sample in range(samples):
                yield Request(
                    id=request_id(question["id"], context, kind),
                    messages=[{"role": "user", "content": body}],
                    max_tokens=max_tokens,
                    sample=sample,
                    prefix=f"{collection}/{context}",
                    expected=question["answer"],
                    facts={"window": decision.record()},
                )


def _fit(
    file: Prompt, text: str, length: int, question: str, max_tokens: int, window: Window | None
) -> tuple[str, WindowDecision]:
    body = file.fill(context=text, question=question)
    if window is None:
        return body, WindowDecision("unchecked", 0, 0, 0)
    around = window.count(file.fill(context="", question=question))
    decision = window.decide(around, length, max_tokens)
    if decision.action == "truncated":
        body = file.fill(context=window.cut(text, decision.kept_tokens), question=question)
    return body, decision
