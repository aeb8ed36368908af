"""The SQL-execution baseline: facts extracted from the articles by a model, questions turned into SQL and executed.

The model is anything that completes messages under a JSON schema (`Complete`); queries run in the sandbox. On gold
tables the same runs without extraction (Section 4, Figure 3).
"""

import asyncio
import json
import re
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longtrek.answers.completer import RequestFailed
from longtrek.errors import LongtrekError
from longtrek.scitrek.prompts import prompt
from longtrek.scitrek.sql.database import Database, database_of
from longtrek.scitrek.sql.sandbox import Sandbox
from longtrek.transduction.stream import draws

CHUNK_TOKENS = 16 * 1024
EXTRACTION_TRIES = 3
SQL_TRIES = 5
SEED = 0
TEMPERATURE = 0.7

Message = dict[str, str]
Complete = Callable[[list[Message], dict[str, Any], int, float], Awaitable[str]]
"""Asks a model once: messages, the JSON schema that constrains decoding, a seed and a temperature give its text.

Raises RequestFailed where no answer came, after the caller's own retries.
"""
Execute = Callable[[Database, str], str]
"""Executes a query and gives the answer text; raises LongtrekError with the reason where it is refused or fails."""


def decoding(name: str, about: str, attempt: int) -> tuple[int, float]:
    """Seed and temperature of one try: the first is greedy, later ones sample, or they would only repeat it.

    The seed depends on what is asked, not on when.
    """
    seed = int(draws((SEED, "baseline", name, about, attempt), 1)[0] >> 33)
    return seed, TEMPERATURE if attempt else 0.0


def sandboxed(sandbox: Sandbox) -> Execute:
    """Execute in a sandbox, one query at a time: it has one engine, and questions are in work together."""
    lock = threading.Lock()

    def execute(database: Database, sql: str) -> str:
        with lock:
            return sandbox.run(database, sql).answer

    return execute


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS = {
    "extract_title": _object(title={"type": "string"}),
    "extract_authors": _object(authors={"type": "array", "items": {"type": "string"}}),
    "count_references": _object(reference_count={"type": "integer", "minimum": 0}),
    "detect_citation": _object(cited={"type": "boolean"}),
    "question_to_sql_baseline": _object(sql={"type": "string"}),
}


@dataclass(frozen=True)
class Problem:
    """One thing that went wrong: which prompt, about what, on which try, and why."""

    prompt: str
    about: str
    attempt: int
    reason: str


@dataclass(frozen=True)
class ArticleFacts:
    """What the model found in one article; an empty title or list is what it said, or that every try failed."""

    id: str
    title: str
    authors: tuple[str, ...]
    reference_count: int


@dataclass(frozen=True)
class BaselineAnswer:
    """A question's answer by execution.

    `status`: `answered` (with the executed `sql`), `no_query` (every try was refused or malformed: the text is empty
    and scores as wrong), or `failed` (the request failed: an error, no score). `problems` lists the tries that failed.
    """

    question: str
    text: str
    sql: str
    status: str
    problems: tuple[Problem, ...]

    def row(self) -> dict[str, Any]:
        """The answer row that the scorers read."""
        last = self.problems[-1].reason if self.problems else ""
        failed = self.status == "failed"
        return {
            "id": self.question,
            "sample": 0,
            "text": self.text,
            "status": "failed" if failed else "answered",
            "finish_reason": None if failed else "stop",
            "error": {"kind": "request", "message": last} if failed else None,
            "sql": self.sql,
            "problems": [vars(problem) for problem in self.problems],
        }


