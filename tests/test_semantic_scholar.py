"""Semantic Scholar: sampling, paging, faults of the server, open PDFs, and what a snapshot keeps of it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from longtrek.corpus import (
    scholar_api,
    snapshot,
    sources,
)
from longtrek.corpus.semantic_scholar import SemanticScholar, pick
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from semantic_scholar_server import HTML, PDF, World, identifier, serving
from small_corpora import CORPORA


def scholar(address: str, folder: Path, **changes: Any) -> SemanticScholar:
    """The real corpus file's settings, with the local server's address, two seeds and no pause."""
    content = yaml.safe_load((CORPORA / "semantic-scholar.yaml").read_text(encoding="utf-8"))
    write_jsonl(
        folder / "seeds.jsonl",
        [
            {"semantic_scholar_id": identifier(1), "subject": "math"},
            {"semantic_scholar_id": identifier(2), "subject": "physics"},
        ],
    )
    content["seeds"] = "seeds.jsonl"
    content["api"] |= {"url": f"{address}/graph/v1", "requests_per_second": 10_000, "page": 4}
    content["full_text"] |= {
        "arxiv": f"{address}/arxiv/{{id}}",
        "unpaywall": f"{address}/unpaywall/{{doi}}?email={{email}}",
        "requests_per_second": 10_000,
    }
    content["neighbours"] |= changes
    source = SemanticScholar(content, folder, folder / "cache", lambda line: None)
    waits: list[float] = []
    source.api.client.sleep = source.pdfs.client.sleep = waits.append  # type: ignore[assignment]
    source.waits = waits  # type: ignore[attr-defined]
    return source


def world_of_papers() -> World:
    """Two seeds, their references over several pages, citations, an elided list, entries without a paper."""
    world = World()
    world.add(1, [*range(10, 30), None, None])
    world.add(2, None)
    for number in range(10, 30):
        world.add(number, [number + 100, number + 200])
    for number in [*range(110, 130), *range(210, 230)]:
        world.add(number, [])
    for number in range(40, 48):
        world.add(number, [2, 1])
    return world


def test_neighbours_are_sampled_over_all_pages_and_inherit_their_seeds_subject(tmp_path: Path) -> None:
    world = world_of_papers()
    with serving(world) as address:
        source = scholar(address, tmp_path)
        articles = source.articles()
        assert world.asked[f"/graph/v1/paper/{identifier(1)}/references"] == 6  # 22 entries in pages of four
    assert [article.id for article in articles[:2]] == [identifier(1), identifier(2)]
    assert articles[0].authors == ("Author A1", "John W. Fisher, III")
    assert {article.subject for article in articles} == {"math", "physics"}
    first_hop = pick([*map(identifier, range(10, 30)), *map(identifier, range(40, 48))], 10, f"0/1/{identifier(1)}")
    assert set(first_hop) <= {article.id for article in articles}
    assert len(articles) > 30


def test_each_reading_samples_from_references_and_from_citations(tmp_path: Path) -> None:
    with serving(world_of_papers()) as address:
        source = scholar(address, tmp_path, reading="each", second=0)
        ids = {int(article.id, 16) for article in source.articles()}
    assert len([number for number in ids if 10 <= number < 30]) == 10
    assert len([number for number in ids if 40 <= number < 48]) == 8  # both seeds draw from these eight


def test_elided_lists_and_entries_without_a_paper_are_counted_and_give_no_reference_count(tmp_path: Path) -> None:
    with serving(world_of_papers()) as address:
        source = scholar(address, tmp_path)
        articles = {article.id: article for article in source.articles()}
        counts = source.counts()
    assert counts["elided_references"] == 1
    assert counts["null_references"] == 2
    assert articles[identifier(2)].reference_count is None
    assert articles[identifier(1)].reference_count == 22


def test_papers_unknown_or_without_authors_are_left_out_and_counted(tmp_path: Path) -> None:
    world = World()
    world.add(1, [3, 4, 5])
    world.add(2, [])
    world.add(3, [], authors=[])
    world.add(5, [], title=None)
    with serving(world) as address:
        source = scholar(address, tmp_path)
        assert [article.id for article in source.articles()] == [identifier(1), identifier(2)]
        assert source.counts() == {
            "elided_references": 1,
            "papers_without_title_or_authors": 2,
            "unknown_papers": 1,
        } | {name: count for name, count in source.counts().items() if name == "elided_citations"}


def test_faults_of_the_server_are_sat_out_as_it_asks(tmp_path: Path) -> None:
    world = world_of_papers()
    world.faults = {
        f"/graph/v1/paper/{identifier(1)}/references": [429, 500, 504, "drop", (429, "date")],
        "/graph/v1/paper/batch": [503],
    }
    with serving(world) as address:
        source = scholar(address, tmp_path)
        assert len(source.articles()) > 30
        counts, waits = source.counts(), source.waits  # type: ignore[attr-defined]
    assert counts["rate_limited"] == 2
    assert counts["server_errors"] == 3
    assert counts["transport_faults"] == 1
    assert 7 in waits  # what Retry-After said
    assert 2 in waits and 4 in waits  # backoff where it said nothing


def test_a_server_that_stays_down_ends_in_a_message_and_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    world = world_of_papers()
    world.faults = {f"/graph/v1/paper/{identifier(10)}/references": [500] * 9}
    with serving(world) as address:
        with pytest.raises(LongtrekError, match="no answer in 9 tries; the last: HTTP 500; run again"):
            scholar(address, tmp_path, first=28).articles()
        asked = dict(world.asked)
        assert scholar(address, tmp_path, first=28).articles()
        path = f"/graph/v1/paper/{identifier(1)}/references"
        assert world.asked[path] == asked[path]


def test_the_key_comes_from_the_named_variable_and_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_papers()
    world.key_wanted = "sesame-4711"
    with serving(world) as address:
        with pytest.raises(LongtrekError, match=r"HTTP 403.*check the settings and the key"):
            scholar(address, tmp_path).articles()
        monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", "sesame-4711")
        scholar(address, tmp_path).articles()
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert kept and "sesame" not in kept


def test_the_sample_does_not_depend_on_the_servers_order() -> None:
    ids = [identifier(number) for number in range(50)]
    assert pick(ids, 10, "0/1/x") == pick(ids[::-1] + ids, 10, "0/1/x")
    assert pick(ids, 10, "0/1/x") != pick(ids, 10, "1/1/x")


def test_pdfs_come_from_arxiv_then_the_open_copy_then_unpaywall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNPAYWALL_EMAIL", "reader@example.org")
    world = World()
    world.files = {
        "/arxiv/2101.00001": (200, "application/pdf", PDF + b"arxiv"),
        "/oa/1.pdf": (200, "application/pdf", PDF + b"open"),
        "/oa/landing": (200, "text/html; charset=utf-8", HTML),
        "/un/1.pdf": (200, "application/octet-stream", PDF + b"unpaywall"),
    }
    world.faults = {"/un/1.pdf": [429]}
    with serving(world) as address:
        fetch = scholar(address, tmp_path).pdfs.fetch
        world.unpaywall = {
            "10.1/b": {"best_oa_location": None, "oa_locations": [{"url_for_pdf": f"{address}/un/1.pdf"}]}
        }
        both = {"externalIds": {"ArXiv": "2101.00001"}, "openAccessPdf": {"url": f"{address}/oa/1.pdf"}}
        assert fetch(both).endswith(b"arxiv")
        assert fetch({**both, "externalIds": {"ArXiv": "gone"}}).endswith(b"open")
        landing = {"externalIds": {"DOI": "10.1/b"}, "openAccessPdf": {"url": f"{address}/oa/landing"}}
        assert fetch(landing).endswith(b"unpaywall")
        with pytest.raises(sources.Unavailable) as caught:
            fetch({"externalIds": {"ArXiv": "gone", "DOI": "10.1/none"}, "openAccessPdf": landing["openAccessPdf"]})
        assert str(caught.value) == (
            "no PDF: arXiv: HTTP 404; openAccessPdf: not a PDF (text/html); Unpaywall: no free copy"
        )
        with pytest.raises(sources.Unavailable, match="no arXiv id, open copy or DOI"):
            fetch({"externalIds": None, "openAccessPdf": None})


def test_a_scholar_snapshot_keeps_the_answers_and_lists_what_it_skipped(tmp_path: Path) -> None:
    world = world_of_papers()
    world.papers[identifier(1)]["externalIds"] = {"ArXiv": "1"}
    world.papers[identifier(2)]["openAccessPdf"] = {"url": ""}
    world.files = {"/arxiv/1": (200, "application/pdf", PDF)}
    with serving(world) as address:
        source = scholar(address, tmp_path)
        source.api.cache = tmp_path / "s" / "fetched" / "api"
        made = snapshot.freeze(source, "c", {"source": "semantic-scholar"}, tmp_path / "s", lambda line: None)
    again = snapshot.read(tmp_path / "s")
    assert again == made
    assert [article.id for article in again.articles] == [identifier(1)]
    assert any(row["id"] == identifier(2) and "no PDF" in row["reason"] for row in again.manifest["skipped"])
    assert any(name.startswith("fetched/api/") for name in again.manifest["files"])


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, 5), ("3", 3), ("99999", 300), ("soon", 5), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)]
)
def test_retry_after_is_read_in_seconds_or_as_a_date(header: str | None, seconds: float) -> None:
    assert scholar_api.retry_after(header, 5) == seconds
