"""The report: every answer in it, nothing but text in its pages, and the same bytes from the same results."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zlib
from bisect import bisect_right
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import report_results
from longtrek.analysis.claims import table
from longtrek.config import load
from longtrek.csv_files import read_rows
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.paths import ROOT
from longtrek.report.claims import COLUMNS, Claim, read_claims
from longtrek.report.columns import Columns
from longtrek.report.data_files import CHUNK, Chunks, whole_folder
from longtrek.report.explorer_links import explorer_links
from longtrek.report.lines import Packed, packed
from longtrek.report.study import Answers
from longtrek.report.write import write_report
from longtrek.transduction.scoring import explain
from report_results import CHECK, ELSEWHERE, MODEL, NASTY, SQL_MODEL


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a small finished run (`run.yaml`, `results/`) and its report."""
    folder = tmp_path_factory.mktemp("run")
    report_results.build(folder)
    write(folder)
    return folder


def write(folder: Path, seed: str = "0") -> None:
    """Write a folder's report with the command, from that folder."""
    command = [sys.executable, "-m", "longtrek", "report", "--config", "run.yaml"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Explorer:
    """A paper's answers as the pages read them from the report's data files."""

    def __init__(self, folder: Path, paper: str) -> None:
        self.data = folder / "results" / "report" / "data"
        self.paper = paper
        self.index = self._given(paper)

    def _given(self, name: str) -> Any:
        script = (self.data / f"{name}.js").read_text(encoding="ascii")
        said, value = json.loads("[" + script.removeprefix("longtrek.give(").removesuffix(");\n") + "]")
        assert said == name
        return value

    def value(self, table: str, name: str, place: int) -> Any:
        found = self.index[table]["columns"][name][place]
        values = self.index[table]["values"].get(name)
        return found if values is None else values[found]

    def rows(self) -> list[dict[str, Any]]:
        """Every row of the list, with what was asked."""
        made = []
        for row in range(self.index["rows"]["count"]):
            item = self.value("rows", "item", row)
            asked = {name: self.value("items", name, item) for name in self.index["items"]["columns"]}
            made.append(asked | {name: self.value("rows", name, row) for name in self.index["rows"]["columns"]})
        return made

    def entry(self, kind: str, place: int) -> Any:
        """What is loaded when an answer is opened."""
        starts = self.index["files"][kind]
        number = bisect_right(starts, place) - 1
        content = zlib.decompress(base64.b64decode(self._given(f"{self.paper}-{kind}-{number}")))
        return json.loads(content)[place - starts[number]]


def unpacked(pieces: Packed, expected: list[str]) -> str:
    """An answer's text from its pieces."""
    lines: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            lines.append(piece)
        elif len(piece) == 2:
            lines += expected[piece[0] : sum(piece)]
        else:
            lines += [lines[-1]] * piece[0]
    return "\n".join(lines)


line = st.sampled_from(["[1]1+1=2", "[2]2+2=4", "", " ", "x", "\r", "a\u2028b"]) | st.text(max_size=5)


@given(st.lists(line, min_size=1, max_size=30), st.lists(line, max_size=12))
def test_a_packed_text_is_the_text(given: list[str], expected: list[str]) -> None:
    text = "\n".join(given)
    assert unpacked(packed(text, expected), expected) == text


def test_what_an_answer_repeats_takes_no_room() -> None:
    expected = [f"[{place}]{place}+1={place + 1}" for place in range(5000)]
    assert packed("\n".join(expected), expected) == [[0, 5000]]
    assert packed("\n".join([*expected[:10], "lost", *["lost"] * 9000]), expected) == [[0, 10], "lost", [9000]]


def test_values_stand_in_the_papers_order_then_by_size_then_by_name() -> None:
    columns = Columns(["model", "difficulty"], ["n"])
    for model, difficulty in (("z", 16), ("b", 2), ("a", None), ("b", 0.2), ("ours", 8)):
        columns.add({"model": model, "difficulty": difficulty, "n": 1})
    data = columns.as_data({"model": ["ours"]})
    assert data["values"] == {"model": ["ours", "a", "b", "z"], "difficulty": [0.2, 2, 8, 16, None]}
    assert [data["values"]["model"][code] for code in data["columns"]["model"]] == ["z", "b", "a", "b", "ours"]


def test_texts_are_written_as_they_come(tmp_path: Path) -> None:
    chunks = Chunks(tmp_path, "texts")
    for _ in range(4):
        chunks.add("x" * (CHUNK // 2))
        assert len(list(tmp_path.iterdir())) == chunks.count // 2
    chunks.add("short")
    chunks.close()
    assert chunks.starts == [0, 2, 4]
    assert len(list(tmp_path.iterdir())) == 3


def test_every_answer_is_in_the_list_and_opens_to_its_text(results: Path) -> None:
    explorer = Explorer(results, "transduction")
    documents = {row["id"]: row for row in read_jsonl(results / "results" / "documents" / "4096.jsonl.zst")}
    given = {
        model: {
            row["id"]: row for row in read_jsonl(results / "results" / "answers" / model / "transduction/4096.jsonl")
        }
        for model in (MODEL, CHECK, ELSEWHERE)
    }
    rows = explorer.rows()
    assert len(rows) == 3 * len(documents)
    for place, row in enumerate(rows):
        answer, document = given[row["model"]].get(row["id"]), documents[row["id"]]
        entry, asked = explorer.entry("answers", place), explorer.entry("documents", row["item"])
        assert (asked["prompt"], asked["expected"]) == (document["prompt"], document["expected"])
        if answer is None:
            assert (row["status"], entry) == ("missing", {})
            continue
        assert unpacked(entry.get("text", [""]), document["expected"].split("\n")) == answer["text"]
        assert entry.get("error") == answer.get("error")
        if row["status"] in ("failed", "not_asked"):
            assert (row["paper"], row["strict"], "wrong" in entry) == (None, None, False)


def test_rows_say_what_the_scores_say(results: Path) -> None:
    explorer = Explorer(results, "transduction")
    scored = {
        (row["model"], row["document"]): row
        for model in (MODEL, CHECK, ELSEWHERE)
        for row in pq.read_table(results / "results/scores" / model / "transduction_documents.parquet").to_pylist()
    }
    for row in explorer.rows():
        score = scored.pop((row["model"], row["id"]))
        assert (row["status"], row["loop"], row["finish"]) == (
            score["status"],
            score["loop_at"],
            score["finish_reason"],
        )
        for rule in ("paper", "strict"):
            accuracy = score[f"{rule}_accuracy"]
            assert row[rule] == (None if accuracy is None else round(accuracy * score["records"]))
    assert not scored


def test_records_that_are_wrong_are_those_that_longtrek_show_marks(results: Path) -> None:
    explorer = Explorer(results, "transduction")
    documents = {row["id"]: row for row in read_jsonl(results / "results/documents/4096.jsonl.zst")}
    answers = {row["id"]: row for row in read_jsonl(results / "results/answers" / MODEL / "transduction/4096.jsonl")}
    seen = 0
    for place, row in enumerate(explorer.rows()):
        if row["model"] != MODEL or row["paper"] is None:
            continue
        found: dict[int, tuple[int, Any, Any]] = {}
        for one in explorer.entry("answers", place).get("wrong", []):
            if len(one) == 2:
                found |= dict.fromkeys(range(one[0], sum(one)), (0, None, None))
            else:
                found[one[0]] = (one[1], one[2], one[-1])
        records = explain(documents[row["id"]], answers[row["id"]]["text"])
        marks = {one.record: one.paper_correct + 2 * one.strict_correct for one in records}
        given = {one.record: (one.paper_given, one.strict_given) for one in records}
        assert found == {record: (mark, *given[record]) for record, mark in marks.items() if mark != 3}
        lost = next((record for record, mark in marks.items() if not mark & 1), None)
        assert row["lost"] == lost
        seen += bool(found)
    assert seen > 5


def test_inputs_stand_beside_records(results: Path) -> None:
    explorer = Explorer(results, "transduction")
    for place, identity in enumerate(explorer.index["items"]["columns"]["id"]):
        asked = explorer.entry("documents", place)
        if identity.startswith("arithmetic"):
            lines = asked["prompt"].split("\n")
            for number, expected in zip(asked["inputs"], asked["expected"].split("\n"), strict=True):
                assert lines[number].split("]")[-1] == expected.split("]")[-1].split("=")[0]


def test_every_sample_of_scitrek_is_scored_as_the_scores_are(results: Path) -> None:
    explorer = Explorer(results, "scitrek")
    rows = explorer.rows()
    assert {row["model"] for row in rows} == {MODEL, CHECK, SQL_MODEL}
    for model in (MODEL, CHECK, SQL_MODEL):
        scored = pq.read_table(results / "results/scores" / model / "scitrek.parquet").to_pylist()
        ours = [row for row in rows if row["model"] == model]
        assert len(ours) == sum(row["asked"] for row in scored)
        for mine, theirs in (
            ("paper", "paper_exact_match"),
            ("strict", "strict_correct"),
            ("parts", "strict_parts_f1"),
        ):
            values = [row[mine] for row in ours if row[mine] is not None]
            assert fmean(values) == pytest.approx(fmean(row[theirs] for row in scored), abs=1e-4)


def test_an_answer_of_scitrek_opens_beside_what_was_expected(results: Path) -> None:
    explorer = Explorer(results, "scitrek")
    questions = {row["id"]: row for row in pq.read_table(results / "results/questions/questions.parquet").to_pylist()}
    for place, row in enumerate(explorer.rows()):
        entry, asked = explorer.entry("answers", place), explorer.entry("questions", row["item"])
        assert (asked["text"], asked["sql"]) == (questions[row["id"]]["text"], questions[row["id"]]["sql"])
        collection = explorer.entry("collections", asked["collection"])
        assert collection["id"] == row["collection"]
        assert collection["tables"].startswith("articles\narticle_id,")
        assert (all(one == other for one, other in entry["parts"])) == bool(row["strict"])
        if row["model"] == SQL_MODEL:
            assert (entry["sql"], entry["problems"][0]["reason"]) == ("SELECT 1", NASTY)


class Texts(HTMLParser):
    """What a page shows as text, the tags it has, and where its links lead."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data


PAGES = ("index.html", "exhibits.html", "claims.html", "models.html", "answers.html")


@pytest.mark.parametrize("name", PAGES)
def test_pages_need_nothing_from_elsewhere_and_run_nothing_from_data(results: Path, name: str) -> None:
    folder = results / "results" / "report"
    page = Texts(folder / name)
    for tag, attributes in page.tags:
        for link in (attributes.get("src"), attributes.get("href")):
            if link and not link.startswith(("#", "data:")):
                assert (folder / link.partition("#")[0]).is_file(), link
        if tag == "script":
            assert str(attributes.get("src")).startswith("assets/")
        assert tag != "b" or "bold" not in page.text or name != "claims.html"
    assert "http://" not in page.text and "https://" not in page.text


def test_claims_say_their_words_whatever_they_hold(results: Path) -> None:
    page = Texts(results / "results/report/claims.html")
    assert page.text.count(NASTY) == 4
    cards = [attributes for tag, attributes in page.tags if tag == "li" and attributes.get("class") == "claim"]
    assert [card["data-verdict"] for card in cards] == ["reproduced", "not run", "differs", "within noise"]
    links = {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    assert {"exhibits.html#transduction_table_2", "exhibits.html#scitrek_table_7"} <= links
    assert "It takes: 8 GPUs & 3 h" in page.text


def test_a_claim_leads_to_the_answers_that_it_rests_on(tmp_path: Path) -> None:
    rows = Columns(["model", "status", "finish"], ["item"])
    items = Columns(["family", "format", "difficulty", "horizon"], ["id"])
    asked = {"family": "lookup", "format": "no_ids", "difficulty": 8, "horizon": 131072, "id": "x"}
    rows.add({"model": "DeepSeek-V4-Flash", "status": "scored", "finish": "stop", "item": items.add(asked)})
    study = Answers("transduction", tmp_path, {}, rows, items)

    def claim(name: str, kind: str = "scores", verdict: str = "differs") -> Claim:
        said = {"id": name, "paper": "transduction", "kind": kind, "verdict": verdict}
        return Claim(**dict.fromkeys(COLUMNS, "") | said)

    claims = [
        claim("lt-acc-deepseek-128k"),
        claim("lt-acc-deepseek-4k"),
        claim("lt-acc-falcon-4k"),  # a model that was not run
        claim("lt-62"),
        claim("lt-grid-families", kind="built"),
        claim("lt-gap", verdict="not run"),
    ]
    whose = {"paper": "transduction", "model": "DeepSeek-V4-Flash"}
    assert explorer_links(claims, load(ROOT / "config" / "config.yaml"), [study]) == {
        "lt-acc-deepseek-128k": {**whose, "horizon": "131072"},
        "lt-acc-deepseek-4k": whose,
        "lt-62": {"paper": "transduction"},
    }


def test_the_front_page_warns_of_what_is_no_result(results: Path) -> None:
    text = " ".join(Texts(results / "results/report/index.html").text.split())
    assert "This is a quick run" in text
    assert "solver is no model" in text
    assert "from-elsewhere: its answers were made elsewhere and imported" in text
    assert "2 failed" in text and "2 missing" in text and "2 not asked" in text
    assert "score_transduction 2 20 s 202" in text  # two measures of one job, added up


def test_figures_and_tables_that_are_not_built_say_so(results: Path) -> None:
    page = Texts(results / "results/report/exhibits.html")
    text = " ".join(page.text.split())
    assert text.count("Not built yet") == 11 + 26 - 2
    assert "longtrek table scitrek_table_7 --config run.yaml" in text
    assert "snakemake --cores all results/figures/transduction_figure_2.svg --configfile run.yaml" in text
    assert "A note of it." in text and "A & B <i>" in text
    order = [attributes["id"] for tag, attributes in page.tags if tag == "article"]
    assert order[:2] == ["transduction_figure_1", "transduction_figure_2"]
    assert order.index("scitrek_table_2") + 1 == order.index("scitrek_figure_1")


def test_a_run_that_has_only_begun_has_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = report_results.build(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").rename(tmp_path / "gone")
    assert write_report(load(config), Path("results/report")) == {"transduction": 0, "scitrek": 0}
    text = " ".join(Texts(Path("results/report/index.html")).text.split())
    assert "The claims are not judged yet" in text
    assert f"No scores yet: Lossy <model>, {CHECK}" in text


def test_scores_that_are_not_of_these_answers_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = report_results.build(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = Path("results/answers") / MODEL / "transduction/4096.jsonl"
    rows = [row | {"text": "\n".join(row["text"].split("\n")[1:])} for row in read_jsonl(file)]
    report_results.write_jsonl(file, rows)
    before = {*Path("results").iterdir(), Path("results/.report.lock")}
    with pytest.raises(LongtrekError, match=r"records of lossy-model's answer are right, but its score is"):
        write_report(load(config), Path("results/report"))
    assert set(Path("results").iterdir()) == before


def test_a_report_is_whole_or_the_one_before(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "report") as folder:
        (folder / "page").write_text("first")
    with pytest.raises(RuntimeError), whole_folder(tmp_path / "report") as folder:
        (folder / "page").write_text("second")
        raise RuntimeError
    assert (tmp_path / "report" / "page").read_text() == "first"
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["report"]
    assert {path.name for path in tmp_path.glob(".*")} == {".report.lock"}


def test_two_reports_at_once_are_written_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def second() -> None:
        with whole_folder(tmp_path / "report") as folder:
            (folder / "page").write_text("second")

    waiting = threading.Thread(target=second)
    with whole_folder(tmp_path / "report") as folder:
        waiting.start()
        for _ in range(500):
            if "waiting for process" in capsys.readouterr().err:
                break
            time.sleep(0.01)
        else:
            raise AssertionError("the second report does not wait")
        (folder / "page").write_text("first")
    waiting.join(10)
    assert (tmp_path / "report" / "page").read_text() == "second"


@pytest.mark.parametrize("study", ["transduction", "scitrek"])
def test_answers_lost_since_they_were_scored_are_no_empty_texts(results: Path, tmp_path: Path, study: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results, copy)
    file = next(iter(sorted((copy / "results" / "answers" / MODEL / study).glob("*.jsonl"))))
    file.write_text("")
    command = [sys.executable, "-m", "longtrek", "report", "--config", "run.yaml"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "a score and no answer" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tables/scitrek_table_7.csv", b"a,b\n1\n", "line 2: 1 cells; expected 2"),
        ("tables/scitrek_table_7.csv", b"a,b\n1,\xe9\n", "not UTF-8"),
        ("tables/scitrek_table_7.md", b"\xe9\n", "not UTF-8"),
        ("figures/transduction_figure_2.csv", b"a,b\n1,2", "the last line has no end"),
        ("claims.csv", b"id,paper\nLT-1,scitrek\n", "columns are id, paper"),
        ("scores/{0}/scitrek.parquet", b"PAR1", "not a Parquet table"),
        ("answers/{0}/transduction/4096.jsonl", b"5\n", r"line 1: \(top level\): found 5"),
        ("answers/{0}/scitrek/tables-64K.jsonl", b'{"id": "x", "sta\n', "line 1: not JSON"),
    ],
)
def test_a_damaged_file_of_the_run_is_told_and_no_report_is_written(
    results: Path, tmp_path: Path, name: str, content: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(results, run, ignore=shutil.ignore_patterns("report"))
    path = run / "results" / name.format(MODEL)
    path.write_bytes(content)
    monkeypatch.chdir(run)
    with pytest.raises(LongtrekError, match=rf"{re.escape(path.name)}.*{said}"):
        write_report(load(Path("run.yaml")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_part_of_the_kits_claims_is_no_shorter_list(tmp_path: Path) -> None:
    kits = [row["id"] for _, row in read_rows(ROOT / "config" / "claims.csv", table.COLUMNS)]
    path = tmp_path / "claims.csv"
    empty = ",".join([""] * (len(COLUMNS) - 1))
    path.write_text(",".join(COLUMNS) + "\n" + "".join(f"{name},{empty}\n" for name in kits[:190]))
    with pytest.raises(
        LongtrekError, match=rf"{len(kits) - 190} of the kit's {len(kits)} claims are not there, first {kits[190]}"
    ):
        read_claims(path)


def test_a_report_takes_no_other_files_place(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    for taken in (tmp_path / "mine", tmp_path / "mine" / "notes.txt"):
        with pytest.raises(LongtrekError, match="holds something else than a report"):
            write_report(load(ROOT / "config" / "quick.yaml"), taken)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"
