"""Find an article's PDF where it is free to read: arXiv, the publisher's open copy, Unpaywall, in this order."""

import os
from collections.abc import Iterator
from typing import Any

from longtrek.corpus.scholar_api import Client
from longtrek.corpus.sources import Unavailable
from longtrek.errors import LongtrekError

BEGINNING = 1024


class OpenPdfs:
    """Tries the places in order, and takes the first file that is a PDF."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Read the addresses; `{id}`, `{doi}` and `{email}` are filled in."""
        self.arxiv: str = settings["arxiv"]
        self.unpaywall: str = settings["unpaywall"]
        self.email = os.environ.get(settings["email_variable"], "")
        self.largest = int(settings["largest_mib"]) * 2**20
        self.client = Client(float(settings["requests_per_second"]), int(settings["retries"]))

    def fetch(self, paper: dict[str, Any]) -> bytes:
        """A paper's PDF.

        Args:
            paper: the API's answer, with `externalIds` and `openAccessPdf` (each may be null).

        Raises:
            Unavailable: no place has one; the reason tells what each place gave.
        """
        tried: list[str] = []
        for place, url in self._places(paper, tried):
            try:
                return self._pdf(url)
            except (Unavailable, LongtrekError) as error:
                tried.append(f"{place}: {error}")
        raise Unavailable("no PDF: " + ("; ".join(tried) or "no arXiv id, open copy or DOI"))

    def _places(self, paper: dict[str, Any], tried: list[str]) -> Iterator[tuple[str, str]]:
        ids = paper.get("externalIds") or {}
        if ids.get("ArXiv"):
            yield "arXiv", self.arxiv.format(id=ids["ArXiv"])
        open_copy = (paper.get("openAccessPdf") or {}).get("url")
        if open_copy:
            yield "openAccessPdf", open_copy
        if ids.get("DOI"):
            if self.email:
                yield from (("Unpaywall", url) for url in self._unpaywall(ids["DOI"], tried))
            else:
                tried.append("Unpaywall: not asked, since no e-mail address is given")

    def _unpaywall(self, doi: str, tried: list[str]) -> list[str]:
        try:
            response = self.client.send("GET", self.unpaywall.format(doi=doi, email=self.email))
            content = response.json() if response.status_code == 200 else {}
        except (LongtrekError, ValueError) as error:
            tried.append(f"Unpaywall: {error}")
            return []
        places = [content.get("best_oa_location"), *(content.get("oa_locations") or [])]
        urls = [place["url_for_pdf"] for place in places if place and place.get("url_for_pdf")]
        if not urls:
            tried.append("Unpaywall: no free copy")
        return list(dict.fromkeys(urls))

    def _pdf(self, url: str) -> bytes:
        response = self.client.send("GET", url)
        if response.status_code != 200:
            raise Unavailable(f"HTTP {response.status_code}")
        content = response.content
        if b"%PDF-" not in content[:BEGINNING]:
            kind = response.headers.get("Content-Type", "an unnamed type").split(";")[0]
            raise Unavailable(f"not a PDF ({kind})")
        if len(content) > self.largest:
            raise Unavailable(f"{len(content) / 2**20:.0f} MiB, over the limit")
        return content
