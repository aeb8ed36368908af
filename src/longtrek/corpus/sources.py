"""The one interface of the article sources: articles, citations, full text."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from longtrek.errors import LongtrekError

Kind = Literal["pdf", "jats"]
Progress = Callable[[str], None]


class Unavailable(Exception):
    """A reason why an article's full text cannot be had; the article is recorded as skipped, and the rest goes on."""


@dataclass(frozen=True)
class Article:
    """An article as its source describes it, before any correction.

    `id` is safe as a file name. `authors` is the ordered list; `John W. Fisher, III` is one of them. `reference_count`
    is None where the source does not know it. `sha256` is the full text's, where the source knows it beforehand.
    """

    id: str
    title: str
    authors: tuple[str, ...]
    subject: str
    kind: Kind
    reference_count: int | None = None
    licence: str = ""
    origin: str = ""
    sha256: str | None = None

    def row(self) -> dict[str, Any]:
        """The article as a JSON object."""
        return {**asdict(self), "authors": list(self.authors)}


def article_of(row: dict[str, Any]) -> Article:
    """The article of a JSON object that `Article.row` made."""
    return Article(**{**row, "authors": tuple(row["authors"])})


class Source(Protocol):
    """Where articles come from: a corpus of `config/corpora/`."""

    def articles(self) -> Sequence[Article]:
        """The articles, in an order that depends on the source's settings alone."""

    def citations(self) -> Sequence[tuple[str, str]]:
        """Pairs (citing, cited) of article ids, both within the source's articles."""

    def full_text(self, article: Article) -> bytes:
        """An article's PDF or JATS XML; raises `Unavailable` with a reason."""

    def counts(self) -> dict[str, int]:
        """What the source met and had to leave out, by name."""


def source_of(settings: dict[str, Any], folder: Path, cache: Path, progress: Progress) -> Source:
    """The source that a corpus file names.

    Args:
        settings: the corpus file's content, with the chosen subset under `subset`.
        folder: the corpus file's folder; data files are named relative to it.
        cache: where what is fetched on the way may lie.
        progress: told each step, in a line.

    Raises:
        LongtrekError: no such source.
    """
    name = settings.get("source")
    if name == "vignettes":
        from longtrek.corpus.vignettes import Vignettes

        return Vignettes(settings, folder, cache, progress)
    if name == "plos":
        from longtrek.corpus.plos import Plos

        return Plos(settings, folder, cache, progress)
    if name == "semantic-scholar":
        from longtrek.corpus.semantic_scholar import SemanticScholar

        return SemanticScholar(settings, folder, cache, progress)
    raise LongtrekError(f"source {name!r} is unknown; expected vignettes, plos or semantic-scholar")
