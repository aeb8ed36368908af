"""A run's config, read from one YAML file that stands alone and is checked before anything is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.answers.model import Model
from longtrek.answers.studies import Selection
from longtrek.errors import LongtrekError

TITLES = {"transduction": "Long-Transduction", "scitrek": "SciTrek"}
"""What the papers are called, by their part of a config."""


@dataclass(frozen=True)
class Ask(Selection):
    """Which generated documents are asked: the same selection of each of the horizons (tokens)."""

    horizons: tuple[int, ...]


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
    released: Path | None

    def horizons_of(self, model: Model) -> tuple[int, ...]:
        """The tiers that a model is asked: what the run asks, up to what the model can run."""
        return tuple(horizon for horizon in self.ask.horizons if model.tiers is None or horizon in model.tiers)


@dataclass(frozen=True)
class ModelWriter:
    """Which model writes questions, for how many collections (None is all), and its tries (Section 3.3)."""

    model: str
    collections: int | None
    per_collection: int
    questions: int
    readings: int
    temperature: float
    max_tokens: int


@dataclass(frozen=True)
class Setting:
    """One tier of SciTrek's answers: a context of a level, at most so many questions, the longest context."""

    context: str
    level: str
    most: int | None = None
    longest: int | None = None

    @property
    def tier(self) -> str:
        """How the setting is called in paths."""
        return f"{self.context}-{self.level}"


@dataclass(frozen=True)
class Baseline:
    """The SQL-execution baseline: its model, chunks in tokens, and the questions asked by level (None is all)."""

    model: str
    chunk_tokens: int
    max_tokens: int
    extraction_tries: int
    sql_tries: int
    gold: Mapping[str, int | None]
    extracted: Mapping[str, int | None]


@dataclass(frozen=True)
class Scitrek:
    """The SciTrek part of a run; files and folders are resolved from the config file's own folder."""

    seed: int
    released: Path | None
    corpus: Path
    subset: str
    tokens: Mapping[str, int] | None
    prompts: Path
    collections: Mapping[str, Any]
    per_collection: int
    copies: int
    split: str
    writer: str
    model_writer: ModelWriter | None
    settings: tuple[Setting, ...]
    splits: tuple[str, ...]
    samples: int
    max_tokens: int
    window: str
    baseline: Baseline | None
    models: tuple[str, ...]

    @property
    def queries_by_model(self) -> int:
        """Queries of a collection that a model writes: all where it is the writer, else a few beside the grammar."""
        if self.model_writer is None:
            return 0
        return self.per_collection if self.writer == "model" else self.model_writer.per_collection

    def settings_of(self, model: Model) -> tuple[Setting, ...]:
        """The settings that a model is asked: what the run asks, as far as the model's entry allows."""
        return tuple(one for one in self.settings if model.contexts is None or one.tier in model.contexts)

    def setting(self, tier: str) -> Setting:
        """The setting of a tier.

        Raises:
            LongtrekError: the run has no such tier.
        """
        for setting in self.settings:
            if setting.tier == tier:
                return setting
        raise LongtrekError(
            f"no tier {tier!r} of SciTrek; this run has: {', '.join(one.tier for one in self.settings)}"
        )


@dataclass(frozen=True)
class Config:
    """One run: its label, where results stand (from the working folder), the rule shown, and each paper's part."""

    path: Path
    run: str
    results: Path
    rule: str
    models: Path
    published: Path
    images: Path | None
    transduction: Transduction
    scitrek: Scitrek | None

    @property
    def model_names(self) -> tuple[str, ...]:
        """Every model that the run needs, each once, in the order in which the config names them."""
        names = list(self.transduction.models)
        if self.scitrek is not None:
            roles = (self.scitrek.model_writer, self.scitrek.baseline)
            names += [*self.scitrek.models, *(role.model for role in roles if role is not None)]
        return tuple(dict.fromkeys(names))

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
        images=here / content["images"] if content.get("images") else None,
        transduction=_transduction(content["transduction"], here),
        scitrek=_scitrek(content["scitrek"], here) if content["scitrek"] else None,
    )
    faults = [*_absent(config), *_unknown_models(config), *_never_generated(config.transduction)]
    if config.scitrek is not None:
        faults += [*_contradictions(config.scitrek), *_unknown_subset(config.scitrek)]
    if faults:
        raise LongtrekError("\n".join(f"{path}: {fault}" for fault in faults))
    return config


