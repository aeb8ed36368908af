"""The `model` question writer: a language model says a query in English, another call says the English in SQL.

Section 3.3 and Figures 4 and 5. Answers are JSON, enforced by constrained decoding; every try and the reason
why it was not kept stay with the question.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from longtrek.errors import LongtrekError
from longtrek.scitrek.prompts import prompt
from longtrek.scitrek.questions.round_trip import FAILED, Verdict
from longtrek.scitrek.sql.database import SCHEMA
from longtrek.transduction.stream import Key, draws

Message = dict[str, str]
Complete = Callable[[list[Message], dict[str, Any], int, float], Awaitable[str]]
Check = Callable[[str], Verdict]

LONGEST = {"question": 1_000, "sql": 2_000}
PROMPTS = {"question": "sql_to_question", "sql": "question_to_sql"}
"""The two prompts (Figures 4 and 5), by the field that their answer has."""

_BARE = re.compile(r"\b(?:databases?|SQL|columns?|tables?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Job:
    """A query to be said in English.

    `check` compares a query read back with this one; `identifiers` are the ids of the collection's articles,
    which a question must not name; `key` names the seeds' stream.
    """

    sql: str
    check: Check
    identifiers: frozenset[str] = frozenset()
    key: Key = ()


@dataclass(frozen=True)
class Try:
    """One answer of the model: which question (from 1), which reading of it (0 for the question itself), and fate.

    `reason` is empty for what was kept.
    """

    question: int
    reading: int
    text: str
    reason: str


@dataclass(frozen=True)
class Written:
    """A question, or None where every try failed, with the query read back from it and all tries."""

    sql: str
    text: str | None
    back: str | None
    verdict: Verdict
    tries: tuple[Try, ...] = ()


@dataclass(frozen=True)
class ModelWriter:
    """The model writer's settings (Section 3.3); `complete` sends messages with a JSON schema to a model.

    `folder` holds the prompt files. A question is kept as the paper keeps it: when the results on the collection agree.
    """

    complete: Complete
    seed: int
    folder: Path
    questions: int = 10
    readings: int = 5
    temperature: float = 0.97
    name: str = "model"

    async def write(self, jobs: Sequence[Job]) -> list[Written]:
        """Write a question for every query; `complete` sees all of them at once and bounds what is in flight."""
        return list(await asyncio.gather(*(self._one(job) for job in jobs)))

    async def _one(self, job: Job) -> Written:
        tries: list[Try] = []
        verdict = Verdict(FAILED, "no try")
        for number in range(1, self.questions + 1):
            text, reason = await self._ask(job, "question", job.sql, number, 0)
            reason = reason or named(text, job)
            tries.append(Try(number, 0, text, reason))
            if reason:
                verdict = Verdict(FAILED, reason)
                continue
            back, verdict = await self._read(job, text, number, tries)
            if back is not None:
                return Written(job.sql, text, back, verdict, tuple(tries))
        return Written(job.sql, None, None, Verdict(FAILED, verdict.reason), tuple(tries))

    async def _read(self, job: Job, question: str, number: int, tries: list[Try]) -> tuple[str | None, Verdict]:
        verdict = Verdict(FAILED, "no reading")
        for reading in range(1, self.readings + 1):
            sql, reason = await self._ask(job, "sql", question, number, reading)
            verdict = Verdict(FAILED, reason) if reason else job.check(sql)
            tries.append(Try(number, reading, sql, "" if verdict.plain else verdict.reason))
            if verdict.plain:
                return sql, verdict
        return None, verdict

    async def _ask(self, job: Job, field: str, text: str, number: int, reading: int) -> tuple[str, str]:
        """The model's answer and why it cannot be used; one of the two is empty, but for an answer cut short."""
        seed = int(draws((self.seed, "model writer", *job.key, field, number, reading), 1)[0] >> 33)
        given = {"sql" if field == "question" else "question": text}
        messages = [{"role": "user", "content": prompt(PROMPTS[field], self.folder).fill(**given)}]
        try:
            answer = await self.complete(messages, schema(field), seed, self.temperature)
        except LongtrekError as error:
            return "", f"request failed: {error}"
        return unpacked(answer, field)


def schema(field: str) -> dict[str, Any]:
    """The JSON schema that constrains decoding to one text field, `question` or `sql`."""
    text = {"type": "string", "minLength": 1, "maxLength": LONGEST[field]}
    return {"type": "object", "properties": {field: text}, "required": [field], "additionalProperties": False}


def unpacked(answer: str, field: str) -> tuple[str, str]:
    """The text of a JSON answer's one field, and why it cannot be used."""
    try:
        value = json.loads(answer)
    except json.JSONDecodeError as error:
        return answer, f"not JSON: {error.msg} at column {error.colno}"
    except (ValueError, RecursionError):
        return answer, "not JSON: a number too long, or nested too deep"
    text = value.get(field) if isinstance(value, dict) else None
    if not isinstance(text, str) or not text.strip():
        return answer, f"no text in the field {field!r}"
    if re.search("[\ud800-\udfff]", text):
        return answer, f"half a character in the field {field!r}"
    return text.strip(), ""


def named(question: str, job: Job) -> str:
    """Why a question gives away where it came from: it names an id, a column, a table or the database.

    Names and title words of the query itself are no fault, whatever they are.
    """
    rest = question
    for text in sorted(_texts(job.sql), key=len, reverse=True):
        rest = re.sub(re.escape(text), " ", rest, flags=re.IGNORECASE)
    columns = {column for table in SCHEMA.values() for column in table}
    for word in (*SCHEMA, *columns, *job.identifiers):
        told = "_" in word or (word in job.identifiers and not word.isdigit())
        if told and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", rest, re.I):
            return f"the question names {word!r}"
    found = _BARE.search(rest)
    return f"the question speaks of {found[0]!r}" if found else ""


def _texts(sql: str) -> list[str]:
    try:
        tree = parse_one(sql, dialect="sqlite")
    except SqlglotError:
        return []
    return [node.name.strip("%") for node in tree.find_all(exp.Literal) if node.is_string and node.name.strip("%")]
