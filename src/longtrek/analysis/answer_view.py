"""One answer beside what was expected, for the terminal: `longtrek show`."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from longtrek.answers.stored import read_stored
from longtrek.errors import LongtrekError
from longtrek.messages import ELSEWHERE
from longtrek.transduction.pairing import read_documents
from longtrek.transduction.scoring import Aligned, explain, score_answer

RIGHT, WRONG = "✓", "✗"
COMPARED = 400
"""Longer records are not compared character by character."""


def view(results: Path, model: str, id: str, rule: str, wrong_only: bool = False) -> Iterator[str]:
    """The lines that show one answer: what became of it, both rules' verdicts, then record by record.

    Args:
        results: the run's folder.
        model: the model's name.
        id: the document's id, such as `arithmetic-ordered-2-4096-0`.
        rule: `paper` or `strict`: whose verdict decides what is coloured as wrong.
        wrong_only: leave out the records that are right under that rule.

    Raises:
        LongtrekError: no such document or answer.
    """
    tier = _tier(id)
    documents = results / "documents" / f"{tier}.jsonl.zst"
    if not documents.exists():
        raise LongtrekError(f"{documents}: no such file; expected the documents of a run. {ELSEWHERE}")
    document = _find(read_documents(documents), id, documents)
    answers = results / "answers" / model / "transduction" / f"{tier}.jsonl"
    if not answers.exists():
        models = sorted(file.parts[-3] for file in results.glob(f"answers/*/transduction/{tier}.jsonl"))
        raise LongtrekError(
            f"{answers}: no such file; models with answers there: {', '.join(models) or f'none yet. {ELSEWHERE}'}"
        )
    answer = _find(read_stored(answers), id, answers)
    status, score = score_answer(document, answer)
    yield from _head(model, document, answer, status)
    if score is None:
        return
    for name, verdict in (("paper", score.paper), ("strict", score.strict)):
        yield f"{name + ':':<10}{sum(verdict.correct)} of {len(verdict.correct)} records right ({verdict.accuracy:.3f})"
    records = explain(document, answer["text"])
    right = [_right(record, rule) for record in records]
    if False in right:
        yield f"{'lost at:':<10}record {right.index(False) + 1}, the first that is wrong under {rule}"
    yield ""
    yield click.style("paper strict  record", dim=True)
    for record in records:
        if not (wrong_only and _right(record, rule)):
            yield from _lines(record, rule)


def _tier(id: str) -> str:
    parts = id.rsplit("-", 2)
    if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
        raise LongtrekError(
            f"{id}: not a document's id; expected family-format-difficulty-horizon-sample, "
            "such as arithmetic-ordered-2-4096-0"
        )
    return parts[1]


def _find(rows: Iterator[dict[str, Any]], id: str, path: Path) -> dict[str, Any]:
    for row in rows:
        if row["id"] == id:
            return row
    raise LongtrekError(f"{path}: no line with id {id!r}; expected a document of the run that was asked")


def _head(model: str, document: Mapping[str, Any], answer: Mapping[str, Any], status: str) -> Iterator[str]:
    usage = answer.get("usage") or {}
    error = answer.get("error")
    yield f"{'model:':<10}{click.style(model, bold=True)}"
    yield f"{'document:':<10}{click.style(document['id'], bold=True)} ({document['records']} records)"
    source = (answer.get("provenance") or {}).get("source")
    if source:
        yield f"{'imported:':<10}from {source['file']}, line {source['line']}: made elsewhere, not asked by this run"
    yield f"{'status:':<10}{status}, finish reason {answer.get('finish_reason') or 'none'}"
    used = [(usage.get(f"{kind}_tokens"), told) for kind, told in (("prompt", "read"), ("completion", "written"))]
    if any(tokens is not None for tokens, _ in used):
        counted = (f"{'an unknown number' if tokens is None else format(tokens, ',')} {told}" for tokens, told in used)
        yield f"{'tokens:':<10}{', '.join(counted)}"
    if error:
        words = click.style(f"{error['kind']}: {error['message']}", fg="red")
        yield f"{'error:':<10}{words}"
        yield f"{'':<10}no score: a request without an answer is not a wrong answer"


def _lines(record: Aligned, rule: str) -> Iterator[str]:
    marks = f"{_mark(record.paper_correct)}     {_mark(record.strict_correct)}"
    number = f"{record.record + 1:>7}"
    if record.paper_correct and record.strict_correct:
        yield f"  {marks}    {number}  {record.expected}"
        return
    yield f"  {marks}    {number}  expected  {record.expected}"
    given = {"paper": record.paper_given, "strict": record.strict_given}
    if given["paper"] == given["strict"]:
        yield f"{'':<21}given     {_given(record.expected, given[rule], _right(record, rule))}"
        return
    for name, text in given.items():
        yield f"{'':<21}{name + ':':<10}{_given(record.expected, text, _right(record, name))}"


def _given(expected: str, given: str | None, right: bool) -> str:
    if given is None:
        return click.style("(nothing)", fg="red", italic=True)
    if right or max(len(expected), len(given)) > COMPARED:
        return click.style(given, fg="green" if right else "red")
    matcher = difflib.SequenceMatcher(None, expected, given, autojunk=False)
    return "".join(_piece(kind, expected[a:b], given[c:d]) for kind, a, b, c, d in matcher.get_opcodes())


def _piece(kind: str, expected: str, given: str) -> str:
    if kind == "equal":
        return given
    if kind == "delete":
        return click.style(expected, fg="red", strikethrough=True) if expected.strip() else expected
    return click.style(given, fg="red", bold=True, underline=True)


def _mark(right: bool) -> str:
    return click.style(RIGHT, fg="green") if right else click.style(WRONG, fg="red")


def _right(record: Aligned, rule: str) -> bool:
    return record.paper_correct if rule == "paper" else record.strict_correct
