"""`longtrek selftest`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtrek.options import config_option

if TYPE_CHECKING:
    from longtrek.answers.model import Model
    from longtrek.answers.preflight import Prepared
    from longtrek.answers.request import Request
    from longtrek.config import Config

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("model")
@config_option()
@click.option("--prompts", default=8, show_default=True, type=click.IntRange(1, 240), help="How many prompts.")
@click.option("--horizon", type=int, help="Their tier in tokens  [default: the smallest that the config asks]")
@click.option("--tokens", default=64, show_default=True, type=click.IntRange(1), help="Output cap of each answer.")
@click.option("--batch", "batches", nargs=2, default=(1, 8), show_default=True, type=click.IntRange(1))
@click.option("--weights", "weights_path", type=PATH, help="Folder of the weights  [default: results/weights/MODEL]")
@click.option("--out", type=PATH, help="The report as JSON  [default: results/selftest/MODEL.json]")
def selftest(
    model: str,
    config_file: Path,
    prompts: int,
    horizon: int | None,
    tokens: int,
    batches: tuple[int, int],
    weights_path: Path | None,
    out: Path | None,
) -> None:
    """Ask MODEL the same prompts twice, at two batch sizes, and report how many answers differ.

    The prompts are documents of the run's smallest tier, the easiest of every family and format first. Of each
    comparison the table says how many answers are equal, how many differ, and at which character they part; OUT holds
    the answers too. The first pass finds an empty prefix cache and the later ones a full one, which alone can change a
    greedy answer, so the table says what the cache served. No answer is kept for a study.
    """
    from longtrek import config as run_config
    from longtrek.answers import selftest as report
    from longtrek.answers.engines import engine_for
    from longtrek.answers.model import find_model
    from longtrek.answers.preflight import Tokenizer, preflight
    from longtrek.answers.provenance import engine_version_of, identity
    from longtrek.answers.weights import weights_of
    from longtrek.errors import LongtrekError
    from longtrek.files import write_text

    config = run_config.load(config_file)
    entry = find_model(model, config.models)
    if entry.engine == "imported":
        raise LongtrekError(
            f"model {entry.name}: its answers were made elsewhere; a selftest needs a model that is asked"
        )
    found = weights_of(entry, weights_path or config.results / "weights" / entry.name)
    requests = _requests(config, prompts, horizon or config.transduction.ask.horizons[0], tokens)
    prepared = preflight(entry, requests, Tokenizer(entry, found.folder) if found else None)
    _all_fit(entry.name, prepared)
    path = out or config.results / "selftest" / f"{entry.name}.json"
    engine = None if entry.engine == "reference" else engine_for(entry, found, path.with_suffix(".engine.log"))
    passes = report.ask_repeatedly(entry, prepared, engine, batches, say=lambda line: click.echo(line, err=True))
    names = [request.id for request in requests]
    comparisons = report.compare_all(names, passes)
    facts: dict[str, Any] = {"model": entry.name, **identity(entry, found, engine_version_of(entry)), "tokens": tokens}
    whole = report.as_json(facts, names, passes, comparisons)
    write_text(path, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    click.echo(_head(entry, facts["engine"]["version"], [one.prompt_size for one in prepared], tokens) + "\n")
    for line in report.lines(passes, comparisons):
        click.echo(line)
    click.echo(f"\n{path}")


def _head(entry: "Model", version: str | None, sizes: list[int], tokens: int) -> str:
    return (
        f"{entry.name}, {entry.engine} {version or '(version not known)'}, {entry.dtype}, temperature "
        f"{entry.sampling.temperature:g}: {len(sizes)} prompts of {min(sizes):,} to {max(sizes):,} tokens, at most "
        f"{tokens} written"
    )


def _requests(config: "Config", count: int, horizon: int, tokens: int) -> "list[Request]":
    """The first `count` documents of a tier, the easiest first, under a cap of `tokens`."""
    from longtrek.answers.request import Request
    from longtrek.transduction.documents import document
    from longtrek.transduction.grid import grid
    from longtrek.transduction.prompts import read_prompts

    ranks = grid().families
    specs = sorted(
        grid().specs(horizon),
        key=lambda spec: (spec.sample, ranks[spec.family][spec.format].index(spec.difficulty)),
    )
    texts = read_prompts(config.transduction.prompts)
    made = (document(spec, config.transduction.seed, texts) for spec in specs[:count])
    return [
        Request(one["id"], [{"role": "user", "content": one["prompt"]}], tokens, expected=one["expected"])
        for one in made
    ]


def _all_fit(name: str, prepared: "list[Prepared]") -> None:
    from longtrek.errors import LongtrekError

    for one in prepared:
        if one.refusal is not None:
            raise LongtrekError(
                f"model {name}: {one.request.id}: {one.refusal}; choose fewer --tokens or a smaller --horizon"
            )
