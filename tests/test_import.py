"""Answers made elsewhere: taken whole or not at all, scored, and shown as what they are."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from foreign_answers import rollout, written
from longtrek.answers.imported import import_answers, take_imported
from longtrek.answers.imported_forms import read_foreign
from longtrek.answers.model import Model, find_model
from longtrek.answers.request import Request
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.scitrek import released
from released_rows import ROW

FOREIGN = Model("theirs", "imported")


def asked(count: int = 3, samples: int = 1) -> list[Request]:
    """Requests of one tier."""
    return [
        Request(f"d{n}", [{"role": "user", "content": f"say {n}"}], 9, sample=sample, expected=str(n))
        for n in range(count)
        for sample in range(samples)
    ]


class Elsewhere:
    """One tier of a model whose answers are imported, in a folder of its own."""

    def __init__(self, folder: Path, requests: list[Request]) -> None:
        self.folder = folder
        self.requests = requests
        self.store = folder / "store.jsonl"

    def take(self, rows: list[Any], replacing: bool = False, name: str = "theirs.jsonl") -> str:
        file = written(self.folder / name, rows)
        tiers = {"4096": (self.requests, self.store)}
        done = import_answers(FOREIGN, file, tiers, replacing=replacing, say=lambda _: None)
        return done[0].line()

    def answers(self) -> list[dict[str, Any]]:
        take_imported(FOREIGN, self.requests, self.store, self.folder / "out.jsonl", "longtrek import answers FILE")
        return list(read_jsonl(self.folder / "out.jsonl"))


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path, asked())


# What is taken


def test_plain_lines_are_taken_and_marked_as_foreign(elsewhere: Elsewhere) -> None:
    said = elsewhere.take([{"id": "d1", "text": "one"}, {"id": "d0", "text": "zero", "finish_reason": "length"}])
    assert "2 answers imported" in said and "1 missing" in said
    first, second, third = elsewhere.answers()
    assert [first["text"], second["text"], third["status"]] == ["zero", "one", "missing"]
    assert first["finish_reason"] == "length"
    assert first["provenance"]["foreign"] is True and first["provenance"]["engine"]["kind"] == "imported"
    source = first["provenance"]["source"]
    assert (source["file"], source["line"], source["form"]) == ("theirs.jsonl", 2, "lines")
    assert len({first["key"], second["key"]}) == 2


def test_several_lines_of_an_id_are_its_samples(tmp_path: Path) -> None:
    elsewhere = Elsewhere(tmp_path, asked(2, samples=3))
    elsewhere.take([{"id": "d0", "text": "a"}, {"id": "d0", "text": "b"}, {"id": "d1", "text": "c", "sample": 2}])
    rows = elsewhere.answers()
    assert [row["text"] for row in rows] == ["a", "b", "", "", "", "c"]
    assert [row["status"] for row in rows].count("missing") == 3


def test_a_failure_elsewhere_is_a_failure_here(elsewhere: Elsewhere) -> None:
    elsewhere.take([{"id": "d0", "error": {"code": 500, "message": "broken"}}, {"id": "d1", "text": ""}])
    failed, empty, _ = elsewhere.answers()
    assert (failed["status"], failed["error"]["message"]) == ("failed", "500: broken")
    assert (empty["status"], empty["text"]) == ("answered", "")


def test_a_rollout_finds_its_document_by_its_prompt(elsewhere: Elsewhere) -> None:
    cut = rollout("say 0", "ze", incomplete_details={"reason": "max_output_tokens"})
    elsewhere.take([rollout("say 2", "two"), cut])
    zero, _, two = elsewhere.answers()
    assert (two["text"], two["reasoning"], two["finish_reason"]) == ("two", "hm", "stop")
    assert two["usage"] | {"counted_by": ""} == {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "cached_tokens": 3,
        "reasoning_tokens": 2,
        "counted_by": "",
    }
    assert two["provenance"]["model"]["stated"] == "their-model"
    assert zero["finish_reason"] == "length"


def test_a_rollout_that_used_up_its_cap_was_cut(elsewhere: Elsewhere) -> None:
    elsewhere.take([rollout("say 0", "zero", usage={"input_tokens": 7, "output_tokens": 9})])
    assert elsewhere.answers()[0]["finish_reason"] == "length"


def test_a_rollout_without_an_answer_is_a_failure(elsewhere: Elsewhere) -> None:
    broken = rollout("say 0", "") | {"failure_kind": "timeout", "failure_reason": "300 s"}
    elsewhere.take([broken, rollout("say 1", "", status="failed", error={"code": "x", "message": "y"})])
    rows = elsewhere.answers()
    assert [row["status"] for row in rows] == ["failed", "failed", "missing"]
    assert [row["error"]["message"] for row in rows[:2]] == ["timeout: 300 s", "x: y"]


def test_scitreks_answer_files_are_taken_by_the_question_that_they_hold(tmp_path: Path) -> None:
    question = next(iter(released.questions([ROW])))
    messages = [{"role": "user", "content": f"Tables. {ROW['question']}"}]
    name = f"{question['id']}/tables/direct"
    requests = [Request(name, messages, 9, sample, expected=ROW["answer"]) for sample in range(3)]
    elsewhere = Elsewhere(tmp_path, requests)
    elsewhere.take([ROW | {"generations": ["x", "y"], "reasonings": ["r1", "r2"]}])
    rows = elsewhere.answers()
    assert [(row["text"], row["reasoning"], row["status"]) for row in rows] == [
        ("x", "r1", "answered"),
        ("y", "r2", "answered"),
        ("", None, "missing"),
    ]
    with pytest.raises(LongtrekError, match="its right answer is"):
        elsewhere.take([ROW | {"id": question["id"], "generations": ["z"], "answer": "another"}])


def test_a_row_of_scitreks_without_generations_leaves_its_question_missing(tmp_path: Path) -> None:
    assert list(read_foreign(written(tmp_path / "a.jsonl", [ROW]))) == []
    with pytest.raises(LongtrekError, match="holds no answers"):
        Elsewhere(tmp_path, asked()).take([ROW])


# What is refused


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": "d0", "text": "a"}, {"id": "other", "text": "b"}], "line 2: other: is nothing that this run asks"),
        ([{"id": "d0", "text": "a"}, {"id": "d0", "text": "b"}], "sample 1 is one too many: the run asks 1"),
        ([{"id": "d0", "text": "a", "sample": 0}] * 2, "line 2: d0: sample 0 is given twice, first in line 1"),
        ([{"id": "d0", "text": "a", "prompt": "say 9"}], "line 1: d0: its prompt is not the one"),
        ([rollout("say 9", "nine")], "line 1: is nothing that this run asks"),
        ([rollout(None, "nine")], "line 1: is nothing that this run asks"),
        ([{"id": "d0"}], "line 1: not an answer; found an object with id"),
        ([["d0", "a"]], "line 1: not an answer; found a list"),
        ([{"id": "d0", "text": 5}], "`text` is 5"),
        ([{"id": "d0", "text": "a", "sample": "x"}], "`sample` is 'x'"),
        ([ROW | {"generations": "x"}], "expected a list of texts"),
        ([ROW | {"generations": ["x", "y"], "reasonings": ["r"]}], "2 `generations`, but `reasonings`"),
        ([rollout("say 0", "a", output="a")], "`response.output` is str"),
        ([rollout("say 0", "a", output=[{"content": 5}])], "content is not a list of pieces"),
        ([rollout("say 0", "a", output=[{"content": [{"text": 5}]}])], "`text` is int"),
        ([rollout("say 0", "a", output=[{"type": ["x"], "content": []}])], "`type` is list"),
        ([rollout("say 0", "a", status=["x"])], "`status` is list"),
        ([rollout("say 0", "a", incomplete_details="x")], "`incomplete_details` is str"),
        ([rollout("say 0", "a", usage="x")], "`usage` is str"),
        ([rollout("say 0", "a", usage={"input_tokens_details": 5})], "`input_tokens_details` is int"),
        ([rollout("say 0", "a", model=5)], "`model` is int"),
        ([rollout(None, "a") | {"responses_create_params": 5}], "its prompt cannot be read"),
        ([{"id": "d0", "text": "a", "usage": "x"}], "`usage` is str"),
        ([{"id": "d0", "text": "a", "usage": {"prompt_tokens": "many"}}], "`usage.prompt_tokens` is 'many'"),
        ([{"id": "d0", "text": "a", "usage": {"prompt_tokens": float("nan")}}], "`usage.prompt_tokens` is nan"),
        ([{"id": "d0", "text": "a", "usage": {"cached_tokens": 2**31}}], "`usage.cached_tokens` is 2147483648"),
        ([{"id": "d0", "text": "half \ud83d"}], "line 1: holds half a character (\\ud83d"),
        ([{"id": "d0", "text": "a", "prompt": "\ud800"}], "line 1: holds half a character"),
        ([ROW | {"generations": ["x"], "question": 5}], "line 1: `question` is int"),
        ([ROW | {"generations": ["x"], "answer": 5}], "line 1: `answer` is int"),
        ([ROW | {"generations": ["x"], "reasonings": [5]}], "`reasonings` holds [5]"),
        ([{"generations": ["x"]}], "line 1: released row 1: no `answer`"),
        ([ROW | {"generations": ["x"], "sql_type": ["x"]}], "line 1: not a SciTrek question's fields"),
        ([ROW | {"generations": ["x"], "articles": 5}], "line 1: not a SciTrek question's fields"),
        ([], "holds no answers"),
    ],
)
def test_a_file_with_a_fault_is_refused_whole(elsewhere: Elsewhere, rows: list[Any], told: str) -> None:
    with pytest.raises(LongtrekError) as error:
        elsewhere.take(rows)
    assert told in str(error.value)
    assert not elsewhere.store.exists()


def test_all_faults_are_counted_and_the_first_are_listed(elsewhere: Elsewhere) -> None:
    with pytest.raises(LongtrekError, match=r"20 answers\n  line 1: x0: .*(?s:.*)… and 12 more"):
        elsewhere.take([{"id": f"x{n}", "text": ""} for n in range(20)])


def test_an_id_of_two_tiers_must_be_told_apart(tmp_path: Path) -> None:
    tiers = {name: (asked(), tmp_path / f"{name}.jsonl") for name in ("tables-64K", "full_text-64K")}
    file = written(tmp_path / "a.jsonl", [{"id": "d0", "text": "a"}])
    with pytest.raises(LongtrekError, match="is asked in full_text-64K and tables-64K; say which with --tier"):
        import_answers(FOREIGN, file, tiers, replacing=False, say=lambda _: None)


def test_a_model_that_is_asked_here_takes_no_foreign_answers(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", [{"id": "d0", "text": "a"}])
    with pytest.raises(LongtrekError, match="its entry says engine: vllm"):
        tiers = {"4096": (asked(), tmp_path / "s.jsonl")}
        import_answers(Model("ours", "vllm"), file, tiers, replacing=False, say=lambda _: None)


def test_an_entry_of_imported_answers_asks_nothing_in_shards(tmp_path: Path) -> None:
    (tmp_path / "theirs.yaml").write_text("{name: theirs, engine: imported, shards: {'4096': 2}}")
    with pytest.raises(LongtrekError, match="shards does not go with the other keys"):
        find_model("theirs", tmp_path)


# Again


def test_the_same_answers_again_change_nothing(elsewhere: Elsewhere) -> None:
    rows = [{"id": "d0", "text": "zero"}, {"id": "d1", "text": "one"}]
    elsewhere.take(rows)
    before, out = elsewhere.store.read_bytes(), elsewhere.answers()
    assert "0 answers imported, 0 put in another's place, 2 there already" in elsewhere.take(rows)
    elsewhere.take(rows[::-1], name="another-name.jsonl")
    assert (elsewhere.store.read_bytes(), elsewhere.answers()) == (before, out)


def test_a_grown_file_adds_what_is_new(elsewhere: Elsewhere) -> None:
    elsewhere.take([{"id": "d0", "text": "zero"}])
    assert "1 answers imported" in elsewhere.take([{"id": "d0", "text": "zero"}, {"id": "d2", "text": "two"}])
    assert [row["text"] for row in elsewhere.answers()] == ["zero", "", "two"]


def test_another_answer_takes_a_standing_ones_place_only_when_told(elsewhere: Elsewhere) -> None:
    old, new = [{"id": "d0", "text": "zero"}], [{"id": "d0", "text": "nought"}, {"id": "d1", "text": "one"}]
    elsewhere.take(old, name="old.jsonl")
    before = elsewhere.store.read_bytes()
    with pytest.raises(LongtrekError, match=r"--replace(?s:.*)line 1: d0 \(sample 0\) has an answer from old.jsonl"):
        elsewhere.take(new, name="new.jsonl")
    assert elsewhere.store.read_bytes() == before
    assert "1 answers imported, 1 put in" in elsewhere.take(new, replacing=True, name="new.jsonl")
    assert [row["text"] for row in elsewhere.answers()] == ["nought", "one", ""]
    assert "1 put in" in elsewhere.take(old, replacing=True, name="old.jsonl")
    assert [row["text"] for row in elsewhere.answers()] == ["zero", "one", ""]
    assert elsewhere.store.read_bytes().startswith(before)


def test_an_import_that_was_cut_short_goes_on(elsewhere: Elsewhere) -> None:
    rows = [{"id": f"d{n}", "text": str(n)} for n in range(3)]
    elsewhere.take(rows)
    whole = elsewhere.store.read_bytes()
    elsewhere.store.write_bytes(whole[: len(whole) * 2 // 3])  # killed within the second or third line
    assert "there already" in elsewhere.take(rows)
    assert elsewhere.store.read_bytes() == whole


def test_answers_to_prompts_that_have_changed_are_not_scored(elsewhere: Elsewhere) -> None:
    elsewhere.take([{"id": "d0", "text": "zero"}])
    elsewhere.requests = [Request("d0", [{"role": "user", "content": "say nought"}], 9)]
    with pytest.raises(LongtrekError, match=r"imported for other prompts than this run asks(?s:.*)d0"):
        elsewhere.answers()
    elsewhere.take([{"id": "d0", "text": "zero"}], replacing=True)
    assert elsewhere.answers()[0]["text"] == "zero"


def test_a_model_without_imported_answers_is_an_error_that_says_what_to_do(elsewhere: Elsewhere) -> None:
    with pytest.raises(LongtrekError, match=r"no answers to these 3 requests were .*longtrek import answers FILE"):
        elsewhere.answers()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b'{"id": "a", "text": "b"}\n'), "gzip data: decompress it"),
        ("{}".encode("utf-16"), "UTF-16 text: save it as UTF-8"),
        (b"PK\x03\x04rest", "a ZIP archive"),
        (b'{"id": "\xe9"}\n', "line 1: not UTF-8 text.*expected JSON lines in UTF-8"),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_makes_lines_of_it(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "answers.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(LongtrekError, match=said):
        list(read_foreign(path))
