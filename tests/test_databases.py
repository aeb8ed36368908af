"""Databases, queries and orders: DuckDB's answers are SQLite's, values pass unchanged, and order is told truly."""

import json
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.sql.commands import query
from longtrek.scitrek.sql.database import Database, Engine, database_from, database_of, perturbed, title_words
from longtrek.scitrek.sql.literals import Refused, instantiate
from longtrek.scitrek.sql.order import Order, agree, order_of
from longtrek.scitrek.sql.query import run
from longtrek.scitrek.sql.sandbox import Sandbox
from scitrek_databases import SQL_CASES, connect
from sqlite_grammar import JOINS, Grammar, random_database

ARTICLES = [
    {"id": "p1", "title": "On  two spaces, and 'quotes'", "authors": ["O'Hagan", "李明"], "reference_count": 3},
    {"id": "p2", "title": "100% of a_b", "authors": ["John W. Fisher, III"], "reference_count": 3},
    {"id": "p3", "title": "Étude", "authors": ["O'Hagan"], "reference_count": 23},
]
SMALL = database_of(ARTICLES, [("p1", "p2"), ("p1", "p2"), ("p1", "elsewhere"), ("p3", "p2")])
EMPTY = Database((), (), ())


@pytest.fixture(scope="module")
def engine():
    with Engine() as opened:
        yield opened


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as opened:
        yield opened


def same_as_sqlite(engine: Engine, database: Database, sql: str) -> None:
    ours = run(engine, database, sql).rows
    theirs = tuple(connect(database.as_dict()).execute(sql).fetchall())
    assert repr(ours) == repr(theirs), sql  # repr, so that 1 is not 1.0


@pytest.mark.skipif(not SQL_CASES.exists(), reason="the authors' SQL cases are not beside the project")
def test_all_of_the_authors_gold_answers_are_reproduced(engine):
    cases = [json.loads(line) for line in SQL_CASES.read_text(encoding="utf-8").splitlines()]
    assert len(cases) == 85
    wrong = [case["sql"] for case in cases if run(engine, database_from(case), case["sql"]).answer != case["answer"]]
    assert wrong == []


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_queries_of_the_grammar_answer_as_sqlite_does_order_included(engine, draw):
    database, grammar = random_database(draw), Grammar(draw)
    oracle = connect(database.as_dict())
    for sql in [grammar.query() for _ in range(5)]:
        try:
            ours = run(engine, database, sql).rows
        except Refused:
            continue
        assert repr(ours) == repr(tuple(oracle.execute(sql).fetchall())), sql


@pytest.mark.parametrize("seed", range(300, 306))
def test_seeded_queries_are_nearly_all_answered_rather_than_refused(engine, seed):
    draw = Random(seed)
    database, grammar = random_database(draw), Grammar(draw)
    oracle = connect(database.as_dict())
    refused = 0
    for _ in range(40):
        sql = grammar.query()
        try:
            ours = run(engine, database, sql).rows
        except Refused:
            refused += 1
            continue
        assert repr(ours) == repr(tuple(oracle.execute(sql).fetchall())), sql
    assert refused <= 4


@pytest.mark.parametrize("join", JOINS)
def test_joins_nest_as_sqlite_nests_them(engine, join):
    draw = Random(join)
    for _ in range(6):
        database = random_database(draw)
        for where in ("", *JOINS[join][0]):
            for items in JOINS[join][1]:
                for distinct in ("", "DISTINCT "):
                    same_as_sqlite(engine, database, f"SELECT {distinct}{items} FROM {join}{where}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT article_title FROM articles WHERE reference_count / 5 = 4",
        "SELECT reference_count / 0, reference_count % 0, -7 / 2, -7 % 2, 7 / -2, 7 % -2 FROM articles",
        "SELECT article_title FROM articles WHERE article_title LIKE '%étude%'",
        "SELECT article_title FROM articles WHERE article_title LIKE '%OF A_B%'",
        "SELECT article_title FROM articles WHERE reference_count = '3' OR reference_count < 'a'",
        "SELECT author_count > 1, NOT author_count FROM articles",
        "SELECT reference_count, COUNT(*) FROM articles GROUP BY reference_count ORDER BY COUNT(*) > 0 DESC",
        "SELECT MAX(reference_count), article_title FROM articles",
        'SELECT article_title FROM articles WHERE article_id = "p1"',
        "SELECT author_name FROM article_author WHERE author_name IN ('O''Hagan', 5, NULL)",
        "SELECT ROUND(AVG(reference_count), 2), SUM(author_count), TOTAL(author_count) FROM articles",
        "SELECT DISTINCT reference_count FROM articles ORDER BY author_count DESC",
        "SELECT author_count AS 'how many' FROM articles ORDER BY \"how many\"",
        "SELECT 1.5, 1e3, 9223372036854775808, NULL",
    ],
)
@pytest.mark.parametrize("database", [SMALL, EMPTY], ids=["small", "empty"])
def test_what_the_engines_differ_in_is_settled_as_sqlite_has_it(engine, database, sql):
    same_as_sqlite(engine, database, sql)


