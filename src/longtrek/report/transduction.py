"""Long-Transduction's answers for the explorer: each held against its document, one at a time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from longtrek.answers.model import Model
from longtrek.config import Transduction
from longtrek.corpus.tables import read_table
from longtrek.errors import LongtrekError
from longtrek.report.columns import Columns
from longtrek.report.lines import packed
from longtrek.report.study import COMMON, Answers, Outcome, common_entry, common_row
from longtrek.report.usage import Usage
from longtrek.transduction.gold import FAMILIES, gold_of
from longtrek.transduction.grid import grid
from longtrek.transduction.pairing import paired
from longtrek.transduction.scoring import Aligned, explain

Row = Mapping[str, Any]
DOCUMENTS = "transduction_documents.parquet"
SCORED = ("document", "model", "status", "records", "loop_at", "error", "paper_accuracy", "strict_accuracy")
"""Columns of `transduction_documents.parquet` that the report holds against the answers."""
PERFECT = 1.0


def write_answers(part: Transduction, models: Mapping[str, Model], results: Path, folder: Path) -> Answers:
    """Write every answer of the run's models: the list to `transduction.js`, texts and documents to files beside it.

    Holds one document and one answer at a time, and a row of numbers for each answer.

    Raises:
        LongtrekError: scores and answers do not belong together.
    """
    answers = Answers(
        "transduction",
        folder,
        {name: models[name] for name in part.models},
        Columns(["model", "status", "finish"], ["item", "paper", "strict", "lost", "lost_strict", "loop", *COMMON]),
        Columns(["family", "format", "difficulty", "horizon"], ["id", "sample", "records"]),
    )
    places: dict[str, int] = {}
    for name in part.models:
        file = results / "scores" / name / DOCUMENTS
        if file.is_file():
            _write_model(
                answers, results, models[name], part.horizons_of(models[name]), places, read_table(file, *SCORED)
            )
        else:
            answers.unscored.append(name)
    formats = [form for family in grid().families.values() for form in family]
    answers.close({"family": list(FAMILIES), "format": list(dict.fromkeys(formats))})
    return answers


def _write_model(
    answers: Answers,
    results: Path,
    model: Model,
    horizons: Sequence[int],
    places: dict[str, int],
    scores: Sequence[Row],
) -> None:
    waiting = {row["document"]: row for row in scores}
    usage = Usage()
    for horizon in horizons:
        given = results / "answers" / model.name / "transduction" / f"{horizon}.jsonl"
        for document, answer in paired(results / "documents" / f"{horizon}.jsonl.zst", given, stored=True):
            row = waiting.pop(document["id"], None)
            if row is None and answer is not None:
                raise LongtrekError(f"{given}: {document['id']} has an answer and no score; score {model.name} again")
            if row is not None:
                if answer is None and row["status"] != "missing":
                    raise LongtrekError(f"{given}: {document['id']} has a score and no answer; answers were lost since")
                if document["id"] not in places:
                    places[document["id"]] = _add_document(answers, document)
                _add_answer(answers, model, document, places[document["id"]], answer, row)
                usage.add(row["status"], answer)
    if waiting:
        raise LongtrekError(
            f"{results / 'scores' / model.name / DOCUMENTS}: {len(waiting)} scored documents are not among the run's, "
            f"first {min(waiting)}; score {model.name} again"
        )
    means = {
        rule: [row[f"{rule}_accuracy"] for row in scores if row[f"{rule}_accuracy"] is not None]
        for rule in ("paper", "strict")
    }
    scored = len(means["paper"])
    values = (fmean(means[rule]) if scored else None for rule in ("paper", "strict"))
    answers.outcomes.append(Outcome(model.name, usage, scored, *values))


def _add_document(answers: Answers, document: Row) -> int:
    kept = ("prompt", "expected", "budget", "cap", "prompt_tokens", "expected_tokens", "prompt_sha256")
    inputs = _inputs(document)
    answers.file("documents").add({name: document.get(name) for name in kept} | {"inputs": inputs})
    said = ("id", "family", "format", "difficulty", "horizon", "sample", "records")
    return answers.items.add({name: document[name] for name in said})


def _inputs(document: Row) -> list[int | str | None]:
    """The input of each expected record: the number of its line in the prompt, or the text where it is a cell's."""
    gold = gold_of(document)
    if gold.family == "table":
        return list(gold.inputs)
    lines = document["prompt"].split("\n")
    numbers = {(line.partition("]")[2] if line.startswith("[") else line): place for place, line in enumerate(lines)}
    return [None if text is None else numbers.get(text, text) for text in gold.inputs]


def _add_answer(answers: Answers, model: Model, document: Row, item: int, answer: Row | None, row: Row) -> None:
    entry = common_entry(answer)
    text = (answer or {}).get("text") or ""
    if text:
        entry["text"] = packed(text, document["expected"].split("\n"))
    found = _marks(document, text, row)
    if found["wrong"]:
        entry["wrong"] = found["wrong"]
    if row["error"] and "error" not in entry:
        entry["error"] = {"kind": row["error"]}
    answers.file("answers").add(entry)
    provenance = (answer or {}).get("provenance")
    answers.rows.add(
        {
            **common_row(answer, answers.jobs.place(model.name, provenance) if provenance else None),
            "model": model.name,
            "item": item,
            "status": row["status"],
            "loop": row["loop_at"],
            **{name: found[name] for name in ("paper", "strict", "lost", "lost_strict")},
        }
    )


def _marks(document: Row, text: str, row: Row) -> dict[str, Any]:
    """How many records are right under each rule, the first wrong one (from 0), and the wrong ones themselves."""
    scores = [row["paper_accuracy"], row["strict_accuracy"]]
    none: dict[str, Any] = {"paper": None, "strict": None, "lost": None, "lost_strict": None, "wrong": []}
    if None in scores:
        return none
    if scores == [PERFECT, PERFECT]:
        return none | {"paper": row["records"], "strict": row["records"]}
    records = explain(document, text)
    right = [[record.paper_correct for record in records], [record.strict_correct for record in records]]
    for marks, score in zip(right, scores, strict=True):
        if abs(sum(marks) / len(marks) - score) > 1e-9:
            raise LongtrekError(
                f"{document['id']}: {sum(marks)} of {len(marks)} records of {row['model']}'s answer are right, but its "
                f"score is {score:.6f}; score {row['model']} again"
            )
    lost, lost_strict = (marks.index(False) if False in marks else None for marks in right)
    return {
        "paper": sum(right[0]),
        "strict": sum(right[1]),
        "lost": lost,
        "lost_strict": lost_strict,
        "wrong": wrong_records(records),
    }


def wrong_records(records: Sequence[Aligned]) -> list[list[Any]]:
    """What is given for the records that are not right under both rules; the others are as expected.

    Returns:
        in order, `[record, n]` for n records from there for which nothing is given; `[record, marks, given]`; or
        `[record, marks, given under paper, given under strict]`. Marks: 1 right under paper, 2 under strict.
    """
    found: list[list[Any]] = []
    for record in records:
        marks = record.paper_correct + 2 * record.strict_correct
        if marks == 3:
            continue
        given = [record.paper_given, record.strict_given]
        last = found[-1] if found else []
        if given == [None, None] and marks == 0:
            if len(last) == 2 and sum(last) == record.record:
                last[1] += 1
            else:
                found.append([record.record, 1])
        else:
            found.append([record.record, marks, *(given[:1] if given[0] == given[1] else given)])
    return found
