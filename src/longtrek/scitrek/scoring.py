"""The two scoring rules of SciTrek's answers, and the scoring of answers that were made elsewhere.

`paper-1` is the paper's exact match and F1 (Section 4), flaws included; `strict-1` is ours.
"""

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.scitrek.answer_parts import NULL, Key, covers, extract, fragments, key, readings, snapped

PAPER_RULE = "paper-1"
STRICT_RULE = "strict-1"
ORDERS = ("any", "ties", "total")
STATUSES = ("answered", "failed", "not_asked")

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_FIRST_BRACE = re.compile(r"\\boxed\{(.*?)\}")


@dataclass(frozen=True)
class PaperScore:
    """Exact match (0 or 1) and F1 (0 to 1) of one answer."""

    exact_match: int
    f1: float


@dataclass(frozen=True)
class StrictScore:
    """One answer under the strict rule; `parts_f1` compares multisets of fragments, whatever their order."""

    correct: bool
    parts_f1: float
    null: bool
    empty: bool
    compliant: bool
    unclosed_reasoning: bool


@dataclass(frozen=True)
class Gold:
    """A question's right answer, ready to compare: rows of fragments, and which rows may be permuted.

    `assumed` names what the question did not say: `order` (then any order is right) and `parts` (then each
    fragment of the answer text is taken as one value, so that a title with commas is several).
    """

    text: str
    rows: tuple[tuple[Key, ...], ...]
    group: tuple[int, ...]
    order: str
    scalar: bool
    assumed: tuple[str, ...]

    @property
    def fragments(self) -> list[Key]:
        """All fragments, in the answer's order."""
        return [fragment for row in self.rows for fragment in row]


