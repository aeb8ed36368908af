"""Metadata held against the articles' text, and corrections of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from longtrek.corpus import (
    metadata,
)
from longtrek.errors import LongtrekError
from small_corpora import article

TEXT = (
    "# Econometric Computing with *HC*\n\n"
    "Torsten Hothorn<sup>1</sup>, Bettina Grün2,3 and John W. Fisher, III\n\n## 1 Introduction"
)
REFERENCES = (
    "\n\n## **References**\n\nHothorn T (2004). *A Title of Some Length*.\n\n"
    "Zeileis A (2006). *Another Title*. 1–2.\n\n## A Appendix\n\nText."
)


def test_metadata_that_agrees_gives_no_row() -> None:
    assert metadata.disagreements(article(), TEXT + REFERENCES) == []


@pytest.mark.parametrize(
    ("changes", "text", "field", "note"),
    [
        ({"title": "Something else"}, TEXT + REFERENCES, "title", "not found on the first page"),
        ({"authors": ("Bettina Grün", "Torsten Hothorn")}, TEXT + REFERENCES, "authors", "in this order"),
        ({"reference_count": 3}, TEXT + REFERENCES, "reference_count", "counts differ"),
        ({}, TEXT, "references", "no reference list found"),
        ({"authors": ()}, TEXT + REFERENCES, "authors", "no author is known"),
    ],
)
def test_each_disagreement_is_a_row(changes: dict[str, Any], text: str, field: str, note: str) -> None:
    (row,) = metadata.disagreements(article(**changes), text)
    assert row["field"] == field and note in row["note"]


def test_numbered_entries_are_counted_one_a_line() -> None:
    text = "# T\n\n## 7. Bibliography\n\n- [1] A. Long entry\n- [2] B.\n- [3] C.\n"
    assert len(metadata.reference_list(text) or ()) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "field": "title", "value": "x"}, "expected the keys id, field, value and why"),
        ({"id": "a", "field": "tokens", "value": 1, "why": "x"}, "field 'tokens'"),
        ({"id": "a", "field": "authors", "value": "A, B", "why": "x"}, "expected a list"),
    ],
)
def test_a_faulty_correction_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(LongtrekError, match=message):
        metadata.corrected([article()], file)
