"""Articles: the corpus's tables, and the corpora that ship with the kit."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek import schemas
from longtrek.corpus import (
    snapshot,
    sources,
    tables,
    vignettes,
)
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from longtrek.messages import tell
from small_corpora import CORPORA, NAMES, article, little_plos, whole_chain


@pytest.mark.parametrize(
    "record", [{}, [], None, {"id": "a"}, {"id": "a", "status": "converted"}, {"status": "failed"}]
)
def test_a_conversion_record_of_another_shape_is_refused(tmp_path: Path, record: Any) -> None:
    nothing = snapshot.Snapshot(tmp_path, {}, [], [])
    with pytest.raises(LongtrekError, match=r"conversion\.jsonl"):
        tables.build(nothing, [record], tmp_path, (1, 9), None)


def test_the_shipped_corpora_hold_to_their_schema_and_the_quick_one_is_connected() -> None:
    for file in CORPORA.glob("*.yaml"):
        if ".corrections." not in file.name:
            schemas.read(file, "corpus")
    settings = yaml.safe_load((CORPORA / "vignettes.yaml").read_text(encoding="utf-8"))
    source = vignettes.Vignettes({**settings, "subset": settings["subsets"]["quick"]}, CORPORA, Path("none"), tell)
    assert len(source.articles()) >= 12
    assert {row["component"] for row in source.rows.values()} == {1}
    assert len(source.citations()) >= 12
    everything = vignettes.Vignettes({**settings, "subset": {}}, CORPORA, Path("none"), tell)
    assert len(everything.articles()) == 135 and len(everything.citations()) == 94
    assert len(list(read_jsonl(CORPORA / "semantic-scholar.seeds.jsonl"))) == 16


def test_the_corpus_tables_hold_what_the_contract_names(tmp_path: Path) -> None:
    corpus, wheel = little_plos(tmp_path)
    corrections = [
        {"id": "journal.a", "field": "authors", "value": NAMES, "why": "printed so"},
        {"id": "journal.zz", "field": "title", "value": "of another subset", "why": "x"},
    ]
    (tmp_path / "corrections.yaml").write_text(yaml.safe_dump(corrections, allow_unicode=True), encoding="utf-8")
    whole_chain(corpus, tmp_path, "--wheel", wheel)
    rows = tables.read_table(tmp_path / "o" / "articles.parquet")
    assert [row["id"] for row in rows] == ["journal.a", "journal.b"]
    assert rows[0]["authors"] == NAMES
    assert rows[0]["reference_count"] == 2 and rows[0]["source"] == "plos"
    text = (tmp_path / "o" / rows[0]["markdown"]).read_bytes()
    assert rows[0]["sha256"] == hashlib.sha256(text).hexdigest()
    assert tables.read_table(tmp_path / "o" / "citations.parquet") == [{"citing": "journal.a", "cited": "journal.b"}]
    recorded = list(read_jsonl(tmp_path / "o" / "corrections.jsonl"))
    assert [(row["id"], row["field"], row["after"]) for row in recorded] == [("journal.a", "authors", NAMES)]
    disagreed = list(read_jsonl(tmp_path / "o" / "disagreements.jsonl"))
    assert {row["metadata"] for row in disagreed} <= set(NAMES) and disagreed  # the text prints the four others


def test_articles_outside_the_lengths_are_dropped_with_the_reason(tmp_path: Path) -> None:
    corpus, wheel = little_plos(tmp_path)
    content = yaml.safe_load(corpus.read_text(encoding="utf-8"))
    corpus.write_text(yaml.safe_dump({**content, "tokens": {"fewest": 5000, "most": 50000}}), encoding="utf-8")
    with pytest.raises(LongtrekError, match="no article is left of 2: 2 too short"):
        whole_chain(corpus, tmp_path, "--wheel", wheel)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1)


@given(title=texts, authors=st.lists(texts, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_titles_and_names_of_any_letters_pass_a_snapshot_and_the_tables_unchanged(
    tmp_path_factory: pytest.TempPathFactory, title: str, authors: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    made = article(title=title, authors=tuple(authors))
    write_jsonl(folder / "a.jsonl", [made.row()])
    (back,) = map(sources.article_of, read_jsonl(folder / "a.jsonl"))
    assert back == made
    record = {"sha256": "0", "converter": "marker", "version": "2", "layout": "geometry"}
    row = tables._row(back, "text", 1, record, "vignettes", [])
    tables.write_table(folder / "a.parquet", [row], tables.ARTICLES)
    (stored,) = tables.read_table(folder / "a.parquet")
    assert stored["title"] == title and stored["authors"] == authors
