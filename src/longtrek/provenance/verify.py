"""Whether a folder of results still is what its checksum list, its crate and the frozen hashes say."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from longtrek.errors import LongtrekError
from longtrek.files import parse_line, reading, sha256_file
from longtrek.provenance import listing
from longtrek.provenance.recipe import CONFIG, FROZEN
from longtrek.transduction.frozen import frozen_file, line_digest, read_frozen

MAKE_CRATE = "`longtrek crate --config CONFIG` writes it, then `longtrek checksums` lists it"


@dataclass
class Verdict:
    """What was found: lines on what holds, and lines on what does not."""

    good: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def verify(results: Path) -> Verdict:
    """Check files against `SHA256SUMS`, the list against the crate, and the documents against the frozen hashes.

    Reads the folder alone (and the kit's own frozen hashes, where the kit has them), so it works on a copy.

    Raises:
        LongtrekError: there is no checksum list.
    """
    listed = listing.read(results)
    verdict = Verdict()
    faults = list(compare(results, listed))
    verdict.faults += faults
    if not faults:
        verdict.good.append(f"{len(listed)} files as listed in {listing.CHECKSUMS}, none missing and none besides")
    if elsewhere := listing.outside(results, listed):
        verdict.good.append(
            f"{len(elsewhere)} of them stand outside this folder, first {listing.shown(elsewhere[0])}: links lead to "
            "them, and a copy of the folder must bring what they lead to"
        )
    checks: list[Callable[[], None]] = [lambda: _documents(results, verdict)]
    if listing.CRATE in listed and (results / listing.CRATE).is_file():
        checks.insert(0, lambda: _crate(results, listed, verdict))
    else:
        verdict.good.append(f"no {listing.CRATE} is listed, so none was checked: {MAKE_CRATE}")
    for check in checks:
        try:
            check()
        except LongtrekError as error:  # a damaged file must not hide what else was found
            verdict.faults.append(f"not checked: {error}")
        except OSError as error:
            verdict.faults.append(f"not checked: {error.filename}: {error.strerror}")
    return verdict


def compare(results: Path, listed: Mapping[str, str]) -> Iterator[str]:
    """What cannot be walked; then each file that is missing, changed, unreadable or unlisted, in the order of paths."""
    unwalked: list[str] = []
    there = set(listing.paths(results, unwalked.append))
    yield from unwalked
    for name in sorted({*listed, *there}):
        try:
            if name not in listed:
                yield f"unlisted: {listing.shown(name)}"
            elif not (results / name).is_file():
                yield f"missing: {listing.shown(name)}"
            elif sha256_file(results / name) != listed[name]:
                yield f"changed: {listing.shown(name)}"
        except OSError as error:
            yield f"unreadable: {listing.shown(name)} ({error.strerror}); make it readable for you"


def _crate(results: Path, listed: Mapping[str, str], verdict: Verdict) -> None:
    described = described_files(results / listing.CRATE)
    expected = listed.keys() - {listing.CRATE}
    faults = [f"not in the crate: {listing.shown(name)}" for name in sorted(expected - described.keys())]
    faults += [f"only in the crate: {listing.shown(name)}" for name in sorted(described.keys() - expected)]
    for name in sorted(expected & described.keys()):
        entity, path = described[name], results / name
        if entity.get("sha256") != listed[name]:
            faults.append(f"the crate has another SHA-256: {listing.shown(name)}")
        elif path.is_file() and entity.get("contentSize") != str(path.stat().st_size):
            faults.append(f"the crate has another size: {listing.shown(name)}")
    verdict.faults += faults
    if not faults:
        verdict.good.append(f"{len(described)} files described by {listing.CRATE}, with the same hashes and sizes")


def described_files(path: Path) -> dict[str, dict[str, Any]]:
    """The file entities of a crate by their paths.

    Raises:
        LongtrekError: the file is not JSON-LD with a graph.
    """
    try:
        graph = json.loads(path.read_bytes())["@graph"]
        return {unquote(one["@id"]): one for one in graph if _is_file(one)}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LongtrekError(
            f"{path}: not an RO-Crate's metadata ({error!r}); expected JSON with @graph. "
            "Make it again with `longtrek crate`"
        ) from None


def _is_file(entity: Mapping[str, Any]) -> bool:
    kinds = entity["@type"]
    return "File" in (kinds if isinstance(kinds, list) else [kinds]) and "://" not in entity["@id"]


def _documents(results: Path, verdict: Verdict) -> None:
    """Hold the documents against the frozen hashes that the run named, and these against the kit's own."""
    tiers = sorted((results / "documents").glob("*.jsonl.zst"), key=lambda path: (len(path.name), path.name))
    copies = sorted((results / FROZEN).glob("*.json"))
    if not tiers or not copies:
        reason = _nothing_frozen(results) if tiers else "there are none"
        verdict.good.append(f"documents not compared with frozen ones: {reason}")
        return
    frozen = read_frozen(copies[0])
    if frozen["seed"] != _seed(results):
        verdict.good.append(f"documents not compared with frozen ones: their seed is not {frozen['seed']}")
        return
    known = {tier: _frozen_digests(tier, frozen) for tier in tiers}
    faults = [fault for tier, digests in known.items() if digests for fault in _tier_faults(tier, digests, frozen)]
    kits = frozen_file()
    if kits.is_file() and read_frozen(kits)["seed"] == frozen["seed"] and read_frozen(kits) != frozen:
        faults.append(f"frozen hashes: {copies[0].relative_to(results)} is not what this kit ships ({kits})")
    verdict.faults += faults
    if not faults:
        compared = sum(map(bool, known.values()))
        rest = f"; of {len(tiers) - compared} nothing is frozen" if compared < len(tiers) else ""
        verdict.good.append(f"documents of {compared} horizons as frozen{rest}")


def _nothing_frozen(results: Path) -> str:
    """Why there are no frozen hashes: the run's config names none, or its copy, made with the crate, is not there."""
    if any((results / CONFIG).glob("*.yaml")):
        return "the run's config names none (transduction.frozen)"
    return f"{CONFIG}, the copy of the run's config and of the hashes it names, is not there: {MAKE_CRATE}"


def _frozen_digests(path: Path, frozen: Mapping[str, Any]) -> set[str]:
    horizon = path.name.partition(".")[0]
    return {digest for name, digest in frozen["documents"].items() if name.split("-")[-2:-1] == [horizon]}


def _seed(results: Path) -> Any:
    """The seed of the run's documents, by its config: the one of the copied files that has a part on them."""
    for path in sorted((results / CONFIG).glob("*.yaml")):
        try:
            config = yaml.safe_load(path.read_text(encoding="utf-8"))
            if "transduction" in config:
                return config["transduction"]["seed"]
        except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError, RecursionError) as error:
            raise LongtrekError(
                f"{path}: cannot be read as the run's config ({type(error).__name__}); expected YAML with "
                "transduction.seed: restore the file"
            ) from None
    return None


def _tier_faults(path: Path, known: set[str], frozen: Mapping[str, Any]) -> Iterator[str]:
    """What of one tier is not as frozen: the whole by its hash, a part of it document by document."""
    whole, count, strange = sha256(), 0, []
    with reading(path) as stream:
        for count, line in enumerate(stream, 1):
            whole.update(line)
            if line_digest(line) not in known:
                document = parse_line(line, path, count)
                strange.append(str(document.get("id")) if isinstance(document, dict) else f"line {count}")
    expected = frozen["tiers"].get(path.name.partition(".")[0], {})
    if strange:
        yield f"not as frozen: documents/{path.name}: {len(strange)} of {count} documents, first {strange[0]}"
    elif count == expected.get("documents") and whole.hexdigest() != expected["sha256"]:
        yield f"not as frozen: documents/{path.name}: the documents are, their order is not"
