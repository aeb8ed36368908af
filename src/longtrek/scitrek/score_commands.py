"""`longtrek score scitrek`."""

import json
from pathlib import Path

import click


@click.command(name="scitrek")
@click.argument("questions", type=click.Path(path_type=Path))
@click.argument("answers", type=click.Path(path_type=Path))
def score(questions: Path, answers: Path) -> None:
    """Score ANSWERS to QUESTIONS under both rules; one JSON line a question, means over its samples.

    QUESTIONS are lines with `id` and `answer`, and what is known of `order` (any, ties, total), `ties`, `parts` (the
    answer's rows), `skill`. ANSWERS are lines `{"id", "text"}`, several an id if there are several samples; a failed
    request is a line with `error` instead. `"prompt": "reasoning"` on either makes the paper's rule read the last
    box. Files that end in `.zst` are read as they are.
    """
    from longtrek.scitrek.scoring import score_scitrek

    for line in score_scitrek(questions, answers):
        click.echo(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
