"""SciTrek's answers in tests: what is right, whether a text is, and files of both scored."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from longtrek.files import write_jsonl
from longtrek.scitrek.scoring import Gold, gold_of, score_scitrek, score_strict


def gold(answer: str, **known: Any) -> Gold:
    return gold_of({"id": "q", "answer": answer, **known})


def strict(answer: str, text: str, **known: Any) -> bool:
    return score_strict(gold(answer, **known), text).correct


def scored(tmp_path: Path, questions: Iterable[Any], answers: Iterable[Any]) -> list[dict[str, Any]]:
    write_jsonl(tmp_path / "questions.jsonl", questions)
    write_jsonl(tmp_path / "answers.jsonl", answers)
    return list(score_scitrek(tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"))