def normalised(text: str) -> str:
    """Fold a text as the paper's metrics do: lower case, ASCII punctuation and a/an/the removed, spaces folded."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_WITHOUT_PUNCTUATION)).split())


def score_paper(gold: str, answer: str) -> PaperScore:
    """Score one answer by `paper-1`: exact match, and F1 over the sets of tokens.

    A space is put after each comma of the *answer* first, as the authors do, which is why `1,234` ≠ `1234`.
    Where either side has no token, F1 is 0 (exact match may still be 1).
    """
    respaced = ", ".join(piece.strip() for piece in " ".join(answer.split()).split(","))
    ours, theirs = normalised(respaced), normalised(gold)
    given, right = set(ours.split()), set(theirs.split())
    common = len(given & right)
    return PaperScore(int(ours == theirs), 2 * common / (len(given) + len(right)) if common else 0.0)


def paper_answer(text: str, reasoning: bool) -> str:
    """Take the answer that the paper scores: all of a direct answer, the last box of a reasoned one.

    The box ends at its first closing brace, nested or not, and is the empty string where there is none: so
    the authors' scripts read answers to their reasoning prompts.
    """
    if not reasoning:
        return text
    # What stands after a line's last closing brace cannot be in a box; a loop of `\\boxed{` would cost minutes.
    closed = "\n".join(line[: line.rfind("}") + 1] for line in text.split("\n"))
    boxes: list[str] = _FIRST_BRACE.findall(closed)
    return boxes[-1] if boxes else ""


def gold_of(question: dict[str, Any]) -> Gold:
    """Read a question's right answer.

    Args:
        question: at least `answer`. `order` (any, ties, total) says what order is required, `ties` lists groups
            of row positions that may be permuted, `parts` the answer's rows (a list of values, or of rows of
            values), `columns` the values a row has where `parts` is not known (default 1), `skill` sharpens
            the format check.

    Raises:
        LongtrekError: a field does not fit; the message names the question.
    """
    name = f"question {question.get('id')!r}"
    if not isinstance(question.get("answer"), str):
        raise LongtrekError(f"{name}: `answer` is {question.get('answer')!r}; expected a text (NULL for no answer)")
    text: str = question["answer"]
    assumed = [what for what in ("order", "parts") if question.get(what) is None]
    order = question.get("order") or "any"
    if order not in ORDERS:
        raise LongtrekError(f"{name}: order {order!r}; expected one of {', '.join(ORDERS)}")
    rows = _rows(question, name)
    if not rows:
        raise LongtrekError(f"{name}: the answer {text!r} holds no value; write NULL for an empty result")
    aggregated = str(question.get("skill")).replace("+", "_") in ("aggregating", "filtering_aggregating")
    return Gold(text, rows, _groups(order, question.get("ties"), len(rows), name), order,
                len(rows) == 1 and aggregated, tuple(assumed))  # fmt: skip


def _rows(question: dict[str, Any], name: str) -> tuple[tuple[Key, ...], ...]:
    parts = question.get("parts")
    pieces = fragments(question["answer"])
    if parts is not None and not (parts == [] and pieces == [NULL]):
        return _given_rows(parts, pieces, name)
    columns = 1 if pieces == [NULL] else question.get("columns") or 1
    if type(columns) is not int or columns < 1:
        raise LongtrekError(f"{name}: `columns` is {columns!r}; expected how many values a row has")
    if len(pieces) % columns:
        raise LongtrekError(f"{name}: {len(pieces)} values do not fill rows of {columns}; give the rows as `parts`")
    return tuple(tuple(pieces[start : start + columns]) for start in range(0, len(pieces), columns))


def _given_rows(parts: Any, pieces: Sequence[Key], name: str) -> tuple[tuple[Key, ...], ...]:
    if not isinstance(parts, list | tuple):
        raise LongtrekError(f"{name}: `parts` is {parts!r}; expected the answer's rows as a list")
    values = [row if isinstance(row, list | tuple) else [row] for row in parts]
    odd = [value for row in values for value in row if value is not None and type(value) not in (str, int, float)]
    if odd:
        raise LongtrekError(f"{name}: `parts` holds {odd[0]!r}; expected texts, numbers and null, in one list a row")
    texts = [", ".join("NULL" if value is None else str(value) for value in row) for row in values]
    found = tuple(tuple(fragments(text)) for text in texts)
    if () in found:
        raise LongtrekError(f"{name}: row {found.index(())} of `parts` is empty; write NULL for a missing value")
    if [fragment for row in found for fragment in row] != list(pieces):
        raise LongtrekError(f"{name}: `parts` are not the values of `answer`, in its order; one of the two is wrong")
    return found


def _groups(order: str, ties: Any, rows: int, name: str) -> tuple[int, ...]:
    if order == "any":
        return (0,) * rows
    group = list(range(rows))
    for tied in _tied(ties, rows, name) if order == "ties" else ():
        for position in tied:
            group[position] = rows + min(tied)
    return tuple(group)


def _tied(ties: Any, rows: int, name: str) -> list[list[int]]:
    listed = ties if isinstance(ties, list | tuple) else ()
    groups = [list(tied) if isinstance(tied, list | tuple) else [] for tied in listed]
    places = [position for tied in groups for position in tied]
    if not groups or not all(groups) or any(type(position) is not int for position in places):
        raise LongtrekError(
            f"{name}: order is 'ties' and `ties` is {ties!r}; expected lists of the rows that may be permuted: [[0, 1]]"
        )
    if len(set(places)) < len(places) or min(places) < 0 or max(places) >= rows:
        raise LongtrekError(
            f"{name}: ties name positions {places}; expected each once, and the answer has rows 0 to {rows - 1}"
        )
    return groups


def score_strict(gold: Gold, text: str, reasoning: bool = False) -> StrictScore:
    """Score one answer text by `strict-1`.

    The answer is right when one of its readings is the right answer's rows, in an order that the question
    allows, nothing missing and nothing more. `compliant` says whether the answer keeps the asked form: parts
    of the right kind, one value where one is asked, a box where the prompt wanted one (Table 17); NULL and
    empty answers are not judged and count as compliant.
    """
    found = extract(text)
    right = gold.fragments
    meanings = [snapped(reading, right) for reading in readings(found.text)]
    correct = any(covers(reading, gold.rows, gold.group) for reading in meanings)
    null = meanings[0] == [NULL]
    empty = not meanings[0]
    compliant = correct or null or empty or _keeps_form(gold, meanings)
    return StrictScore(correct, max(_parts_f1(reading, right) for reading in meanings), null, empty,
                       compliant and (found.boxed or not reasoning or empty), found.unclosed_reasoning)  # fmt: skip


def _parts_f1(answer: Sequence[Key], gold: Sequence[Key]) -> float:
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0


def _keeps_form(gold: Gold, meanings: Sequence[Sequence[Key]]) -> bool:
    asked = {isinstance(fragment, str) for fragment in gold.fragments}
    return any(
        not (gold.scalar and len(reading) > len(gold.rows[0]))
        and not _wraps(reading, gold)
        and (len(asked) == 2 or gold.text == "NULL" or _same_kind(reading, asked == {True}))
        for reading in meanings
    )


def _wraps(reading: Sequence[Key], gold: Gold) -> bool:
    """Whether a right part is told in a sentence (`"…" has 51 references`) rather than given."""
    right = [fragment for fragment in gold.fragments if isinstance(fragment, str) and " " in fragment]
    told = [fragment for fragment in reading if isinstance(fragment, str) and fragment not in right]
    return any(part in one and len(one.split()) > len(part.split()) + 1 for one in told for part in right)


def _same_kind(reading: Sequence[Key], text: bool) -> bool:
    """Numbers where numbers are asked; at least one text where texts are (a title may hold a number)."""
    texts = [isinstance(fragment, str) for fragment in reading]
    return any(texts) if text else not any(texts)


@dataclass
class Tally:
    """What a question's answers add up to; it keeps sums and no texts, so that a file of any length fits."""

    gold: Gold
    asked: int = 0
    answered: int = 0
    failed: int = 0
    not_asked: int = 0
    truncated: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, answer: dict[str, Any], reasoning: bool) -> None:
        """Count one answer row: `text`, and where known `status`, `finish_reason`, `error`."""
        self.asked += 1
        error = answer.get("error")
        status = answer.get("status") or ("failed" if error else "answered")
        if status not in STATUSES:
            raise LongtrekError(
                f"answer to {answer.get('id')!r}: status {status!r}; expected one of {', '.join(STATUSES)}"
            )
        if status != "answered":
            self.failed += status == "failed"
            self.not_asked += status == "not_asked"
            kind = error.get("kind") or "unknown" if isinstance(error, dict) else error or status
            self.errors[str(kind).encode(errors="backslashreplace").decode()] += 1
            return
        text = answer.get("text")
        if not isinstance(text, str):
            raise LongtrekError(f"answer to {answer.get('id')!r}: `text` is {text!r}; expected a text, or an `error`")
        self.answered += 1
        self.truncated += answer.get("finish_reason") == "length"
        paper = score_paper(self.gold.text, paper_answer(text, reasoning))
        strict = score_strict(self.gold, text, reasoning)
        self._sum(exact_match=paper.exact_match, f1=paper.f1, correct=strict.correct, parts_f1=strict.parts_f1)
        self._sum(null=strict.null, empty=strict.empty, non_compliant=not strict.compliant)
        self._sum(unclosed_reasoning=strict.unclosed_reasoning)

    def _sum(self, **values: float) -> None:
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    @property
    def status(self) -> str:
        """`scored` where at least one answer came; else `failed`, `not_asked` or `missing`."""
        if self.answered:
            return "scored"
        if self.failed:
            return "failed"
        return "not_asked" if self.not_asked else "missing"

    def mean(self, name: str) -> float | None:
        """The mean over all samples asked: a failed one is in the denominator. None where none was answered."""
        return self.sums[name] / self.asked if self.answered else None


