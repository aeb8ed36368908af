"""SciTrek's answers for the explorer: each sample a row, scored by itself, with its question and collection."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from longtrek.answers.model import Model
from longtrek.answers.stored import read_stored
from longtrek.config import Scitrek
from longtrek.corpus.tables import read_table
from longtrek.errors import LongtrekError
from longtrek.report.columns import Columns
from longtrek.report.parts import beside, graded
from longtrek.report.study import COMMON, Answers, Outcome, common_entry, common_row
from longtrek.report.usage import Usage
from longtrek.scitrek import contexts
from longtrek.scitrek.analyses import LEVELS
from longtrek.scitrek.prompts import CONTEXTS, PROMPTS, question_prompt, split_request_id
from longtrek.scitrek.questions.make import databases
from longtrek.scitrek.scoring import Gold, gold_of
from longtrek.scitrek.study import Study

Row = Mapping[str, Any]
SCORES = "scitrek.parquet"
EXECUTED = "+SQL"
"""How the baseline's folders end, after its model's name."""


@dataclass
class _Questions:
    """The questions that were asked, each written when its first answer comes."""

    study: Study
    answers: Answers
    places: dict[str, int] = field(default_factory=dict)
    golds: dict[str, Gold] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    collections: dict[str, int] = field(default_factory=dict)

    @cached_property
    def citations(self) -> list[tuple[str, str]]:
        """Pairs (citing, cited) of the corpus's articles."""
        pairs = read_table(self.study.results / "articles" / "citations.parquet", "citing", "cited")
        return [(pair["citing"], pair["cited"]) for pair in pairs]

    def place(self, name: str, scored: Row) -> int:
        """The place of a question among those asked."""
        if name not in self.places:
            if not self.rows:
                self.rows = {row["id"]: row for row in self.study.questions}
            if name not in self.rows:
                raise LongtrekError(f"question {name!r} has a score but is not in questions.parquet; score again")
            question = self.rows[name]
            self.golds[name] = gold_of(question)
            kept = ("text", "sql", "answer", "order", "template", "split", "writer", "verdict", "left_out")
            entry = {part: question.get(part) for part in kept}
            self.answers.file("questions").add(entry | {"collection": self._collection(question["collection"])})
            said = {part: question.get(part) for part in ("id", "level", "strategy", "skill", "topic", "collection")}
            self.places[name] = self.answers.items.add(said | {"subject": scored["subject"]})
        return self.places[name]

    def _collection(self, name: str | None) -> int | None:
        """The place of a collection's articles and tables; released rows have none."""
        if name is None or self.study.settings.released:
            return None
        if name not in self.collections:
            collection = self.study.collections[name]
            articles = [
                [one, self.study.articles[one]["title"], self.study.articles[one]["tokens"]]
                for one in collection["articles"]
            ]
            _, database = next(databases([collection], self.study.articles, self.citations))
            entry = {"id": name, "articles": articles, "tables": contexts.tables(database.as_dict())}
            self.collections[name] = self.answers.file("collections").add(entry)
        return self.collections[name]


def write_answers(part: Scitrek, models: Mapping[str, Model], results: Path, folder: Path) -> Answers:
    """Write every answer of the run's models and of the SQL-execution baseline; see `transduction.write_answers`."""
    answers = Answers(
        "scitrek",
        folder,
        {name: models[name] for name in part.models},
        Columns(
            ["model", "status", "finish", "context", "prompt"],
            ["item", "sample", "paper", "f1", "strict", "parts", *COMMON],
        ),
        Columns(["level", "strategy", "skill", "topic", "subject", "collection"], ["id"]),
    )
    questions = _Questions(Study(part, results), answers)
    asked = {
        name: [results / "answers" / name / "scitrek" / f"{one.tier}.jsonl" for one in part.settings_of(models[name])]
        for name in part.models
    }
    if part.baseline:
        name = part.baseline.model + EXECUTED
        asked[name] = [results / "answers" / name / "scitrek.jsonl"]
    for name, files in asked.items():
        scores = results / "scores" / name / SCORES
        if scores.is_file():
            _write_model(
                answers, questions, name, files, read_table(scores, "question", "context", "prompt", "asked", "missing")
            )
        else:
            answers.unscored.append(name)
    answers.close({"level": list(LEVELS)}, prompts=_prompts(part), executed=EXECUTED)
    return answers


