"""A host with pretend GPUs and a pretend vLLM, which runs `local_engine.py` and tells which devices it was given."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from serving import LOCAL_ENGINE
from test_models import PLAIN, tokenizer_folder

ENGINE = """#!{python}
import os, sys
if sys.argv[1] == "-I":
    print("0.32.0")
else:
    given = dict(zip(sys.argv, sys.argv[1:]))
    served = ["--port", given["--port"], "--name", given["--served-model-name"]]
    os.execv(sys.executable, [sys.executable, {engine!r}, *served, "--log", {log!r}, "--delay", {delay!r}])
"""


class PretendGpus:
    """Devices by name, and what the engines that ran on them were asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, devices: str, delay: float = 0.0) -> None:
        self.log = folder / "asked.jsonl"
        python = folder / "pretend-python"
        texts = {"python": sys.executable, "engine": str(LOCAL_ENGINE), "log": str(self.log), "delay": str(delay)}
        python.write_text(ENGINE.format(**texts))
        python.chmod(0o755)
        self.weights = tokenizer_folder(folder / "weights", PLAIN, begins=False)
        (self.weights / "model.safetensors").write_bytes(b"weights")
        monkeypatch.setenv("LONGTREK_ENGINE_PYTHON", str(python))
        monkeypatch.setenv("LONGTREK_DEVICES", devices)
        monkeypatch.setenv("LONGTREK_LOCKS", str(folder / "locks"))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def entry(self, gpus: int = 1, **more: Any) -> dict[str, Any]:
        """A model's entry for the pretend vLLM."""
        weights = {"folder": str(self.weights)}
        plain = {"engine": "vllm", "repository": "org/m", "window": 99999, "gpus": gpus, "weights": weights}
        return {**plain, "max_concurrency": 1, "start_limit_s": 60, **more}

    def asked(self) -> list[dict[str, Any]]:
        """Every request that an engine received: its own `pid` and `devices`, and the `time`."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]