def is_reasoning(answer: dict[str, Any], question: dict[str, Any]) -> bool:
    """Whether an answer is known to come from a reasoning prompt: `prompt` of its row or question says so."""
    return str(answer.get("prompt") or question.get("prompt") or "").startswith("reasoning")


def score_scitrek(questions: Path, answers: Path) -> Iterator[dict[str, Any]]:
    """Score answers that were made elsewhere; yields one row a question, in the questions' order.

    Args:
        questions: JSON lines with `id`, `answer`, and what is known of `order`, `ties`, `parts`, `skill`, `prompt`.
        answers: JSON lines with `id`, `text` (several an id), and what is known of `status`, `finish_reason`,
            `error`, `prompt`. Read as a stream: memory grows with the questions only.

    Scores are means over the samples asked; null where none was answered.

    Raises:
        LongtrekError: two questions share an id, an answer's question is unknown, or a row lacks a field.
    """
    tallies: dict[str, Tally] = {}
    prompts: dict[str, dict[str, Any]] = {}
    for line in read_jsonl(questions):
        name = _identity(line, questions)
        if name in tallies:
            raise LongtrekError(f"{questions}: two questions have the id {name!r}; ids must differ")
        tallies[name] = Tally(gold_of(line))
        prompts[name] = {"prompt": line.get("prompt")}
    for answer in read_jsonl(answers):
        name = _identity(answer, answers)
        if name not in tallies:
            raise LongtrekError(f"{answers}: the answer's id {name!r} is no question of {questions}; check the files")
        tallies[name].add(answer, is_reasoning(answer, prompts[name]))
    for name, tally in tallies.items():
        yield _scored_row(name, tally)


def _identity(line: Any, path: Path) -> str:
    if not isinstance(line, dict) or not isinstance(line.get("id"), str | int):
        raise LongtrekError(f"{path}: a line without an `id`: {str(line)[:80]}")
    name = str(line["id"])
    if not name.isprintable():
        raise LongtrekError(f"{path}: the id {name!a} holds characters that cannot be printed; give it another")
    return name


def _scored_row(name: str, tally: Tally) -> dict[str, Any]:
    gold = tally.gold
    return {
        "id": name,
        "status": tally.status,
        "samples": {
            "asked": tally.asked,
            "answered": tally.answered,
            "failed": tally.failed,
            "not_asked": tally.not_asked,
            "truncated": tally.truncated,
        },
        "errors": dict(tally.errors),
        "paper": {"rule": PAPER_RULE, "exact_match": tally.mean("exact_match"), "f1": tally.mean("f1")},
        "strict": {
            "rule": STRICT_RULE,
            "correct": tally.mean("correct"),
            "parts_f1": tally.mean("parts_f1"),
            "order": gold.order,
            "assumed": list(gold.assumed),
            "null": tally.mean("null"),
            "empty": tally.mean("empty"),
            "compliant": None if not tally.answered else 1 - tally.sums["non_compliant"] / tally.answered,
        },
        "null_gold": key(gold.text) == NULL,
    }
