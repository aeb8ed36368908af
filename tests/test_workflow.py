"""The workflow builds what a config asks for, once, and builds again only what a change touches."""

import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from conftest import EASIEST, Run
from longtrek.analysis.artifacts import FIGURES, TABLES, reads
from longtrek.files import write_jsonl
from longtrek.paths import ROOT
from released_rows import WITH_PROMPTS
from serving import serving

FULL = ROOT / "config" / "config.yaml"
AT_THE_END = {"claims", "report", "sbom", "crate", "checksums"}


def test_the_papers_config_lists_one_answers_job_a_model_and_tier(tmp_path: Path) -> None:
    planned = Run(tmp_path).planned(FULL)
    full = yaml.safe_load(FULL.read_text())
    models, scitrek = full["transduction"]["models"], full["scitrek"]["models"]
    assert (len(models), len(scitrek), len(full["scitrek"]["ask"]["settings"])) == (8, 13, 8)
    assert Counter(job.rsplit(" ", 1)[0] for job in planned["answers"]) == {
        **{f"{model} transduction": 4 if model == "Olmo-3.1-32B" else 6 for model in models},
        **{f"{model} scitrek": 6 if model == "Gemini-2.5-Pro" else 8 for model in scitrek},
    }
    assert sorted(planned["scores"]) == sorted(
        [*(f"transduction {model}" for model in models), *(f"scitrek {model}" for model in scitrek)]
    )
    assert (sorted(planned["figure"]), sorted(planned["table"])) == (sorted(FIGURES), sorted(TABLES))
    once = {"documents", "articles", "convert", "tabulate", "collections", "questions", "baseline", *AT_THE_END}
    assert {verb for verb, jobs in planned.items() if len(jobs) == 1} == once
    assert planned.keys() - once == {"answers", "scores", "figure", "table"}


def test_a_second_run_has_nothing_to_do(finished: Run) -> None:
    assert finished.planned() == {}


def test_changing_one_models_entry_runs_that_model_and_what_shows_it(finished: Run) -> None:
    finished.add_model("solver-b", kind="check", engine="reference", sampling={"seed": 9})
    planned = finished.planned()
    assert planned["answers"] == ["solver-b transduction 4096"]
    assert planned["scores"] == ["transduction solver-b"]
    assert "documents" not in planned
    shown = [name for name in FIGURES if name.startswith("transduction") and reads(name)]
    assert sorted(planned["figure"]) == shown


def test_what_only_explains_a_model_is_told_anew_and_runs_nothing_else(finished: Run) -> None:
    finished.add_model("solver-b", kind="check", engine="reference", notes="Another word about it.")
    assert finished.planned().keys() == {"report", "crate", "checksums"}


def test_changing_one_models_answers_scores_it_again_and_draws_what_shows_it_and_nothing_else(finished: Run) -> None:
    answers = finished.folder / "results" / "answers" / "solver-b" / "transduction" / "4096.jsonl"
    kept, times = answers.read_bytes(), answers.stat()
    answers.write_bytes(kept.replace(b'"status":"answered","finish_reason":"stop"', b'"status":"answered"', 1))
    try:
        planned = finished.planned()
    finally:
        answers.write_bytes(kept)
        os.utime(answers, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert planned.pop("scores") == ["transduction solver-b"]
    shown = [name for name in (*FIGURES, *TABLES) if name.startswith("transduction") and reads(name)]
    assert sorted(planned.pop("figure") + planned.pop("table")) == sorted(shown)
    assert planned.keys() == {"report", "crate", "checksums"}


def test_adding_a_model_adds_only_its_own_jobs(finished: Run) -> None:
    finished.add_model("solver-c")
    planned = finished.planned()
    assert planned["answers"] == ["solver-c transduction 4096"]
    assert planned["scores"] == ["transduction solver-c"]
    assert "documents" not in planned


def test_every_rule_that_asks_a_model_is_tied_to_the_models_entry() -> None:
    text = "\n".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    rules = dict(re.findall(r"^ *rule (\w+):\n(.*?)(?=^ *rule |\Z)", text, re.MULTILINE | re.DOTALL))
    asking = {name: body.partition("params:")[2] for name, body in rules.items() if "gpu=" in body}
    answers = {"answer_transduction", "answer_scitrek", "execute_baseline"}
    assert asking.keys() == answers | {"write_questions", "try_model_writer"}
    assert [name for name, params in asking.items() if "model=" not in params or "entry(" not in params] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"horizons": [64], "ask": {"horizons": [64], "difficulty_ranks": EASIEST, "samples": [0]}}, "64"),
        ({"models": ["nobody"]}, "nobody"),  # one that the config's own checks find: test_config.py has the others
    ],
)
def test_a_bad_config_is_one_error_and_writes_nothing(run: Run, change: dict[str, object], said: str) -> None:
    run.config["transduction"].update(change)
    output = run.snakemake(fails=True)
    assert said in output
    assert "Traceback" not in output
    assert not (run.folder / "results").exists()


