"""A plan as JSON, for programs."""

from typing import Any

from longtrek.plan.make import ModelPlan, Plan
from longtrek.plan.transduction import FITS, Verdict


def as_json(planned: Plan) -> dict[str, Any]:
    """The plan as JSON's values."""
    return {
        "config": str(planned.config.path),
        "run": planned.config.run,
        "models": [_model_json(one) for one in planned.models],
        "warnings": list(planned.warnings),
    }


def _model_json(one: ModelPlan) -> dict[str, Any]:
    model = one.model
    return {
        "name": model.name,
        "engine": model.engine,
        "repository": model.repository,
        "revision": model.revision,
        "gated": model.gated,
        "weights_bytes": round(one.weights),
        "weights_at_hand": one.at_hand,
        "gpus": model.gpus,
        "gpu_memory_gb": model.gpu_memory_gb,
        "counted_by": one.counter.why,
        "rates": vars(model.rates) if model.rates else None,
        "need": one.need.row(),
        "jobs": [
            vars(job) | {"shards": job.shards(model), "hours": job.hours(model, one.weights, job.tokens_out)}
            for job in one.jobs
        ],
        "documents": [
            _verdict_json(verdict) for verdict in one.verdicts if not verdict.sure or verdict.outcome != FITS
        ],
    }


def _verdict_json(one: Verdict) -> dict[str, Any]:
    return {
        "id": one.size.spec.id,
        "outcome": one.outcome,
        "sure": one.sure,
        "prompt_tokens": one.prepared.prompt_tokens,
        "gold_tokens": one.prepared.gold_tokens,
        "max_tokens": one.prepared.max_tokens,
        "reason": one.prepared.refusal,
    }
