"""A small finished run for tests of the report: both papers, a check, a model with every kind of answer, imports."""

import csv
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import scitrek_run
from conftest import EASIEST, Run
from longtrek.files import write_jsonl
from longtrek.paths import ROOT
from longtrek.report.claims import COLUMNS
from longtrek.transduction.scores import write_scores
from small_documents import VARIANTS, small_document

MODEL, CHECK, ELSEWHERE = "lossy-model", "solver", "from-elsewhere"
SQL_MODEL = f"{MODEL}+SQL"
SHARES = {MODEL: 0.5, SQL_MODEL: 0.3}
"""How many of SciTrek's questions are answered rightly."""
NASTY = "</script><script>alert(1)</script> & \"quotes\" 'and' <b>bold</b> 漢字 עברית 🙂 \u2028 \x85"
STARTED = "2026-11-30T01:20:59.413+00:00"
JOB = {
    "model": {
        "repository": "org/lossy",
        "revision": "abc123",
        "weights_sha256": "0f" * 32,
        "template_sha256": "1e" * 32,
    },
    "decoding": {"temperature": 0.0, "seed": 0},
    "engine": {"kind": "vllm", "name": "vllm", "version": "0.33.0", "dtype": "bfloat16", "args": []},
    "machine": {"cpu": "A processor", "cores": 2, "gpus": [], "system": "Linux"},
    "kit": "0.1.0",
}
CLAIMS: tuple[dict[str, str], ...] = (
    {"id": "LT-1", "paper": "long-transduction", "place": "Table 2", "verdict": "reproduced", "published": "1440"},
    {"id": "LT-2", "paper": "long-transduction", "place": "Figure 2a", "verdict": "not run", "needs": "8 GPUs & 3 h"},
    {"id": "ST-1", "paper": "scitrek", "place": "Section 4, text", "verdict": "differs", "recomputed": "3.1"},
    {"id": "ST-2", "paper": "scitrek", "place": "Table 7", "verdict": "within noise", "low": "40", "high": "48"},
)


def answered(name: str, text: str, **more: Any) -> dict[str, Any]:
    """An answer row as the store has them."""
    return {
        "key": name,
        "id": name,
        "sample": 0,
        "text": text,
        "reasoning": None,
        "status": "answered",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "cached_tokens": 25, "counted_by": "engine"},
        "fits": True,
        "error": None,
        "timings": {"started": STARTED, "first_token_s": 0.5, "total_s": 2.5},
        "provenance": {**JOB, "prompt_sha256": "ab", "cap": 3072, "early_stop": False},
    } | more


def unanswered(name: str, status: str, kind: str) -> dict[str, Any]:
    """An answer row that has no answer."""
    error = {"kind": kind, "message": f"it did not work: {NASTY}", "http_status": None, "attempts": 3}
    return answered(name, "", status=status, finish_reason=None, error=error, usage=None)


def damaged(document: dict[str, Any], place: int) -> dict[str, Any] | None:
    """An answer to one document, of a different kind for each place; None where there is none."""
    name, right = document["id"], document["expected"]
    lines = right.split("\n")
    made: list[Any] = [
        answered(name, right),
        answered(name, "\n".join([*lines[:3], *[lines[3]] * 30])),
        answered(name, right.replace("=", "=1").replace("a", "b").replace("quick", "quite"), finish_reason="length"),
        unanswered(name, "failed", "timeout"),
        unanswered(name, "not_asked", "window"),
        None,
        answered(name, NASTY + "\n" + "x" * 300_000),
        answered(name, ""),
        answered(name, "\n".join(lines[:-2]), reasoning="First I think.\nThen I write."),
        answered(name, right.upper(), finish_reason="complete"),
        answered(name, "<think>" + right),
        answered(name, "I'm sorry, but I cannot do this. Would you like something else?"),
    ]
    return made[place % len(made)]


def _write_transduction(results: Path, config: dict[str, Any]) -> None:
    documents = [small_document(*variant, seed) for variant in VARIANTS for seed in range(1, 3)]
    random.Random(5).shuffle(documents)
    write_jsonl(results / "documents" / "4096.jsonl.zst", documents)
    given: dict[str, Iterator[dict[str, Any] | None]] = {
        MODEL: (damaged(document, place) for place, document in enumerate(documents)),
        CHECK: (answered(document["id"], document["expected"], usage=None) for document in documents),
        ELSEWHERE: (
            {"id": one["id"], "sample": 0, "status": "answered", "text": one["expected"][:-9]} for one in documents
        ),
    }
    for model, rows in given.items():
        file = results / "answers" / model / "transduction" / "4096.jsonl"
        write_jsonl(file, (row for row in rows if row is not None))
        scores = results / "scores" / model
        pair = (results / "documents" / "4096.jsonl.zst", file)
        write_scores(
            [pair], scores / "transduction.parquet", scores / "transduction_documents.parquet", model, model == CHECK
        )
    config["transduction"]["models"] = list(given)


