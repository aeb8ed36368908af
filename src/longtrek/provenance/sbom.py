"""A software bill of materials of each environment: CycloneDX 1.6, from its lock and what is installed of it."""

import importlib.metadata
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseAcknowledgement
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name

import longtrek
from longtrek.answers.engines import ENGINE_PYTHON
from longtrek.corpus.conversion import PYTHON_VARIABLE as CONVERTER_PYTHON
from longtrek.files import write_text
from longtrek.paths import shipped
from longtrek.provenance.locks import Locked, read_lock

LONGEST_LICENCE = 80
"""Some packages put a licence's whole text where its name belongs; a longer value is not a name."""


@dataclass(frozen=True)
class Environment:
    """One of the kit's environments: its lock in the kit's root, and where it is installed.

    `folder` is the environment under `.venv/`, `variable` the environment variable that names another Python for it.
    """

    name: str
    lock: str
    folder: str
    variable: str | None
    purpose: str


ENGINE, CONVERTER = "vLLM, which asks the models", "Marker, which turns PDFs into Markdown"
ENVIRONMENTS = (
    Environment("kit", "requirements.lock", "kit", None, "The workflow, scores, figures and tables"),
    Environment("engine", "requirements-engine.lock", "engine", ENGINE_PYTHON, f"{ENGINE}, on CPUs"),
    Environment("engine-cuda", "requirements-engine-cuda.lock", "engine", ENGINE_PYTHON, f"{ENGINE}, on GPUs"),
    Environment("converter", "requirements-converter.lock", "converter", CONVERTER_PYTHON, f"{CONVERTER}, on CPUs"),
    Environment(
        "converter-cuda", "requirements-converter-cuda.lock", "converter", CONVERTER_PYTHON, f"{CONVERTER}, on GPUs"
    ),
)


def write_all(folder: Path) -> list[Path]:
    """Write `<environment>.cdx.json` for each environment; the same locks and installations give the same bytes."""
    written = []
    for environment in ENVIRONMENTS:
        packages = read_lock(shipped(environment.lock))
        path = folder / f"{environment.name}.cdx.json"
        write_text(path, describe(environment, packages, licences(installed(environment))))
        written.append(path)
    return written


def installed(environment: Environment) -> list[importlib.metadata.Distribution]:
    """What is installed in an environment; nothing where it was not made on this machine."""
    if environment.variable is None:
        return list(importlib.metadata.distributions())
    python = Path(os.environ.get(environment.variable, f".venv/{environment.folder}/bin/python"))
    folders = sorted(python.parent.parent.glob("lib/python3*/site-packages"))
    return list(importlib.metadata.distributions(path=[str(folder) for folder in folders])) if folders else []


def licences(distributions: Iterable[importlib.metadata.Distribution]) -> dict[tuple[str, str], str]:
    """What installed packages say of their licence, by normalised name and version; those that say nothing are out."""
    found: dict[tuple[str, str], str] = {}
    for distribution in distributions:
        said: dict[str, Any] = distribution.metadata.json
        stated = [said.get("license_expression"), said.get("license"), *_classified(said.get("classifier", []))]
        named = [text for text in stated if text and "\n" not in text and 3 <= len(text) <= LONGEST_LICENCE]
        named = [text for text in named if text.upper() != "UNKNOWN"]
        if named and said.get("name"):
            found[canonicalize_name(said["name"]), distribution.version] = named[0]
    return found


def _classified(classifiers: Iterable[str]) -> list[str]:
    names = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License :: ")]
    return [name for name in names if name != "OSI Approved"]


def describe(environment: Environment, packages: Iterable[Locked], known: Mapping[tuple[str, str], str]) -> str:
    """One environment as CycloneDX 1.6 JSON: packages with hashes, licences and what asks for what.

    A package carries the hash of every file that its lock admits; the installer takes one of them.
    """
    root = Component(
        name=f"longtrek-{environment.name}",
        version=longtrek.__version__,
        type=ComponentType.APPLICATION,
        description=environment.purpose,
        bom_ref=f"longtrek-{environment.name}",
        licenses=[_licence("Apache-2.0")],
    )
    bom = Bom()
    bom.metadata.component = root
    bom.metadata.properties.add(Property(name="longtrek:lock", value=environment.lock))
    packages = list(packages)
    components = {package.name: _component(package, known) for package in packages}
    bom.components.update(components.values())
    bom.register_dependency(root, [components[package.name] for package in packages if package.direct])
    for name, component in components.items():
        bom.register_dependency(component, [components[one.name] for one in packages if name in one.via])
    return _text(bom)


def _component(package: Locked, known: Mapping[tuple[str, str], str]) -> Component:
    name = canonicalize_name(package.name)
    purl = PackageURL("pypi", name=name, version=package.version)
    licence = known.get((name, package.version))
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in package.sha256],
        licenses=[_licence(licence)] if licence else [],
    )


def _licence(text: str) -> Any:
    return LicenseFactory().make_from_string(text, license_acknowledgement=LicenseAcknowledgement.DECLARED)


def _text(bom: Bom) -> str:
    """A bill as JSON without its random serial number and the time of writing, which the standard leaves optional."""
    value = json.loads(JsonV1Dot6(bom).output_as_string())
    del value["serialNumber"], value["metadata"]["timestamp"]
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