def _prompts(part: Scitrek) -> dict[str, str]:
    """The instructions of every context and kind, with their placeholders; released rows carry their own."""
    if part.released:
        return {}
    return {
        f"{context}/{kind}": question_prompt(kind, context, part.prompts).text
        for context in CONTEXTS
        for kind in PROMPTS
    }


def _write_model(
    answers: Answers, questions: _Questions, model: str, files: list[Path], scores: list[dict[str, Any]]
) -> None:
    cells = {(row["question"], row["context"], row["prompt"]): row for row in scores}
    left = {cell: set(range(row["asked"])) for cell, row in cells.items()}
    usage = Usage()
    means: dict[str, list[float]] = {"paper": [], "strict": []}
    for cell, answer in _given(files):
        if cell not in cells:
            raise LongtrekError(f"{files[0].parent}: {'/'.join(cell)} has an answer and no score; score {model} again")
        if answer.get("sample", 0) not in left[cell]:
            raise LongtrekError(
                f"{files[0].parent}: {'/'.join(cell)}, sample {answer.get('sample', 0)}: a second answer, or one "
                f"sample too many; expected each of {cells[cell]['asked']} once: remove the files and run the "
                "workflow again"
            )
        left[cell].discard(answer.get("sample", 0))
        _add(answers, questions, model, cells[cell], answer.get("sample", 0), answer, usage, means)
    for cell in sorted(left):
        if len(left[cell]) != cells[cell]["missing"]:
            raise LongtrekError(f"{files[0].parent}: {'/'.join(cell)} has a score and no answer; answers were lost")
        for sample in sorted(left[cell]):
            _add(answers, questions, model, cells[cell], sample, None, usage, means)
    scored = len(means["paper"])
    values = (fmean(means[rule]) if scored else None for rule in ("paper", "strict"))
    answers.outcomes.append(Outcome(model, usage, scored, *values))


def _given(files: list[Path]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for file in files:
        for answer in read_stored(file):
            try:
                yield split_request_id(answer["id"]), answer
            except LongtrekError as error:
                raise LongtrekError(f"{file}: {error}") from None


def _add(
    answers: Answers,
    questions: _Questions,
    model: str,
    cell: Row,
    sample: int,
    answer: Row | None,
    usage: Usage,
    means: dict[str, list[float]],
) -> None:
    item = questions.place(cell["question"], cell)
    status = (answer.get("status") or "answered") if answer else "missing"
    entry = common_entry(answer)
    grades: dict[str, Any] = dict.fromkeys(("paper", "f1", "strict", "parts"))
    if answer is not None and status == "answered":
        gold = questions.golds[cell["question"]]
        grade = graded(gold, answer["text"], cell["prompt"] == "reasoning", answer.get("finish_reason"))
        status, grades = grade.status, grade.scores
        means["paper"].append(grade.scores["paper"])
        means["strict"].append(grade.scores["strict"])
        entry |= {"text": answer["text"], "read": grade.read, "parts": beside(gold, answer["text"])}
    answers.file("answers").add(entry)
    usage.add(status, answer)
    provenance = (answer or {}).get("provenance")
    answers.rows.add(
        {
            **common_row(answer, answers.jobs.place(model, provenance) if provenance else None),
            **{name: cell[name] for name in ("context", "prompt")},
            "model": model,
            "item": item,
            "sample": sample,
            "status": status,
            **grades,
        }
    )