def check_models(config: Config, models: Mapping[str, Model]) -> None:
    """Hold the models' entries against what the run asks.

    Raises:
        LongtrekError: a model is asked no tier at all, so that it would be shown without a document.
    """
    asked, part = config.transduction, config.scitrek
    for name in asked.models:
        if not asked.horizons_of(models[name]):
            raise LongtrekError(
                f"{config.path}: transduction.models: {name} is asked nothing: its entry ({config.model_file(name)}) "
                f"allows the tiers {list(models[name].tiers or ())}, and transduction.ask.horizons has "
                f"{list(asked.ask.horizons)}"
            )
    for name in part.models if part else ():
        if part and not part.settings_of(models[name]):
            raise LongtrekError(
                f"{config.path}: scitrek.models: {name} is asked nothing: its entry ({config.model_file(name)}) allows "
                f"the contexts {list(models[name].contexts or ())}, and scitrek.ask.settings has "
                f"{[one.tier for one in part.settings]}"
            )


def _transduction(content: Mapping[str, Any], here: Path) -> Transduction:
    return Transduction(
        seed=content["seed"],
        horizons=tuple(sorted(content["horizons"])),
        samples=content["samples"],
        prompts=here / content["prompts"],
        frozen=here / content["frozen"] if content["frozen"] else None,
        ask=Ask(
            horizons=tuple(sorted(content["ask"]["horizons"])),
            difficulty_ranks={
                family: tuple(sorted(ranks)) for family, ranks in content["ask"]["difficulty_ranks"].items()
            },
            samples=tuple(sorted(content["ask"]["samples"])),
        ),
        early_stop=content["early_stop"],
        models=tuple(content["models"]),
        released=here / content["released"] if content.get("released") else None,
    )


def _scitrek(content: Mapping[str, Any], here: Path) -> Scitrek:
    questions, ask = content["questions"], content["ask"]
    writer, baseline = questions["model_writer"], content["baseline"]
    return Scitrek(
        seed=content["seed"],
        released=here / content["released"] if content["released"] else None,
        corpus=here / content["corpus"],
        subset=content["subset"],
        tokens=content["tokens"],
        prompts=here / content["prompts"],
        collections=content["collections"],
        per_collection=questions["per_collection"],
        copies=questions["copies"],
        split=questions["split"],
        writer=questions["writer"],
        model_writer=ModelWriter(**writer) if writer else None,
        settings=tuple(Setting(**setting) for setting in ask["settings"]),
        splits=tuple(ask["splits"]),
        samples=ask["samples"],
        max_tokens=ask["max_tokens"],
        window=ask["window"],
        baseline=Baseline(**baseline) if baseline else None,
        models=tuple(content["models"]),
    )


def _contradictions(scitrek: Scitrek) -> list[str]:
    tiers = [setting.tier for setting in scitrek.settings]
    twice = sorted({tier for tier in tiers if tiers.count(tier) > 1})
    faults = [
        f"scitrek.ask.settings: {tier} stands there twice; expected each context and level once" for tier in twice
    ]
    if scitrek.writer == "model" and scitrek.model_writer is None:
        faults.append("scitrek.questions.model_writer: null, but the writer is model; expected a model and its tries")
    if scitrek.released and (scitrek.baseline or any(setting.longest for setting in scitrek.settings)):
        faults.append(
            "scitrek.released: released rows have no corpus; expected baseline null and no `longest` in ask.settings"
        )
    return faults


def _unknown_subset(scitrek: Scitrek) -> list[str]:
    """A subset that the corpus file does not name; a file that is missing or at fault is told elsewhere."""
    if not scitrek.corpus.is_file():
        return []
    known = schemas.read(scitrek.corpus, "corpus")["subsets"]
    if scitrek.subset in known:
        return []
    return [f"scitrek.subset: found {scitrek.subset!r}; {scitrek.corpus} names: {', '.join(sorted(known))}"]


def _absent(config: Config) -> list[str]:
    folders = {
        "models": config.models,
        "published": config.published,
        "transduction.prompts": config.transduction.prompts,
    }
    asked = config.transduction
    files = {"transduction.frozen": asked.frozen, "transduction.released": asked.released}
    if config.scitrek is not None:
        folders["scitrek.prompts"] = config.scitrek.prompts
        files |= {"scitrek.corpus": config.scitrek.corpus, "scitrek.released": config.scitrek.released}
    beside = "paths in a config are relative to its own folder"
    return [f"{key}: no folder {path}; {beside}" for key, path in folders.items() if not path.is_dir()] + [
        f"{key}: no file {path}; {beside}" for key, path in files.items() if path is not None and not path.is_file()
    ]


def _unknown_models(config: Config) -> list[str]:
    if not config.models.is_dir():
        return []
    known = sorted(file.stem for file in config.models.glob("*.yaml"))
    return [
        f"models: no model {name!r} in {config.models}; there are: {', '.join(known)}"
        for name in config.model_names
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
    if transduction.released and transduction.frozen:
        faults.append("transduction.released: these documents are not generated from a seed; expected frozen null")
    return faults
