"""The frozen documents: what `config/frozen/transduction.json` promises, and the comparison with what was built."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.files import write_text
from longtrek.paths import shipped
from longtrek.transduction.grid import grid
from longtrek.transduction.prompts import Prompts
from longtrek.transduction.words import WORDS_SHA256

FREEZE = "longtrek documents --freeze"
DIGITS = 16


@dataclass(frozen=True)
class Built:
    """The hashes of a tier that was built: of all its lines, and of each document's line by its id."""

    horizon: int
    sha256: str
    documents: dict[str, str]


def frozen_file() -> Path:
    """Where the frozen hashes stand in the kit."""
    return shipped("config/frozen/transduction.json")


def line_digest(line: bytes) -> str:
    """The first 16 hex digits of the SHA-256 of a document's line, its line feed included."""
    return hashlib.sha256(line).hexdigest()[:DIGITS]


def read_frozen(path: Path) -> dict[str, Any]:
    """Read frozen hashes.

    Raises:
        LongtrekError: the file is missing, is not JSON, or does not hold what `freeze` writes.
    """
    try:
        frozen = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise LongtrekError(f"{path}: no such file; restore it, or make it with `{FREEZE}`") from None
    except json.JSONDecodeError as error:
        raise LongtrekError(f"{path}, line {error.lineno}: not JSON ({error.msg}); restore the file") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise LongtrekError(f"{path}: not JSON ({error}); restore the file") from None
    if not _whole(frozen):
        raise LongtrekError(
            f"{path}: not frozen hashes; expected `seed`, and `tiers` and `documents` with their hashes: restore the "
            f"file, or make it with `{FREEZE}`"
        )
    assert isinstance(frozen, dict)
    return frozen


def _whole(frozen: Any) -> bool:
    """Whether a value holds what every reader of frozen hashes takes for granted."""
    if not isinstance(frozen, dict) or not isinstance(frozen.get("seed"), int):
        return False
    tiers, documents = frozen.get("tiers"), frozen.get("documents")
    if not isinstance(tiers, dict) or not isinstance(documents, dict):
        return False
    counted = all(isinstance(tier, dict) and {"documents", "sha256"} <= tier.keys() for tier in tiers.values())
    return counted and all(isinstance(digest, str) for digest in documents.values())


def root_seed() -> int:
    """The root seed of the kit's frozen documents."""
    return int(read_frozen(frozen_file())["seed"])


def _identity(seed: int, prompts: Prompts) -> dict[str, Any]:
    return {
        "seed": seed,
        "samples": grid().samples,
        "grid_sha256": grid().sha256,
        "words_sha256": WORDS_SHA256,
        "prompts": {f"{family}-{name}": prompt.sha256 for (family, name), prompt in prompts.items()},
    }


def freeze(path: Path, seed: int, prompts: Prompts, tiers: list[Built]) -> None:
    """Write the hashes of the whole grid as the frozen ones.

    Raises:
        LongtrekError: a tier is missing or has not all of its documents.
    """
    for horizon in grid().horizons:
        ids = {spec.id for spec in grid().specs(horizon)}
        found = next((set(tier.documents) for tier in tiers if tier.horizon == horizon), set())
        if found != ids:
            raise LongtrekError(
                f"freezing needs the whole grid: horizon {horizon} has {len(found)} of its {len(ids)} documents; "
                f"run `{FREEZE}` with a config that generates all of it"
            )
    value = _identity(seed, prompts) | {
        "tiers": {
            str(tier.horizon): {"documents": len(tier.documents), "sha256": tier.sha256}
            for tier in sorted(tiers, key=lambda tier: tier.horizon)
        },
        "documents": {id_: digest for tier in tiers for id_, digest in tier.documents.items()},
    }
    write_text(path, json.dumps(value, indent=1) + "\n")


def compare(path: Path, seed: int, prompts: Prompts, tier: Built) -> str:
    """Compare a tier with the frozen one and say in a few words how it stands.

    A whole tier is compared by its hash, a part of one document by document. Nothing is compared where the seed
    or the horizon is not a frozen one.

    Raises:
        LongtrekError: the seed is the frozen one, but the documents are not.
    """
    frozen = read_frozen(path)
    if seed != frozen["seed"]:
        return f"not compared (seed {seed} is not the frozen one)"
    known: Mapping[str, str] = frozen["documents"]
    common = [id_ for id_ in tier.documents if id_ in known]
    if not common:
        return "not compared (no frozen horizon)"
    expected = frozen["tiers"][str(tier.horizon)]
    whole = len(tier.documents) == expected["documents"] == len(common)
    wrong = [id_ for id_ in common if known[id_] != tier.documents[id_]]
    if not wrong and (not whole or tier.sha256 == expected["sha256"]):
        return "as frozen" if whole else f"{len(common)} documents as frozen"
    raise LongtrekError(_difference(path, frozen, _identity(seed, prompts), tier, wrong))


def _difference(
    path: Path, frozen: Mapping[str, Any], identity: Mapping[str, Any], tier: Built, wrong: list[str]
) -> str:
    changed = [name for name in ("samples", "grid_sha256", "words_sha256") if frozen[name] != identity[name]]
    prompts = identity["prompts"]
    changed += [f"prompt {name}" for name, digest in frozen["prompts"].items() if prompts.get(name) != digest]
    cause = f"changed since: {', '.join(changed)}" if changed else "neither grid, words nor prompts changed"
    example = wrong[0] if wrong else "none alone (their order differs)"
    return (
        f"horizon {tier.horizon}: SHA-256 of the documents is {tier.sha256}, "
        f"expected {frozen['tiers'][str(tier.horizon)]['sha256']} ({path}); "
        f"{len(wrong)} of {len(tier.documents)} documents differ, first {example}; {cause}; "
        f"undo the change, use another seed, set `frozen: null` in the config, or freeze on purpose with `{FREEZE}`"
    )
