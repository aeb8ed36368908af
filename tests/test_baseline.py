"""The SQL-execution baseline: chunks, extraction with a scripted model, tables, and queries that are refused."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtrek.answers.completer import RequestFailed
from longtrek.errors import LongtrekError
from longtrek.scitrek.baseline import (
    Extractor,
    Message,
    answer,
    answer_all,
    chunks,
    parsed,
    sandboxed,
)
from longtrek.scitrek.prompts import FOLDER
from longtrek.scitrek.sql.database import Database, database_of
from longtrek.scitrek.sql.sandbox import Sandbox


def words(text: str) -> int:
    return len(text.split())


class Scripted:
    """A model that answers by a function of the prompt, and remembers what it was asked."""

    def __init__(self, reply: Callable[[str, dict[str, Any], int], str]) -> None:
        self.reply = reply
        self.asked: list[tuple[str, str, int]] = []
        self.how: list[tuple[int, int, float]] = []

    async def __call__(self, messages: list[Message], schema: dict[str, Any], seed: int, temperature: float) -> str:
        (wanted,) = schema["required"]
        prompt = messages[0]["content"]
        attempt = sum(other[:2] == (wanted, prompt) for other in self.asked)
        self.asked.append((wanted, prompt, attempt))
        self.how.append((attempt, seed, temperature))
        await asyncio.sleep(0)
        return self.reply(prompt, schema, attempt)


def execute(database: Database, text: str) -> str:
    with Sandbox() as sandbox:
        return sandboxed(sandbox)(database, text)


MARKDOWNS = {
    "a": "# Lions, Tigers\nAnthony O'Hagan and John W. Fisher, III\nText.\n"
    "## References\n1. One\n2. On Bears\n3. Two\n",
    "b": "# On Bears\nAnn Lee\nText.\n## References\n1. Three\n",
}


def reading(prompt: str, schema: dict[str, Any], attempt: int) -> str:
    """What an attentive model would reply about the two articles above, chunk by chunk."""
    (wanted,) = schema["required"]
    part = prompt.split("PART OF THE ARTICLE\n\n")[1].split("\n\nEND OF THE PART")[0]
    if wanted == "title":
        heads = [line[2:] for line in part.splitlines() if line.startswith("# ")]
        return json.dumps({"title": heads[0] if heads else ""})
    if wanted == "authors":
        known = ["Anthony O'Hagan", "John W. Fisher, III", "Ann Lee"]
        return json.dumps({"authors": [name for name in known if name in part]})
    if wanted == "reference_count":
        return json.dumps({"reference_count": sum(line[:1].isdigit() for line in part.splitlines())})
    title = prompt.split("TITLE OF THE OTHER ARTICLE\n\n")[1].split("\n\n")[0]
    return json.dumps({"cited": title in part})


def extractor(complete: Any, tokens: int = 8) -> Extractor:
    return Extractor(complete, words, FOLDER, chunk_tokens=tokens)


def collection(*names: str) -> list[dict[str, str]]:
    return [{"id": name, "markdown": MARKDOWNS[name]} for name in names]


def test_tables_are_built_from_what_the_model_finds_chunk_by_chunk() -> None:
    database = asyncio.run(extractor(Scripted(reading)).database(collection("a", "b")))
    assert database.articles == (("a", "Lions, Tigers", 2, 2, 3), ("b", "On Bears", 2, 1, 1))
    assert [row[1:] for row in database.article_author] == [
        ("a", "Anthony O'Hagan", 0),
        ("a", "John W. Fisher, III", 1),
        ("b", "Ann Lee", 0),
    ]
    assert [row[1:] for row in database.citing_cited] == [("a", "b")]


def test_extracted_tables_equal_gold_ones_for_a_model_that_reads_without_a_fault() -> None:
    gold = database_of(
        [
            {
                "id": "a",
                "title": "Lions, Tigers",
                "authors": ["Anthony O'Hagan", "John W. Fisher, III"],
                "reference_count": 3,
            },
            {"id": "b", "title": "On Bears", "authors": ["Ann Lee"], "reference_count": 1},
        ],
        [("a", "b")],
    )
    assert asyncio.run(extractor(Scripted(reading)).database(collection("a", "b"))) == gold


def test_an_article_is_read_once_whatever_the_number_of_its_collections() -> None:
    model = Scripted(reading)

    async def twice() -> None:
        facts = extractor(model)
        await asyncio.gather(facts.database(collection("a", "b")), facts.database(collection("b", "a")))

    asyncio.run(twice())
    assert max(Counter(asked[:2] for asked in model.asked).values()) == 1


def test_title_and_authors_are_not_asked_of_chunks_after_the_one_that_shows_them() -> None:
    model = Scripted(reading)
    asyncio.run(extractor(model, tokens=3).article("b", MARKDOWNS["b"]))
    asked = Counter(wanted for wanted, _, _ in model.asked)
    assert asked["title"] == 1
    assert asked["authors"] == 2
    assert asked["reference_count"] == len(chunks(MARKDOWNS["b"], words, 3))


def test_malformed_replies_are_tried_again_and_each_try_is_recorded() -> None:
    def stammering(prompt: str, schema: dict[str, Any], attempt: int) -> str:
        return ('{"title": "On', "[]", reading(prompt, schema, attempt))[attempt]

    facts = extractor(Scripted(stammering), tokens=100)
    found = asyncio.run(facts.article("b", MARKDOWNS["b"]))
    assert (found.title, found.authors, found.reference_count) == ("On Bears", ("Ann Lee",), 1)
    assert Counter(problem.attempt for problem in facts.problems) == {0: 3, 1: 3}
    assert {problem.about for problem in facts.problems} == {"b"}


def test_an_article_of_which_nothing_can_be_read_is_a_row_without_facts() -> None:
    facts = extractor(Scripted(lambda prompt, schema, attempt: "I cannot."), tokens=100)
    database = asyncio.run(facts.database(collection("a", "b")))
    assert database.articles == (("a", "", 0, 0, 0), ("b", "", 0, 0, 0))
    assert database.article_author == database.citing_cited == ()
    assert len(facts.problems) == 3 * 3 * 2


@pytest.mark.parametrize(
    ("reply", "name", "words"),
    [
        ("", "extract_title", "not JSON"),
        ("[" * 100_000, "extract_title", "not JSON"),
        ('{"name": "x"}', "extract_title", "no 'title'"),
        ('{"title": 5}', "extract_title", "'title' is '5', a int"),
        ('{"authors": "Ann Lee"}', "extract_authors", "a str"),
        ('{"authors": ["Ann Lee", 5]}', "extract_authors", "a list"),
        ('{"reference_count": -1}', "count_references", "'-1'"),
        ('{"reference_count": true}', "count_references", "a bool"),
        ('{"cited": "true"}', "detect_citation", "a str"),
    ],
)
def test_a_reply_of_another_form_says_what_it_lacks(reply: str, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parsed(reply, name)


@given(st.text(alphabet="ab \n\r\u2028é", max_size=200), st.integers(1, 20))
def test_chunks_lose_nothing_and_stay_in_their_size(text: str, tokens: int) -> None:
    found = chunks(text, len, tokens)
    assert "".join(found) == text
    assert all(0 < len(piece) <= tokens for piece in found)


def test_a_chunk_size_that_cannot_hold_anything_is_an_error() -> None:
    with pytest.raises(LongtrekError, match="at least 1"):
        chunks("text", len, 0)
    assert chunks("ab", lambda text: 5 * len(text), 3) == ["a", "b"]


# Questions


GOLD = database_of(
    [
        {"id": "a", "title": "Lions, Tigers", "authors": ["Anthony O'Hagan"], "reference_count": 3},
        {"id": "b", "title": "On Bears", "authors": ["Ann Lee", "Bo Xu"], "reference_count": 1},
    ],
    [("a", "b")],
)
QUESTION = {"id": "q", "collection": "c", "text": "How many authors in all?", "answer": "3"}


def replies(*texts: str) -> Scripted:
    return Scripted(lambda prompt, schema, attempt: texts[attempt])


def sql(text: str) -> str:
    return json.dumps({"sql": text})


def asked(model: Scripted) -> Any:
    return asyncio.run(answer(QUESTION, GOLD, model, execute, FOLDER))


def test_a_question_is_answered_by_executing_the_models_query_on_gold_tables() -> None:
    found = asked(replies(sql("SELECT SUM(author_count) FROM articles")))
    assert (found.text, found.status, found.problems) == ("3", "answered", ())
    assert found.row()["status"] == "answered"


def test_refused_queries_are_tried_again_with_the_reason_kept() -> None:
    model = replies(
        sql("DROP TABLE articles"),
        sql("SELECT * FROM read_csv('/etc/passwd')"),
        "no idea",
        sql("SELECT title FROM papers"),
        sql("SELECT author_name FROM article_author WHERE author_name = 'Anthony O''Hagan'"),
    )
    found = asked(model)
    assert (found.text, found.status) == ("Anthony O'Hagan", "answered")
    assert [problem.attempt for problem in found.problems] == [0, 1, 2, 3]
    assert all(problem.reason for problem in found.problems)
    assert [temperature for _, _, temperature in model.how] == [0.0, 0.7, 0.7, 0.7, 0.7]
    assert len({seed for _, seed, _ in model.how}) == 5


def test_a_question_without_a_query_that_runs_is_a_wrong_answer_and_not_an_error() -> None:
    found = asked(replies(*[sql("SELECT 1; SELECT 2")] * 5))
    assert (found.text, found.status, len(found.problems)) == ("", "no_query", 5)
    assert found.row()["status"] == "answered"


def test_a_failed_request_is_an_error_and_not_a_wrong_answer() -> None:
    def fails(prompt: str, schema: dict[str, Any], attempt: int) -> str:
        raise RequestFailed("the engine died; start it again")

    found = asked(Scripted(fails))
    assert found.status == "failed"
    assert found.row()["error"]["message"] == "the engine died; start it again"
    facts = extractor(Scripted(fails), tokens=100)
    asyncio.run(facts.article("a", MARKDOWNS["a"]))
    assert [problem.attempt for problem in facts.problems] == [0, 0, 0]


def test_a_question_is_asked_with_the_prompt_of_the_given_folder(tmp_path: Path) -> None:
    (tmp_path / "question_to_sql_baseline.txt").write_text("In SQL: {question}\n")
    model = replies(sql("SELECT 1"))
    asyncio.run(answer(QUESTION, GOLD, model, execute, tmp_path))
    assert [prompt for _, prompt, _ in model.asked] == [f"In SQL: {QUESTION['text']}"]


def test_answers_come_in_the_questions_order() -> None:
    def by_question(prompt: str, schema: dict[str, Any], attempt: int) -> str:
        number = prompt.split("Question: number ")[1].split("\n")[0]
        return sql(f"SELECT reference_count + {number} FROM articles WHERE article_id = 'b'")

    questions = [{"id": str(n), "collection": "c", "text": f"number {n}"} for n in range(9)]
    with Sandbox() as sandbox:
        found = asyncio.run(
            answer_all(questions, {"c": GOLD}, Scripted(by_question), sandboxed(sandbox), FOLDER, at_once=4)
        )
    assert [one.text for one in found] == [str(n + 1) for n in range(9)]
