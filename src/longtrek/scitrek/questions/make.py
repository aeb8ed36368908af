"""Questions: templates drawn for a collection, filled in, answered, said in English and read back.

Sections 3.2 and 3.3 of the paper. Rows are plain objects, as `questions.parquet` holds them.
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.grammar_parser import read_question
from longtrek.scitrek.questions.grammar_writer import write_question
from longtrek.scitrek.questions.model_writer import Job, Written
from longtrek.scitrek.questions.round_trip import FAILED, Execute, Verdict, check, same_text
from longtrek.scitrek.questions.templates import Template, draw
from longtrek.scitrek.questions.values import NoValue, instantiate
from longtrek.scitrek.sql.database import Database, database_of, perturbed
from longtrek.scitrek.sql.order import order_of
from longtrek.scitrek.sql.query import Result, shown
from longtrek.transduction.stream import draws

Row = Mapping[str, Any]


class Writer(Protocol):
    """A question writer: `grammar` below, or `model_writer.ModelWriter`."""

    @property
    def name(self) -> str:
        """What stands in a question's `writer`."""
        ...

    async def write(self, jobs: Sequence[Job]) -> list[Written]:
        """Write a question for every query and read it back."""
        ...


@dataclass(frozen=True)
class GrammarWriter:
    """The writer that needs no model: plain English from the syntax tree, read back by a grammar."""

    name: str = "grammar"

    async def write(self, jobs: Sequence[Job]) -> list[Written]:
        """Write a question for every query and read it back."""
        return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Written:
        try:
            text = write_question(job.sql)
            back = read_question(text)
        except LongtrekError as error:
            return Written(job.sql, None, None, Verdict(FAILED, str(error)))
        verdict = job.check(back)
        return Written(job.sql, text if verdict.plain else None, back, verdict)


class Checker:
    """The round trip's check for one collection; the perturbed copies are made when first needed."""

    def __init__(self, database: Database, execute: Execute, seed: int, copies: int) -> None:
        self._database, self._execute = database, execute
        self._copies = functools.cache(lambda: perturbed(database, seed, copies))

    def __call__(self, sql: str, back: str) -> Verdict:
        """Compare a query read back with the one that the question was written from."""
        copies = [] if same_text(sql, back) else self._copies()
        return check(sql, back, self._database, copies, self._execute)


@dataclass(frozen=True)
class Draft:
    """A filled-in template of one collection, before it is a question."""

    id: str
    collection: Row
    template: Template
    sql: str


def drafts(collection: Row, database: Database, seed: int, count: int = 10) -> list[Draft]:
    """Draw templates for a collection and fill them in with its values (Section 3.2).

    Args:
        collection: a row with `id`, `level`, `strategy` and `articles`.
        database: the collection's.
        seed: the study's; a collection's drafts depend on it and on the collection alone.
        count: how many templates are drawn, those left aside for which the collection has no values.
    """
    tables = database.as_dict()
    name = collection["id"]
    made: list[Draft] = []
    for template in draw((seed, "templates", name), collection["strategy"]):
        if len(made) == count:
            break
        try:
            sql = instantiate(template, tables, (seed, "values", name))
        except NoValue:  # such as two names in a collection of one author: another template is drawn
            continue
        made.append(Draft(f"{name}-{template.id}", collection, template, sql))
    return made


def databases(
    collections: Iterable[Row], articles: Mapping[str, Row], citations: Iterable[tuple[str, str]]
) -> Iterator[tuple[Row, Database]]:
    """Each collection with its database.

    Args:
        collections: rows with `articles`, ids in order.
        articles: rows with `id`, `title`, `authors` and `reference_count`, by id.
        citations: pairs (citing, cited) of article ids.
    """
    cited: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in citations:
        cited[pair[0]].append(pair)
    for collection in collections:
        members = [articles[name] for name in collection["articles"]]
        links = [pair for name in collection["articles"] for pair in cited.get(name, ())]
        yield collection, database_of(members, links)


async def write(
    collections: Iterable[tuple[Row, Database]],
    writer: Writer,
    execute: Execute,
    seed: int,
    count: int = 10,
    copies: int = 3,
    read_back: Execute | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Make the questions of collections.

    Args:
        collections: each with its database, as `databases` gives them.
        writer: says queries in English and reads them back.
        execute: runs a query of ours on a database.
        seed: the study's.
        count: templates for each collection.
        copies: perturbed copies on which a query that was read back is compared too.
        read_back: runs the queries that were read back, where those need a stricter hand than ours (the sandbox
            for a model's); `execute` if None.

    Returns:
        The questions (`questions.parquet`, but for `split`), and a record of every draft: its verdict, the
        query read back, and the writer's tries with their reasons, whether or not a question came of it.
    """
    ready: list[tuple[Draft, Result]] = []
    jobs: list[Job] = []
    for collection, database in collections:
        identifiers = frozenset(collection["articles"])
        checker = Checker(database, read_back or execute, _seed_of(seed, collection["id"]), copies)
        for draft in drafts(collection, database, seed, count):
            ready.append((draft, execute(database, draft.sql)))
            jobs.append(Job(draft.sql, functools.partial(checker, draft.sql), identifiers, (draft.id,)))
    written = await writer.write(jobs)
    rows = [
        _row(draft, result, one, writer.name)
        for (draft, result), one in zip(ready, written, strict=True)
        if one.text is not None
    ]
    return rows, [_record(draft, one) for (draft, _), one in zip(ready, written, strict=True)]


def _seed_of(seed: int, name: str) -> int:
    return int(draws((seed, "perturbed", name), 1)[0] >> 33)


def _row(draft: Draft, result: Result, written: Written, writer: str) -> dict[str, Any]:
    order = order_of(result)
    return {
        "id": draft.id,
        "collection": draft.collection["id"],
        "articles": list(draft.collection["articles"]),
        "level": draft.collection["level"],
        "strategy": draft.collection["strategy"],
        "skill": draft.template.skill,
        "topic": draft.template.topic,
        "template": draft.template.sql,
        "template_id": draft.template.id,
        "sql": draft.sql,
        "text": written.text,
        "answer": result.answer,
        "parts": [[shown(value) for value in row] for row in result.rows],
        "columns": len(result.rows[0]) if result.rows else None,
        "null": result.answer == "NULL",
        "left_out": "the answer is NULL" if result.answer == "NULL" else None,
        "order": order.kind,
        "ties": [list(group) for group in order.ties],
        "writer": writer,
        "verdict": written.verdict.verdict,
    }


def _record(draft: Draft, written: Written) -> dict[str, Any]:
    return {
        "id": draft.id,
        "template_id": draft.template.id,
        "sql": draft.sql,
        "text": written.text,
        "back": written.back,
        "verdict": written.verdict.verdict,
        "reason": written.verdict.reason,
        "tries": [asdict(one) for one in written.tries],
    }
