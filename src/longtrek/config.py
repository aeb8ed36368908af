"""A run's config, read from one YAML file that stands alone and is checked before anything is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.answers.model import Model
from longtrek.errors import LongtrekError


@dataclass(frozen=True)
class Ask:
    """Which of the generated documents are asked: horizons in tokens, difficulty ranks (1 easiest), samples."""

    horizons: tuple[int, ...]
    difficulty_ranks: tuple[int, ...]
    samples: tuple[int, ...]


@dataclass(frozen=True)
class Transduction:
    """The Long-Transduction part of a run; folders and files are resolved from the config file's own folder."""

    seed: int
    horizons: tuple[int, ...]
    samples: int
    prompts: Path
    frozen: Path | None
    ask: Ask
    early_stop: bool
    models: tuple[str, ...]

    def horizons_of(self, model: Model) -> tuple[int, ...]:
        """The tiers that a model is asked: what the run asks, up to what the model can run."""
        return tuple(horizon for horizon in self.ask.horizons if model.tiers is None or horizon in model.tiers)


@dataclass(frozen=True)
class Config:
    """One run: its label, where results stand (from the working folder), the rule shown, and each paper's part."""

    path: Path
    run: str
    results: Path
    rule: str
    models: Path
    published: Path
    transduction: Transduction

    def model_file(self, name: str) -> Path:
        """The file of a model's entry."""
        return self.models / f"{name}.yaml"


def load(path: Path) -> Config:
    """Read a config file.

    Raises:
        LongtrekError: the file is missing, breaks the schema, asks what is not generated, or names a model,
            folder or file that does not exist; the message names file, key, what was found and what is allowed.
    """
    content = schemas.read(path, "config")
    here = path.resolve().parent
    config = Config(
        path=path,
        run=content["run"],
        results=Path(content["results"]),
        rule=content["rule"],
        models=here / content["models"],
        published=here / content["published"],
        transduction=_transduction(content["transduction"], here),
    )
    faults = [*_absent(config), *_unknown_models(config), *_never_generated(config.transduction)]
    if faults:
        raise LongtrekError("\n".join(f"{path}: {fault}" for fault in faults))
    return config


def _transduction(content: Mapping[str, Any], here: Path) -> Transduction:
    return Transduction(
        seed=content["seed"],
        horizons=tuple(sorted(content["horizons"])),
        samples=content["samples"],
        prompts=here / content["prompts"],
        frozen=here / content["frozen"] if content["frozen"] else None,
        ask=Ask(**{key: tuple(sorted(values)) for key, values in content["ask"].items()}),
        early_stop=content["early_stop"],
        models=tuple(content["models"]),
    )


def _absent(config: Config) -> list[str]:
    named = {
        "models": config.models,
        "published": config.published,
        "transduction.prompts": config.transduction.prompts,
        "transduction.frozen": config.transduction.frozen,
    }
    return [
        f"{key}: {path} does not exist; paths in a config are relative to its own folder"
        for key, path in named.items()
        if path is not None and not path.exists()
    ]


def _unknown_models(config: Config) -> list[str]:
    if not config.models.is_dir():
        return []
    known = sorted(file.stem for file in config.models.glob("*.yaml"))
    return [
        f"transduction.models.{place}: no model {name!r} in {config.models}; there are: {', '.join(known)}"
        for place, name in enumerate(config.transduction.models)
        if name not in known
    ]


def _never_generated(transduction: Transduction) -> list[str]:
    ask = transduction.ask
    horizons = [horizon for horizon in ask.horizons if horizon not in transduction.horizons]
    samples = [sample for sample in ask.samples if sample >= transduction.samples]
    faults = []
    if horizons:
        faults.append(
            f"transduction.ask.horizons: {horizons} are not generated; allowed: {list(transduction.horizons)}"
        )
    if samples:
        faults.append(
            f"transduction.ask.samples: {samples} are not generated; allowed: 0 to {transduction.samples - 1}"
        )
    return faults
