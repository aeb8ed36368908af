"""Questions of collections: answers, order, and the round trip that keeps them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from longtrek.scitrek.questions import make as questions
from longtrek.scitrek.questions.grammar_parser import read_question
from longtrek.scitrek.questions.make import GrammarWriter
from longtrek.scitrek.questions.round_trip import FAILED, LUCKY, PASSED, check
from longtrek.scitrek.sql.database import Database, database_from, perturbed
from longtrek.scitrek.sql.sandbox import Sandbox
from scitrek_databases import spoken


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def test_every_template_passes_the_round_trip_on_our_engine(sandbox: Sandbox) -> None:
    collections, articles, citations = corpus()
    ((_, database),) = questions.databases(collections[:1], articles, citations)
    copies = perturbed(database, 2, 1)
    asked = spoken(database.as_dict(), 4)
    verdicts = {sql: check(sql, read_question(said), database, copies, sandbox.run) for sql, said in asked.items()}
    assert len(verdicts) == 387
    assert {sql: one for sql, one in verdicts.items() if one.verdict != PASSED} == {}


def small(counts: list[int]) -> Database:
    return database_from(
        {
            "articles": [
                {
                    "article_id": f"article_{place}",
                    "article_title": f"On {count}",
                    "title_word_count": 2,
                    "author_count": count,
                    "reference_count": 10 * count,
                }
                for place, count in enumerate(counts)
            ],
            "article_author": [],
            "citing_cited": [],
        }
    )


def test_round_trip_tells_luck_from_agreement(sandbox: Sandbox) -> None:
    database = small([1, 2, 3, 7])
    copies = perturbed(database, 1, 6)
    sql = "SELECT MAX(author_count) FROM articles"
    backs = {
        "SELECT author_count FROM articles ORDER BY author_count DESC LIMIT 1": PASSED,
        "SELECT author_count FROM articles WHERE reference_count = 70": LUCKY,
        "SELECT author_count FROM articles": FAILED,
        "SELECT secret FROM elsewhere": FAILED,
        f"{sql} ;": PASSED,
    }
    verdicts = [check(sql, back, database, copies, sandbox.run) for back in backs]
    assert [one.verdict for one in verdicts] == list(backs.values())
    assert all(one.reason for one in verdicts if one.verdict != PASSED)


def test_round_trip_minds_the_order_only_where_the_query_sorts(sandbox: Sandbox) -> None:
    database = small([3, 1, 2])
    ascending = "SELECT author_count FROM articles ORDER BY author_count ASC"
    descending = "SELECT author_count FROM articles ORDER BY author_count DESC"
    assert check(ascending, descending, database, [], sandbox.run).verdict == FAILED
    assert check("SELECT author_count FROM articles", descending, database, [], sandbox.run).verdict == PASSED


def corpus() -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]], list[tuple[str, str]]]:
    names = ["Ann Lee", "Bo Li", "Cy O'Neil", "Di Wu", "王小明"]
    articles = {
        f"A{n}": {
            "id": f"A{n}",
            "title": " ".join(["Learning", "graphs", "with", "noisy", "signals", "quickly"][: 2 + n % 5]),
            "authors": [names[(n + k) % 5] for k in range(1 + n % 4)],
            "reference_count": 5 + 7 * n % 41,
        }
        for n in range(24)
    }
    ids = list(articles)
    collections = [
        {
            "id": f"c{n}",
            "level": "64K" if n % 2 else "128K",
            "strategy": ["random", "dfs", "bfs"][n % 3],
            "articles": ids[n : n + 5],
        }
        for n in range(18)
    ]
    citations = [(f"A{n + 1}", f"A{n}") for n in range(23)] + [("A5", "A2"), ("A7", "A4")]
    return collections, articles, citations


def made(seed: int, sandbox: Sandbox, most: int = 12) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    collections, articles, citations = corpus()
    ready = questions.databases(collections[:most], articles, citations)
    return asyncio.run(questions.write(ready, GrammarWriter(), sandbox.run, seed))


def test_each_collection_gets_ten_questions_with_answers_and_order(sandbox: Sandbox) -> None:
    rows, records = made(3, sandbox)
    assert len(rows) == len(records) == 120
    assert len({row["id"] for row in rows}) == 120
    assert {row["verdict"] for row in rows} == {PASSED}
    assert all((row["strategy"] != "random") == (row["skill"] == "relational_filtering") for row in rows)
    assert all(row["null"] == (row["answer"] == "NULL") for row in rows)
    assert {row["order"] for row in rows} == {"any", "ties", "total"}
    assert all(bool(row["ties"]) == (row["order"] == "ties") for row in rows)


def test_questions_depend_on_the_seed_and_the_collection_alone(sandbox: Sandbox) -> None:
    collections, articles, citations = corpus()
    alone = questions.databases(collections[2:3], articles, citations)
    rows, _ = asyncio.run(questions.write(alone, GrammarWriter(), sandbox.run, 3))
    everything = made(3, sandbox, 3)[0]
    assert rows == [row for row in everything if row["collection"] == "c2"]
    assert [row["sql"] for row in everything] != [row["sql"] for row in made(4, sandbox, 3)[0]]