def test_overrides_on_the_command_line_are_refused(run: Run) -> None:
    assert "one config file" in run.snakemake("--config", "rule=strict", fails=True)


def test_a_run_that_is_killed_among_its_answers_goes_on_from_there(tmp_path: Path) -> None:
    with serving(tmp_path, "--delay", "0.02") as server:
        run = Run(tmp_path)
        endpoint, scores = {"url": server.url}, "results/scores/hosted/transduction.parquet"
        run.add_model(
            "hosted", engine="endpoint", repository="local", window=99999, endpoint=endpoint, max_concurrency=1
        )
        whole = subprocess.Popen(
            run.command("--", scores),
            cwd=tmp_path,
            env=run.environment(),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )
        store = tmp_path / "results" / "store" / "hosted" / "transduction" / "4096.jsonl"
        deadline = time.monotonic() + 120
        while not store.exists() or store.read_bytes().count(b"\n") < 4:
            assert whole.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(whole.pid, signal.SIGKILL)
        whole.wait()
        kept = store.read_bytes()
        asked_before = len(server.asked())
        unlock = [part for part in run.command("--unlock") if part not in ("--cores", "2")]  # as `make reproduce` does
        subprocess.run(unlock, cwd=tmp_path, env=run.environment(), check=True, capture_output=True)
        run.snakemake("--", scores)
        prompts = server.asked()
    assert store.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert 4 <= kept.count(b"\n") < 12 == store.read_bytes().count(b"\n")
    assert len(prompts) - asked_before == 12 - kept.count(b"\n")
    assert len(set(prompts)) == 12


def test_the_authors_released_questions_are_asked_and_scored(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.add_model("solver-a")
    write_jsonl(tmp_path / "released.jsonl", [WITH_PROMPTS])
    run.add_scitrek("solver-a", released="released.jsonl")
    run.config["scitrek"]["ask"] |= {"settings": [{"context": "tables", "level": "1M"}], "samples": 2}
    run.snakemake()
    (row,) = pq.read_table(tmp_path / "results" / "scores" / "solver-a" / "scitrek.parquet").to_pylist()
    assert (row["text"], row["asked"], row["paper_exact_match"]) == ("Which titles, fewest references first?", 2, 1.0)
    assert run.planned() == {}


@pytest.fixture(scope="module")
def finished_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where a run of two checks has come to its end."""
    run = Run(tmp_path_factory.mktemp("finished"))
    run.add_model("solver-a")
    run.add_model("solver-b")
    run.snakemake()
    return run.folder


@pytest.fixture
def finished(finished_folder: Path) -> Run:
    """The finished run as it was left, to be changed and planned again (never run)."""
    run = Run(finished_folder)
    run.add_model("solver-a")
    run.add_model("solver-b")
    (run.models / "solver-c.yaml").unlink(missing_ok=True)
    return run
