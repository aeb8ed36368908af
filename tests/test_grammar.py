"""The grammar's English: as a person would ask, and back to an equivalent query."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.grammar_parser import read_question
from longtrek.scitrek.questions.grammar_writer import write_question
from longtrek.scitrek.questions.model_writer import Job, named
from longtrek.scitrek.questions.round_trip import PASSED, Verdict
from longtrek.scitrek.questions.templates import Template, templates
from longtrek.scitrek.questions.values import instantiate
from longtrek.scitrek.sql.database import database_from, perturbed
from scitrek_databases import ODD_NAMES, connect, handed_databases, spoken, tables

HANDED = handed_databases(4)


@pytest.mark.parametrize(
    ("sql", "question"),
    [
        (
            "SELECT SUM(title_word_count) FROM articles WHERE reference_count = 60",
            "What is the total number of title words in articles with exactly 60 references?",
        ),
        (
            "SELECT MAX(author_count) FROM articles",
            "What is the highest number of authors that any single article has?",
        ),
        (
            "SELECT reference_count FROM articles WHERE author_count = 2",
            "How many references does each article with exactly two authors have?",
        ),
        (
            "SELECT author_count FROM articles WHERE author_count < 3 OR author_count > 11",
            "For each article with fewer than 3 or more than 11 authors, how many authors are there?",
        ),
        (
            "SELECT author_count FROM articles WHERE author_count = 1",
            "How many authors does each article with exactly one author have?",
        ),
        (
            "SELECT COUNT(*) FROM articles WHERE article_id NOT IN (SELECT article_id_cited FROM citing_cited)",
            "How many articles are not cited by any other article in the collection?",
        ),
        (
            "SELECT COUNT(DISTINCT article_id) FROM article_author "
            "WHERE author_name = 'Sean O''Hagan' AND author_position = 0",
            "How many different articles did Sean O'Hagan write as first author?",
        ),
        (
            "SELECT article_title FROM articles WHERE author_count + 50 = reference_count",
            "What are the titles of the articles with exactly 50 more references than authors?",
        ),
        (
            "SELECT title_word_count FROM articles WHERE title_word_count * 10 = reference_count",
            "For each article with exactly 10 times as many references as title words, "
            "how many words are in the title?",
        ),
        (
            "SELECT AVG(reference_count) FROM articles WHERE NOT title_word_count = 9",
            "What is the average number of references per article that does not have a title of exactly nine words?",
        ),
    ],
)
def test_grammar_asks_as_a_person_would(sql: str, question: str) -> None:
    assert write_question(sql) == question


@pytest.mark.parametrize("database", HANDED)
def test_every_template_comes_back_equivalent_on_real_databases(database: Mapping[str, Any]) -> None:
    whole = database_from(database)
    tables_ = [connect(copy.as_dict()) for copy in [whole, *perturbed(whole, 5, 3)]]
    for sql, question in spoken(database, 1).items():
        back = read_question(question)
        for connection in tables_:
            wanted, found = connection.execute(sql).fetchall(), connection.execute(back).fetchall()
            assert wanted == found, (sql, question, back)


@settings(deadline=None, max_examples=60)
@given(tables(), st.integers(0, 2**20), st.lists(st.sampled_from(templates()), min_size=20, max_size=20))
def test_every_template_comes_back_equivalent_whatever_names_hold(
    database: Mapping[str, Any], seed: int, some: list[Template]
) -> None:
    connection = connect(database)
    for one in some:
        sql = instantiate(one, database, (seed,))
        back = read_question(write_question(sql))
        assert connection.execute(sql).fetchall() == connection.execute(back).fetchall(), (sql, back)


@pytest.mark.parametrize("database", HANDED[:2])
def test_questions_that_differ_in_meaning_differ_in_words(database: Mapping[str, Any]) -> None:
    by_question: dict[str, list[str]] = defaultdict(list)
    for sql, question in spoken(database, 2).items():
        by_question[question].append(sql)
    assert [queries for queries in by_question.values() if len(queries) > 1] == []


@pytest.mark.parametrize("database", HANDED)
def test_questions_are_plain_sentences_that_name_no_column_table_or_id(database: Mapping[str, Any]) -> None:
    identifiers = frozenset(row["article_id"] for row in database["articles"])
    for sql, question in spoken(database, 3).items():
        assert re.match(r"(What|Which|How many|List|For each) ", question), question
        assert question[-1] in "?.", question
        assert "  " not in question and "{" not in question, question
        assert named(question, Job(sql, lambda back: Verdict(PASSED), identifiers)) == "", question
        bare = re.sub(r"“[^”]*”", "", question)
        assert "_" not in bare, question
        assert not re.search(r"\bone (authors|references|words|articles)\b", bare), question
        assert not re.search(r"\b(exactly|than|least|most) (?!one\b)\w+ (author|reference|word)\b", bare), question


@given(st.one_of(st.sampled_from(ODD_NAMES), st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)))
def test_names_and_title_words_come_back_unchanged(text: str) -> None:
    literal = "'" + text.replace("'", "''") + "'"
    like = "'%" + text.replace("'", "''") + "%'"
    written = f"article_id IN (SELECT article_id FROM article_author WHERE author_name = {literal})"
    by_name = read_question(write_question(f"SELECT article_title FROM articles WHERE {written}"))
    by_title = read_question(
        write_question(f"SELECT author_count FROM articles WHERE article_title LIKE {like} OR author_count > 2")
    )
    assert literal in by_name
    assert like in by_title


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT relation_id FROM article_author",
        "SELECT author_count FROM articles LIMIT 3",
        "SELECT author_count FROM articles WHERE author_count > 2 AND (reference_count > 1 OR title_word_count > 1)",
        "DELETE FROM articles",
        "SELECT FROM WHERE",
    ],
)
def test_grammar_writer_says_what_it_cannot_say(sql: str) -> None:
    with pytest.raises(LongtrekError):
        write_question(sql)


@pytest.mark.parametrize(
    "question", ["", "What?", "How many authors does each article with exactly two have?", "List."]
)
def test_parser_refuses_what_is_not_its_english(question: str) -> None:
    with pytest.raises(LongtrekError, match="found 0 readings"):
        read_question(question)