def _write_scitrek(results: Path, config: dict[str, Any]) -> None:
    scitrek_run.build(results, (MODEL, CHECK, SQL_MODEL), 21, "64K")
    pairs = [{"citing": f"a{one:03}", "cited": f"a{one - 1:03}"} for one in range(1, 21)]
    pq.write_table(pa.Table.from_pylist(pairs), results / "articles" / "citations.parquet")
    collections = {row["id"]: row for row in pq.read_table(results / "collections" / "collections.parquet").to_pylist()}
    questions = pq.read_table(results / "questions" / "questions.parquet").to_pylist()
    asked = [row for row in questions if collections[row["collection"]]["level"] == "64K"]
    for model in (MODEL, CHECK, SQL_MODEL):
        rows = list(scitrek_run.answers(model, asked, ("tables",)))
        if model == SQL_MODEL:
            tried = [{"prompt": "question_to_sql_baseline", "about": "x", "attempt": 0, "reason": NASTY}]
            rows = [row | {"sql": "SELECT 1", "problems": tried} for row in rows]
            write_jsonl(results / "answers" / model / "scitrek.jsonl", rows)
        else:
            write_jsonl(results / "answers" / model / "scitrek" / "tables-64K.jsonl", rows)
    quick = yaml.safe_load((ROOT / "config" / "quick.yaml").read_text())["scitrek"]
    config["scitrek"] = quick | {
        "corpus": str(ROOT / "config" / "corpora" / "vignettes.yaml"),
        "prompts": str(ROOT / "config" / "prompts" / "scitrek"),
        "ask": quick["ask"] | {"settings": [{"context": "tables", "level": "64K"}]},
        "baseline": quick["baseline"] | {"model": MODEL},
        "questions": quick["questions"] | {"model_writer": None},
        "models": [MODEL, CHECK],
    }


def write_claims(results: Path) -> None:
    """Claims of every verdict, one of them in words that would break a page."""
    with (results / "claims.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        empty = dict.fromkeys(COLUMNS, "")
        for number, claim in enumerate(CLAIMS):
            words = {"claim": f"Claim {number}: {NASTY}", "computed_by": "grid_size", "unit": "documents"}
            writer.writerow({**empty, **words, **claim})


def write_artifacts(results: Path) -> None:
    """One figure in all its files and one table; the other artifacts are not built."""
    for folder in ("figures", "tables"):
        (results / folder).mkdir(parents=True)
    figure = results / "figures" / "transduction_figure_2"
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" fill="#ccc"/></svg>'
    )
    figure.with_suffix(".svg").write_text(drawing)
    figure.with_suffix(".csv").write_text("model,horizon,accuracy\nlossy-model,4096,0.500000\n")
    for suffix in (".pdf", ".png"):
        figure.with_suffix(suffix).write_bytes(b"not looked at")
    table = results / "tables" / "scitrek_table_7"
    table.with_suffix(".csv").write_text("Model,source,F-64\nA & B <i>,published,46.5\nA & B <i>,reproduced,44.1\n")
    table.with_suffix(".md").write_text(
        "**Caption**\n\n| Model | source | F-64 |\n| :-- | --: | --: |\n| A | published | 46.5 |\n\nA note of it.  \n"
    )
    table.with_suffix(".tex").write_text("% a table\n")


def build(folder: Path) -> Path:
    """Write the run under a folder and give its config's path; results stand in `results`, from the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results"
    run = Run(folder)
    run.add_model(MODEL, engine="vllm", repository="org/lossy", window=8192, gpus=1, label="Lossy <model>")
    run.add_model(CHECK)
    run.add_model(ELSEWHERE, engine="imported")
    ranks = {family: [1, 2, 3, 4] for family in EASIEST}
    config = run.config
    config["transduction"] |= {
        "samples": 3,
        "ask": {"horizons": [4096], "difficulty_ranks": ranks, "samples": [1, 2]},
    }
    results.mkdir()
    _write_transduction(results, config)
    with mock.patch.dict(scitrek_run.SHARES, SHARES):
        _write_scitrek(results, config)
    write_claims(results)
    write_artifacts(results)
    measures = results / "benchmarks" / "score_transduction"
    measures.mkdir(parents=True)
    (measures / f"{MODEL}.tsv").write_text("s\tmax_rss\tcpu_time\n12.5\t201.5\t11\n7.5\t-\t7\n")
    return run.config_file
