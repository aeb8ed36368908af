"""Vignettes: PDFs out of Debian packages, from a mirror that may lack some."""

import shutil
from pathlib import Path

import pytest

from longtrek.corpus import (
    deb,
    snapshot,
)
from longtrek.errors import LongtrekError
from semantic_scholar_server import PDF
from small_corpora import NAMES, TITLE, little_debian, make_deb, run


@pytest.mark.parametrize("packing", ["xz", "gz", "bz2", "zst"])
def test_files_are_read_out_of_a_package_however_it_is_packed(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "a.deb"
    path.write_bytes(make_deb({"usr/x/a.pdf": b"A" * 999, "usr/x/b.pdf": b"B"}, packing))
    assert deb.members(path, {"./usr/x/b.pdf", "usr/none"}) == {"./usr/x/b.pdf": b"B"}


def test_what_is_no_package_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "a.deb"
    path.write_bytes(b"<html>")
    with pytest.raises(LongtrekError, match="not a Debian package"):
        deb.members(path, {"x"})


def test_a_vanished_pool_file_skips_its_articles_with_the_reason_and_the_rest_is_frozen(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror")
    found = snapshot.read(tmp_path / "s")
    assert [article.id for article in found.articles] == ["p_one", "p_two", "q_three"]
    assert found.citations == [("p_one", "q_three")]
    assert [row["id"] for row in found.manifest["skipped"]] == ["gone_four"]
    assert "a point release can remove a pool file" in found.manifest["skipped"][0]["reason"]
    assert found.articles[0].title == TITLE and list(found.articles[0].authors) == NAMES
    assert [article.reference_count for article in found.articles] == [None, 7, 7]
    assert not list((tmp_path / "s" / "fetched").iterdir())


def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    (tmp_path / "mirror" / "pool" / "p.deb").write_bytes(make_deb({"usr/doc/p/one.pdf": PDF}))
    run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror")
    reasons = {row["id"]: row["reason"] for row in snapshot.read(tmp_path / "s").manifest["skipped"]}
    assert "SHA-256 is" in reasons["p_one"]


def test_a_corpus_of_which_nothing_can_be_had_is_an_error(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    with pytest.raises(LongtrekError, match="of 4 articles no full text could be had; the first reason"):
        run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "nowhere")
    assert not snapshot.exists(tmp_path / "s")


def test_an_unknown_subset_or_id_is_named(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    with pytest.raises(LongtrekError, match="no subset 'half'; expected all, odd, one"):
        run("articles", "--corpus", corpus, "--subset", "half", "--out", tmp_path / "s")
    with pytest.raises(LongtrekError, match="no article has the id p_none"):
        run("articles", "--corpus", corpus, "--subset", "odd", "--out", tmp_path / "s")


def test_a_killed_run_goes_on_with_the_files_it_has(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror")
    (tmp_path / "s" / snapshot.MANIFEST).unlink()
    shutil.rmtree(tmp_path / "mirror" / "pool")
    run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror")
    assert len(snapshot.read(tmp_path / "s").articles) == 3
