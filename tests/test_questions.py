"""Questions: the grammar's English and the way back, the model writer, the round trip, and the splits."""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions import make as questions
from longtrek.scitrek.questions import splits
from longtrek.scitrek.questions.grammar_parser import read_question
from longtrek.scitrek.questions.grammar_writer import write_question
from longtrek.scitrek.questions.make import GrammarWriter
from longtrek.scitrek.questions.model_writer import Job, Message, ModelWriter, filled, named, prompts
from longtrek.scitrek.questions.round_trip import FAILED, LUCKY, PASSED, Verdict, check
from longtrek.scitrek.questions.templates import Template, templates
from longtrek.scitrek.questions.values import instantiate
from longtrek.scitrek.sql.database import Database, database_from, perturbed
from longtrek.scitrek.sql.sandbox import Sandbox
from scitrek_databases import ODD_NAMES, connect, handed_databases, tables

HANDED = handed_databases(4)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def spoken(database: Mapping[str, Any], seed: int) -> dict[str, str]:
    """Every template filled in, and its question: query to English."""
    queries = [instantiate(one, database, (seed,)) for one in templates()]
    return {sql: write_question(sql) for sql in queries}


# The grammar: English and back.


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


def test_every_template_passes_the_round_trip_on_our_engine(sandbox: Sandbox) -> None:
    collections, articles, citations = corpus()
    ((_, database),) = questions.databases(collections[:1], articles, citations)
    pairs = [(sql, read_question(question)) for sql, question in spoken(database.as_dict(), 4).items()]
    verdicts = check(pairs, database, perturbed(database, 2, 1), sandbox.run)
    assert [(one, pair) for one, pair in zip(verdicts, pairs, strict=True) if one.verdict != PASSED] == []


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


# The round trip.


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
    verdicts = check([(sql, back) for back in backs], database, copies, sandbox.run)
    assert [one.verdict for one in verdicts] == list(backs.values())
    assert all(one.reason for one in verdicts if one.verdict != PASSED)


def test_round_trip_minds_the_order_only_where_the_query_sorts(sandbox: Sandbox) -> None:
    database = small([3, 1, 2])
    ascending = "SELECT author_count FROM articles ORDER BY author_count ASC"
    descending = "SELECT author_count FROM articles ORDER BY author_count DESC"
    pairs = [(ascending, descending), ("SELECT author_count FROM articles", descending)]
    assert [one.verdict for one in check(pairs, database, [], sandbox.run)] == [FAILED, PASSED]


# The model writer.


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
    (written,) = asyncio.run(ModelWriter(model, seed=1).write([job()]))
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
    (written,) = asyncio.run(ModelWriter(model, seed=1).write([job()]))
    assert written.text is None and written.verdict.verdict == FAILED
    assert len(written.tries) == 60


def test_model_writer_asks_with_both_prompts_and_constrained_answers() -> None:
    model = Model([say("question", "How many authors at most?"), say("sql", SQL)])
    asyncio.run(ModelWriter(model, seed=1).write([job()]))
    (ask, question_schema, *_), (back, sql_schema, *_) = model.asked
    assert SQL in ask[0]["content"] and "How many authors at most?" in back[0]["content"]
    assert question_schema["required"] == ["question"] and sql_schema["required"] == ["sql"]
    assert not question_schema["additionalProperties"]


def test_both_prompts_describe_the_same_tables() -> None:
    schema = [
        re.search(r"^articles:.*?(?=\n\nRules)", one.text, re.DOTALL | re.MULTILINE) for one in prompts().values()
    ]
    assert schema[0] and schema[1] and schema[0][0] == schema[1][0]
    assert "{sql}" not in filled("question", "SELECT {question}") and "SELECT {question}" in filled(
        "question", "SELECT {question}"
    )


def test_a_lucky_reading_is_kept_as_the_paper_keeps_it_unless_told_otherwise() -> None:
    lucky = Job(SQL, lambda back: Verdict(LUCKY, "results differ on copy 1"))
    answers = [say("question", "How many?"), say("sql", "SELECT 1")]
    (kept,) = asyncio.run(ModelWriter(Model(answers), seed=1).write([lucky]))
    strict = ModelWriter(Model(answers), seed=1, questions=1, readings=1, plain=False)
    (refused,) = asyncio.run(strict.write([lucky]))
    assert kept.text == "How many?" and kept.verdict.verdict == LUCKY
    assert refused.text is None


def test_a_name_of_the_query_is_no_fault_of_the_question() -> None:
    asked = Job("SELECT 1 FROM article_author WHERE author_name = 'Ann Table'", lambda back: Verdict(PASSED))
    assert named("How many articles did Ann Table write?", asked) == ""
    assert "table" in named("How many rows has the table of Ann Table?", asked)


# Questions of collections.


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


# Splits.


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    articles = [f"a{n}" for n in range(draw(st.integers(5, 60)))]
    groups = st.lists(st.sampled_from(articles), min_size=1, max_size=6, unique=True)
    collections = [
        {"id": f"c{n}", "level": draw(st.sampled_from(["64K", "1M"])), "articles": draw(groups)}
        for n in range(draw(st.integers(1, 30)))
    ]
    rows = [
        {"id": f"{one['id']}-{n}", "collection": one["id"], "skill": "sorting", "topic": f"topic {n % 2}"}
        for one in collections
        for n in range(4)
    ]
    return rows, collections


@settings(deadline=None)
@given(studies(), st.integers(0, 1000))
def test_by_article_puts_no_article_into_two_splits(
    study: tuple[list[dict[str, Any]], list[dict[str, Any]]], seed: int
) -> None:
    rows, collections = study
    made = splits.split(rows, collections, "by_article", seed)
    held: dict[str, set[str]] = defaultdict(set)
    articles = {one["id"]: set(one["articles"]) for one in collections}
    for row in rows:
        held[made[row["id"]]] |= articles[row["collection"]]
    kept = [held[name] for name in ("train", "dev", "test")]
    assert not kept[0] & kept[1] and not kept[0] & kept[2] and not kept[1] & kept[2]
    assert made.keys() == {row["id"] for row in rows}
    assert set(made.values()) <= {"train", "dev", "test", "left_out"}
    assert "test" in made.values()


@settings(deadline=None)
@given(studies(), st.integers(0, 1000))
def test_by_question_takes_its_shares_within_each_skill_and_topic(
    study: tuple[list[dict[str, Any]], list[dict[str, Any]]], seed: int
) -> None:
    rows, collections = study
    made = splits.split(rows, collections, "by_question", seed)
    for topic in ("topic 0", "topic 1"):
        names = [made[row["id"]] for row in rows if row["topic"] == topic]
        assert names.count("test") == round(0.10 * len(names))
        assert names.count("dev") == round(0.05 * len(names))
    assert made == splits.split(rows[::-1], collections, "by_question", seed)


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(LongtrekError, match="by_article"):
        splits.split([], [], "by_luck", 1)