def test_a_value_longer_than_64_bits_is_refused_and_never_rounded(engine):
    for sql in ("SELECT reference_count * 9223372036854775807 FROM articles", "SELECT SUM(reference_count + 9e18)"):
        with pytest.raises(Refused):
            run(engine, SMALL, sql)


def test_answers_join_values_and_show_null_and_full_averages(engine):
    assert run(engine, SMALL, "SELECT AVG(reference_count) FROM articles").answer == "9.666666666666666"
    assert run(engine, SMALL, "SELECT author_name, author_position FROM article_author").answer == (
        "O'Hagan, 0, 李明, 1, John W. Fisher, III, 0, O'Hagan, 0"
    )
    assert run(engine, SMALL, "SELECT article_id FROM articles WHERE author_count = 99").answer == "NULL"
    assert run(engine, SMALL, "SELECT MAX(author_count) FROM articles WHERE author_count = 99").answer == "NULL"


def test_a_collections_database_has_positions_from_zero_words_between_spaces_and_inner_citations_once():
    assert title_words("On  two spaces") == ["On", "two", "spaces"]
    assert [row[1:] for row in SMALL.articles] == [
        ("On  two spaces, and 'quotes'", 5, 2, 3),
        ("100% of a_b", 3, 1, 3),
        ("Étude", 1, 1, 23),
    ]
    assert [row[1:] for row in SMALL.article_author][:2] == [("p1", "O'Hagan", 0), ("p1", "李明", 1)]
    assert [row[1:] for row in SMALL.citing_cited] == [("p1", "p2"), ("p3", "p2")]
    assert database_from(SMALL.as_dict()) == SMALL


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"articles": None}, "`articles` is missing"),
        ({"articles": [{"article_id": 5}]}, r"articles\[0\].article_id` is 5; expected a string"),
        ({"articles": [{"author_count": 2.5}]}, "expected a 64-bit whole number"),
        ({"articles": [{"author_count": True}]}, "expected a 64-bit whole number"),
        ({"articles": [{"year": 2024}]}, "has a column `year`"),
        ({"citing_cited": [{"article_id_citing": "a\x00"}]}, "NUL"),
    ],
)
def test_a_table_that_is_not_one_is_named_with_its_place(change, message):
    with pytest.raises(LongtrekError, match=message):
        database_from({**EMPTY.as_dict(), **change}, "cases.jsonl, case 7")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_name_is_found_again_through_instantiation_and_execution(engine, name):
    database = database_of([{"id": "p", "title": name, "authors": [name, "x"], "reference_count": 1}], [])
    sql = instantiate("SELECT author_name FROM article_author WHERE author_name = {author-name}", {"author-name": name})
    assert run(engine, database, sql).rows[0] == (name,)
    assert connect(database.as_dict()).execute(sql).fetchall()[0] == (name,)


def test_a_template_and_values_that_do_not_fit_are_named():
    with pytest.raises(LongtrekError, match="author-name"):
        instantiate("SELECT {author-count}", {"author-name": "x"})


def test_one_shape_is_translated_once_and_limits_are_not_mixed_up(engine):
    rows = [run(engine, SMALL, f"SELECT article_id FROM articles ORDER BY 1 DESC LIMIT {n}").rows for n in (1, 2, 3)]
    assert [len(found) for found in rows] == [1, 2, 3]
    for n in (1, 2):
        same_as_sqlite(engine, SMALL, f"SELECT reference_count, article_id FROM articles ORDER BY {n} DESC")


