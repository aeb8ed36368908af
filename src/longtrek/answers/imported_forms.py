"""Files of answers made elsewhere, read line by line into one form; what a line does not say stays None.

Three forms, told apart line by line:

- plain lines: `id` and `text` (or `error`), and where known `sample`, `prompt`, `reasoning`, `finish_reason`, `usage`;
- SciTrek's answer files: a question's fields, `generations` and, of thinking models, `reasonings`;
- Long-Transduction rollouts: a document's fields beside `response`, which is in the OpenAI Responses form.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.answers.stored import MOST_TOKENS
from longtrek.errors import LongtrekError
from longtrek.files import check_characters, parse_line, reading

LINES, SCITREK, RESPONSES = "lines", "scitrek", "responses"
COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
FORMS = "`id` and `text`; or a SciTrek question's fields and `generations`; or a document's fields and `response`"


@dataclass(frozen=True)
class Foreign:
    """One answer made elsewhere: where it stands, what it answers as far as it says so, and the answer itself.

    `prompt` is the whole prompt that was asked, `question` and `gold` a SciTrek question's text and its right answer.
    `error` is why there is no answer.
    """

    line: int
    form: str
    id: str | None
    text: str = ""
    sample: int | None = None
    prompt: str | None = None
    question: str | None = None
    gold: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    error: str | None = None
    model: str | None = None


def read_foreign(path: Path) -> Iterator[Foreign]:
    """Read a file of answers (`.jsonl` or `.jsonl.zst`), one at a time and in its order.

    A row of SciTrek's without generations was not finished, and yields nothing: its question stays without an answer.

    Raises:
        LongtrekError: a line is not JSON, holds half a character, or is of none of the three forms; the message names
            file and line.
    """
    seen: Counter[str] = Counter()
    with reading(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                row, where = parse_line(line, path, number), f"{path}, line {number}"
                check_characters(line, row, where)
                yield from _answers(row, number, where, seen)


def _answers(row: Any, number: int, where: str, seen: Counter[str]) -> Iterator[Foreign]:
    if isinstance(row, dict):
        if isinstance(row.get("response"), dict):
            yield rollout(row, number, where)
            return
        if "generations" in row or ("text" not in row and {"question", "answer"} <= row.keys()):
            yield from _generations(row, number, where, seen)
            return
        if "id" in row and ("text" in row or row.get("error")):
            yield _plain(row, number, where)
            return
    found = f"an object with {', '.join(sorted(row)[:8])}" if isinstance(row, dict) else f"a {type(row).__name__}"
    raise LongtrekError(f"{where}: not an answer; found {found}, expected {FORMS}")


def _plain(row: Mapping[str, Any], number: int, where: str) -> Foreign:
    failed = bool(row.get("error")) or row.get("status") in ("failed", "not_asked")
    text, sample = row.get("text"), row.get("sample")
    if not failed and not isinstance(text, str):
        raise LongtrekError(f"{where}: `text` is {text!r}; expected the answer's text, or `error` where there is none")
    if not (sample is None or (isinstance(sample, int) and not isinstance(sample, bool))):
        raise LongtrekError(f"{where}: `sample` is {sample!r}; expected a number from 0")
    return Foreign(
        line=number,
        form=LINES,
        id=str(row["id"]),
        text="" if failed else str(text),
        sample=sample,
        prompt=_text_or_none(row, "prompt", where),
        reasoning=_text_or_none(row, "reasoning", where),
        finish_reason=_text_or_none(row, "finish_reason", where),
        usage=_counts(row.get("usage"), "usage", COUNTS, where),
        error=_message(row.get("error") or row.get("status")) if failed else None,
        model=row["model"] if isinstance(row.get("model"), str) else None,
    )


def _text_or_none(row: Mapping[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise LongtrekError(f"{where}: `{name}` is {type(value).__name__}; expected text or null")
    return value


def _object(row: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    """An object that may be left out, or null."""
    value = row.get(name)
    if value is not None and not isinstance(value, dict):
        raise LongtrekError(f"{where}: `{name}` is {type(value).__name__}; expected an object or null")
    return value or {}


def _counts(usage: Any, name: str, names: Sequence[str], where: str) -> dict[str, Any] | None:
    """The tokens that a usage counts under `names`, as `COUNTS`; None where there is no usage."""
    if usage is None:
        return None
    if not isinstance(usage, dict):
        raise LongtrekError(f"{where}: `{name}` is {type(usage).__name__}; expected an object or null")
    return {kept: _count(usage, name, said, where) for kept, said in zip(COUNTS, names, strict=True)}


def _count(usage: Mapping[str, Any], name: str, said: str, where: str) -> int | None:
    value = usage.get(said)
    if value is None:
        return None
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 0 <= value <= MOST_TOKENS:
        raise LongtrekError(f"{where}: `{name}.{said}` is {value!r:.40}; expected a whole number of tokens, or null")
    return int(value)


def _message(error: Any) -> str:
    if isinstance(error, Mapping):
        return ": ".join(str(error[part]) for part in ("kind", "code", "message") if error.get(part)) or str(error)
    return str(error)


def _generations(row: Mapping[str, Any], number: int, where: str, seen: Counter[str]) -> Iterator[Foreign]:
    texts, reasonings = row.get("generations") or [], row.get("reasonings") or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise LongtrekError(f"{where}: `generations` holds {texts!r:.80}; expected a list of texts")
    if reasonings and (not isinstance(reasonings, list) or len(reasonings) != len(texts)):
        raise LongtrekError(f"{where}: {len(texts)} `generations`, but `reasonings` is not a list of as many")
    if not all(isinstance(thought, str | None) for thought in reasonings):
        raise LongtrekError(f"{where}: `reasonings` holds {reasonings!r:.80}; expected a list of texts or nulls")
    question, gold = _text_or_none(row, "question", where), _text_or_none(row, "answer", where)
    identity = str(row["id"]) if row.get("id") is not None else _numbered(_row_id(row, number, where), seen)
    for sample, text in enumerate(texts):
        yield Foreign(
            line=number,
            form=SCITREK,
            id=identity,
            text=text,
            sample=sample,
            question=question,
            gold=gold,
            reasoning=reasonings[sample] if reasonings else None,
        )


def _row_id(row: Mapping[str, Any], number: int, where: str) -> str:
    from longtrek.scitrek.released import row_id

    try:
        return row_id(row, number)
    except LongtrekError as error:
        raise LongtrekError(f"{where}: {error}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise LongtrekError(f"{where}: not a SciTrek question's fields ({error}); expected an `id`, or them") from None


def _numbered(name: str, seen: Counter[str]) -> str:
    """A released question's id; the same question once more is numbered, as the released rows themselves are."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name]}"


