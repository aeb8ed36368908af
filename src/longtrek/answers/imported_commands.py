"""`longtrek import answers`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longtrek.options import config_option

if TYPE_CHECKING:
    from longtrek.answers.model import Model
    from longtrek.answers.request import Request
    from longtrek.config import Config

PATH = click.Path(path_type=Path)


@click.command(name="answers")
@click.argument("model")
@click.argument("study", type=click.Choice(["transduction", "scitrek"]))
@click.argument("file", type=PATH)
@config_option()
@click.option("--tier", "tiers", multiple=True, help="Only this tier of the run; may be repeated.")
@click.option("--replace", "replacing", is_flag=True, help="Put answers in the place of others imported before.")
def import_answers(
    model: str, study: str, file: Path, config_file: Path, tiers: tuple[str, ...], replacing: bool
) -> None:
    """Take answers to a run's STUDY that were made elsewhere from FILE, as those of MODEL.

    MODEL's entry says `engine: imported`: nothing is asked for it, and tables and figures call it imported. The run's
    documents or questions must stand in results/ already. FILE is JSON lines (.zst too), each line one of

    \b
    - {"id", "text"}, several an id if the run asks several samples; or "error" instead of "text" where a request
      failed; and where known "sample", "prompt", "reasoning", "finish_reason", "usage";
    - a row of SciTrek's answer files: a question's fields, "generations" and "reasonings". The authors' generations
      of reasoning prompts are the box's content already: score them under an entry with `prompt: direct`;
    - a Long-Transduction rollout, as NeMo Gym writes it: a document's fields beside "response", in the OpenAI
      Responses form (response.output[].content[].text). Without an "id" its prompt says which document it answers.

    All of FILE is taken or nothing. An answer whose id the run does not ask, or whose prompt is not the run's, is an
    error that names its line. What has no answer is missing, counted and without a score. The same file again changes
    nothing; other answers in the place of imported ones need --replace.
    """
    from longtrek import config as run_config
    from longtrek.answers import imported
    from longtrek.answers.model import find_model
    from longtrek.errors import LongtrekError

    config = run_config.load(config_file)
    entry = find_model(model, config.models)
    imported.check_imported(entry)
    known = _tiers(config, entry, study)
    strange = [tier for tier in tiers if tier not in known]
    if strange or not known:
        raise LongtrekError(
            f"{config_file}: {model} is not asked {', '.join(strange) or 'anything'} of {study}; "
            f"tiers: {', '.join(known) or 'none'}"
        )
    done = imported.import_answers(
        entry,
        file,
        {
            tier: (requests_of(config, entry, study, tier), store_of(config, entry, study, tier))
            for tier in tiers or known
        },
        replacing=replacing,
        say=lambda line: click.echo(line, err=True),
    )
    for one in done:
        click.echo(one.line())


def take(config: "Config", entry: "Model", study: str, tier: str, store: Path | None, out: Path) -> str:
    """Write a tier's imported answers to `out`; see `longtrek.answers.imported.take_imported`."""
    from longtrek.answers.imported import take_imported

    again = f"longtrek import answers {entry.name} {study} FILE --config {config.path}"
    requests = requests_of(config, entry, study, tier)
    return take_imported(entry, requests, store or store_of(config, entry, study, tier), out, again)


def requests_of(config: "Config", entry: "Model", study: str, tier: str) -> "list[Request]":
    """What the run asks of a tier, as far as answers from elsewhere can be of it: no window cuts a prompt."""
    from longtrek.answers.studies import transduction_requests
    from longtrek.errors import LongtrekError
    from longtrek.scitrek.commands import scitrek_of
    from longtrek.scitrek.study import Study

    if study == "scitrek":
        return Study(scitrek_of(config), config.results).requests(entry, tier, None)
    documents = config.results / "documents" / f"{tier}.jsonl.zst"
    if not documents.is_file():
        raise LongtrekError(f"{documents}: no such file; make it with `longtrek documents --config {config.path}`")
    return transduction_requests(documents, config.transduction.ask, early_stop=False)


def store_of(config: "Config", entry: "Model", study: str, tier: str) -> Path:
    """Where the imported answers of a tier are kept."""
    return config.results / "store" / entry.name / study / f"{tier}.jsonl"


def _tiers(config: "Config", entry: "Model", study: str) -> list[str]:
    if study == "transduction":
        return [str(horizon) for horizon in config.transduction.horizons_of(entry)]
    return [setting.tier for setting in config.scitrek.settings] if config.scitrek else []
