"""Imported answers in whole runs: through the workflow, in tables and figures, and with the authors' own documents."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from conftest import Run
from foreign_answers import rollout, written
from longtrek.analysis.scitrek_cells import beside
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.cli import LONGTREK
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from released_rows import ROW, WITH_PROMPTS


@pytest.fixture
def foreign_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """A run with the reference solver and a model of imported answers; gives `longtrek` in its folder."""
    run.add_model("theirs", engine="imported", label="Theirs")
    monkeypatch.chdir(run.folder)
    config = str(run.config_file)
    return lambda *words: CliRunner().invoke(LONGTREK, [*words, "--config", config])


def test_imported_answers_go_through_the_workflow_and_are_shown_as_imported(
    run: Run, foreign_run: Callable[..., Result]
) -> None:
    foreign_run("documents")
    refused = run.snakemake("--rerun-incomplete", "results/answers/theirs/transduction/4096.jsonl", fails=True)
    assert "longtrek import answers theirs transduction FILE" in refused
    asked_of = {row["id"] for row in read_jsonl(_made(run, "solver-a"))}
    documents = [row for row in read_jsonl(run.folder / "results/documents/4096.jsonl.zst") if row["id"] in asked_of]
    file = written(
        run.folder / "theirs.jsonl",
        [{"id": row["id"], "text": row["expected"].partition("\n")[0]} for row in documents[:-1]],
    )
    imported = foreign_run("import", "answers", "theirs", "transduction", str(file))
    assert imported.exit_code == 0 and "11 of 12 requests have one, 1 missing" in imported.output
    table = "results/tables/transduction_table_2.md"
    run.snakemake("--rerun-incomplete", table, "results/figures/transduction_figure_2.csv")
    assert "Theirs (imported)" in (run.folder / table).read_text()
    assert "Imported: answers made elsewhere" in (run.folder / table).read_text()
    with (run.folder / "results/figures/transduction_figure_2.csv").open() as figure:
        points = list(csv.DictReader(figure))
    assert {(point["model"], point["imported"]) for point in points if point["model"] in ("theirs", "solver-a")} == {
        ("theirs", "true"),
        ("solver-a", "false"),
    }
    scored = pq.read_table(run.folder / "results/scores/theirs/transduction_documents.parquet").to_pylist()
    statuses = [row["status"] for row in scored]
    assert (len(statuses), statuses.count("missing")) == (12, 1)
    assert "answer" not in "".join(run.planned())
    # another import is noticed, and nothing else is made again
    changed = written(run.folder / "new.jsonl", [{"id": documents[0]["id"], "text": documents[0]["expected"]}])
    foreign_run("import", "answers", "theirs", "transduction", str(changed), "--replace")
    planned = run.planned()
    assert planned["answers"] == ["theirs transduction 4096"] and planned["scores"] == ["transduction theirs"]


def _made(run: Run, model: str) -> Path:
    run.snakemake("--rerun-incomplete", f"results/answers/{model}/transduction/4096.jsonl")
    return run.folder / f"results/answers/{model}/transduction/4096.jsonl"


def test_no_tier_of_another_run_is_taken(foreign_run: Callable[..., Result], tmp_path: Path) -> None:
    file = str(written(tmp_path / "a.jsonl", [{"id": "d0", "text": "a"}]))
    for words, told in [
        (["--tier", "8192"], "theirs is not asked 8192 of transduction; tiers: 4096"),
        ([], "make it with `longtrek documents"),
    ]:
        done = foreign_run("import", "answers", "theirs", "transduction", file, *words)
        assert isinstance(done.exception, LongtrekError) and told in str(done.exception)


def test_a_papers_model_with_imported_answers_stands_in_its_row_as_imported() -> None:
    row = {"model": "m", "prompt": "direct", "context": "tables", "level": "64K", "null_gold": False}
    run = SciTrekRun("quick", "paper", scitrek=(row,), entries={"m": {"engine": "imported"}})
    assert run.series[0].label == "m (imported)"
    rows = beside(run, [], ["x"], lambda _: ["1"], lambda _: ["2"])
    assert [line[1] for line in rows] == ["imported", "asked/answered/failed/cut"]


def test_rollouts_are_scored_as_documents_and_answers_in_one(tmp_path: Path) -> None:
    sums = [{"expr": "5+6", "answer": 11}, {"expr": "7-9", "answer": -2}]
    own = {"type": "streaming_sum", "expressions": sums, "target_tokens": 2048, "max_operands": 2}
    rows = [
        rollout("p", "[1]5+6=11\n[2]7-9=2") | own,
        rollout("q", "[1]5+6=11\n[2]7-9=-2") | own,
        rollout("r", "") | own | {"failure_kind": "timeout"},
    ]
    file = str(written(tmp_path / "rollouts.jsonl", rows))
    done = CliRunner().invoke(LONGTREK, ["score", "transduction", file, file])
    lines = [json.loads(line) for line in done.output.splitlines()]
    assert [line["id"] for line in lines] == ["0", "1", "2"]
    assert [line["paper"] and line["paper"]["accuracy"] for line in lines] == [0.5, 1.0, None]
    assert [line["status"] for line in lines] == ["scored", "scored", "failed"]
    assert lines[0]["finish_reason"] == "stop"


def prepared(kind: str, sums: list[tuple[str, int]]) -> dict[str, Any]:
    """One of the authors' prepared rows of two operands and 2,048 tokens, with a prompt of its own."""
    body = "\n".join(f"[{place}]{expression}" for place, (expression, _) in enumerate(sums, 1))
    return {
        "type": kind,
        "question": f"Solve these.\n{body}",
        "expressions": [{"expr": expression, "answer": answer} for expression, answer in sums],
        "max_operands": 2,
        "target_tokens": 2048,
        "responses_create_params": {"max_output_tokens": 3072},
    }


