"""The verb `longtrek images`: build the container images and name them in a file that runs read."""

from os.path import relpath
from pathlib import Path

import click

from longtrek.images import ENVIRONMENTS
from longtrek.paths import ROOT, shipped

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("environments", nargs=-1, type=click.Choice(ENVIRONMENTS))
@click.option("--builder", help="docker, podman or buildah, with options of its own  [default: the first that works]")
@click.option("--build-arg", "arguments", multiple=True, metavar="NAME=VALUE", help="As the Dockerfile explains.")
@click.option("--cpu", is_flag=True, help="The engine and the converter for CPUs, from their CPU locks.")
@click.option("--find-links", type=PATH, help="A folder of wheels that the package index lacks (PyTorch's CPU build).")
@click.option("--pip-config", type=PATH, help="A file of pip's configuration, seen by the build and not kept by it.")
@click.option("--sifs", type=PATH, default=ROOT / "images", help="Where the SIFs go  [default: images]")
@click.option("--out", type=PATH, default=shipped("config/images.yaml"), help="[default: config/images.yaml]")
def images(
    environments: tuple[str, ...],
    builder: str | None,
    arguments: tuple[str, ...],
    cpu: bool,
    find_links: Path | None,
    pip_config: Path | None,
    sifs: Path,
    out: Path,
) -> None:
    """Build the images of ENVIRONMENTS (kit, engine, converter; all where none is named) and name them in OUT.

    Each is built from its lock by the Dockerfile's target, turned into a SIF, and named by its own digest, since a
    changed image under the same name is not noticed. A run with --use-singularity reads the names from its config's
    `images`.
    """
    from longtrek.images.build import CPU_LOCKS, Builder, build_sif, find_builder, name_images

    made_by = Builder(
        find_builder(builder),
        (*(CPU_LOCKS if cpu else ()), *arguments),
        find_links and find_links.resolve(),
        pip_config and pip_config.resolve(),
    )
    for environment in environments or ENVIRONMENTS:
        sif = build_sif(made_by, environment, ROOT, sifs)
        name_images(out, {environment: relpath(sif, out.resolve().parent)})
        click.echo(f"{environment}: {sif}")
