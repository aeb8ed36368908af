"""`longtrek claims`."""

from pathlib import Path

import click

from longtrek.options import config_option
from longtrek.paths import shipped

PAPERS_RUN = "config/config.yaml"


@click.command()
@config_option()
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to  [default: the config's results]")
def claims(config_file: Path, out: Path | None) -> None:
    """Compute every claim of the two papers that can be, and judge it: claims.csv and claims.md.

    The claims stand in config/claims.csv, each with the function that computes it, its tolerance, and what it would
    take where this run has not what it needs. Prints how many are reproduced, within noise, differ, or were not run.
    """
    from longtrek.analysis.claims import judged, table
    from longtrek.analysis.claims.evidence import gather
    from longtrek.config import load

    config = load(config_file)
    evidence = gather(config, shipped(PAPERS_RUN))
    found = judged.judged(table.read(evidence.printed), evidence)
    folder = out or config.results
    judged.write(found, evidence, folder / "claims.csv", folder / "claims.md")
    click.echo(f"{len(found)} claims: {judged.counts(found)}")
