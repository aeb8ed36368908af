"""`longtrek figure`, `longtrek table`, `longtrek show`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtrek.options import config_option

if TYPE_CHECKING:
    from longtrek.analysis.run import Run
    from longtrek.analysis.scitrek_run import SciTrekRun
    from longtrek.config import Config

RULE = click.Choice(["paper", "strict"])


@dataclass(frozen=True)
class Chosen:
    """What the command line says instead of the config; None and no models where it says nothing."""

    results: Path | None
    scores: Path | None
    rule: str | None
    kind: str | None
    models: tuple[str, ...]

    @property
    def found(self) -> Path | None:
        """The folder of scores that is named, of which all models are shown."""
        return self.scores or (self.results / "scores" if self.results else None)


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(
        [
            config_option("The run's config; the options below go before it."),
            click.option(
                "--scores", type=click.Path(path_type=Path), help="Folder of scores; all models there are shown."
            ),
            click.option(
                "--results",
                type=click.Path(path_type=Path),
                help="Folder of results to read, instead of the config's; all models there are shown.",
            ),
            click.option("--out", type=click.Path(path_type=Path), help="Folder to write to."),
            click.option("--rule", type=RULE, help="The scoring rule to show."),
            click.option(
                "--run", "kind", type=click.Choice(["quick", "full"]), help="What the artifact calls the run."
            ),
            click.option("--model", "models", multiple=True, help="Only this model; may be repeated."),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("name")
@_options
def figure(name: str, out: Path | None, config_file: Path, **options: Any) -> None:
    """Draw figure NAME, such as transduction_figure_2, as PDF, SVG, PNG and CSV.

    The CSV holds what the figure shows as numbers, with counts of documents. NAME `all` draws every figure.
    """
    from longtrek.analysis.artifacts import FIGURES, write_figure

    _write(FIGURES, write_figure, name, config_file, out, "figures", Chosen(**options))


@click.command()
@click.argument("name")
@_options
def table(name: str, out: Path | None, config_file: Path, **options: Any) -> None:
    """Make table NAME, such as transduction_table_2, as CSV, Markdown, LaTeX and HTML.

    Published values stand beside reproduced ones. NAME `all` makes every table.
    """
    from longtrek.analysis.artifacts import TABLES, write_table

    _write(TABLES, write_table, name, config_file, out, "tables", Chosen(**options))


@click.command()
@click.argument("model")
@click.argument("id", metavar="DOCUMENT")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The run's folder of results.",
)
@click.option("--rule", type=RULE, default="paper", show_default=True, help="The rule whose verdict colours a record.")
@click.option("--wrong", is_flag=True, help="Only the records that are wrong under the rule.")
def show(model: str, id: str, results: Path, rule: str, wrong: bool) -> None:
    """Show MODEL's answer to DOCUMENT beside what was expected, record by record, differences coloured.

    DOCUMENT is a document's id, such as arithmetic-ordered-2-4096-0.
    """
    from longtrek.analysis.answer_view import view

    for line in view(results, model, id, rule, wrong):
        click.echo(line)


def _write(
    names: Sequence[str],
    write: Callable[..., list[Path]],
    name: str,
    config_file: Path,
    out: Path | None,
    folder: str,
    chosen: Chosen,
) -> None:
    from longtrek.analysis.artifacts import paper, reads
    from longtrek.config import load
    from longtrek.errors import LongtrekError

    if name != "all" and name not in names:
        raise LongtrekError(_no_such(name, names, folder.removesuffix("s")))
    for option, given in (("--results", chosen.results), ("--scores", chosen.scores)):
        if given is not None and not given.is_dir():
            raise LongtrekError(f"{option} {given}: no such folder; expected the one that a run has filled")
    settings = load(config_file)
    wanted = names if name == "all" else [name]
    kinds = {each: {kind for one in wanted if paper(one) == each for kind in reads(one)} for each in map(paper, wanted)}
    make = {"transduction": _transduction_run, "scitrek": _scitrek_run}
    runs = {each: make[each](settings, kinds[each], chosen) for each in kinds}
    for one in wanted:
        for path in write(one, runs[paper(one)], out or settings.results / folder):
            click.echo(path)


def _no_such(name: str, names: Sequence[str], kind: str) -> str:
    """What is wrong with a name that is none of `names`, and the command that does what was meant."""
    from longtrek.analysis.artifacts import FIGURES, TABLES

    known = {"figure": FIGURES, "table": TABLES}
    other = next((one for one in known if name in known[one]), None)
    if other:
        return f"{name} is no {kind}; make it with `longtrek {other} {name}`"
    return f"no {kind} {name!r}; there are: {', '.join(names)}, or all: `longtrek {kind} all` makes every {kind}"


def _transduction_run(settings: "Config", kinds: set[str], chosen: Chosen) -> "Run":
    from longtrek.analysis.run import Run, entry_labels, read_documents

    part = settings.transduction
    models = chosen.models or (() if chosen.found else part.models)
    scores = chosen.found or settings.results / "scores"
    rule = chosen.rule or settings.rule
    return Run(
        kind=chosen.kind or settings.run,
        rule=rule,
        scores=scores,
        published=settings.published,
        documents=read_documents(scores, rule, models) if kinds else (),
        seed=part.seed,
        prompts=part.prompts,
        tiers=part.horizons,
        samples=part.samples,
        labels=entry_labels(settings.models),
    )


def _scitrek_run(settings: "Config", kinds: set[str], chosen: Chosen) -> "SciTrekRun":
    from longtrek.analysis.run import entries
    from longtrek.analysis.scitrek_run import SciTrekRun, models_there, read

    part = settings.scitrek
    shown = chosen.models or (None if chosen.found else part.models if part else ())
    baseline = part.baseline.model if part and part.baseline and not chosen.models else None
    whole = not chosen.found and part is not None
    if part and part.released:
        kinds = kinds - {"collections"}  # released rows have no corpus
    writer = part.model_writer if part and part.writer == "grammar" and not part.released else None
    if writer is None:
        kinds = kinds - {"model_writer"}  # what another config may have left in the folder
    found = read(chosen.results or settings.results, kinds, shown, baseline, chosen.scores, whole)
    return SciTrekRun(
        kind=chosen.kind or settings.run,
        rule="strict" if (chosen.rule or settings.rule) == "strict" else "paper",
        published=settings.published,
        entries=entries(settings.models),
        asked=models_there(chosen.found or settings.results / "scores") if shown is None else tuple(shown),
        prompts=part.prompts if part else None,
        model_writer_name=writer.model if writer else "",
        **found,
    )
