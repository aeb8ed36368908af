"""`longtrek score transduction` and `longtrek scores transduction`."""

import json
from pathlib import Path

import click

from longtrek.options import config_option


@click.command(name="transduction")
@click.argument("documents", type=click.Path(path_type=Path))
@click.argument("answers", type=click.Path(path_type=Path))
def score(documents: Path, answers: Path) -> None:
    """Score ANSWERS to DOCUMENTS record by record, under both rules; one JSON line a document.

    DOCUMENTS are lines as `longtrek document` prints them, or the authors' prepared JSON lines (an answer's `id` is
    then the line's index, from 0, where the line has none). ANSWERS are lines `{"id", "text"}`, or rollouts as NeMo Gym
    writes them (`response.output[].content[].text` beside a document's fields), which may be given as DOCUMENTS too.
    Files that end in `.zst` are read as they are.
    """
    from longtrek.transduction.scoring import score_transduction

    for line in score_transduction(documents, answers):
        click.echo(json.dumps(line, separators=(",", ":")))


@click.command(name="transduction")
@click.argument("model")
@config_option()
def scores(model: str, config_file: Path) -> None:
    """Score MODEL's answers of a run, all its tiers, into two Parquet files: a row a record and a row a document."""
    from longtrek import config as run_config
    from longtrek.answers.model import load_model
    from longtrek.transduction.scores import write_scores

    run = run_config.load(config_file)
    entry = load_model(run.model_file(model))
    folder = run.results / "scores" / model
    records = write_scores(
        (
            (
                run.results / "documents" / f"{horizon}.jsonl.zst",
                run.results / "answers" / model / "transduction" / f"{horizon}.jsonl",
            )
            for horizon in run.transduction.horizons_of(entry)
        ),
        folder / "transduction.parquet",
        folder / "transduction_documents.parquet",
        model,
        check=entry.kind == "check",
        asked=run.transduction.ask.holds,
    )
    click.echo(f"{model}: {records:,} records scored")