@pytest.mark.parametrize(
    ("sql", "order"),
    [
        ("SELECT article_title FROM articles", Order("any")),
        ("SELECT DISTINCT article_title FROM articles GROUP BY article_id", Order("any")),
        ("SELECT COUNT(*) FROM articles", Order("total")),
        ("SELECT article_title FROM articles WHERE author_count = 99", Order("total")),
        ("SELECT article_title FROM articles ORDER BY reference_count", Order("ties", ((0, 1),))),
        ("SELECT article_title FROM articles ORDER BY reference_count DESC", Order("ties", ((1, 2),))),
        ("SELECT article_title FROM articles ORDER BY reference_count, article_id", Order("total")),
        ("SELECT reference_count FROM articles ORDER BY reference_count", Order("total")),
        ("SELECT author_count FROM articles WHERE article_id <> 'p1'", Order("total")),
        (
            "SELECT article_id FROM (SELECT article_id FROM articles ORDER BY reference_count) AS s",
            Order("ties", ((0, 1),)),
        ),
    ],
)
def test_order_says_how_far_the_query_fixes_its_rows(engine, sql, order):
    assert order_of(run(engine, SMALL, sql)) == order


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_permuting_tied_articles_changes_an_answer_only_inside_its_tie_groups(engine, seed):
    draw = Random(seed)
    database = random_database(draw)
    shuffled = Database(
        tuple(draw.sample(database.articles, len(database.articles))), database.article_author, database.citing_cited
    )
    sql = "SELECT article_title FROM articles ORDER BY author_count DESC"
    one, other = run(engine, database, sql), run(engine, shuffled, sql)
    free = {position for group in order_of(one).ties for position in group}
    for position, row in enumerate(one.rows):
        assert position in free or row == other.rows[position]
    for group in order_of(one).ties:
        assert sorted(map(repr, (one.rows[p] for p in group))) == sorted(map(repr, (other.rows[p] for p in group)))


@pytest.mark.parametrize(
    ("sql", "other", "equal"),
    [
        ("SELECT AVG(author_count) FROM articles", "SELECT SUM(author_count) * 1.0 / COUNT(*) FROM articles", True),
        ("SELECT article_title FROM articles", "SELECT article_title FROM articles ORDER BY article_title", True),
        ("SELECT article_id FROM articles ORDER BY article_id", "SELECT article_id FROM articles", False),
        (
            "SELECT article_title FROM articles ORDER BY reference_count",
            "SELECT article_title FROM articles ORDER BY reference_count, article_id DESC",
            True,
        ),
        (
            "SELECT article_title FROM articles ORDER BY reference_count",
            "SELECT article_title FROM articles ORDER BY reference_count DESC",
            False,
        ),
        ("SELECT author_count FROM articles", "SELECT DISTINCT author_count FROM articles", False),
        ("SELECT author_count FROM articles", "SELECT author_count, author_count FROM articles", False),
    ],
)
def test_two_queries_agree_where_the_first_one_fixes_the_result(sandbox, sql, other, equal):
    assert agree(sandbox.run(SMALL, sql), sandbox.run(SMALL, other)) is equal


def test_perturbed_copies_repeat_differ_and_keep_their_keys():
    copies = perturbed(SMALL, 7, 20)
    assert copies == perturbed(SMALL, 7, 20)
    assert len({copy.articles for copy in copies}) > 15
    for copy in copies:
        ids = [row[0] for row in copy.articles]
        assert len(set(ids)) == len(ids)
        assert {row[1] for row in copy.article_author} <= set(ids)
        assert {end for row in copy.citing_cited for end in row[1:]} <= set(ids)
        assert database_from(copy.as_dict()) == copy
    assert perturbed(EMPTY, 1, 2) == [EMPTY, EMPTY]


def test_perturbed_copies_tell_apart_what_the_collection_cannot(sandbox):
    sql, other = "SELECT MAX(author_count) FROM articles", "SELECT COUNT(*) - 1 FROM articles"
    assert agree(sandbox.run(SMALL, sql), sandbox.run(SMALL, other))
    assert not all(agree(sandbox.run(copy, sql), sandbox.run(copy, other)) for copy in perturbed(SMALL, 3, 8))


def test_the_query_command_answers_every_line_and_fails_at_the_end(tmp_path):
    lines = [
        {"sql": "SELECT author_name FROM article_author WHERE author_name = 'O''Hagan'", **SMALL.as_dict()},
        {"sql": "DROP TABLE articles", **SMALL.as_dict()},
        {"sql": "SELECT COUNT(*) FROM articles;", **EMPTY.as_dict()},
    ]
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    found = CliRunner().invoke(query, [str(cases)])
    printed = [json.loads(line) for line in found.stdout.splitlines()]
    assert [line["answer"] for line in printed] == ["O'Hagan, O'Hagan", None, "0"]
    assert "expected one SELECT" in printed[1]["error"]
    assert found.exit_code == 1


def test_the_query_command_names_a_line_without_tables(tmp_path):
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"sql": "SELECT 1"}\n')
    found = CliRunner().invoke(query, [str(cases)])
    assert isinstance(found.exception, LongtrekError)
    assert "case 1: `articles` is missing" in str(found.exception)
