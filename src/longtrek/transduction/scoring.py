"""Scores of one answer to one document, record by record, under both rules (Section 2 and Appendix B).

`correct`: the record is right. `copied`: the input was reproduced. `consistent`: the line agrees with itself (an
equation that holds, a sorted list, words that exist in the pool). See `paper_rule` and `strict_rule` for what each
rule means by them; where a rule has no such notion for a family, the whole list is None.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.transduction import paper_rule, strict_rule
from longtrek.transduction.gold import Gold, gold_of
from longtrek.transduction.pairing import paired, row_status
from longtrek.transduction.readers import Reader
from longtrek.transduction.reasoning import answer_part
from longtrek.transduction.statuses import is_refusal, loop_at

VERSIONS = {"paper": paper_rule.VERSION, "strict": strict_rule.VERSION}


@dataclass(frozen=True)
class RuleScore:
    """One rule's marks: a bool for each expected record, in order; None for a notion that does not exist."""

    rule: str
    correct: list[bool]
    copied: list[bool] | None
    consistent: list[bool] | None

    @property
    def accuracy(self) -> float:
        """Share of records that are correct."""
        return sum(self.correct) / len(self.correct)

    @property
    def complete(self) -> bool:
        """Whether every record is correct."""
        return all(self.correct)


@dataclass(frozen=True)
class Score:
    """One answer's score under both rules.

    `status` is one of `statuses.SCORED`; `loop_at` counts the answer's non-blank lines from 0 to where the loop begins.
    """

    paper: RuleScore
    strict: RuleScore
    status: str
    loop_at: int | None


@dataclass(frozen=True)
class Aligned:
    """One expected record beside what the answer gives for it under each rule (None: nothing)."""

    record: int
    input: str | None
    expected: str
    paper_given: str | None
    strict_given: str | None
    paper_correct: bool
    strict_correct: bool


def score(document: Mapping[str, Any], text: str, finish_reason: str | None = None) -> Score:
    """Score an answer's text; `finish_reason` only decides whether the status is `truncated`.

    Raises:
        LongtrekError: the document lacks a field or its expected text is not of its family's shape.
    """
    gold = gold_of(document)
    answer, unclosed = answer_part(text)
    lines = answer.split("\n")
    paper, strict = _read(gold, lines)
    looped = loop_at(lines, gold)
    if unclosed:
        status = "unclosed_reasoning"
    elif not answer.strip():
        status = "empty"
    elif looped is not None:
        status = "loop"
    elif finish_reason == "length":
        status = "truncated"
    else:
        status = "refusal" if is_refusal(answer, strict.read, gold) else "scored"
    return Score(_rule_score("paper", paper), _rule_score("strict", strict), status, looped)


def explain(document: Mapping[str, Any], text: str) -> list[Aligned]:
    """Align an answer with what was expected, one row a record, under both rules."""
    gold = gold_of(document)
    paper, strict = _read(gold, answer_part(text)[0].split("\n"))
    columns = zip(
        gold.inputs,
        [cell for row in gold.cells for cell in row] or gold.lines,
        paper.given(),
        strict.given(),
        [marks[0] for marks in paper.marks()],
        [marks[0] for marks in strict.marks()],
        strict=True,
    )
    return [Aligned(record, *row) for record, row in enumerate(columns)]


def score_answer(document: Mapping[str, Any], row: Mapping[str, Any] | None) -> tuple[str, Score | None]:
    """The status and the score of a document's answer row; no score where no answer was received.

    Statuses are those of `statuses.SCORED`, or `failed`, `not_asked`, and `missing` where there is no row.
    """
    status = row_status(row)
    if status != "answered" or row is None:
        return status, None
    scored = score(document, row["text"], row.get("finish_reason"))
    if scored.status == "empty" and row.get("reasoning"):
        return "unclosed_reasoning", scored
    return scored.status, scored


def score_transduction(documents: Path, answers: Path) -> Iterator[dict[str, Any]]:
    """Score a file of answers against a file of documents, one result a document, in the documents' order.

    Documents are this kit's JSON lines or the authors' prepared ones; answers are JSON lines with `id` and `text`, and
    `status` and `finish_reason` where known. A document without an answer has the status `missing` and, like one whose
    request failed or was not sent, no score. Holds one document and one answer at a time, and each answer's position.

    Raises:
        LongtrekError: an answer's id is unknown or given twice, a line lacks a field, or documents of both kinds
            stand in one file.
    """
    for document, row in paired(documents, answers):
        status, scored = score_answer(document, row)
        yield {
            "id": document["id"] if row is None else row["id"],
            "status": status,
            "paper": _as_json(scored.paper) if scored else None,
            "strict": _as_json(scored.strict) if scored else None,
            "loop_at": scored.loop_at if scored else None,
            "finish_reason": row.get("finish_reason") if row else None,
        }


def _as_json(scored: RuleScore) -> dict[str, Any]:
    return {
        "rule": scored.rule,
        "accuracy": scored.accuracy,
        "complete": scored.complete,
        "correct": scored.correct,
        "copied": scored.copied,
        "consistent": scored.consistent,
    }


def _read(gold: Gold, lines: list[str]) -> tuple[Reader, Reader]:
    readers = (paper_rule.reader(gold), strict_rule.reader(gold))
    for reader in readers:
        for line in lines:
            reader.take(line)
            if reader.full:
                break
    return readers


def _rule_score(name: str, reader: Reader) -> RuleScore:
    correct, copied, consistent = zip(*reader.marks(), strict=True)
    return RuleScore(VERSIONS[name], list(correct), _notion(copied), _notion(consistent))


def _notion(marks: tuple[bool | None, ...]) -> list[bool] | None:
    return None if None in marks else [bool(mark) for mark in marks]
