"""From a snapshot and its Markdown to the corpus: tables of articles and citations, Markdown texts, reports."""

import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.corpus import metadata
from longtrek.corpus.snapshot import Snapshot
from longtrek.corpus.sources import Article
from longtrek.errors import LongtrekError
from longtrek.files import atomic, write_jsonl, write_text
from longtrek.messages import RUN_FIRST

ARTICLES = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("reference_count", pa.int32()),
        ("subject", pa.string()),
        ("tokens", pa.int32()),
        ("source", pa.string()),
        ("sha256", pa.string()),
        ("markdown", pa.string()),
        ("reference_count_from", pa.string()),
        ("converter", pa.string()),
        ("layout", pa.string()),
        ("licence", pa.string()),
        ("origin", pa.string()),
    ]
)
CITATIONS = pa.schema([("citing", pa.string()), ("cited", pa.string())])


@dataclass(frozen=True)
class Corpus:
    """Article rows in the snapshot's order, citation pairs among them, dropped ones with reasons, the check."""

    articles: list[dict[str, Any]]
    citations: list[tuple[str, str]]
    dropped: list[dict[str, str]]
    corrections: list[dict[str, Any]]
    disagreements: list[dict[str, Any]]


def build(
    snapshot: Snapshot,
    records: list[dict[str, Any]],
    folder: Path,
    tokens: tuple[int, int],
    corrections: Path | None,
) -> Corpus:
    """Choose and describe the corpus's articles.

    Args:
        snapshot: the articles as their source describes them.
        records: the conversion's record for each.
        folder: where the conversion's Markdown files lie.
        tokens: the fewest and the most `cl100k_base` tokens of an article that is kept (5,000 and 50,000 in the paper).
        corrections: the corrections file, or None.

    Raises:
        LongtrekError: no article is left.
    """
    from longtrek.transduction.tokens import count

    outcome = {record["id"]: record for record in map(_checked, records)}
    dropped = []
    rows: list[dict[str, Any]] = []
    disagreements: list[dict[str, Any]] = []
    articles, corrected = metadata.corrected(snapshot.articles, corrections)
    for article in articles:
        record = outcome.get(article.id, {"status": "failed", "reason": "not converted"})
        if record["status"] != "converted":
            dropped.append({"id": article.id, "kind": "not converted", "reason": record["reason"]})
            continue
        markdown = (folder / f"{article.id}.md").read_text(encoding="utf-8")
        length = count(markdown)
        reason = _length_reason(length, tokens)
        if reason:
            dropped.append({"id": article.id, "kind": reason[0], "reason": reason[1]})
            continue
        disagreements += metadata.disagreements(article, markdown)
        rows.append(_row(article, markdown, length, record, snapshot.manifest["source"], corrected))
    if not rows:
        raise LongtrekError(
            f"no article is left of {len(snapshot.articles)}: {_told(dropped)}; see the list of dropped ones"
        )
    kept = {row["id"] for row in rows}
    citations = sorted(pair for pair in snapshot.citations if kept >= set(pair))
    return Corpus(rows, citations, dropped, corrected, disagreements)


def _length_reason(length: int, tokens: tuple[int, int]) -> tuple[str, str] | None:
    if length < tokens[0]:
        return "too short", f"{length} tokens, below {tokens[0]}"
    if length > tokens[1]:
        return "too long", f"{length} tokens, above {tokens[1]}"
    return None


def _row(
    article: Article,
    markdown: str,
    tokens: int,
    record: dict[str, Any],
    source: str,
    corrected: list[dict[str, Any]],
) -> dict[str, Any]:
    """An article's row; a reference count that the source lacks is that of the Markdown's own list."""
    by_hand = any(row["id"] == article.id and row["field"] == "reference_count" for row in corrected)
    origin = "correction" if by_hand else "source"
    if article.reference_count is None:
        entries = metadata.reference_list(markdown)
        article = replace(article, reference_count=len(entries or ()))
        origin = "markdown"
    return {
        "id": article.id,
        "title": article.title,
        "authors": list(article.authors),
        "reference_count": article.reference_count,
        "subject": article.subject,
        "tokens": tokens,
        "source": source,
        "sha256": record["sha256"],
        "markdown": f"markdown/{article.id}.md",
        "reference_count_from": origin,
        "converter": " ".join(filter(None, (record["converter"], record["version"]))),
        "layout": record["layout"],
        "licence": article.licence,
        "origin": article.origin,
    }