def rollout(row: Mapping[str, Any], number: int, where: str) -> Foreign:
    """The answer of one Long-Transduction rollout: a document's fields and a `response`.

    Raises:
        LongtrekError: the response is not in the OpenAI Responses form.
    """
    response = row["response"]
    text, reasoning = response_text(response, where)
    usage = _object(response, "usage", where)
    cached = _object(usage, "input_tokens_details", f"{where}: response.usage")
    thought = _object(usage, "output_tokens_details", f"{where}: response.usage")
    said = {**usage, "cached_tokens": cached.get("cached_tokens"), "reasoning_tokens": thought.get("reasoning_tokens")}
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    counts = _counts(said, "response.usage", names, where)
    return Foreign(
        line=number,
        form=RESPONSES,
        id=None if row.get("id") is None else str(row["id"]),
        text=text,
        prompt=_prompt(row, where),
        reasoning=reasoning or None,
        finish_reason=_finish_reason(response, counts, where),
        usage=counts if usage else None,
        error=_failure(row),
        model=_text_or_none(response, "model", where),
    )


def _prompt(row: Mapping[str, Any], where: str) -> str | None:
    from longtrek.transduction.authors import prompt_of

    try:
        prompt = prompt_of(row)
    except (AttributeError, IndexError, KeyError, TypeError):
        prompt = None
    if not isinstance(prompt, str):
        raise LongtrekError(
            f"{where}: its prompt cannot be read; expected text in `question`, or messages with text in "
            "`responses_create_params.input`"
        )
    return prompt or None


def response_text(response: Mapping[str, Any], where: str) -> tuple[str, str]:
    """The text and the reasoning of a response in the OpenAI Responses form, the pieces of all its items joined.

    Raises:
        LongtrekError: `output` is no list of items, or an item's content no list of pieces.
    """
    output = response.get("output")
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise LongtrekError(f"{where}: `response.output` is {type(output).__name__}; expected a list of items")
    text, thought = [], []
    for item in output:
        kind = _text_or_none(item, "type", f"{where}: an item of response.output") or "message"
        written = [piece for name in ("content", "summary") for piece in _pieces(item.get(name), where)]
        if kind == "reasoning":
            thought += written
        elif kind == "message":
            text += written
    return "".join(text), "".join(thought)


def _pieces(content: Any, where: str) -> list[str]:
    pieces = content or []
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        raise LongtrekError(f"{where}: an item's content is not a list of pieces; expected `content[].text`")
    texts = (_text_or_none(piece, "text", f"{where}: a piece of an item's content") for piece in pieces)
    return [text for text in texts if text is not None]


def _finish_reason(response: Mapping[str, Any], counts: Mapping[str, Any] | None, where: str) -> str | None:
    """`length` where the response says that it was cut or used up its cap, `stop` where it is complete, else None."""
    items = [item for item in response["output"] if item.get("type", "message") == "message"]
    details, cap = _object(response, "incomplete_details", where), response.get("max_output_tokens")
    written = (counts or {}).get("completion_tokens")
    used_up = isinstance(cap, int) and isinstance(written, int) and written >= cap
    if details.get("reason") == "max_output_tokens" or used_up:
        return "length"
    states = {_text_or_none(one, "status", where) for one in (response, *items)}
    if details or "incomplete" in states:
        return "length"
    return "stop" if "completed" in states else None


def _failure(row: Mapping[str, Any]) -> str | None:
    """Why a rollout holds no answer: the response's own error, or what the environment says of the request."""
    response = row["response"]
    if response.get("error") or response.get("status") in ("failed", "cancelled"):
        return _message(response.get("error") or response["status"])
    if row.get("failure_kind"):
        return ": ".join(str(row[part]) for part in ("failure_kind", "failure_reason") if row.get(part))
    return None
