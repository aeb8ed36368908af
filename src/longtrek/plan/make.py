"""The whole plan of a run: jobs of every model, what each takes, and what the reader must know before it starts."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longtrek import config as run_config
from longtrek.answers.model import Model, load_model
from longtrek.answers.weights import MANIFEST, read_weights
from longtrek.config import Config
from longtrek.plan import roles, scitrek, transduction
from longtrek.plan.counting import Counter, counter_of
from longtrek.plan.jobs import Job, Need, need
from longtrek.plan.transduction import Verdict


@dataclass(frozen=True)
class ModelPlan:
    """One model's part: its entry, how its tokens are counted, its weights' bytes, its jobs and its documents' fate.

    `at_hand` says whether the weights lie on this machine; None where the model needs none here.
    """

    model: Model
    counter: Counter
    weights: float
    at_hand: bool | None
    jobs: tuple[Job, ...]
    verdicts: tuple[Verdict, ...]
    fits: tuple[scitrek.Fit, ...]

    @property
    def need(self) -> Need:
        """The sum of the jobs."""
        return need(self.model, self.jobs, self.weights)

    def fate(self, outcome: str) -> list[Verdict]:
        """The documents with an outcome, in the grid's order."""
        return [one for one in self.verdicts if one.outcome == outcome]

    @property
    def close(self) -> list[Verdict]:
        """The documents whose outcome the estimate's error could change."""
        return [one for one in self.verdicts if not one.sure]


@dataclass(frozen=True)
class Plan:
    """A run's plan; `warnings` say what to do first, and for which models."""

    config: Config
    models: tuple[ModelPlan, ...]
    warnings: tuple[str, ...] = field(default=())

    @property
    def estimated_questions(self) -> bool:
        """Whether SciTrek's questions are not made yet."""
        return self.config.scitrek is not None and not scitrek.questions_made(self.config)


def make(path: Path, cores: int) -> Plan:
    """Plan a config's run, from its files and what stands in its results; nothing is started or fetched.

    Raises:
        LongtrekError: the config, or a model's entry, is at fault.
    """
    config = run_config.load(path)
    models = {name: load_model(config.model_file(name)) for name in config.model_names}
    run_config.check_models(config, models)
    counters = {name: counter_of(model, config.results) for name, model in models.items()}
    jobs: dict[str, list[Job]] = {name: [] for name in models}
    verdicts = _transduction(config, models, counters, jobs, cores)
    fits = _scitrek(config, models, counters, jobs)
    planned = []
    for name, model in models.items():
        weights, at_hand = _weights(model, config.results / "weights" / name)
        made = tuple(jobs[name])
        planned.append(
            ModelPlan(model, counters[name], weights, at_hand, made, tuple(verdicts.get(name, ())), tuple(fits[name]))
        )
    return Plan(config, tuple(planned), tuple(_warnings(planned)))


def _transduction(
    config: Config,
    models: Mapping[str, Model],
    counters: Mapping[str, Counter],
    jobs: dict[str, list[Job]],
    cores: int,
) -> dict[str, list[Verdict]]:
    asked = {name: models[name] for name in config.transduction.models}
    sizes = transduction.sizes(config.transduction, asked, {name: counters[name] for name in asked}, cores)
    found: dict[str, list[Verdict]] = {}
    for name, model in asked.items():
        found[name] = []
        for horizon in config.transduction.horizons_of(model):
            tier = [transduction.verdict(model, counters[name], size) for size in sizes[horizon]]
            jobs[name].append(transduction.job(model, horizon, tier))
            if model.is_asked:
                found[name] += tier
    return found


def _scitrek(
    config: Config, models: Mapping[str, Model], counters: Mapping[str, Counter], jobs: dict[str, list[Job]]
) -> dict[str, list[scitrek.Fit]]:
    fits: dict[str, list[scitrek.Fit]] = {name: [] for name in models}
    part = config.scitrek
    if part is None:
        return fits
    tiers = scitrek.tiers(config, part)
    for name in part.models:
        rule = models[name].digits or counters[name].name
        asked = [tier for tier in tiers if tier.setting in part.settings_of(models[name])]
        fits[name] = [scitrek.fit(models[name], rule, part, tier) for tier in asked]
        jobs[name] += [scitrek.job(models[name], rule, part, tier) for tier in asked]
    if not part.released:
        for job in (roles.writer_job(part), roles.baseline_job(part)):
            if job is not None:
                jobs[job.model].append(job)
    return fits


def _weights(model: Model, made: Path) -> tuple[float, bool | None]:
    if not model.starts_engine:
        return 0.0, None
    if (made / MANIFEST).is_file():
        return float(read_weights(made).bytes), True
    return (model.weights_gb or 0.0) * 1e9, cached(model)


def cached(model: Model) -> bool:
    """Whether a model's weights seem to lie on this machine: its folder, or a snapshot in the Hugging Face cache."""
    if model.weights:
        return "folder" in model.weights and Path(model.weights["folder"]).expanduser().is_dir()
    from huggingface_hub import try_to_load_from_cache

    names = ("model.safetensors.index.json", "model.safetensors")
    return any(isinstance(try_to_load_from_cache(model.repository, n, revision=model.revision), str) for n in names)


def _warnings(planned: Sequence[ModelPlan]) -> Iterator[str]:
    """What to do first, the models of one kind together."""
    local = [one for one in planned if one.jobs and one.model.starts_engine]
    absent = [one for one in local if one.at_hand is False and not (one.model.weights and "wheel" in one.model.weights)]
    if absent:
        sizes = _names(absent, lambda one: f" ({one.weights / 1e9:,.1f} GB)" if one.weights else "")
        yield f"fetch weights that are not on this machine, each with `longtrek weights NAME --download`: {sizes}"
    gated = [one for one in absent if one.model.gated]
    if gated:
        pages = _names(gated, lambda one: f" ({one.model.repository})")
        yield f"before that, accept the licence on the repository's page and set HF_TOKEN for what is gated: {pages}"
    loose = [one for one in local if not one.model.weights and one.model.revision == "main"]
    if loose:
        yield f"pin the revision, which follows the repository's main: write a commit into the entry of {_names(loose)}"
    for one in local:
        model = one.model
        if model.gpus and model.gpu_memory_gb and one.weights > model.gpus * model.gpu_memory_gb * 1e9:
            yield (
                f"give {model.name} more devices (gpus, tensor_parallel): {one.weights / 1e9:,.0f} GB of weights do "
                f"not fit {model.gpus} × {model.gpu_memory_gb:g} GB"
            )
    yield from _keys(planned)
    unrated = [one for one in local if one.model.rates is None]
    if unrated:
        yield f"hours are unknown, and in no sum, where an entry states no rates: {_names(unrated)}"


def _keys(planned: Sequence[ModelPlan]) -> Iterator[str]:
    wanted: dict[str, list[ModelPlan]] = {}
    for one in planned:
        variable = one.model.endpoint.key_variable if one.model.endpoint else None
        if variable and not os.environ.get(variable):
            wanted.setdefault(variable, []).append(one)
    for variable, members in wanted.items():
        yield f"set the environment variable {variable} to the key that asks {_names(members)}"


def _names(members: Sequence[ModelPlan], more: Callable[[ModelPlan], str] = lambda one: "") -> str:
    return ", ".join(f"{one.model.name}{more(one)}" for one in members)
