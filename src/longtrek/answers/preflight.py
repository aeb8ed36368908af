"""Before any weights load: every prompt rendered and counted as the engine will, and held against the window.

The rule, for a prompt of P tokens, a cap of C, a gold output of G and a window of W:

- P + C <= W: asked with the whole cap.
- P + C > W, but P + min(G, C) <= W: the right answer still has its room. Asked with the smaller cap W - P, which
  the answer's provenance records beside the study's cap.
- otherwise (or where no gold is known): `not_asked`, with the reason. Nothing is ever cut in silence.

`fits` says whether the gold output can be written in full under the cap that is sent.
"""

import hashlib
import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.answers.model import Model
from longtrek.answers.request import Request
from longtrek.errors import LongtrekError

# What an engine that renders prompts itself may add to the message texts, in tokens.
ENGINE_RENDERED_ALLOWANCE = 64
# No tokenizer makes longer tokens than this of articles or documents, on average; English prose has about four.
MOST_BYTES_A_TOKEN = 6
# A tokenizer holds some hundred bytes for each token while it counts.
BATCH_CHARACTERS = 8_000_000


@dataclass(frozen=True)
class Prepared:
    """A request with what preflight found; `refusal` says why it cannot be asked, or is None.

    Counts are in the model's own tokens, None where no tokenizer is at hand. `prompt_sha256` is the hash of the
    rendered prompt, or of the message texts where only the engine renders.
    """

    request: Request
    max_tokens: int
    prompt_tokens: int | None
    gold_tokens: int | None
    fits: bool | None
    prompt_sha256: str
    refusal: str | None

    @property
    def most_tokens(self) -> int:
        """Tokens that the request may hold in an engine: prompt and cap."""
        return self.prompt_size + self.max_tokens

    @property
    def prompt_size(self) -> int:
        """Prompt tokens, or a rough count (four bytes a token) where none could be made."""
        if self.prompt_tokens is not None:
            return self.prompt_tokens
        return sum(len(message["content"].encode()) for message in self.request.messages) // 4 + 1

    @property
    def needed_tokens(self) -> int:
        """Output tokens that a right answer takes, as far as is known: what progress is measured against."""
        return min(self.gold_tokens, self.max_tokens) if self.gold_tokens else self.max_tokens


class Tokenizer:
    """A model's own tokenizer and chat template, loaded without its weights."""

    def __init__(self, model: Model, folder: Path) -> None:
        self._model = model
        os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")  # that there is no PyTorch here is meant
        auto: Any = importlib.import_module("transformers").AutoTokenizer
        try:
            self._tokenizer: Any = auto.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=model.trust_remote_code
            )
        except (OSError, ValueError, ImportError) as error:
            raise LongtrekError(f"model {model.name}: no tokenizer could be read from {folder}: {error}") from None
        if model.rendering == "template" and not self._tokenizer.chat_template:
            raise LongtrekError(
                f"model {model.name}: {folder} has no chat template; if only the engine can render its prompts, set "
                "`rendering: engine` in the model's entry"
            )

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens."""
        if not texts:
            return []
        encoded = self._tokenizer(list(texts), add_special_tokens=False, return_attention_mask=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def sizes(self, request: Request) -> tuple[int, int]:
        """Tokens of a request's prompt, rendered, and of its gold output."""
        prompt, gold = self.count([self.render(request.messages), request.expected])
        return prompt + self.allowance, gold

    @property
    def allowance(self) -> int:
        """What the engine may add to a rendered prompt, in tokens."""
        return ENGINE_RENDERED_ALLOWANCE if self._model.rendering == "engine" else 0

    def encode(self, text: str) -> list[int]:
        """A text's token ids, without special tokens."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=False)
        return text

    def render(self, messages: list[dict[str, str]], **switched: Any) -> str:
        """Render messages as the engine will: the chat template with the entry's arguments."""
        if self._model.rendering == "engine":
            return "\n".join(message["content"] for message in messages)
        arguments = {**self._model.template_args, **switched}
        rendered: str = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **arguments
        )
        return rendered

    def check(self, messages: list[dict[str, str]]) -> None:
        """Check one rendered prompt: begin-of-text exactly as often as it should be, and thinking as the entry says.

        Raises:
            LongtrekError: a second begin-of-text token or none where there should be one; a template that ignores
                the switch that turns thinking off or on, or opens a thought where the model must not think.
        """
        if self._model.rendering == "engine":
            return
        rendered = self.render(messages)
        self._check_begin_of_text(rendered)
        self._check_thinking(messages, rendered)

    def _check_begin_of_text(self, rendered: str) -> None:
        token = self._tokenizer.bos_token_id
        if token is None:
            return
        ids = self._tokenizer(rendered, add_special_tokens=False)["input_ids"]
        found = 0
        while found < len(ids) and ids[found] == token:
            found += 1
        adds = self._tokenizer("", add_special_tokens=True)["input_ids"][:1] == [token]
        expected = self._model.begin_of_text
        allowed = {expected} if expected is not None else {1} if adds else {0, 1}
        if found not in allowed:
            raise LongtrekError(
                f"model {self._model.name}: a rendered prompt starts with {found} begin-of-text tokens "
                f"({self._tokenizer.bos_token!r}), expected {' or '.join(map(str, sorted(allowed)))}; it starts "
                f"{rendered[:80]!r}. Mend the chat template, or, if it is meant, "
                "state `begin_of_text` in the model's entry"
            )

    def _check_thinking(self, messages: list[dict[str, str]], rendered: str) -> None:
        thinking = self._model.thinking
        switches = {name: not value for name, value in self._model.template_args.items() if isinstance(value, bool)}
        if thinking == "off" and not switches:
            raise LongtrekError(
                f"model {self._model.name}: thinking is off, but template_args names no switch (true or false); name "
                "the template's switch, or set `thinking: none`"
            )
        if thinking != "none" and switches and self.render(messages, **switches) == rendered:
            raise LongtrekError(
                f"model {self._model.name}: the chat template ignores {', '.join(switches)}: the prompt is the same "
                "with thinking on and off; read the template for the name of its switch"
            )
        tail = rendered[rendered.rfind("<think>") :] if "<think>" in rendered[-200:] else ""
        if thinking != "on" and tail and "</think>" not in tail:
            raise LongtrekError(
                f"model {self._model.name}: thinking is {thinking}, but the rendered prompt ends in an open thought: "
                f'{rendered[-80:]!r}; name the template\'s switch in template_args, or set `thinking: "on"`'
            )


