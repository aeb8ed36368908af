"""The facts of a run that its answers carry: who answered, on what machine, from when to when."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from longtrek.answers.stored import read_stored, received
from longtrek.files import canonical_json


@dataclass(frozen=True)
class Answering:
    """One model's answers to one tier of a study, as their file tells; facts that differ within it stand side by side.

    `started` and `ended` are ISO 8601 in UTC, None where no answer says when it was received (imported ones).
    `engines`, `machines` and `identities` are the rows' own records, each once, in the order of their JSON.
    """

    path: str
    model: str
    study: str
    tier: str
    statuses: Mapping[str, int]
    started: str | None
    ended: str | None
    engines: tuple[Mapping[str, Any], ...]
    machines: tuple[Mapping[str, Any], ...]
    identities: tuple[Mapping[str, Any], ...]
    """What was asked: the model's repository, revision and the hashes of weights, tokenizer and template."""


def read_answering(results: Path) -> list[Answering]:
    """The facts of every file of answers of a run (`answers/<model>/<study>/<tier>.jsonl`), in the order of paths.

    Raises:
        LongtrekError: as `read_stored`.
    """
    return [_facts(results, path) for path in sorted((results / "answers").glob("*/*/*.jsonl"))]


def _facts(results: Path, path: Path) -> Answering:
    rows = list(map(_kept, read_stored(path)))
    spans = [span for row in rows if (span := received(row["timings"]))]
    return Answering(
        path=path.relative_to(results).as_posix(),
        model=path.parents[1].name,
        study=path.parent.name,
        tier=path.stem,
        statuses=dict(sorted(Counter(row["status"] for row in rows).items())),
        started=_iso(min(first for first, _ in spans)) if spans else None,
        ended=_iso(max(last for _, last in spans)) if spans else None,
        engines=_distinct(row["engine"] for row in rows),
        machines=_distinct(row["machine"] for row in rows),
        identities=_distinct(row["model"] for row in rows),
    )


def _kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is needed of a row, without its text: a file of answers may hold gigabytes."""
    provenance = row.get("provenance") or {}
    kept = {name: provenance.get(name) or {} for name in ("engine", "machine", "model")}
    return kept | {"status": row["status"], "timings": row.get("timings") or {}}


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _distinct(records: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    found = {canonical_json(record): record for record in records if record}
    return tuple(found[text] for text in sorted(found))
