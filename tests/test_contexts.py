"""What SciTrek's questions are asked about: contexts, prompts, requests and the window policy."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtrek.answers.request import Request
from longtrek.errors import LongtrekError
from longtrek.scitrek import contexts
from longtrek.scitrek.contexts import Window
from longtrek.scitrek.prompts import (
    CONTEXTS,
    FOLDER,
    PROMPTS,
    prompt,
    question_prompt,
    question_requests,
    split_request_id,
)

DATABASE: dict[str, list[dict[str, Any]]] = {
    "articles": [
        {
            "article_id": "a0",
            "article_title": 'Lions, "Tigers" & 100 %',
            "title_word_count": 5,
            "author_count": 2,
            "reference_count": 7,
        }
    ],
    "article_author": [
        {"relation_id": "r0", "article_id": "a0", "author_name": "John W. Fisher, III", "author_position": 0},
        {"relation_id": "r1", "article_id": "a0", "author_name": "Anthony O'Hagan", "author_position": 1},
    ],
    "citing_cited": [],
}


def encode(text: str) -> Sequence[int]:
    return [ord(sign) for sign in text]


def decode(tokens: Sequence[int]) -> str:
    return "".join(map(chr, tokens))


def window(tokens: int, policy: Any = "refuse") -> Window:
    return Window(tokens, policy, encode, decode, margin=0)


def question(identity: str, collection: str = "c1", text: str = "How many?") -> dict[str, str]:
    return {"id": identity, "collection": collection, "text": text, "answer": "5"}


def test_names_and_titles_with_commas_and_quotes_can_be_read_back_from_the_tables() -> None:
    articles, authors, citations = contexts.tables(DATABASE).split("\n\n")
    assert list(csv.reader(io.StringIO(articles)))[2][1] == 'Lions, "Tigers" & 100 %'
    assert [row[1] for row in [*csv.reader(io.StringIO(authors))][2:]] == ["John W. Fisher, III", "Anthony O'Hagan"]
    assert citations == "citing_cited\narticle_id_citing,article_id_cited"


def test_a_database_without_a_table_is_refused() -> None:
    with pytest.raises(LongtrekError, match="citing_cited"):
        contexts.tables({name: rows for name, rows in DATABASE.items() if name != "citing_cited"})


def test_articles_stand_in_the_collections_order() -> None:
    assert contexts.full_text(["# One\n", "# Two\n\n"]) == "# One\n# Two"


@pytest.mark.parametrize("context", CONTEXTS)
def test_all_questions_and_both_prompts_of_a_collection_share_the_context_as_prefix(context: str) -> None:
    texts = [
        request.messages[0]["content"]
        for kind in PROMPTS
        for request in question_requests(
            [question("q1"), question("q2", text="Who?")],
            {"c1": "CONTEXT {question}"},
            context=context,
            kind=kind,
            samples=1,
            max_tokens=9,
            folder=FOLDER,
        )
    ]
    shared = texts[0][: texts[0].index("CONTEXT {question}") + len("CONTEXT {question}")]
    assert all(text.startswith(shared) for text in texts)
    assert all(text.rindex("CONTEXT") < text.rindex("Question:") for text in texts)


def test_answer_rules_are_the_same_on_full_text_and_tables() -> None:
    for kind in PROMPTS:
        full, tables = (
            question_prompt(kind, context, FOLDER).text.split("Rules for the answer")[1] for context in CONTEXTS
        )
        assert full.replace("articles", "tables") == tables


def test_prompts_say_the_papers_rules() -> None:
    for context in CONTEXTS:
        for kind in PROMPTS:
            text = question_prompt(kind, context, FOLDER).text
            assert all(word in text for word in ("commas", "spaces", "NULL", "no explanation"))
            assert (r"\boxed{}" in text) == (kind == "reasoning")


@given(st.text(), st.text())
def test_braces_in_articles_and_questions_are_left_as_they_are(context: str, asked: str) -> None:
    body = question_prompt("direct", "full_text", FOLDER).fill(context=context, question=asked)
    start, middle, end = prompt("direct_full_text", FOLDER).text.replace("{question}", "{context}").split("{context}")
    assert body == start + context + middle + asked + end


def test_a_prompt_filled_with_other_values_than_it_holds_is_an_error() -> None:
    with pytest.raises(LongtrekError, match="extract_title"):
        prompt("extract_title", FOLDER).fill(question="?")
    with pytest.raises(LongtrekError, match="no such prompt file"):
        prompt("summarise", FOLDER)


def test_requests_of_a_collection_go_together_and_carry_what_they_expect() -> None:
    requests = list(
        question_requests(
            [question("q1"), question("q2", "c2"), question("q3")],
            {"c1": "one", "c2": "two"},
            context="tables",
            kind="direct",
            samples=2,
            max_tokens=77,
            folder=FOLDER,
        )
    )
    assert [(request.id, request.sample) for request in requests] == [
        (f"{name}/tables/direct", sample) for name in ("q1", "q3", "q2") for sample in (0, 1)
    ]
    assert [request.prefix for request in requests] == ["c1/tables"] * 4 + ["c2/tables"] * 2
    assert {(request.max_tokens, request.expected) for request in requests} == {(77, "5")}
    assert split_request_id("a/b/full_text/reasoning") == ("a/b", "full_text", "reasoning")
    with pytest.raises(LongtrekError, match="request id 'q1'"):
        split_request_id("q1")


def asked(limit: Window) -> Request:
    (request,) = question_requests(
        [question("q1")],
        {"c1": "x" * 100},
        context="full_text",
        kind="direct",
        samples=1,
        max_tokens=10,
        folder=FOLDER,
        window=limit,
    )
    return request


def test_a_context_that_passes_the_window_is_refused_or_cut_and_never_without_a_word() -> None:
    around = len(question_prompt("direct", "full_text", FOLDER).fill(context="", question="How many?"))
    fits = asked(window(around + 110)).facts["window"]
    assert (fits["action"], fits["prompt_tokens"]) == ("fits", around + 100)
    refused = asked(window(around + 109)).facts["window"]
    assert (refused["action"], refused["kept_tokens"]) == ("refused", 0)
    cut = asked(window(around + 50, "truncate"))
    decided = cut.facts["window"]
    assert (decided["action"], decided["kept_tokens"], decided["context_tokens"]) == ("truncated", 40, 100)
    body = cut.messages[0]["content"]
    assert "x" * 40 in body and "x" * 41 not in body and body.endswith("Question: How many?\nAnswer:")
    assert asked(window(around, "truncate")).facts["window"]["action"] == "refused"


def test_an_unknown_policy_is_an_error() -> None:
    with pytest.raises(LongtrekError, match="refuse or truncate"):
        asked(window(10, "middle"))


@given(st.text(), st.integers(0, 40))
def test_a_cut_text_is_the_beginning_of_the_text(text: str, tokens: int) -> None:
    limit = Window(
        1,
        "truncate",
        lambda whole: list(whole.encode("utf-8", "replace")),
        lambda kept: bytes(kept).decode("utf-8", "replace"),
    )
    assert text.startswith(limit.cut(text, tokens)) or "\ufffd" in text or not text.isprintable()