def write(corpus: Corpus, folder: Path, converted: Path) -> None:
    """Write a corpus into a folder; the tables come last, when all that they name is there.

    Makes `markdown/<id>.md`, `dropped.jsonl`, `corrections.jsonl`, `disagreements.jsonl`, `summary.txt`,
    `citations.parquet`, `articles.parquet`.
    """
    texts = folder / "markdown"
    if texts.is_dir():
        shutil.rmtree(texts)
    for row in corpus.articles:
        write_text(folder / row["markdown"], (converted / f"{row['id']}.md").read_text(encoding="utf-8"))
    write_jsonl(folder / "dropped.jsonl", corpus.dropped)
    write_jsonl(folder / "corrections.jsonl", corpus.corrections)
    write_jsonl(folder / "disagreements.jsonl", corpus.disagreements)
    write_text(folder / "summary.txt", summary(corpus) + "\n")
    pairs = [{"citing": citing, "cited": cited} for citing, cited in corpus.citations]
    write_table(folder / "citations.parquet", pairs, CITATIONS)
    write_table(folder / "articles.parquet", corpus.articles, ARTICLES)


def write_table(path: Path, rows: list[dict[str, Any]], schema: Any) -> None:
    """Write rows as Parquet, whole or not at all."""
    with atomic(path) as stream:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), stream, compression="zstd")


def _checked(record: Any) -> dict[str, Any]:
    done = isinstance(record, dict) and record.get("status") == "converted"
    wanted = {"id", "sha256", "converter", "version", "layout"} if done else {"id", "status", "reason"}
    if not isinstance(record, dict) or not wanted <= record.keys():
        raise LongtrekError(
            f"conversion.jsonl: {str(record)[:80]} is no conversion's record; expected what `longtrek convert` writes"
        )
    return record


def read_table(path: Path, *needed: str) -> list[dict[str, Any]]:
    """Read a Parquet table's rows; it must have the columns that are `needed`.

    Raises:
        LongtrekError: the file is not there, is not Parquet, or lacks a column.
    """
    if not path.is_file():
        raise LongtrekError(f"{path}: no such file; expected a Parquet table of an earlier stage. {RUN_FIRST}")
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise LongtrekError(f"{path}: not a Parquet table ({error}); make it again") from None
    check_columns(path, table.column_names, needed)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def check_columns(path: Path, found: Iterable[str], needed: Iterable[str]) -> None:
    """Refuse a table that lacks a column that its readers rely on; the message names all that are missing."""
    absent = [name for name in needed if name not in set(found)]
    if absent:
        raise LongtrekError(
            f"{path}: no column {', '.join(absent)}; expected the table that this stage writes: make it again"
        )


def read_columns(path: Path, **kinds: type) -> list[dict[str, Any]]:
    """Read a table's rows for the columns named, each with its kind of value.

    Raises:
        LongtrekError: as `read_table`; or a column is missing, or a value is of another kind or null.
    """
    rows = read_table(path)
    for number, row in enumerate(rows):
        for name, kind in kinds.items():
            if type(row.get(name)) is not kind:
                raise LongtrekError(
                    f"{path}, row {number}: {name} is {row.get(name)!r}; expected the columns {', '.join(kinds)}, "
                    f"and {name} of the kind {kind.__name__}"
                )
    return rows


def summary(corpus: Corpus) -> str:
    """What was kept, dropped, corrected and found to disagree, in a few lines."""
    tokens = sum(row["tokens"] for row in corpus.articles)
    lines = [f"{len(corpus.articles)} articles kept ({tokens:,} cl100k_base tokens), {len(corpus.citations)} citations"]
    lines.append(f"{len(corpus.dropped)} dropped" + (f": {_told(corpus.dropped)}" if corpus.dropped else ""))
    lines.append(f"{len(corpus.corrections)} corrections applied")
    fields = Counter(row["field"] for row in corpus.disagreements)
    told = ", ".join(f"{count} of {field}" for field, count in sorted(fields.items()))
    lines.append(f"{len(corpus.disagreements)} disagreements between metadata and text" + (f": {told}" if told else ""))
    return "\n".join(lines)


def _told(dropped: list[dict[str, str]]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(row["kind"] for row in dropped).items()))
