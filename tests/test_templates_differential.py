"""All 387 templates, filled in on hundreds of databases: DuckDB's answer is SQLite's, row for row."""

import json
import re
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.templates import PLACEHOLDER, Template, templates
from longtrek.scitrek.questions.values import instantiate as with_own_values
from longtrek.scitrek.sql.database import Database, Engine, database_from
from longtrek.scitrek.sql.literals import instantiate
from longtrek.scitrek.sql.query import run
from scitrek_databases import SQL_CASES, connect
from sqlite_grammar import NAMES, TITLES, random_database


@pytest.fixture(scope="module")
def engine():
    with Engine() as opened:
        yield opened


def with_any_values(template: Template, draw: Random) -> str:
    """The template with values that need not occur in the database, quotes, signs and letters of all kinds."""
    values: dict[str, str | int] = {}

    def place(found: re.Match[str]) -> str:
        name = f"{found[1]}-{len(values)}"
        if found[1] == "author-name":
            values[name] = draw.choice([text for text in NAMES if text])
        elif found[1] == "article-title-fragment":
            words = [word for title in TITLES if title for word in title.split(" ")]
            values[name] = f"%{draw.choice(words)}%"
        else:
            values[name] = draw.choice((0, 1, 1, 2, 2, 3, 4, 10, 50))
        return "{" + name + "}"

    return instantiate(PLACEHOLDER.sub(place, template.sql), values)


def with_values(template: Template, database: Database, draw: Random) -> str:
    """The template with values drawn from the database, or with any where it has none."""
    if draw.random() < 0.5:
        try:
            return with_own_values(template, database.as_dict(), ("differential", draw.random()))
        except LongtrekError:
            pass  # an empty table, or no word that could be asked for
    return with_any_values(template, draw)


def differences(engine: Engine, database: Database, queries: list[str]) -> list[str]:
    oracle = connect(database.as_dict())
    return [
        sql for sql in queries if repr(run(engine, database, sql).rows) != repr(tuple(oracle.execute(sql).fetchall()))
    ]


def test_every_template_answers_as_sqlite_does_on_drawn_databases(engine):
    draw = Random(387)
    for turn in range(200):
        database = random_database(draw, nulls=turn % 2 == 0)
        mine = templates()[turn % 20 :: 20]  # each template on ten databases
        assert differences(engine, database, [with_values(template, database, draw) for template in mine]) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_any_templates_answer_as_sqlite_does_on_any_database(engine, draw):
    database = random_database(draw)
    mine = draw.sample(templates(), 10)
    assert differences(engine, database, [with_any_values(template, draw) for template in mine]) == []


@pytest.mark.skipif(not SQL_CASES.exists(), reason="the authors' databases are not beside the project")
def test_templates_answer_as_sqlite_does_on_the_authors_own_databases(engine):
    draw = Random(85)
    for number, line in enumerate(SQL_CASES.read_text(encoding="utf-8").splitlines()):
        database = database_from(json.loads(line))
        mine = templates()[number % 20 :: 20]
        assert differences(engine, database, [with_values(template, database, draw) for template in mine]) == []
