"""The same answers give the same bytes: every figure, table, claim and page, in any folder, with any hash seed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import report_results
from longtrek.files import write_jsonl
from longtrek.provenance import listing
from longtrek.transduction.scores import write_scores
from report_results import CHECK, ELSEWHERE, MODEL, answered, damaged

VERBS = (
    ("figure", "all", "--config", "run.yaml"),
    ("table", "all", "--config", "run.yaml"),
    ("claims", "--config", "run.yaml"),
    ("report", "--config", "run.yaml"),
    ("sbom",),
    ("crate", "--config", "run.yaml"),
    ("checksums",),
)
PROGRAM = "import json, sys; from longtrek.cli import LONGTREK\n" + (
    "for words in json.loads(sys.argv[1]): LONGTREK.main(words, standalone_mode=False)"
)


def started(folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """Everything that is made from answers, made in a folder by a process of its own."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(VERBS)]
    settings = {**os.environ, **environment}
    return subprocess.Popen(
        command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def answer_the_grid(folder: Path, documents: list[dict[str, Any]]) -> None:
    """Put documents of the grid, and answers of every kind, in the place of the small run's."""
    results = folder / "results"
    file = results / "documents" / "4096.jsonl.zst"
    write_jsonl(file, documents)
    run = yaml.safe_load((folder / "run.yaml").read_text())
    run["transduction"] |= {"models": [MODEL, CHECK], "ask": run["transduction"]["ask"] | {"samples": [0]}}
    (folder / "run.yaml").write_text(yaml.safe_dump(run))
    shutil.rmtree(results / "answers" / ELSEWHERE)
    shutil.rmtree(results / "scores" / ELSEWHERE)
    given = {
        MODEL: [damaged(document, place) for place, document in enumerate(documents)],
        CHECK: [answered(document["id"], document["expected"]) for document in documents],
    }
    for model, rows in given.items():
        answers, scores = results / "answers" / model / "transduction" / "4096.jsonl", results / "scores" / model
        write_jsonl(answers, [row for row in rows if row])
        tables = (scores / "transduction.parquet", scores / "transduction_documents.parquet")
        write_scores([(file, answers)], *tables, model, model == CHECK)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, tier: list[dict[str, Any]]) -> tuple[Path, Path]:
    """Two folders with the same answers of models to both papers, and what was made of them in each."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("somewhere else") / "with a longer path"
    report_results.build(here)
    answer_the_grid(here, tier)
    for made in ("figures", "tables"):
        shutil.rmtree(here / "results" / made)
    (here / "results" / "claims.csv").unlink()
    shutil.copytree(here, there)
    runs = [
        started(here, PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8", COLUMNS="80"),
        started(there, PYTHONHASHSEED="77", TZ="Asia/Tokyo", LC_ALL="C", COLUMNS="200"),
    ]
    for run in runs:
        said, _ = run.communicate()
        assert run.returncode == 0, said
    return here / "results", there / "results"


def test_two_runs_from_the_same_answers_are_equal_to_the_byte(folders: tuple[Path, Path]) -> None:
    here, there = folders
    names = listing.paths(here)
    assert names == listing.paths(there)
    made = {name.split("/")[0] for name in names}
    assert {"figures", "tables", "report", "sbom", "workflow", "claims.csv", listing.CRATE} <= made
    kinds = {Path(name).suffix for name in names}
    assert {".csv", ".svg", ".pdf", ".png", ".html", ".json", ".md", ".tex"} <= kinds
    assert [name for name in names if (here / name).read_bytes() != (there / name).read_bytes()] == []


def test_nothing_made_tells_where_or_for_whom_it_was_made(folders: tuple[Path, Path]) -> None:
    here, _ = folders
    tells = [str(here.parent).encode(), str(Path.home()).encode() + b"/"]
    inside = [name for name in listing.paths(here) if not name.startswith("workflow/")]
    assert [name for name in inside if any(told in (here / name).read_bytes() for told in tells)] == []
