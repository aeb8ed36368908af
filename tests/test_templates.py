"""The 387 templates: how many, what they cover, and what they are filled in with."""

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.templates import PLACEHOLDER, RELATIONAL, Template, draw, template, templates
from longtrek.scitrek.questions.values import instantiate
from longtrek.scitrek.sql.operators import OPERATORS, operator_distribution
from scitrek_databases import TABLES, connect, handed_databases, tables

TOPICS = ("author_count", "author_list", "reference_count", "title_word_count", "title_list")
COUNTS = {  # scitrek.md, "Templates"
    "aggregating": (7, 2, 5, 5, 1),
    "sorting": (7, 0, 7, 7, 6),
    "filtering": (26, 10, 26, 26, 19),
    "filtering_aggregating": (26, 10, 26, 26, 19),
    "filtering_sorting": (26, 9, 26, 26, 19),
}
# Table 14, in percent of the test questions.
PUBLISHED = {
    "WHERE": 85.86, "=": 48.66, "IN": 32.15, "OR": 29.04, "ORDER BY": 27.86, "<": 22.44, ">": 21.22,
    "COUNT": 17.44, "ASC": 14.19, "DESC": 13.53, "DISTINCT": 13.20, "*": 10.14, "MAX": 10.04, "AND": 9.19,
    "GROUP BY": 8.25, "<=": 8.25, "%": 7.73, ">=": 7.26, "NOT": 7.26, "<>": 7.21, "AVG": 6.36, "MIN": 6.27,
    "BETWEEN": 5.00, "SUM": 4.81, "/": 4.71, "LIKE": 2.36, "+": 2.26, "-": 1.08,
}  # fmt: skip
TOLERANCE = 4.0  # percentage points
INSIDE_OTHERS = {"=", "<", ">"}  # the published counts take `<=` for these as well


def test_there_are_387_with_the_counts_of_each_skill_and_topic() -> None:
    expected = {
        (skill, topic): count
        for skill, counts in COUNTS.items()
        for topic, count in zip(TOPICS, counts, strict=True)
        if count
    } | {(RELATIONAL, "author_relation"): 10, (RELATIONAL, "citation_relation"): 10}
    assert len(templates()) == 387
    assert Counter((one.skill, one.topic) for one in templates()) == expected


def test_no_template_stands_twice_however_it_is_written() -> None:
    normal = [sqlglot.parse_one(PLACEHOLDER.sub('"\\1"', one.sql), dialect="sqlite").sql() for one in templates()]
    assert len(set(normal)) == 387
    assert len({one.id for one in templates()}) == 387


def test_ids_are_readable_and_find_their_template() -> None:
    for one in templates():
        assert re.fullmatch(rf"{one.skill}-{one.topic}-\d{{3}}", one.id)
    assert template("filtering-author_count-012").topic == "author_count"
    with pytest.raises(LongtrekError, match="no template"):
        template("filtering-author_count-999")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MAX(author_count) FROM articles",
        "SELECT title_word_count FROM articles ORDER BY author_count ASC",
        "SELECT author_name FROM article_author WHERE author_position = {author-position}",
        "SELECT SUM(title_word_count) FROM articles WHERE reference_count = {reference-count}",
        "SELECT author_count FROM articles WHERE title_word_count % 2 = 1 ORDER BY title_word_count DESC",
        "SELECT COUNT(*) FROM articles WHERE article_id NOT IN (SELECT article_id_citing FROM citing_cited) "
        "AND article_id IN (SELECT article_id_cited FROM citing_cited)",
    ],
)
def test_the_paper_s_examples_of_table_4_are_among_them(sql: str) -> None:
    assert sql in {one.sql for one in templates()}


def test_they_use_every_command_and_operator_of_table_3() -> None:
    used = operator_distribution(one.sql for one in templates())
    assert [sign for sign in OPERATORS if used[sign] == 0] == []


def test_placeholders_are_the_six_kinds() -> None:
    kinds = {kind for one in templates() for kind in one.placeholders}
    assert kinds == {
        "author-count", "author-position", "author-name", "reference-count", "title-word-count",
        "article-title-fragment",
    }  # fmt: skip


def sample() -> list[str]:
    """Templates as the paper's 2,027 random and 585 graph collections draw them."""
    strategies = ["random"] * 203 + ["dfs"] * 30 + ["bfs"] * 28
    return [one.sql for place, strategy in enumerate(strategies) for one in draw((7, place), strategy)[:10]]


