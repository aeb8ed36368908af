"""Long-Transduction's whole grid answered by eight invented models, as large as the papers' own run."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from longtrek.files import read_jsonl
from longtrek.paths import ROOT
from longtrek.transduction.scores import DOCUMENTS
from longtrek.transduction.scoring import score_answer
from report_results import answered, unanswered

MODELS = tuple(f"invented-{letter}" for letter in "abcdefgh")
HORIZONS = (4096, 8192, 16384, 32768, 65536, 131072)


def answer_of(document: dict[str, Any], place: int) -> dict[str, Any]:
    """Mostly the expected text; now and then a loop up to the cap (1.5 times what is expected), a failure, a cut."""
    name, right = document["id"], document["expected"]
    tokens = {"prompt_tokens": document["prompt_tokens"], "completion_tokens": document["expected_tokens"]}
    if place % 29 == 0:
        return unanswered(name, "failed", "timeout")
    if place % 31 == 0:
        return unanswered(name, "not_asked", "window")
    if place % 11 == 0:
        lines = right.split("\n")
        half = len(lines) // 2
        looping = lines[half] + "\n"
        text = "\n".join(lines[:half]) + "\n" + looping * (2 * len(right) // (2 * len(looping)))
        used = tokens | {"completion_tokens": document["cap"]}
        return answered(name, text, finish_reason="length", usage=used)
    if place % 13 == 0:
        return answered(name, right.replace("7", "1").replace("e", "o"), usage=tokens)
    return answered(name, right, usage=tokens)


def build(folder: Path) -> Path:
    """Write documents, answers and scores of the whole grid under a folder; gives the config's path."""
    (folder / "models").mkdir()
    for model in MODELS:
        entry = {"name": model, "engine": "vllm", "repository": f"org/{model}", "window": 262144, "gpus": 8}
        (folder / "models" / f"{model}.yaml").write_text(yaml.safe_dump(entry))
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    transduction = config["transduction"] | {
        "prompts": str(ROOT / "config" / "prompts" / "transduction"),
        "frozen": None,
        "models": list(MODELS),
    }
    changed = {"models": "models", "published": str(ROOT / "config" / "published"), "scitrek": None, "images": None}
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(config | changed | {"transduction": transduction}))
    command = [sys.executable, "-m", "longtrek", "documents", "--config", "run.yaml", "--cores", "2"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    scores: dict[str, list[dict[str, Any]]] = {model: [] for model in MODELS}
    for horizon in HORIZONS:
        for model, row in _answers(folder / "results", horizon):
            scores[model].append(row)
    for model, rows in scores.items():
        file = folder / "results" / "scores" / model / "transduction_documents.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=DOCUMENTS), file)
    return path


def _answers(results: Path, horizon: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Write a tier's answers of all models, and give the scores' rows of each."""
    with ExitStack() as stack:
        files = {}
        for model in MODELS:
            path = results / "answers" / model / "transduction" / f"{horizon}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            files[model] = stack.enter_context(path.open("w", encoding="utf-8"))
        for number, document in enumerate(read_jsonl(results / "documents" / f"{horizon}.jsonl.zst")):
            for shift, model in enumerate(MODELS):
                answer = answer_of(document, number * 7 + shift * 5 + 1)
                files[model].write(json.dumps(answer, ensure_ascii=False) + "\n")
                yield model, _row(model, document, answer)


def _row(model: str, document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    asked = ("family", "format", "difficulty", "horizon", "sample", "records")
    row = dict.fromkeys(DOCUMENTS.names) | {name: document[name] for name in asked}
    row |= {"model": model, "check": False, "document": document["id"], "finish_reason": answer["finish_reason"]}
    row |= {"difficulty": float(document["difficulty"]), "fits": True}
    if answer["text"] == document["expected"]:
        perfect = {f"{rule}_accuracy": 1.0 for rule in ("paper", "strict")}
        return row | perfect | {"status": "scored", "paper_complete": True, "strict_complete": True}
    status, score = score_answer(document, answer)
    if score is None:
        return row | {"status": status, "error": answer["error"]["kind"]}
    accuracies = {"paper_accuracy": score.paper.accuracy, "strict_accuracy": score.strict.accuracy}
    return row | accuracies | {"status": status, "loop_at": score.loop_at}
