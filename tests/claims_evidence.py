"""What claims are judged from in tests: the quick run with its documents built, and full runs made of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from longtrek import config as run_config
from longtrek.analysis.claims.evidence import Evidence, gather
from longtrek.analysis.claims.table import Asked
from longtrek.files import write_text
from longtrek.paths import shipped
from longtrek.transduction.build import build, summary
from longtrek.transduction.grid import grid
from longtrek.transduction.prompts import read_prompts


def evidence_in(results: Path, horizons: tuple[int, ...] = ()) -> Evidence:
    """The quick run's evidence in a folder, after the documents of some horizons were built there for real.

    Of the horizons between, which take their time, only the number of documents is put in.
    """
    config = replace(run_config.load(shipped("config/quick.yaml")), results=results)
    specs = [grid().specs(horizon) for horizon in horizons]
    made = build(results / "documents", specs, config.transduction.seed, read_prompts(config.transduction.prompts))
    write_text(results / "documents" / "summary.csv", summary(made))
    found = gather(config, shipped("config/config.yaml"))
    rest = {horizon: {"documents": str(len(grid().specs(horizon)))} for horizon in grid().horizons}
    return replace(found, built=replace(found.built, tiers=rest | dict(found.built.tiers)))


def full(evidence: Evidence, **changes: Any) -> Evidence:
    """A run of the papers' questions and models, with what is planted in it."""
    return replace(evidence, full=True, papers_questions=True, papers_corpus=True, **changes)


def of(claims: tuple[Asked, ...], *names: str) -> list[Asked]:
    """Claims by id, in the table's order."""
    found = [asked for asked in claims if asked.claim.id in names]
    assert len(found) == len(names)
    return found
