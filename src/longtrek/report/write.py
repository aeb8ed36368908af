"""The report of a run: everything that its results hold, as pages that open from disk."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import longtrek
from longtrek.analysis.claims.table import KINDS
from longtrek.answers.model import Model, load_model
from longtrek.config import TITLES, Config
from longtrek.errors import LongtrekError
from longtrek.report import scitrek, transduction
from longtrek.report.claims import VERDICTS, Claim, inconsistent, read_claims, verdicts
from longtrek.report.data_files import whole_folder
from longtrek.report.exhibits import exhibits
from longtrek.report.explorer_links import explorer_links
from longtrek.report.facts import entry_facts, notices, places, stages, what_was_run
from longtrek.report.pages import write_pages
from longtrek.report.study import Answers, kind

DATA = "data"


def write_report(config: Config, out: Path) -> dict[str, int]:
    """Write the report of a run to a folder, replacing what stands there; the same results give the same bytes.

    What is not built yet is said to be missing; a run that has only begun has a report.

    Returns:
        how many answers of each paper it shows.

    Raises:
        LongtrekError: something else than a report stands in the folder's place; or results contradict each other, or
            are not what an earlier stage writes.
    """
    _check_replaceable(out)
    models = {name: load_model(config.model_file(name)) for name in config.model_names}
    with whole_folder(out) as folder:
        (folder / DATA).mkdir()
        studies = [
            transduction.write_answers(config.transduction, models, config.results, folder / DATA),
            *([scitrek.write_answers(config.scitrek, models, config.results, folder / DATA)] if config.scitrek else []),
        ]
        shown = exhibits(config.results, folder, [study.paper for study in studies])
        claims = read_claims(config.results / "claims.csv")
        write_pages(folder, _context(config, models, studies) | {"exhibits": shown} | _claims(claims, config, studies))
    return {study.paper: study.rows.count for study in studies}


def _check_replaceable(out: Path) -> None:
    """Refuse to put a report in the place of anything but a report, or of nothing."""
    report = (out / "index.html").is_file() and (out / DATA).is_dir()
    empty = out.is_dir() and not any(out.iterdir())
    if out.exists() and not (report or empty):
        raise LongtrekError(
            f"{out}: holds something else than a report, which would be replaced; give --out a new folder, an empty "
            "one or a report's, or remove what stands there"
        )


def _context(config: Config, models: dict[str, Model], studies: Sequence[Answers]) -> dict[str, Any]:
    return {
        "version": longtrek.__version__,
        "run": config.run,
        "rule": config.rule,
        "config_file": _said(config.path),
        "results": _said(config.results),
        "titles": TITLES,
        "notices": notices(config, models),
        "settings": what_was_run(config),
        "studies": studies,
        "labels": _labels(models),
        "kinds": {name: kind(model) for name, model in models.items()},
        "places": places(studies),
        "stages": stages(config.results),
        "models": [
            _model(models[name], studies) | {"entry": _said(config.model_file(name))} for name in config.model_names
        ],
    }


def _labels(models: dict[str, Model]) -> dict[str, str]:
    """What each model is called, and the baseline that executes its SQL."""
    executed = {name + scitrek.EXECUTED: f"{model.label} + SQL execution" for name, model in models.items()}
    return {name: model.label for name, model in models.items()} | executed


def _claims(claims: list[Claim] | None, config: Config, studies: Sequence[Answers]) -> dict[str, Any]:
    return {
        "claims": claims,
        "verdicts": verdicts(claims or []),
        "verdict_names": VERDICTS,
        "claim_kinds": {kind: words for kind, words in KINDS.items() if kind in {claim.kind for claim in claims or ()}},
        "inconsistent": inconsistent(claims or []),
        "explorer": explorer_links(claims or [], config, studies),
    }


def _model(model: Model, studies: Sequence[Answers]) -> dict[str, Any]:
    jobs = [job for study in studies for job in study.jobs.all if job["answered_as"] == model.name]
    return {
        "name": model.name,
        "label": model.label,
        "kind": kind(model),
        "facts": entry_facts(model, jobs),
        "outcomes": [
            (study.paper, outcome)
            for study in studies
            for outcome in study.outcomes
            if outcome.model in (model.name, model.name + scitrek.EXECUTED)
        ],
    }


def _said(path: Path) -> str:
    """A path as a page says it: from the working folder, or its last part, never a place of one machine."""
    relative = Path(os.path.relpath(path)) if path.is_absolute() else path
    return path.name if ".." in relative.parts else relative.as_posix()
