"""Build the images with the builder that is there, and name each by what it holds."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from longtrek import __version__, schemas
from longtrek.errors import LongtrekError
from longtrek.files import sha256_file, write_text
from longtrek.images import ENVIRONMENTS

BUILDERS = ("docker", "podman", "buildah")
CPU_LOCKS = ("ENGINE_LOCK=requirements-engine.lock", "CONVERTER_LOCK=requirements-converter.lock")
DIGITS = 16  # of a SIF's SHA-256, in its name
SQUASHFS = "-comp zstd -Xcompression-level 3"


@dataclass(frozen=True)
class Builder:
    """How images are built: the builder's command (with its own options), and what the Dockerfile takes from outside.

    `wheels` is a folder of wheels that the package index lacks, `pip_config` a file of pip's configuration.
    """

    command: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    wheels: Path | None = None
    pip_config: Path | None = None

    @property
    def program(self) -> str:
        """Which of the builders it is."""
        return Path(self.command[0]).name

    def build(self, target: str, tag: str, root: Path) -> list[str]:
        """The command that builds a target of the Dockerfile in `root`."""
        command = [*self.command, "build", "--file", str(root / "Dockerfile"), "--target", target, "--tag", tag]
        # buildah asks registries for a base that it has, unless told not to; the others look here first.
        command += ["--layers", "--pull=false"] if self.program == "buildah" else []
        for argument in self.arguments:
            command += ["--build-arg", argument]
        command += ["--build-context", f"wheels={self.wheels}"] if self.wheels else []
        command += ["--secret", f"id=pip,src={self.pip_config}"] if self.pip_config else []
        return [*command, str(root)]

    def save(self, tag: str, archive: Path) -> list[str]:
        """The command that writes a built image as a docker archive."""
        if self.program == "buildah":
            return [*self.command, "push", tag, f"docker-archive:{archive}:{tag}"]
        form = ["--format", "docker-archive"] if self.program == "podman" else []
        return [*self.command, "save", *form, "--output", str(archive), tag]


def find_builder(named: str | None) -> tuple[str, ...]:
    """The builder's command: the one named, split as a shell does, or the first that works here.

    Raises:
        LongtrekError: the named one is not there or is none of the three, or none works.
    """
    if named:
        try:
            command = tuple(shlex.split(named))
        except ValueError:  # a quotation mark without its pair
            command = ()
        if not command or Path(command[0]).name not in BUILDERS or not shutil.which(command[0]):
            raise LongtrekError(f"builder {named!r}: expected {', '.join(BUILDERS)}, installed, with its own options")
        return command
    for name in BUILDERS:
        # A client without its engine answers to --version, not to this.
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return (name,)
    raise LongtrekError(f"no builder of images works here; install one of {', '.join(BUILDERS)}, or name it")


def build_sif(builder: Builder, target: str, root: Path, folder: Path) -> Path:
    """Build one target and turn it into a SIF that carries 16 digits of its own SHA-256 in its name.

    Raises:
        LongtrekError: a step failed; what it said stands before, on standard error.
    """
    if not shutil.which("apptainer"):
        raise LongtrekError("no apptainer on the PATH; it makes SIFs of images, and Snakemake runs the jobs in them")
    tag = f"localhost/longtrek-{target}:{__version__}"
    _run(builder.build(target, tag, root))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{target}.") as scratch:
        archive, made = Path(scratch) / "image.tar", Path(scratch) / "image.sif"
        _run(builder.save(tag, archive))
        _run(["apptainer", "build", "--mksquashfs-args", SQUASHFS, str(made), f"docker-archive:{archive}"])
        named = folder / f"{target}-{sha256_file(made)[:DIGITS]}.sif"
        made.replace(named)
    return named


def name_images(file: Path, named: dict[str, str]) -> None:
    """Write images' names into the file of images, below its comment; those of other environments stay as they are."""
    held = schemas.read(file, "images") if file.is_file() else dict.fromkeys(ENVIRONMENTS)
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    comment = [line for line in lines if line.startswith("#")]
    images = {name: named.get(name, held[name]) for name in ENVIRONMENTS}
    schemas.check(images, "images", file)
    write_text(file, "\n".join([*comment, yaml.safe_dump(images, sort_keys=False, width=1000)]))


def _run(command: Sequence[str]) -> None:
    # Standard output stays the caller's own; builders talk on both.
    if subprocess.run(command, stdout=2, check=False).returncode != 0:
        raise LongtrekError(f"failed: {shlex.join(command)}; the reason stands above")
