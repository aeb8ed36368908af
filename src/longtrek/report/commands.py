"""`longtrek report`."""

from pathlib import Path

import click

from longtrek.options import config_option


@click.command()
@config_option()
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to.  [default: report/ in the results]")
def report(config_file: Path, out: Path | None) -> None:
    """Write the report: pages that open from disk, with every figure, table, claim, model and answer of a run.

    Open results/report/index.html. The folder holds all that the pages need and may be copied anywhere. What is not
    built yet is said to be missing.
    """
    from longtrek.config import load
    from longtrek.report.write import write_report

    config = load(config_file)
    folder = out or config.results / "report"
    shown = write_report(config, folder)
    counted = ", ".join(f"{number:,} answers of {paper}" for paper, number in shown.items())
    click.echo(f"{folder / 'index.html'}: {counted}")
