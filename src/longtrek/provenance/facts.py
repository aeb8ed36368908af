"""Where a crate's facts come from: a run's results, its config, the kit and what runs it."""

import importlib.metadata
import platform
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

import longtrek
from longtrek.config import Config
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, sha256_file
from longtrek.paths import shipped, source_digest
from longtrek.provenance import listing
from longtrek.provenance.answering import Answering, read_answering
from longtrek.provenance.crate import Facts
from longtrek.provenance.recipe import CONFIG, copy


def gather(config: Config) -> Facts:
    """Everything that the crate of a finished run says, once what it was made from is copied beside it.

    Raises:
        LongtrekError: the run has no answers yet, and nothing was copied; or a file's name is no text.
    """
    results = config.results
    answering = read_answering(results)
    if not answering:
        raise LongtrekError(
            f"{results / 'answers'}: no answers; expected those of a finished run. Run the workflow first, or give "
            "the config of a run whose results are there"
        )
    copy(config)
    parts = {"Long-Transduction": config.transduction, "SciTrek": config.scitrek}
    released = {paper: part.released for paper, part in parts.items() if part is not None}
    return Facts(
        run=config.run,
        config=f"{CONFIG}/{config.path.name}",
        files=listing.hashed(results, _named(results)),
        answering=answering,
        software=_software(results),
        source=source_digest("."),
        licences=_licences(results),
        released={paper: sha256_file(path) for paper, path in released.items() if path},
        published=_day(results, answering),
        citation=_citation(),
    )


def _named(results: Path) -> list[str]:
    names = [name for name in listing.paths(results) if name != listing.CRATE]
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise LongtrekError(
                f"{results}: the name of {listing.shown(name)} is not UTF-8, and a crate describes files by text; "
                "rename or remove the file"
            ) from None
    return names


def _software(results: Path) -> dict[str, str]:
    """Versions by name: the kit first, what runs the workflow, and the converters that the articles went through."""
    found = {
        "longtrek": longtrek.__version__,
        "snakemake": importlib.metadata.version("snakemake"),
        "python": platform.python_version(),
    }
    record = results / "articles" / "converted" / "conversion.jsonl"
    rows = read_jsonl(record) if record.is_file() else ()
    converters = {
        (row["converter"], row["version"])
        for row in _objects(rows, record)
        if row.get("converter") and row.get("version")
    }
    return found | dict(sorted(converters))


def _licences(results: Path) -> dict[str, str]:
    articles = results / "articles" / "snapshot" / "articles.jsonl"
    rows = read_jsonl(articles) if articles.is_file() else ()
    return {row["id"]: row["licence"] for row in _objects(rows, articles) if row.get("licence")}


def _objects(rows: Iterable[Any], path: Path) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise LongtrekError(f"{path}, row {number}: {row!r:.80}; expected an object: copy the folder anew")
        yield row


def _day(results: Path, answering: Sequence[Answering]) -> str:
    """The day of the last answer; where none says when it came (imported ones), when their file was written."""
    ends = [one.ended for one in answering if one.ended]
    if ends:
        return max(ends)[:10]
    written = max((results / one.path).stat().st_mtime for one in answering)
    return datetime.fromtimestamp(written, UTC).date().isoformat()


def _citation() -> Any:
    path = shipped("CITATION.cff")
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LongtrekError(f"{path}: cannot be read ({error.strerror}); it ships with the kit: restore it") from None
