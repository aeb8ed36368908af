"""PLOS: JATS articles in a wheel, their metadata and their Markdown."""

from pathlib import Path

import pytest

from longtrek.corpus import (
    jats,
    jats_markdown,
    metadata,
    tables,
)
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from small_corpora import CORPORA, JATS, little_plos, run, whole_chain


def test_jats_gives_ordered_authors_collaborations_references_and_citations() -> None:
    facts = jats.facts(jats.parse(JATS.format(type="research-article", id="j.a", cites="j.b.").encode(), "j.a"))
    assert facts.title == "On E. coli & H2O"
    assert facts.authors == ("Niamh O'Hagan", "John W. Fisher III", "山田 太郎", "The PRISMA Group")
    assert facts.references == 2
    assert facts.cited_dois == ("10.1371/j.b",)
    assert facts.subject == "Physical sciences"


def test_jats_markdown_keeps_structure_and_a_reference_list_that_can_be_counted() -> None:
    text = jats_markdown.markdown(jats.parse(JATS.format(type="x", id="j.a", cites="j.b").encode(), "j.a"))
    assert text.startswith("# On E. coli & H2O\n\nNiamh O'Hagan, John W. Fisher III, 山田 太郎, The PRISMA Group\n")
    assert "## Methods\n\nWe saw1 that\n\n- one\n\nand x ." in text
    assert "**Table 1 Counts.**\n\n| a\\|b | c |\n| --- | --- |\n| 1 |  |" in text
    assert "### Detail\n\nDeep < deeper." in text
    assert text.endswith("## References\n\n1. Hanahan D (2000). Hallmarks. Cell 100: 57–70.\n2. Us. here\n")
    assert len(metadata.reference_list(text) or ()) == 2


def test_what_is_not_jats_is_refused() -> None:
    for content in (b"<html/>", b"not xml"):
        with pytest.raises(LongtrekError, match="expected a JATS"):
            jats.parse(content, "x")


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path) -> None:
    corpus, wheel = little_plos(tmp_path)
    wheel.write_bytes(wheel.read_bytes() + b" ")
    with pytest.raises(LongtrekError, match="SHA-256 is"):
        run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--wheel", wheel)


@pytest.mark.slow
def test_the_real_plos_wheel_gives_108_articles_whose_text_agrees_with_their_metadata(tmp_path: Path) -> None:
    try:
        whole_chain(CORPORA / "plos.yaml", tmp_path)
    except LongtrekError as error:
        if "pip could not download" in str(error):
            pytest.skip(str(error))
        raise
    rows = tables.read_table(tmp_path / "o" / "articles.parquet")
    assert len(rows) + len(list(read_jsonl(tmp_path / "o" / "dropped.jsonl"))) == 108
    assert len(list(read_jsonl(tmp_path / "s" / "citations.jsonl"))) == 5
    assert list(read_jsonl(tmp_path / "o" / "disagreements.jsonl")) == []
