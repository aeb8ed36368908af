"""Weights: found, hashed and described; what is missing is an instruction, never a stack trace."""

import contextlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from longtrek.answers.engines import engine_for
from longtrek.answers.model import Model, find_model
from longtrek.answers.weights import make_weights, read_weights
from longtrek.errors import LongtrekError

MODEL = Model("m", "vllm", repository="org/m", revision="abc", window=8192, dtype="bfloat16", gpus=1)


def test_weights_without_files_give_an_instruction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(LongtrekError, match="--download"):
        make_weights(find_model("Falcon-H1-34B"), tmp_path / "w", None)
    with pytest.raises(LongtrekError, match="run `longtrek weights"):
        read_weights(tmp_path / "w")
    with pytest.raises(LongtrekError, match="no weights were given"):
        engine_for(find_model("Falcon-H1-34B"), None, tmp_path / "log")


def test_missing_weights_of_a_gated_repository_say_how_to_be_let_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        LongtrekError, match=r"accept the licence on the repository's page and set HF_TOKEN.*--download"
    ):
        make_weights(find_model("Llama-3.3-70B-Instruct"), tmp_path / "w", None)
    with pytest.raises(LongtrekError) as error:
        make_weights(find_model("Falcon-H1-34B"), tmp_path / "w", None)
    assert "licence" not in str(error.value)


@pytest.mark.parametrize(
    ("status", "code", "environment", "said"),
    [
        (401, "GatedRepo", {}, "it is gated, and no token"),
        (404, "RevisionNotFound", {}, "no such revision"),
        (200, "", {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
    ],
)
def test_a_download_that_fails_is_an_instruction(
    tmp_path: Path, status: int, code: str, environment: dict[str, str], said: str
) -> None:
    with hub(status, code) as url:
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("HF_") and "proxy" not in name.lower()
        }
        clean |= {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_TELEMETRY": "1", **environment}
        command = [
            sys.executable,
            "-m",
            "longtrek",
            "weights",
            "Gemma-3-4B-IT",
            "--download",
            "--out",
            str(tmp_path / "w"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=clean, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert said in done.stderr and "weights: {folder: PATH}" in done.stderr
    assert not (tmp_path / "w").exists()


@contextlib.contextmanager
def hub(status: int, code: str) -> Iterator[str]:
    """A hub that answers every request with one status, as the real one words its refusals."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_HEAD = do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def cached(cache: Path, commit: str, **files: str) -> Path:
    """A snapshot in a Hugging Face cache, as a download leaves it; `main` is that commit."""
    repository = cache / "models--org--m"
    folder = repository / "snapshots" / commit
    folder.mkdir(parents=True)
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / "main").write_text(commit)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_a_download_that_was_cut_is_told_from_a_whole_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    index = json.dumps({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})
    parts = {"model__safetensors__index__json": index, "config__json": "{}"}
    folder = cached(tmp_path, "c" * 40, one__safetensors="1", **parts)
    with pytest.raises(LongtrekError, match=r"lacks 1 parts of the weights, first two\.safetensors.*--download"):
        make_weights(replace(MODEL, revision="main"), tmp_path / "w", None)
    (folder / "two.safetensors").write_text("2")
    made = make_weights(replace(MODEL, revision="main"), tmp_path / "w", None)
    assert made.revision == "c" * 40  # what `main` was is what every answer records


def test_weights_are_looked_for_again_when_the_entry_names_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for commit in ("a" * 40, "b" * 40):
        cached(tmp_path, commit, model__safetensors=commit)
    first = make_weights(replace(MODEL, revision="a" * 40), tmp_path / "w", None)
    second = make_weights(replace(MODEL, revision="b" * 40), tmp_path / "w", None)
    assert (first.revision, second.revision) == ("a" * 40, "b" * 40)
    assert first.sha256 != second.sha256
    assert make_weights(replace(MODEL, revision="b" * 40), tmp_path / "w", None) == second


def test_weights_in_a_folder_are_hashed_by_part(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja"):
        (here / name).write_text(name)
    model = replace(MODEL, weights={"folder": str(here)})
    first = make_weights(model, tmp_path / "one", None)
    assert make_weights(model, tmp_path / "one", None) == first
    (here / "tokenizer.json").write_text("tokenizer.jsOn")
    second = make_weights(model, tmp_path / "two", None)
    assert (first.sha256, first.template_sha256) == (second.sha256, second.template_sha256)
    assert first.tokenizer_sha256 != second.tokenizer_sha256
    (here / "model.safetensors").write_text("cut")
    with pytest.raises(LongtrekError, match=r"model\.safetensors: missing or not 17 bytes"):
        read_weights(tmp_path / "two")


@pytest.mark.parametrize(
    "manifest", ["5", "{", '{"folder": "."}', '{"folder": ".", "revision": "r", "files": {"a": 5}}']
)
def test_a_damaged_manifest_says_how_to_make_it_again(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(LongtrekError, match=r"manifest\.json: .*run `longtrek weights` again"):
        read_weights(tmp_path)