def preflight(model: Model, requests: Sequence[Request], tokenizer: Tokenizer | None) -> list[Prepared]:
    """Render, count and judge every request; in the given order.

    Without a tokenizer (a hosted model, the reference solver) nothing is counted, and refused only what can be said
    to be too long without a tokenizer.
    """
    if tokenizer is None:
        return [_uncounted(model, request) for request in requests]
    if requests:
        tokenizer.check(requests[0].messages)
    return [one for batch in batches(requests) for one in _counted(model, batch, tokenizer)]


def batches(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """Requests in their order, so many at a time as hold `BATCH_CHARACTERS` of prompts: counts take memory."""
    held: list[Request] = []
    size = 0
    for request in requests:
        length = sum(len(message["content"]) for message in request.messages)
        if held and size + length > BATCH_CHARACTERS:
            yield held
            held, size = [], 0
        held.append(request)
        size += length
    if held:
        yield held


def _counted(model: Model, requests: list[Request], tokenizer: Tokenizer) -> list[Prepared]:
    """Render, count and judge a few requests; equal prompts (the samples of a question) are counted once."""
    rendered = [tokenizer.render(request.messages) for request in requests]
    once = list(dict.fromkeys(rendered))
    prompts = dict(zip(once, tokenizer.count(once), strict=True))
    golds = tokenizer.count([request.expected for request in requests])
    return [
        judge(model, request, prompts[text] + tokenizer.allowance, gold if request.expected else None, _sha256(text))
        for request, text, gold in zip(requests, rendered, golds, strict=True)
    ]


def judge(model: Model, request: Request, prompt_tokens: int, gold_tokens: int | None, prompt_sha256: str) -> Prepared:
    """Hold one counted request against the model's window and its bound on output."""
    cap = _cap(model, request)
    window = model.window if model.window is not None else prompt_tokens + cap
    needed = cap if gold_tokens is None else min(gold_tokens, cap)
    sent = min(cap, window - prompt_tokens)
    refusal = None
    if sent < max(1, needed):
        refusal = (
            f"{prompt_tokens} prompt tokens and {needed} of output do not fit the window of {window}"
            f" ({'cap' if gold_tokens is None else 'gold output'} {gold_tokens or cap}, cap {cap})"
        )
        sent = cap
    fits = None if gold_tokens is None else refusal is None and gold_tokens <= sent
    return Prepared(request, sent, prompt_tokens, gold_tokens, fits, prompt_sha256, refusal)


def _uncounted(model: Model, request: Request) -> Prepared:
    text = "\n".join(message["content"] for message in request.messages)
    size, refusal = len(text.encode()), None
    if model.window is not None and size > MOST_BYTES_A_TOKEN * model.window:
        refusal = (
            f"{size:,} bytes of prompt are more than {MOST_BYTES_A_TOKEN} for each token of the window of "
            f"{model.window:,}, so that they cannot fit, whatever the tokenizer"
        )
    return Prepared(request, _cap(model, request), None, None, None, _sha256(text), refusal)


def _cap(model: Model, request: Request) -> int:
    bound = model.sampling.max_tokens
    return request.max_tokens if bound is None else min(request.max_tokens, bound)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
