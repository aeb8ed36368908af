"""Early stop: an answer that is called complete has the scores of every text that could follow."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.transduction.completion import completion_of
from longtrek.transduction.scoring import RuleScore, score
from mutated_answers import mutated
from small_documents import VARIANTS, small_document


def cut(document: dict[str, Any], text: str, size: int) -> str | None:
    """What a stream of `text`, in pieces of `size` characters, has brought when it is called complete."""
    completion = completion_of(document)
    for end in range(size, len(text) + size, size):
        if completion.feed(text[end - size : end]):
            return text[:end]
    return None


def marks(document: dict[str, Any], text: str) -> tuple[RuleScore, RuleScore]:
    scored = score(document, text)
    return scored.paper, scored.strict


@pytest.mark.parametrize(("family", "form"), VARIANTS)
def test_gold_is_complete_when_its_last_line_has_ended_and_not_before(family: str, form: str) -> None:
    document = small_document(family, form, 0)
    gold = document["expected"]
    assert cut(document, gold, 1) is None
    assert cut(document, gold + "\nmore", 1) == gold + "\n"


@settings(max_examples=1000, deadline=None)
@given(st.sampled_from(VARIANTS), st.integers(0, 5), st.sampled_from([1, 3, 40]), st.data())
def test_a_complete_answer_keeps_its_scores_whatever_follows(
    variant: tuple[str, str], seed: int, size: int, data: st.DataObject
) -> None:
    document = small_document(*variant, seed)
    text = data.draw(mutated(document["expected"])) + "\n"
    more = data.draw(st.one_of(st.text("[]0123456789=+-,RC\n`*quick fox"), mutated(document["expected"])))
    full = text + more
    prefix = cut(document, full, size)
    if prefix is not None and not any(marker in full[len(prefix) - size :] for marker in ("think>", "<|")):
        assert marks(document, prefix) == marks(document, full)


@pytest.mark.parametrize(("family", "form"), VARIANTS)
def test_nothing_is_complete_inside_reasoning(family: str, form: str) -> None:
    document = small_document(family, form, 0)
    gold = document["expected"] + "\n"
    for opening, closing in [
        ("<think>\n", "</think>"),
        ("<|channel|>analysis<|message|>\n", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ]:
        completion = completion_of(document)
        assert not completion.feed(opening + gold + gold)
        assert not completion.feed(closing)
        assert not completion.feed(gold[:-1])
        assert completion.feed("\n")
        assert score(document, opening + gold + closing + gold).strict.complete


@pytest.mark.parametrize(("family", "form"), VARIANTS)
def test_a_record_left_out_is_waited_for(family: str, form: str) -> None:
    document = small_document(family, form, 0)
    lines = document["expected"].split("\n")
    assert cut(document, "\n".join(lines[:-1]) + "\n" + "Done.\n" * (family != "lookup"), 7) is None


def test_watching_is_linear_in_the_length_of_one_line() -> None:
    document = small_document("arithmetic", "ordered", 0)
    completion = completion_of(document)
    begun = time.process_time()
    for _ in range(200_000):
        completion.feed("12345")
    assert not completion.feed("\n")
    assert time.process_time() - begun < 5
