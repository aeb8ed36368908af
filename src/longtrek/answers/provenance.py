"""Where an answer comes from: everything that its reader may ask, and the part of it that is the answer's key."""

import os
import platform
from pathlib import Path
from typing import Any

import longtrek
from longtrek.answers import engines
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared
from longtrek.answers.weights import Weights


def identity(model: Model, weights: Weights | None, engine_version: str | None) -> dict[str, Any]:
    """The part of an answer's key that is the same for a whole job; see `longtrek.answers.key`."""
    engine: dict[str, Any] = {"kind": model.engine, "version": engine_version, "dtype": model.dtype}
    engine["args"] = list(model.engine_args)
    if model.endpoint is not None:
        engine["url"] = model.endpoint.url
        engine["body"] = model.endpoint.body
    return {
        "model": {
            "repository": model.repository,
            "revision": weights.revision if weights else model.revision,
            "weights_sha256": weights.sha256 if weights else None,
            "tokenizer_sha256": weights.tokenizer_sha256 if weights else None,
            "template_sha256": weights.template_sha256 if weights else None,
        },
        "template_args": model.template_args,
        "decoding": decoding(model),
        "engine": engine,
    }


def decoding(model: Model) -> dict[str, Any]:
    """The decoding settings that go into every request; settings left to the server are left out."""
    sampling = model.sampling
    settings: dict[str, Any] = {"temperature": sampling.temperature, "seed": sampling.seed}
    for name in ("top_p", "top_k", "repetition_penalty"):
        if getattr(sampling, name) is not None:
            settings[name] = getattr(sampling, name)
    return settings


def engine_version_of(model: Model) -> str | None:
    """The version of the engine that a model's job would start, without starting it.

    The reference solver's is the kit's own: its answers are the kit's. A hosted server's is not known before it
    answers.
    """
    if model.engine == "endpoint":
        return None
    if model.engine == "reference":
        return longtrek.__version__
    return engines.engine_version(engines.engine_python(model), engines.DISTRIBUTION[model.engine])


def job_provenance(model: Model, fixed: dict[str, Any]) -> dict[str, Any]:
    """What is the same for every answer of a job: identity, machine, image, and what was asked of the cache."""
    engine = {
        **fixed["engine"],
        "name": engines.DISTRIBUTION.get(model.engine, model.engine),
        "image": os.environ.get(engines.ENGINE_IMAGE) if model.engine in engines.DISTRIBUTION else None,
        "prefix_caching": model.prefix_caching,
        "tensor_parallel": model.tensor_parallel,
        "window": model.window,
        "resource_args": list(model.resource_args),
    }
    machine = {
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "gpus": engines.visible_gpus() if model.engine == "vllm" else [],
        "system": platform.platform(),
    }
    return {**fixed, "engine": engine, "thinking": model.thinking, "machine": machine, "kit": longtrek.__version__}


def answer_provenance(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """One answer's provenance: the job's, and its own prompt, counts and caps."""
    return {
        **job,
        **prepared.request.facts,
        "prompt_sha256": prepared.prompt_sha256,
        "prompt_tokens": prepared.prompt_tokens,
        "gold_tokens": prepared.gold_tokens,
        "max_tokens": prepared.max_tokens,
        "cap": prepared.request.max_tokens,
        "early_stop": prepared.request.completion is not None,
    }


def cpu_name() -> str:
    """The processor's name as the kernel gives it, or the machine type."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
