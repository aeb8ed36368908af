"""`longtrek sbom`, `longtrek crate`, `longtrek checksums`, `longtrek verify`."""

import json
from pathlib import Path

import click

from longtrek.options import config_option

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="The run's folder of results.",
)


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("results/sbom"), help="Folder to write to.")
def sbom(out: Path) -> None:
    """Write a CycloneDX 1.6 bill of materials of the kit's, the engine's and the converter's environments.

    The engine and the converter have two each, for CPUs and for GPUs; answers say which engine gave them. Names,
    versions and hashes are the locks'; licences are what installed packages state, so an environment that is not made
    on this machine has none.
    """
    from longtrek.provenance.sbom import write_all

    for path in write_all(out):
        click.echo(path)


@click.command()
@config_option("The config of a finished run.")
def crate(config_file: Path) -> None:
    """Describe a finished run as a Workflow Run RO-Crate: ro-crate-metadata.json in its folder of results.

    The workflow and config that were run are copied beside it, into workflow/. It depends on the results alone.
    """
    from longtrek.config import load
    from longtrek.files import write_text
    from longtrek.provenance import listing
    from longtrek.provenance.crate import crate as graph
    from longtrek.provenance.facts import gather

    settings = load(config_file)
    path = settings.results / listing.CRATE
    write_text(path, json.dumps(graph(gather(settings)), indent=1, ensure_ascii=False) + "\n")
    click.echo(path)


@click.command()
@results_option
def checksums(results: Path) -> None:
    """List the SHA-256 of every file of the results that a reader relies on, for `sha256sum -c` and `longtrek verify`.

    Left out: logs and benchmarks, the store of answers (answers/ has this run's), weights, hidden files.
    """
    from longtrek.errors import LongtrekError
    from longtrek.provenance import listing

    if not results.is_dir():
        raise LongtrekError(f"{results}: no such folder; expected a run's folder of results")
    listed = listing.write(results)
    click.echo(f"{results / listing.CHECKSUMS}: {len(listed)} files")


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False))
def verify(results: Path) -> None:
    """Check that RESULTS, a run's folder of results or a copy of one, is what the run left.

    Every file against SHA256SUMS (missing, changed and unlisted ones are named), the list against the crate, and the
    documents against the frozen hashes. Exit code 1 where anything is not as it should be.
    """
    from longtrek.errors import LongtrekError
    from longtrek.provenance.verify import verify as check

    found = check(results)
    for line in (*found.good, *found.faults):
        click.echo(line)
    if found.faults:
        raise LongtrekError(
            f"{results}: {len(found.faults)} things are not as the run left them; they are listed above"
        )
