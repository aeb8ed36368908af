"""One answer beside what was expected, record by record."""

from pathlib import Path

import pytest

from longtrek.analysis.answer_view import view
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from longtrek.transduction.documents import document as build_document
from longtrek.transduction.grid import DocumentSpec
from longtrek.transduction.prompts import read_prompts


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A run with one document, answered with one wrong and one missing record."""
    spec = DocumentSpec("arithmetic", "ordered", 2, 512, 0)
    document = build_document(spec, 7, read_prompts())
    lines = document["expected"].split("\n")
    answer = [lines[0], lines[1] + "9", *lines[3:]]
    row = {"id": document["id"], "text": "\n".join(answer), "status": "answered", "finish_reason": "stop"}
    write_jsonl(tmp_path / "documents" / "512.jsonl.zst", [document])
    write_jsonl(tmp_path / "answers" / "m" / "transduction" / "512.jsonl", [row])
    write_jsonl(
        tmp_path / "answers" / "broken" / "transduction" / "512.jsonl",
        [{**row, "text": "", "status": "failed", "error": {"kind": "timeout", "message": "no answer in 600 s"}}],
    )
    return tmp_path


def test_show_sets_each_record_beside_what_was_expected(results: Path) -> None:
    lines = list(view(results, "m", "arithmetic-ordered-2-512-0", "paper"))
    shown = "\n".join(lines)
    assert "lost at:  record 2" in shown
    assert "(nothing)" in shown
    assert shown.count("✗") == 4
    assert "\x1b[31" in shown
    wrong = list(view(results, "m", "arithmetic-ordered-2-512-0", "paper", wrong_only=True))
    assert sum("expected" in line for line in wrong) == 2


def test_show_never_scores_a_failed_request(results: Path) -> None:
    shown = "\n".join(view(results, "broken", "arithmetic-ordered-2-512-0", "paper"))
    assert "timeout: no answer in 600 s" in shown and "no score" in shown and "records right" not in shown


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ({"prompt_tokens": None, "completion_tokens": None}, ""),
        ({"prompt_tokens": 1234, "completion_tokens": None}, "tokens:   1,234 read, an unknown number written"),
        ({"prompt_tokens": 7, "completion_tokens": 9}, "tokens:   7 read, 9 written"),
    ],
)
def test_show_says_no_tokens_that_nobody_counted(results: Path, usage: dict[str, int | None], said: str) -> None:
    path = results / "answers" / "m" / "transduction" / "512.jsonl"
    (row,) = read_jsonl(path)
    write_jsonl(path, [row | {"usage": usage}])
    lines = list(view(results, "m", "arithmetic-ordered-2-512-0", "paper"))
    assert [line for line in lines if line.startswith("tokens")] == ([said] if said else [])
    assert "None" not in "".join(lines[:5])


def test_show_says_what_is_not_there(results: Path) -> None:
    with pytest.raises(LongtrekError, match=r"512\.jsonl\.zst"):
        list(view(results, "m", "arithmetic-ordered-2-512-1", "paper"))
    with pytest.raises(LongtrekError, match="models with answers there: broken, m"):
        list(view(results, "nobody", "arithmetic-ordered-2-512-0", "paper"))
    with pytest.raises(LongtrekError, match=r"make reproduce.*--results FOLDER"):
        list(view(results / "nowhere", "m", "arithmetic-ordered-2-512-0", "paper"))
    with pytest.raises(LongtrekError, match="arithmetic-ordered-2-4096-0"):
        list(view(results, "m", "nonsense", "paper"))
