"""Metadata of articles: corrections applied last and recorded, and a check against the Markdown text."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.corpus.sources import Article
from longtrek.errors import LongtrekError

FIRST_PAGE = 6000
KINDS: dict[str, type] = {"title": str, "authors": list, "reference_count": int, "subject": str}
"""The fields that can be corrected, each with its kind of value."""
HEADING = re.compile(r"^#{1,6}\s+(.*)$")
REFERENCES = re.compile(
    r"^(?:[A-Z0-9]{1,2}(?:\.\d+)*\.?\s+)?(?:references?|bibliography|literature(?: cited)?|works cited)$", re.I
)
ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\\?\[\w{1,12}\\?\]|\d{1,3}[.)])\s+\S")
TAG = re.compile(r"<[^>]{1,200}>")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
LETTERS = {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}


def fold(text: str) -> str:
    """A text for comparison: no accents, case, punctuation or spaces; letters and digits of every script stay."""
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(LETTERS.get(char, char) for char in plain if not unicodedata.combining(char))
    return "".join(char for char in plain if char.isalnum())


def first_page(markdown: str) -> str:
    """The beginning of a Markdown text, folded: about a page."""
    start = LINK.sub(r"\1", TAG.sub("", markdown[: 2 * FIRST_PAGE]))[:FIRST_PAGE]
    # A superscript that marks an affiliation is no part of a name.
    return fold(re.sub(r"(?<=[^\W\d_])\d{1,2}(?:,\d{1,2})*", "", start))


def title_found(title: str, page: str) -> bool:
    """Whether a title stands on the (folded) first page."""
    return fold(re.sub(r"(?<=[^\W\d_])\d{1,2}(?:,\d{1,2})*", "", title)) in page


def authors_found(authors: Iterable[str], page: str) -> list[str]:
    """The authors that do not stand on the (folded) first page in the given order."""
    place, missing = 0, []
    for author in authors:
        found = page.find(fold(author), place)
        if found < 0:
            missing.append(author)
        else:
            place = found + 1
    return missing


def reference_list(markdown: str) -> list[str] | None:
    """The entries of the last reference list of a Markdown text, or None where it has no such section."""
    lines = markdown.splitlines()
    heads = [number for number, line in enumerate(lines) if _heading(line) and REFERENCES.match(_heading(line))]
    if not heads:
        return None
    section: list[str] = []
    for line in lines[heads[-1] + 1 :]:
        if _heading(line):
            break
        section.append(line)
    numbered = [ENTRY.match(TAG.sub("", line)) is not None for line in section if line.strip()]
    if numbered and numbered[0]:
        return [line for line in section if ENTRY.match(TAG.sub("", line))]
    paragraphs = re.split(r"\n\s*\n", "\n".join(section))
    return [paragraph for paragraph in paragraphs if len(fold(TAG.sub("", paragraph))) >= 20]


def _heading(line: str) -> str:
    match = HEADING.match(TAG.sub("", line))
    return match.group(1).strip().strip("*_ .:") if match else ""


def corrected(articles: list[Article], file: Path | None) -> tuple[list[Article], list[dict[str, Any]]]:
    """Apply a corrections file: a YAML list of `{id, field, value, why}`; it has the last word.

    Returns:
        The articles, and a row for each correction applied: id, field, before, after, why.

    Raises:
        LongtrekError: a field cannot be corrected, a value has the wrong kind, or a correction gives no reason.
    """
    rows = _corrections(file) if file else []
    by_id = {article.id: article for article in articles}
    record = []
    for row in rows:
        article = by_id.get(row["id"])
        if article is None:
            continue  # of another subset
        value: Any = tuple(row["value"]) if row["field"] == "authors" else row["value"]
        change: dict[str, Any] = {row["field"]: value}
        before = getattr(article, row["field"])
        by_id[article.id] = replace(article, **change)
        before = list(before) if isinstance(before, tuple) else before
        record.append(
            {"id": row["id"], "field": row["field"], "before": before, "after": row["value"], "why": row["why"]}
        )
    return [by_id[article.id] for article in articles], record


def _corrections(file: Path) -> list[dict[str, Any]]:
    rows = schemas.load(file, "corrections") or []
    if not isinstance(rows, list):
        raise LongtrekError(f"{file}: holds a {type(rows).__name__}; expected a list of corrections")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or set(row) != {"id", "field", "value", "why"}:
            raise LongtrekError(f"{file}, correction {number}: expected the keys id, field, value and why")
        if row["field"] not in KINDS:
            raise LongtrekError(f"{file}, correction {number}: field {row['field']!r}; expected {', '.join(KINDS)}")
        kind = KINDS[row["field"]]
        if not isinstance(row["value"], kind):
            raise LongtrekError(
                f"{file}, correction {number}: value {row['value']!r} of {row['field']}; expected a {kind.__name__}"
            )
    return list(rows)


def disagreements(article: Article, markdown: str) -> list[dict[str, Any]]:
    """Where an article's metadata and its Markdown text do not agree.

    Returns:
        Rows of id, field, metadata, text, and note: the title or an author not found on the first page (in order),
        no reference list, or a list whose count differs from the metadata's.
    """
    page = first_page(markdown)
    rows = []

    def disagree(field: str, metadata: Any, text: Any, note: str) -> None:
        rows.append({"id": article.id, "field": field, "metadata": metadata, "text": text, "note": note})

    if not title_found(article.title, page):
        disagree("title", article.title, None, "not found on the first page")
    for author in authors_found(article.authors, page):
        disagree("authors", author, None, "not found on the first page, in this order")
    if not article.authors:
        disagree("authors", [], None, "no author is known")
    entries = reference_list(markdown)
    if entries is None:
        disagree("references", article.reference_count, None, "no reference list found")
    elif article.reference_count is not None and len(entries) != article.reference_count:
        disagree("reference_count", article.reference_count, len(entries), "counts differ")
    return rows
