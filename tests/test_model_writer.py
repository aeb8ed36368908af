"""The model writer: its tries and their reasons, prompts, and what a question may not name."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.scitrek.prompts import FOLDER, prompt
from longtrek.scitrek.questions.model_writer import PROMPTS, Job, Message, ModelWriter, named
from longtrek.scitrek.questions.round_trip import FAILED, LUCKY, PASSED, Verdict


class Model:
    """Answers from a list, and keeps what it was asked."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = iter(answers)
        self.asked: list[tuple[list[Message], dict[str, Any], int, float]] = []

    async def __call__(self, messages: list[Message], schema: dict[str, Any], seed: int, temperature: float) -> str:
        self.asked.append((messages, schema, seed, temperature))
        answer = next(self.answers)
        if answer == "down":
            raise LongtrekError("the engine is down")
        return answer


def say(field: str, text: str) -> str:
    return json.dumps({field: text})


SQL = "SELECT MAX(author_count) FROM articles"


def job(accepted: str = SQL) -> Job:
    return Job(
        SQL, lambda back: Verdict(PASSED) if back == accepted else Verdict(FAILED, "results differ"), frozenset(["W12"])
    )


def test_model_writer_keeps_tries_and_reasons() -> None:
    model = Model(
        [
            "no json",
            say("question", "What is the largest author_count?"),
            say("question", "What does article W12 have?"),
            "down",
            say("question", "What is the highest number of authors?"),
            say("sql", "SELECT 1"),
            say("query", "SELECT 1"),
            say("sql", SQL),
        ]
    )
    (written,) = asyncio.run(ModelWriter(model, 1, FOLDER).write([job()]))
    assert (written.text, written.back) == ("What is the highest number of authors?", SQL)
    reasons = [(one.question, one.reading, one.reason) for one in written.tries]
    assert [place[:2] for place in reasons] == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (5, 1), (5, 2), (5, 3)]
    for found, part in zip(
        [reason for *_, reason in reasons],
        ["not JSON", "'author_count'", "'W12'", "the engine is down", "", "results differ", "no text in", ""],
        strict=True,
    ):
        assert part in found and bool(part) == bool(found)
    assert {one[3] for one in model.asked} == {0.97}
    assert len({one[2] for one in model.asked}) == len(model.asked)


def test_model_writer_gives_up_after_its_tries() -> None:
    model = Model(
        [answer for _ in range(10) for answer in [say("question", "How many?"), *[say("sql", "SELECT 2")] * 5]]
    )
    (written,) = asyncio.run(ModelWriter(model, 1, FOLDER).write([job()]))
    assert written.text is None and written.verdict.verdict == FAILED
    assert len(written.tries) == 60


def test_model_writer_asks_with_both_prompts_and_constrained_answers() -> None:
    model = Model([say("question", "How many authors at most?"), say("sql", SQL)])
    asyncio.run(ModelWriter(model, 1, FOLDER).write([job()]))
    (ask, question_schema, *_), (back, sql_schema, *_) = model.asked
    assert SQL in ask[0]["content"] and "How many authors at most?" in back[0]["content"]
    assert question_schema["required"] == ["question"] and sql_schema["required"] == ["sql"]
    assert not question_schema["additionalProperties"]


def test_the_writer_asks_with_the_prompts_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sql_to_question.txt").write_text("Say {sql}!\n")
    (tmp_path / "question_to_sql.txt").write_text("Query for {question}\n")
    model = Model([say("question", "Braces {question}?"), say("sql", SQL)])
    asyncio.run(ModelWriter(model, 1, tmp_path).write([job()]))
    assert [messages[0]["content"] for messages, *_ in model.asked] == [f"Say {SQL}!", "Query for Braces {question}?"]


def test_both_prompts_describe_the_same_tables() -> None:
    texts = [prompt(name, FOLDER).text for name in PROMPTS.values()]
    schema = [re.search(r"^articles:.*?(?=\n\nRules)", text, re.DOTALL | re.MULTILINE) for text in texts]
    assert schema[0] and schema[1] and schema[0][0] == schema[1][0]


def test_a_lucky_reading_is_kept_as_the_paper_keeps_it() -> None:
    lucky = Job(SQL, lambda back: Verdict(LUCKY, "results differ on copy 1"))
    answers = [say("question", "How many?"), say("sql", "SELECT 1")]
    (kept,) = asyncio.run(ModelWriter(Model(answers), 1, FOLDER).write([lucky]))
    assert kept.text == "How many?" and kept.verdict.verdict == LUCKY


def test_a_name_of_the_query_is_no_fault_of_the_question() -> None:
    asked = Job("SELECT 1 FROM article_author WHERE author_name = 'Ann Table'", lambda back: Verdict(PASSED))
    assert named("How many articles did Ann Table write?", asked) == ""
    assert "table" in named("How many rows has the table of Ann Table?", asked)
