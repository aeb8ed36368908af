"""What the front page and the models' page say of a run, from its config, its models' entries and its answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.analysis.style import horizon_name
from longtrek.answers.model import Model
from longtrek.answers.provenance import decoding
from longtrek.config import Config, Scitrek, Transduction
from longtrek.csv_files import read_cells
from longtrek.report.study import Answers, kind

THINKING = {"on": "on", "off": "off, by the template's switch", "none": "the model does not think"}


@dataclass(frozen=True)
class Stage:
    """One stage of the workflow as its jobs measured themselves: seconds added up, the largest memory in MB."""

    name: str
    jobs: int
    seconds: float
    memory: float | None


def stages(results: Path) -> list[Stage]:
    """The measured stages, the longest first; jobs that other results rest on have all left their measures."""
    found: dict[str, list[dict[str, str]]] = {}
    for path in sorted((results / "benchmarks").rglob("*.tsv")):
        name = path.relative_to(results / "benchmarks").parts[0].removesuffix(".tsv")
        header, rows = read_cells(path, delimiter="\t")
        found.setdefault(name, []).extend(dict(zip(header, row, strict=True)) for _, row in rows)
    measured = [
        Stage(
            name,
            len(rows),
            sum(filter(None, (_number(row.get("s")) for row in rows))),
            max((value for row in rows if (value := _number(row.get("max_rss"))) is not None), default=None),
        )
        for name, rows in found.items()
    ]
    return sorted(measured, key=lambda stage: (-stage.seconds, stage.name))


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:  # Snakemake writes - or NA for what it could not measure
        return None


def notices(config: Config, models: Mapping[str, Model]) -> list[str]:
    """What a reader must know before any number: sentences, the widest-reaching first."""
    used = [models[name] for name in config.model_names]
    by_kind = {one: [model.label for model in used if kind(model) == one] for one in ("embedded", "check", "imported")}
    said = []
    if config.run == "quick":
        said.append(
            "This is a quick run: a small part of what the papers asked, so that every stage can be seen to work. "
            "Where its numbers come from a model, they say nothing about the papers' claims."
        )
    for label in by_kind["embedded"]:
        said.append(
            f"{label} is a very small model, its weights taken from a Python package. It is worthless as a result; it "
            "is here so that a real engine is asked real questions."
        )
    for label in by_kind["check"]:
        said.append(
            f"{label} is no model: it answers with the right answer, to check that scoring gives 1.000 where it should."
        )
    for label in by_kind["imported"]:
        said.append(
            f"{label}: its answers were made elsewhere and imported. This kit has scored them, but cannot vouch for "
            "how they were made."
        )
    return said


def what_was_run(config: Config) -> dict[str, list[tuple[str, str]]]:
    """For each paper of the run, what was generated and asked: pairs of a term and its words."""
    found = {"transduction": _transduction(config.transduction)}
    if config.scitrek:
        found["scitrek"] = _scitrek(config.scitrek)
    return found


def _transduction(part: Transduction) -> list[tuple[str, str]]:
    ask = part.ask
    ranks = ", ".join(f"{family} {_listed(ranks)}" for family, ranks in ask.difficulty_ranks.items())
    return [
        ("Root seed", str(part.seed)),
        ("Generated", f"{_tiers(part.horizons)}, {part.samples} samples of each cell"),
        ("Asked horizons", _tiers(ask.horizons)),
        ("Asked difficulties, 1 the easiest", ranks),
        ("Asked samples of each cell, counted from 0", _listed(ask.samples)),
        ("Streams ended once no score can change", "yes" if part.early_stop else "no"),
    ]


def _scitrek(part: Scitrek) -> list[tuple[str, str]]:
    settings = []
    for setting in part.settings:
        limits = [f"at most {setting.most} questions"] if setting.most is not None else []
        limits += [f"contexts of at most {setting.longest:,} tokens"] if setting.longest is not None else []
        named = f"{setting.context.replace('_', ' ')} {setting.level}"
        settings.append(named + (f" ({', '.join(limits)})" if limits else ""))
    source = f"released dataset {part.released.name}" if part.released else f"{part.corpus.stem}, subset {part.subset}"
    writer = part.writer
    return [
        ("Root seed", str(part.seed)),
        ("Articles", source),
        ("Questions written by", f"the {writer}" if writer == "grammar" else "a model"),
        ("Asked", "; ".join(settings)),
        ("Splits", ", ".join(part.splits)),
        ("Samples of each question", str(part.samples)),
        ("Longest answer", f"{part.max_tokens:,} tokens"),
        ("Prompts longer than the window", "not asked" if part.window == "refuse" else "cut at the context's end"),
    ]


def _tiers(horizons: Iterable[int]) -> str:
    return ", ".join(map(horizon_name, horizons)) + " tokens"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def places(studies: Sequence[Answers]) -> list[dict[str, Any]]:
    """Where answers were made: one row for each engine and machine, with the models that it answered as."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for study in studies:
        for job in study.jobs.all:
            engine, machine = job.get("engine") or {}, job.get("machine") or {}
            row = {
                "engine": " ".join(str(engine[part]) for part in ("name", "version") if engine.get(part)) or "not said",
                "image": engine.get("image"),
                "machine": _machine(machine),
                "system": machine.get("system"),
                "kit": job.get("kit"),
            }
            place = found.setdefault(tuple(map(str, row.values())), row | {"models": []})
            if job["answered_as"] not in place["models"]:
                place["models"].append(job["answered_as"])
    return list(found.values())


def _machine(machine: Mapping[str, Any]) -> str:
    parts = [str(machine["cpu"])] if machine.get("cpu") else []
    parts += [f"{machine['cores']} cores"] if machine.get("cores") else []
    gpus = machine.get("gpus") or []
    parts += [", ".join(str(gpu) for gpu in gpus)] if gpus else []
    return ", ".join(parts) or "not said"


def entry_facts(model: Model, jobs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What determines a model's answers: pairs of a term and its words, from its entry and its jobs' provenance."""
    engines = sorted({_engine(job) for job in jobs if job.get("engine")})
    weights = sorted({str(one) for job in jobs if (one := (job.get("model") or {}).get("weights_sha256"))})
    templates = sorted({str(one) for job in jobs if (one := (job.get("model") or {}).get("template_sha256"))})
    revisions = sorted({str(one) for job in jobs if (one := (job.get("model") or {}).get("revision"))})
    said = [
        ("Repository", model.repository),
        ("Revision", ", ".join(revisions) or (model.revision if model.repository else "")),
        ("Engine", "; ".join(engines) or model.engine),
        ("Engine arguments", " ".join(model.engine_args)),
        ("Weights, SHA-256", ", ".join(weights)),
        ("Chat template, SHA-256", ", ".join(templates)),
        ("Sampling", ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in decoding(model).items())),
        ("Window", f"{model.window:,} tokens" if model.window else ""),
        ("Thinking", THINKING[model.thinking]),
        ("SciTrek's prompt", model.prompt),
        ("Notes", model.notes),
    ]
    if not model.is_asked:
        without = {"Sampling", "Thinking", "Window", "SciTrek's prompt", "Revision", "Repository"}
        said = [pair for pair in said if pair[0] not in without]
    return [(term, words) for term, words in said if words]


def _engine(job: Mapping[str, Any]) -> str:
    engine = job["engine"]
    words = [str(engine.get("name") or engine.get("kind") or "not said"), str(engine.get("version") or "")]
    words += [f"({engine['dtype']})"] if engine.get("dtype") not in (None, "auto") else []
    words += [f"in {engine['image']}"] if engine.get("image") else []
    return " ".join(filter(None, words))
