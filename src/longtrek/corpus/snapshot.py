"""Snapshots: everything fetched, frozen with a SHA-256 per file, so that a rebuild never asks the network.

A snapshot is a folder: `snapshot.json` (the manifest), `articles.jsonl`, `citations.jsonl`, `files/<id>.pdf` or
`.xml`, and `fetched/` (what a source met on the way). The manifest names each file's hash, what was skipped and why,
and the settings it was made with.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.corpus.sources import Article, Progress, Source, Unavailable, article_of
from longtrek.errors import LongtrekError
from longtrek.files import atomic, canonical_json, read_jsonl, sha256_file, write_jsonl, write_text

FORMAT = 1
MANIFEST = "snapshot.json"
FETCHED = "fetched"  # a source's cache: answers of an API, a wheel
SUFFIXES = {"pdf": ".pdf", "jats": ".xml"}
# Where full texts come from and how patient one is with a server do not change what a snapshot holds.
NOT_CONTENT = ("mirror", "wheel", "tokens", "conversion", "corrections", "subsets")


@dataclass(frozen=True)
class Snapshot:
    """A verified snapshot: its folder, manifest, the articles whose full text is there, and their citations."""

    folder: Path
    manifest: dict[str, Any]
    articles: list[Article]
    citations: list[tuple[str, str]]

    def file(self, article: Article) -> Path:
        """The article's PDF or XML."""
        return self.folder / file_of(article)


def file_of(article: Article) -> str:
    """An article's file, relative to the snapshot's folder."""
    return f"files/{article.id}{SUFFIXES[article.kind]}"


def settings_key(settings: dict[str, Any]) -> str:
    """A hash of those settings that determine what a snapshot holds."""
    content = {key: value for key, value in settings.items() if key not in NOT_CONTENT}
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:16]


def freeze(source: Source, corpus: str, settings: dict[str, Any], folder: Path, progress: Progress) -> Snapshot:
    """Fetch all that a source has and write it down; the manifest comes last, so a killed run can go on.

    Raises:
        LongtrekError: no article's full text could be had.
    """
    kept: list[Article] = []
    skipped: list[dict[str, str]] = []
    articles = source.articles()
    for article in articles:
        try:
            _keep(source, article, folder / file_of(article))
        except Unavailable as error:
            skipped.append({"id": article.id, "title": article.title, "reason": str(error)})
            progress(f"skipped {article.id}: {error}")
        else:
            kept.append(article)
    if not kept:
        reasons = f"; the first reason: {skipped[0]['reason']}" if skipped else ""
        raise LongtrekError(f"corpus {corpus}: of {len(articles)} articles no full text could be had{reasons}")
    ids = {article.id for article in kept}
    citations = sorted({pair for pair in source.citations() if ids >= set(pair)})
    write_jsonl(folder / "articles.jsonl", (article.row() for article in kept))
    write_jsonl(folder / "citations.jsonl", ({"citing": citing, "cited": cited} for citing, cited in citations))
    on_the_way = sorted(path.relative_to(folder).as_posix() for path in (folder / FETCHED).rglob("*") if path.is_file())
    names = ["articles.jsonl", "citations.jsonl", *map(file_of, kept), *on_the_way]
    manifest = {
        "format": FORMAT,
        "corpus": corpus,
        "source": settings["source"],
        "settings": settings_key(settings),
        "articles": len(kept),
        "citations": len(citations),
        "counts": source.counts(),
        "skipped": skipped,
        "files": {name: sha256_file(folder / name) for name in names},
    }
    write_text(folder / MANIFEST, _pretty(manifest))
    return Snapshot(folder, manifest, kept, citations)


def _pretty(manifest: dict[str, Any]) -> str:
    return json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"


def _keep(source: Source, article: Article, target: Path) -> None:
    """Fetch one full text, unless it lies there: whole, since it was renamed into place, and with the hash if known."""
    if target.is_file() and article.sha256 in (None, sha256_file(target)):
        return
    content = source.full_text(article)
    with atomic(target) as stream:
        stream.write(content)


def exists(folder: Path) -> bool:
    """Whether a finished snapshot lies in a folder."""
    return (folder / MANIFEST).is_file()


def read(folder: Path) -> Snapshot:
    """Read a snapshot and check every file's hash; no network is touched.

    Raises:
        LongtrekError: it is not there, is of another format, or a file is missing or changed.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise LongtrekError(f"{path}: no such file; expected a snapshot's manifest; run `longtrek articles`")
    manifest = _manifest(path)
    for name, expected in manifest["files"].items():
        file = folder / name
        if not file.is_file():
            raise LongtrekError(f"{file}: missing from the snapshot; copy the whole folder, or make it again")
        found = sha256_file(file)
        if found != expected:
            raise LongtrekError(f"{file}: SHA-256 is {found}, the snapshot says {expected}; copy it anew")
    return Snapshot(folder, manifest, *_rows(folder))


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise LongtrekError(f"{path}: not JSON ({error}); copy the whole folder anew, or make it again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else manifest
        raise LongtrekError(f"{path}: format {str(found)[:40]!r}, expected {FORMAT}; make the snapshot again")
    kinds = {"files": dict, "skipped": list, "settings": str}
    odd = [name for name, kind in kinds.items() if not isinstance(manifest.get(name), kind)]
    lacking = {"articles.jsonl", "citations.jsonl"} - set(manifest["files"]) if "files" not in odd else set()
    if odd or lacking:
        what = f"no right {odd[0]!r}" if odd else f"no hash of {min(lacking)}"
        raise LongtrekError(f"{path}: {what}; this is no whole manifest: copy the folder anew, or make it again")
    return manifest


def _rows(folder: Path) -> tuple[list[Article], list[tuple[str, str]]]:
    """The articles and citations, whose hashes have been checked: what does not fit was made by something else."""
    try:
        articles = [article_of(row) for row in read_jsonl(folder / "articles.jsonl")]
        citations = [(row["citing"], row["cited"]) for row in read_jsonl(folder / "citations.jsonl")]
    except (KeyError, TypeError) as error:
        raise LongtrekError(
            f"{folder}: a row of articles.jsonl or citations.jsonl lacks a field or has another ({error}); "
            "make the snapshot again"
        ) from None
    return articles, citations
