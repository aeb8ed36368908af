"""The verb `longtrek plan`: what a run will take, before anything runs."""

import os
from pathlib import Path

import click

from longtrek.options import config_option


@click.command()
@click.argument("config", required=False, type=click.Path(path_type=Path))
@config_option()
@click.option("--jobs", "each_job", is_flag=True, help="Show every job, a line each.")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON instead, with every document that cannot fit.")
@click.option("--cores", type=click.IntRange(1), help="Processes  [default: all cores]")
def plan(config: Path | None, config_file: Path, each_job: bool, as_json_: bool, cores: int | None) -> None:
    """Say what the run of CONFIG will take, before anything runs.

    For every model: jobs, prompts, tokens in and out, bytes of weights, GPUs and hours at the rates that its entry
    assumes; and the documents and contexts that cannot fit, with the reason. Needs no network, no GPU and no
    weights. Documents are built and counted with a model's own tokenizer where it lies on this machine, else
    estimated from their digits; SciTrek's prompts are counted where its questions are made, else estimated.
    """
    import json

    from longtrek.plan.as_json import as_json
    from longtrek.plan.make import make
    from longtrek.plan.page import page

    made = make(config or config_file, cores or os.cpu_count() or 1)
    if as_json_:
        click.echo(json.dumps(as_json(made), ensure_ascii=False, indent=1))
    else:
        click.echo(page(made, each_job), nl=False)
