"""The container images of a run: which environment runs in which image, and what a job in one needs of its machine."""

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path

from longtrek import schemas
from longtrek.answers.engines import ENGINE_IMAGE, ENGINE_PYTHON
from longtrek.answers.model import Model
from longtrek.config import Config
from longtrek.corpus.conversion import PYTHON_VARIABLE as CONVERTER_PYTHON
from longtrek.errors import LongtrekError
from longtrek.paths import PACKAGE, ROOT

ENVIRONMENTS = ("kit", "engine", "converter")
# Where the Dockerfile puts what a host names by these variables.
PYTHONS = {ENGINE_PYTHON: "/opt/engine/bin/python", CONVERTER_PYTHON: "/opt/converter/bin/python"}
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")


@dataclass(frozen=True)
class Images:
    """One image for each environment: `docker://…@sha256:…`, a SIF's path, or None for none (the host's own)."""

    kit: str | None = None
    engine: str | None = None
    converter: str | None = None


def load_images(path: Path | None) -> Images:
    """Read the images of a run that asks for containers; SIFs are found from the file's own folder.

    Raises:
        LongtrekError: there is no such file, it breaks the schema (a name without a digest, for one), it names no
            image at all, or a SIF that is not there.
    """
    named = schemas.read(path, "images") if path else {}
    # Snakemake takes no spaces in an image's path, and a folder above the run may have some.
    found = {
        name: image if image.startswith("docker://") else relpath(path.resolve().parent / image)
        for name, image in named.items()
        if image and path
    }
    if not found:
        raise LongtrekError(
            f"{path or 'the config'}: names no image, and the run asks for containers; make them with `make images`, "
            "which writes their names to config/images.yaml, or leave out --use-singularity"
        )
    for name, image in found.items():
        if not image.startswith("docker://") and not Path(image).is_file():
            raise LongtrekError(f"{path}: {name}: no file {image}; make it with `make images`, or correct its name")
    return Images(**found)


def folders(config: Config, models: Mapping[str, Model]) -> list[Path]:
    """The folders and files that a run reads or writes wherever it stands: the kit's, the config's, the weights'."""
    asked, scitrek = config.transduction, config.scitrek
    places = [ROOT, config.path.parent, config.results, config.models, config.published]
    chosen = [asked.prompts, asked.frozen, asked.released]
    chosen += [scitrek.corpus.parent, scitrek.prompts, scitrek.released] if scitrek else []
    weights = [model.weights["folder"] for model in models.values() if model.weights and "folder" in model.weights]
    places += [place for place in chosen if place is not None]
    return places + [Path(folder).expanduser() for folder in weights]


def container_settings(images: Images, places: Iterable[Path], host: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that make a container run this checkout's code, on this machine's files.

    An image holds what its lock holds. The code is the checkout's, bound and first on Python's path, so that what
    runs is what the rules have hashed.

    Args:
        images: the run's images.
        places: what the run reads and writes outside the working folder.
        host: the environment variables here.
    """
    home = Path(host.get("HOME", "/"))
    cache = Path(host.get("HF_HOME") or home / ".cache" / "huggingface")
    pip = Path(host.get("PIP_CONFIG_FILE") or home / ".config" / "pip" / "pip.conf")
    inside = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONNOUSERSITE": "1", **PYTHONS}
    # A container's home is the working folder: what lies in the host's home must be named, and what libraries put
    # into a home stays beside what Snakemake keeps.
    inside |= {f"XDG_{kind.upper()}_HOME": str(Path.cwd() / ".snakemake" / kind) for kind in ("cache", "config")}
    for name, value, there in (
        ("HF_HOME", cache, cache.is_dir()),
        ("PIP_CONFIG_FILE", pip, pip.is_file()),
        (ENGINE_IMAGE, _name(images.engine), images.engine),
    ):
        inside |= {name: str(value)} if there else {}
    files = dict.fromkeys([*(Path(host[name]) for name in CERTIFICATES if name in host), pip])
    bound = [*mounts([*places, PACKAGE.parent, cache], Path.cwd()), *(str(file) for file in files if file.is_file())]
    prefix = "APPTAINER" if shutil.which("apptainer") else "SINGULARITY"
    earlier = host.get(f"{prefix}_BIND", "")
    escaped = [re.sub(r"([\\:,])", r"\\\1", path) for path in bound]
    # A job that is started by Snakemake itself finds here what this one leaves.
    binds = [path for path in escaped if f",{path}," not in f",{earlier},"]
    settings = {f"{prefix}ENV_{name}": value for name, value in inside.items()}
    return settings | {f"{prefix}_BIND": ",".join([earlier] * bool(earlier) + binds)}


def _name(image: str | None) -> str:
    """An image's name without the folders of this machine."""
    return Path(image).name if image and image.endswith(".sif") else image or ""


def mounts(paths: Iterable[Path], seen: Path) -> list[str]:
    """The folders to bind so that all paths are seen, each once; never the whole root, nor what lies in `seen`."""
    folders = set()
    for path in paths:
        there = next(one for one in (path.resolve(), *path.resolve().parents) if one.exists())
        folders.add(there if there.is_dir() else there.parent)
    found: list[Path] = []
    for folder in sorted(folders - {Path("/")}):
        if not any(one in (folder, *folder.parents) for one in (seen.resolve(), *found)):
            found.append(folder)
    return [str(folder) for folder in found]
