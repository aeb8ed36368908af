"""The corpus `semantic-scholar`: the paper's own way, from 16 seeds along references and citations (appendix A)."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from longtrek.corpus.open_pdfs import OpenPdfs
from longtrek.corpus.scholar_api import ScholarApi
from longtrek.corpus.sources import Article, Progress
from longtrek.files import read_jsonl

PAPER_FIELDS = "title,authors,externalIds,openAccessPdf,referenceCount,year,url"
SAFE = re.compile(r"[A-Za-z0-9._-]+")


def pick(ids: Iterable[str], count: int, key: str) -> list[str]:
    """Sample ids so that neither the order in which a server lists them nor a library's version matters."""
    return sorted(set(ids), key=lambda identifier: hashlib.sha256(f"{key}\0{identifier}".encode()).digest())[:count]


class SemanticScholar:
    """Samples neighbours of the seeds: first hop and second hop, by one of two readings of the paper.

    `together` samples ten from references and citations together, as the paper's text says; `each` samples ten from
    each of the two, as the authors' scripts do; likewise five for the second hop.
    """

    def __init__(self, settings: dict[str, Any], folder: Path, cache: Path, progress: Progress) -> None:
        """Read the seeds and the settings; nothing is asked yet."""
        neighbours = settings["neighbours"]
        self.reading: str = neighbours["reading"]
        self.hops = (int(neighbours["first"]), int(neighbours["second"]))
        self.seed = int(settings["seed"])
        seeds = list(read_jsonl(folder / settings["seeds"]))
        wanted = (settings.get("subset") or {}).get("subjects")
        self.seeds = {r["semantic_scholar_id"]: r["subject"] for r in seeds if not wanted or r["subject"] in wanted}
        self.api = ScholarApi(settings["api"], cache / "api", progress)
        self.pdfs = OpenPdfs(settings["full_text"])
        self.progress = progress
        self.left_out: Counter[str] = Counter()
        self._references: dict[str, list[str] | None] = {}

    def articles(self) -> Sequence[Article]:
        """Seeds and neighbours that the API knows by title and authors, seeds first; a subject is its seed's."""
        return [self._article(identifier, paper) for identifier, paper in self.papers.items()]

    def citations(self) -> Sequence[tuple[str, str]]:
        """Citations between the articles, from each one's reference list."""
        return [
            (citing, cited) for citing in self.papers for cited in self.references(citing) or () if cited in self.papers
        ]

    def full_text(self, article: Article) -> bytes:
        """The article's PDF, from where it is free to read."""
        self.progress(f"looking for the PDF of {article.id}")
        return self.pdfs.fetch(self.papers[article.id])

    def counts(self) -> dict[str, int]:
        """Elided lists, entries without a paper, papers unknown; and faults of the server that were sat out."""
        return {**dict(sorted(self.left_out.items())), **dict(sorted(self.api.client.met.items()))}

    @cached_property
    def subjects(self) -> dict[str, str]:
        """The sampled ids, each with the subject of the seed that led to it."""
        found = dict(self.seeds)
        edge = list(self.seeds)
        for hop, count in enumerate(self.hops, 1):
            following: list[str] = []
            for identifier in edge:
                sampled = self._sample(identifier, count, f"{self.seed}/{hop}")
                fresh = dict.fromkeys((one for one in sampled if one not in found), found[identifier])
                found |= fresh
                following += fresh
            edge = following
        return found

    @cached_property
    def papers(self) -> dict[str, dict[str, Any]]:
        """What the API says of each sampled id that it knows well enough."""
        known: dict[str, dict[str, Any]] = {}
        for identifier, paper in self.api.papers(list(self.subjects), PAPER_FIELDS).items():
            if paper is None:
                self.left_out["unknown_papers"] += 1
            elif not paper.get("title") or not _names(paper):
                self.left_out["papers_without_title_or_authors"] += 1
            else:
                known[identifier] = paper
        return known

    def references(self, identifier: str) -> list[str] | None:
        """The ids that a paper cites, or None where its publisher had the list elided."""
        if identifier not in self._references:
            self._references[identifier] = self._linked(identifier, "references")
        return self._references[identifier]

    def _linked(self, identifier: str, kind: str) -> list[str] | None:
        entries = self.api.linked(identifier, kind, "paperId")
        if entries is None:
            self.left_out[f"elided_{kind}"] += 1
            return None
        ids = []
        for entry in entries:
            paper = entry.get("paperId") if entry else None
            if paper and SAFE.fullmatch(paper):
                ids.append(paper)
            else:
                self.left_out[f"null_{kind}"] += 1
        return ids

    def _sample(self, identifier: str, count: int, key: str) -> list[str]:
        cited, citing = self.references(identifier) or [], self._linked(identifier, "citations") or []
        if self.reading == "together":
            return pick([*cited, *citing], count, f"{key}/{identifier}")
        sides = (pick(ids, count, f"{key}/{identifier}/{side}") for side, ids in enumerate((cited, citing)))
        return list(dict.fromkeys(paper for side in sides for paper in side))

    def _article(self, identifier: str, paper: dict[str, Any]) -> Article:
        # Where the publisher had the list elided the count is a guess or 0; the Markdown's own list is better.
        count = paper.get("referenceCount") if self.references(identifier) is not None else None
        return Article(
            id=identifier,
            title=paper["title"],
            authors=tuple(_names(paper)),
            subject=self.subjects[identifier],
            kind="pdf",
            reference_count=count or None,
            origin=paper.get("url") or f"{self.api.url}/paper/{identifier}",
        )


def _names(paper: dict[str, Any]) -> list[str]:
    return [author["name"] for author in paper.get("authors") or () if author and author.get("name")]