def test_a_run_of_the_authors_own_documents_takes_their_rollouts(run: Run, foreign_run: Callable[..., Result]) -> None:
    rows = [prepared("streaming_sum", [("5+6", 11), ("7-9", -2)]), prepared("shuffled_streaming_sum", [("1+1", 2)])]
    written(run.folder / "prepared.jsonl", rows)
    run.config["transduction"]["released"] = "prepared.jsonl"
    config = str(run.config_file)
    rollouts = [rollout("", "[1]5+6=11\n[2]7-9=2") | rows[0], rollout("", "[1]1+1=2\n") | rows[1]]
    file = str(written(run.folder / "rollouts.jsonl", rollouts))
    for words in (["documents"], ["import", "answers", "theirs", "transduction", file]):
        done = CliRunner().invoke(LONGTREK, [*words, "--config", config])
        assert done.exit_code == 0, (done.output, done.exception)
    assert "2 of 2 requests have one" in done.output
    run.snakemake("--rerun-incomplete", "results/scores/theirs/transduction.parquet")
    scored = pq.read_table(run.folder / "results/scores/theirs/transduction_documents.parquet").to_pylist()
    assert [(row["document"], row["paper_accuracy"]) for row in scored] == [
        ("arithmetic-ordered-2-4096-0", 0.5),
        ("arithmetic-shuffled-2-4096-0", 1.0),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"max_operands": 3}, "row 0 (from 0): difficulty of arithmetic ordered: found 3"),
        ({"target_tokens": 4096}, "holds no documents of 4096 tokens"),
    ],
)
def test_authors_documents_that_the_grid_does_not_hold_are_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], told: str
) -> None:
    monkeypatch.chdir(run.folder)
    written(run.folder / "prepared.jsonl", [prepared("streaming_sum", [("5+6", 11)]) | change])
    run.config["transduction"]["released"] = "prepared.jsonl"
    done = CliRunner().invoke(LONGTREK, ["documents", "--config", str(run.config_file)])
    assert isinstance(done.exception, LongtrekError) and told in str(done.exception)
    assert not list((run.folder / "results").glob("documents/*"))


def test_the_authors_answers_to_their_released_questions_are_scored_in_a_run(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.add_model("theirs", engine="imported")
    monkeypatch.chdir(run.folder)
    written(run.folder / "released.jsonl", [WITH_PROMPTS])
    run.add_scitrek("theirs", released="released.jsonl")
    run.config["scitrek"]["ask"] |= {"settings": [{"context": "tables", "level": "1M"}], "samples": 3}
    run.snakemake("--rerun-incomplete", "results/questions/questions.parquet")
    generations = {"generations": [ROW["answer"], "another"], "reasonings": ["so", "so"]}
    file = str(written(run.folder / "answers.jsonl", [ROW | generations]))
    words = ["import", "answers", "theirs", "scitrek", file, "--config", str(run.config_file)]
    done = CliRunner().invoke(LONGTREK, words)
    assert done.exit_code == 0 and "tables-1M: 2 answers imported" in done.output, (done.output, done.exception)
    run.snakemake("--rerun-incomplete", "results/scores/theirs/scitrek.parquet")
    (row,) = pq.read_table(run.folder / "results/scores/theirs/scitrek.parquet").to_pylist()
    assert (row["asked"], row["answered"], row["missing"]) == (3, 2, 1)
    assert row["paper_exact_match"] == pytest.approx(1 / 3)
