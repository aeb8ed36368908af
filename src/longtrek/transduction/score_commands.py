"""`longtrek score transduction` and `longtrek scores transduction`."""

import json
from pathlib import Path

import click


@click.command(name="transduction")
@click.argument("documents", type=click.Path(path_type=Path))
@click.argument("answers", type=click.Path(path_type=Path))
def score(documents: Path, answers: Path) -> None:
    """Score ANSWERS to DOCUMENTS record by record, under both rules; one JSON line a document.

    DOCUMENTS are lines as `longtrek document` prints them, or the authors' prepared JSON lines (an answer's `id` is
    then the line's index, from 0, where the line has none). ANSWERS are lines `{"id", "text"}`. Files that end in
    `.zst` are read as they are.
    """
    from longtrek.transduction.scoring import score_transduction

    for line in score_transduction(documents, answers):
        click.echo(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