def test_a_sample_has_the_shape_of_table_14() -> None:
    tokens, text = operator_distribution(sample()), operator_distribution(sample(), "text")
    for sign, published in PUBLISHED.items():
        print(f"{sign:9} paper {published:6.2f}  tokens {tokens[sign]:6.2f}  text {text[sign]:6.2f}")
    far = {
        sign: (published, tokens[sign], text[sign])
        for sign, published in PUBLISHED.items()
        if sign not in INSIDE_OTHERS and abs(tokens[sign] - published) > TOLERANCE
    }
    assert far == {}
    for sign in INSIDE_OTHERS:
        assert tokens[sign] - TOLERANCE <= PUBLISHED[sign] <= text[sign] + TOLERANCE


def test_distribution_counts_operators_and_not_their_letters_or_quoted_text() -> None:
    sql = "SELECT author_name FROM article_author WHERE author_name <> 'OR - %' ORDER BY author_name ASC"
    tokens, text = operator_distribution([sql]), operator_distribution([sql], "text")
    assert (tokens["OR"], tokens["<"], tokens["="], tokens["%"], tokens["-"]) == (0, 0, 0, 0, 0)
    assert (text["OR"], text["<"], text["ORDER BY"]) == (100, 100, 100)


def test_graph_collections_draw_relational_templates_and_others_the_rest() -> None:
    for strategy, relational in (("random", False), ("single", False), ("dfs", True), ("bfs", True)):
        drawn = draw((1, "a collection"), strategy)
        assert len({one.id for one in drawn}) == len(drawn) == (20 if relational else 367)
        assert {one.skill == RELATIONAL for one in drawn} == {relational}
    assert draw((1, "a collection"), "random") == draw((1, "a collection"), "random")
    assert draw((1, "a collection"), "random") != draw((2, "a collection"), "random")


@pytest.mark.parametrize("database", handed_databases(8))
def test_every_template_runs_with_the_collection_s_own_values(database: Mapping[str, Any]) -> None:
    connection = connect(database)
    answers = [connection.execute(instantiate(one, database, (3,))).fetchall() for one in templates()]
    nothing = sum(rows in ([], [(None,)], [(0,)]) for rows in answers)
    assert nothing < 0.1 * len(answers), f"{nothing} of {len(answers)} queries find nothing"


@settings(deadline=None)
@given(tables(), st.integers(0, 2**20), st.sampled_from(templates()))
def test_values_come_from_the_collection_and_run_whatever_names_hold(
    database: Mapping[str, Any], seed: int, one: Template
) -> None:
    sql = instantiate(one, database, (seed,))
    assert sql == instantiate(one, database, (seed,))
    assert not PLACEHOLDER.search(re.sub(r"'(?:[^']|'')*'", "''", sql))
    connect(database).execute(sql).fetchall()


@settings(deadline=None, max_examples=30)
@given(tables(), st.integers(0, 2**20))
def test_ranges_are_in_order_and_lists_hold_distinct_values(database: Mapping[str, Any], seed: int) -> None:
    for one in templates():
        sql = instantiate(one, database, (seed,))
        for low, high in re.findall(r"BETWEEN (\d+) AND (\d+)", sql):
            assert int(low) < int(high)
        for values in re.findall(r"IN \((\d+(?:, \d+)+)\)", sql):
            assert len(set(values.split(", "))) == len(values.split(", "))


def test_a_name_with_an_apostrophe_is_a_literal_and_nothing_else() -> None:
    name = "O'Hagan'; DROP TABLE articles; --"
    database = {table: [] for table in TABLES} | {
        "article_author": [{"relation_id": "r", "article_id": "a", "author_name": name, "author_position": 0}]
    }
    sql = instantiate(template("relational_filtering-author_relation-001"), database, (1,))
    assert connect(database).execute(sql).fetchall() == [(1,)]


def test_a_collection_without_values_for_a_placeholder_is_named() -> None:
    empty: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
    with pytest.raises(LongtrekError, match=r"too few values for \{author-name\}"):
        instantiate(template("relational_filtering-author_relation-001"), empty, (1,))
    with pytest.raises(LongtrekError, match=r"too few values for \{reference-count\}"):
        instantiate(template("filtering-author_count-001"), empty, (1,))


def test_every_template_is_a_query_that_sqlite_reads() -> None:
    connection = connect({table: [] for table in TABLES})
    for one in templates():
        try:
            connection.execute(PLACEHOLDER.sub("1", one.sql))
        except sqlite3.Error as error:  # pragma: no cover - only when a template is broken
            pytest.fail(f"{one.id}: {error}")
