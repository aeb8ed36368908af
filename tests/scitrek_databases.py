"""Databases for the tests of SciTrek's SQL: the authors' real ones, drawn ones, and SQLite to ask them."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import strategies as st

from longtrek.paths import ROOT
from longtrek.scitrek.questions.grammar_writer import write_question
from longtrek.scitrek.questions.templates import templates
from longtrek.scitrek.questions.values import instantiate

SQL_CASES = ROOT.parent / "shared/scitrek/sql_cases.jsonl"
SCORING_CASES = SQL_CASES.with_name("scoring_cases.jsonl")
TABLES = {
    "articles": ("article_id", "article_title", "title_word_count", "author_count", "reference_count"),
    "article_author": ("relation_id", "article_id", "author_name", "author_position"),
    "citing_cited": ("relation_id", "article_id_citing", "article_id_cited"),
}
ODD_NAMES = [
    "Sean O'Hagan", "John W. Fisher, III", "Li “Leo” Wang", "王小明", "Émile Zola", "de la Cruz, A.",
    "A. or B. Smith", "JIAYI SUN", "K.YAMADA", "Ken Griffey Jr.", "100% Group", 'The "Collab"', "X”” Y",
    "ünal", "and", "Anna", "M. de Vries",
]  # fmt: skip
ODD_TITLES = [
    "A survey of 50% faster, \"smarter\" graphs", "It's all about O'Hagan’s “quoted” lemma”",
    "深度 学习 综述 方法 研究", "Теория графов и их приложения",
    "Deep: learning, or not and {author-name}", "  Two  spaces within ", "Über Räume",
]  # fmt: skip


def connect(database: Mapping[str, Any]) -> sqlite3.Connection:
    """An SQLite of a database, as the authors made theirs: columns without types."""
    connection = sqlite3.connect(":memory:")
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        rows = [tuple(row.get(column) for column in columns) for row in database[table]]
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


def handed_databases(count: int) -> list[Any]:
    """Real databases with citations, as parameters of a test; one that skips where they are not at hand."""
    if not SQL_CASES.exists():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"{SQL_CASES.name} is not at hand"))]
    with SQL_CASES.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    whole = [case for case in cases if case["citing_cited"] and len(case["articles"]) > 4]
    return [{table: case[table] for table in TABLES} for case in whole[:count]]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """A small database whose names and titles hold what breaks quoting, and whose counts are its own."""
    titles = draw(st.lists(st.sampled_from(ODD_TITLES), min_size=1, max_size=5))
    names = st.lists(st.sampled_from(ODD_NAMES), min_size=2, max_size=5, unique=True)
    articles, authors = [], []
    for place, title in enumerate(titles):
        people = draw(names)
        articles.append(
            {
                "article_id": f"article_{place}",
                "article_title": title,
                "title_word_count": len(title.split()),
                "author_count": len(people),
                "reference_count": draw(st.integers(0, 120)),
            }
        )
        authors += [
            {"relation_id": None, "article_id": f"article_{place}", "author_name": name, "author_position": position}
            for position, name in enumerate(people)
        ]
    ids = [row["article_id"] for row in articles]
    pairs = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=6, unique=True))
    links = [
        {"relation_id": None, "article_id_citing": citing, "article_id_cited": cited}
        for citing, cited in pairs
        if citing != cited
    ]
    return {"articles": articles, "article_author": authors, "citing_cited": links}


def spoken(database: Mapping[str, Any], seed: int) -> dict[str, str]:
    """Every template filled in, and its question: query to English."""
    queries = [instantiate(one, database, (seed,)) for one in templates()]
    return {sql: write_question(sql) for sql in queries}