def chunks(text: str, count: Callable[[str], int], tokens: int) -> list[str]:
    """Cut a text into pieces of at most `tokens` tokens each, at line ends where it can; joined they are the text.

    Tokens are counted line by line. A line that is too long by itself is halved until its parts fit, which ends
    because a single character always stands alone. No piece is dropped, the last one included.
    """
    if tokens < 1:
        raise LongtrekError(f"chunks of {tokens} tokens; expected at least 1")
    pieces: list[tuple[str, int]] = []
    stack = list(reversed(text.splitlines(keepends=True)))
    while stack:
        line = stack.pop()
        length = count(line)
        if length <= tokens or len(line) == 1:
            pieces.append((line, length))
        else:
            stack += [line[len(line) // 2 :], line[: len(line) // 2]]
    found: list[str] = []
    held: list[str] = []
    room = tokens
    for line, length in pieces:
        if held and length > room:
            found.append("".join(held))
            held, room = [], tokens
        held.append(line)
        room -= length
    return [*found, "".join(held)] if held else found


@dataclass
class Extractor:
    """Extracts the facts of articles with a model, and keeps the list of what went wrong.

    `count` counts tokens of the model, or of `cl100k_base`; `folder` holds the prompt files. Facts of an article do
    not depend on the collection, so one extractor serves all: an article is read once, a pair compared once.
    """

    complete: Complete
    count: Callable[[str], int]
    folder: Path
    chunk_tokens: int = CHUNK_TOKENS
    tries: int = EXTRACTION_TRIES
    problems: list[Problem] = field(default_factory=list)
    _pieces: dict[str, list[str]] = field(default_factory=dict)
    _articles: dict[str, "asyncio.Task[ArticleFacts]"] = field(default_factory=dict)
    _citations: dict[tuple[str, str], "asyncio.Task[bool]"] = field(default_factory=dict)

    async def database(self, collection: Sequence[Mapping[str, Any]]) -> Database:
        """Build a collection's database from what a model finds in its articles (`id`, `markdown`), in their order."""
        found = await asyncio.gather(*(self.article(one["id"], one["markdown"]) for one in collection))
        pairs = [
            (citing, cited) for citing in collection for cited in found if citing["id"] != cited.id and cited.title
        ]
        cites = await asyncio.gather(*(self.cites(a["id"], a["markdown"], b) for a, b in pairs))
        links = [(citing["id"], cited.id) for (citing, cited), is_cited in zip(pairs, cites, strict=True) if is_cited]
        return database_of([vars(one) | {"authors": list(one.authors)} for one in found], links)

    async def article(self, identity: str, markdown: str) -> ArticleFacts:
        """Find an article's title, authors and number of references, chunk by chunk.

        Title and authors are those of the first chunk that shows any, and later chunks are not asked; the
        references of all chunks add up.
        """
        if identity not in self._articles:
            self._articles[identity] = asyncio.ensure_future(self._extract(identity, markdown))
        return await self._articles[identity]

    async def _extract(self, identity: str, markdown: str) -> ArticleFacts:
        pieces = self._chunks(identity, markdown)
        title, authors, counts = await asyncio.gather(
            self._first("extract_title", identity, pieces),
            self._first("extract_authors", identity, pieces),
            asyncio.gather(*(self._ask("count_references", identity, chunk=piece) for piece in pieces)),
        )
        names = tuple(name for each in authors or [] if (name := " ".join(each.split())))
        return ArticleFacts(identity, " ".join((title or "").split()), names, sum(count or 0 for count in counts))

    async def _first(self, name: str, identity: str, pieces: Sequence[str]) -> Any:
        for piece in pieces:
            if found := await self._ask(name, identity, chunk=piece):
                return found
        return None

    async def cites(self, citing: str, markdown: str, cited: ArticleFacts) -> bool:
        """Whether an article cites another one, told by its extracted title: in any chunk."""
        pair = (citing, cited.id)
        if pair not in self._citations:
            self._citations[pair] = asyncio.ensure_future(self._cites(citing, markdown, cited))
        return await self._citations[pair]

    async def _cites(self, citing: str, markdown: str, cited: ArticleFacts) -> bool:
        about = f"{citing} → {cited.id}"
        pieces = self._chunks(citing, markdown)
        found = await asyncio.gather(
            *(self._ask("detect_citation", about, chunk=piece, title=cited.title) for piece in pieces)
        )
        return any(found)

    def _chunks(self, identity: str, markdown: str) -> list[str]:
        if identity not in self._pieces:
            self._pieces[identity] = chunks(markdown, self.count, self.chunk_tokens)
        return self._pieces[identity]

    async def _ask(self, name: str, about: str, **values: str) -> Any:
        """Ask until the reply has the asked form; None, and a problem for each try, where none has.

        A request that failed is not tried again here: that is the completer's business.
        """
        messages = [{"role": "user", "content": prompt(name, self.folder).fill(**values)}]
        for attempt in range(self.tries):
            try:
                how = decoding(name, f"{about} {len(values['chunk'])}", attempt)
                return parsed(await self.complete(messages, SCHEMAS[name], *how), name)
            except RequestFailed as error:
                self.problems.append(Problem(name, about, attempt, str(error)))
                return None
            except ValueError as error:
                self.problems.append(Problem(name, about, attempt, str(error)))
        return None


def parsed(reply: str, name: str) -> Any:
    """Read the one value of a JSON reply to a prompt.

    Raises:
        ValueError: it is no JSON object, or its value is missing or of another kind; the message says which.
    """
    schema = SCHEMAS[name]
    (wanted,) = schema["required"]
    try:
        value = json.loads(reply)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deep") from None
    if not isinstance(value, dict) or wanted not in value:
        raise ValueError(f"no {wanted!r} in the reply")
    found: Any = value[wanted]
    if not _fits(found, wanted):
        raise ValueError(f"{wanted!r} is {str(found)[:80]!a}, a {type(found).__name__}")
    return found


def _fits(found: Any, name: str) -> bool:
    if name == "authors":
        return isinstance(found, list) and all(_is_text(each) for each in found)
    if name == "reference_count":
        return type(found) is int and 0 <= found < 2**31
    return isinstance(found, bool) if name == "cited" else _is_text(found)


def _is_text(value: Any) -> bool:
    """Whether a value is a text that UTF-8 can carry: JSON's escapes can spell half a character."""
    return isinstance(value, str) and re.search("[\ud800-\udfff]", value) is None


async def answer(
    question: Mapping[str, Any],
    database: Database,
    complete: Complete,
    execute: Execute,
    folder: Path,
    tries: int = SQL_TRIES,
) -> BaselineAnswer:
    """Turn a question (`id`, `text`) into SQL by the model and execute it; a refused query is tried again.

    `folder` holds the prompt files.
    """
    name = "question_to_sql_baseline"
    messages = [{"role": "user", "content": prompt(name, folder).fill(question=question["text"])}]
    problems: list[Problem] = []
    for attempt in range(tries):
        try:
            how = decoding(name, question["id"], attempt)
            sql: str = parsed(await complete(messages, SCHEMAS[name], *how), name)
            text = await asyncio.to_thread(execute, database, sql)
            return BaselineAnswer(question["id"], text, sql, "answered", tuple(problems))
        except RequestFailed as error:
            problems.append(Problem(name, question["id"], attempt, str(error)))
            return BaselineAnswer(question["id"], "", "", "failed", tuple(problems))
        except (ValueError, LongtrekError) as error:
            problems.append(Problem(name, question["id"], attempt, str(error)))
    return BaselineAnswer(question["id"], "", "", "no_query", tuple(problems))


async def answer_all(
    questions: Sequence[Mapping[str, Any]],
    databases: Mapping[str, Database],
    complete: Complete,
    execute: Execute,
    folder: Path,
    tries: int = SQL_TRIES,
    at_once: int = 32,
) -> list[BaselineAnswer]:
    """Answer questions on their collections' databases (gold, or extracted), in the questions' order.

    At most `at_once` questions are in work; each executes in a thread of its own.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(question: Mapping[str, Any]) -> BaselineAnswer:
        async with gate:
            return await answer(question, databases[question["collection"]], complete, execute, folder, tries)

    return await asyncio.gather(*(one(question) for question in questions))
