"""An environment's lock as data: what it installs on this platform, with hashes and what each is there for."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from longtrek.errors import LongtrekError

COMMENT = re.compile(r"# (?:via |  )(\S.*)")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True)
class Locked:
    """One package of a lock: its name as the lock spells it, version, SHA-256 hashes, and what asks for it.

    `via` names packages of the lock; `direct` says that the environment's own requirements ask for it.
    """

    name: str
    version: str
    sha256: tuple[str, ...]
    via: tuple[str, ...]
    direct: bool


def read_lock(path: Path) -> list[Locked]:
    """The packages of a lock whose markers hold on the platform that reads it, in the order of their names.

    Raises:
        LongtrekError: the lock is missing, or a line of it is not what a lock with hashes holds.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LongtrekError(f"{path}: cannot be read ({error.strerror}); expected the lock of an environment") from None
    blocks = re.split(r"\n(?=[^\s#])", text)
    found = [package for block in blocks if (package := _package(block, path))]
    return sorted(found, key=lambda package: package.name)


def _package(block: str, path: Path) -> Locked | None:
    lines = [line.strip() for line in block.splitlines()]
    head = next((line for line in lines if line and not line.startswith("#")), None)
    if head is None:
        return None
    try:
        requirement = Requirement(head.removesuffix("\\").strip())
    except InvalidRequirement as error:
        raise LongtrekError(f"{path}: {head!r} is no requirement ({error}); compile it with `make locks`") from None
    versions = [one.version for one in requirement.specifier if one.operator == "=="]
    if len(versions) != 1:
        raise LongtrekError(f"{path}: {head!r} names no one version; compile it with `make locks`")
    if requirement.marker and not requirement.marker.evaluate():
        return None
    comments = [match[1] for line in lines if (match := COMMENT.fullmatch(line))]
    via = sorted(name for name in comments if PACKAGE.fullmatch(name))
    # Other comments name a file of requirements, or the kit with its pyproject.toml; overrides ask for nothing.
    direct = any(not PACKAGE.fullmatch(name) and not name.startswith("--override") for name in comments)
    hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", block)
    return Locked(requirement.name, versions[0], tuple(sorted(hashes)), tuple(via), direct)
