"""Articles: the three sources, snapshots that need no network, and metadata held against the text."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek import schemas
from longtrek.corpus import (
    commands,
    deb,
    jats,
    jats_markdown,
    metadata,
    scholar_api,
    snapshot,
    sources,
    tables,
    vignettes,
)
from longtrek.corpus.conversion import tell
from longtrek.corpus.semantic_scholar import SemanticScholar, pick
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from longtrek.paths import ROOT
from semantic_scholar_server import HTML, PDF, World, identifier, serving

CORPORA = ROOT / "config" / "corpora"
NAMES = ["Niamh O'Hagan", "John W. Fisher, III", "José Ångström-Ñandú", "山田 太郎", 'A "Q" %s {x}', "Ольга Иванова"]
TITLE = "100% of \"Names\", titles & O'Hagan's {brackets}: 数学, Ωmega"


# Semantic Scholar


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


# Vignettes: PDFs in Debian packages


def make_deb(files: dict[str, bytes], packing: str = "xz") -> bytes:
    """A Debian package: an `ar` archive with a packed tar of files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:" if packing == "zst" else f"w:{packing}") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    data = packed.getvalue()
    if packing == "zst":
        import zstandard

        data = zstandard.ZstdCompressor().compress(data)
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", f"data.tar.{packing}": data}
    raw = b"!<arch>\n"
    for name, content in parts.items():
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
        raw += head.encode() + content + b"\n" * (len(content) % 2)
    return raw


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


def little_debian(folder: Path) -> Path:
    """A corpus file of four articles in three packages, one of which its mirror lacks; the mirror stands beside it."""
    pdfs = {name: PDF + name.encode() for name in ("p/one", "p/two", "q/three", "gone/four")}
    rows = []
    for package in ("p", "q", "gone"):
        held = {f"usr/doc/{n}.pdf": content for n, content in pdfs.items() if n.startswith(f"{package}/")}
        raw = make_deb(held)
        target = folder / "mirror" / "pool" / f"{package}.deb"
        if package != "gone":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(raw)
        rows += [_fact(name, content, package, raw) for name, content in pdfs.items() if name.startswith(f"{package}/")]
    write_jsonl(folder / "facts.jsonl", rows)
    content = {
        "source": "vignettes",
        "articles": "facts.jsonl",
        "subsets": {"all": {}, "one": {"ids": ["p_one"]}, "odd": {"ids": ["p_none"]}},
        "tokens": {"fewest": 1, "most": 9999},
    }
    (folder / "little.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder / "little.yaml"


def _fact(name: str, content: bytes, package: str, raw: bytes) -> dict[str, Any]:
    return {
        "article_id": name,
        "title": TITLE,
        "authors": NAMES,
        "package": package,
        "version": "1",
        "deb_path": f"pool/{package}.deb",
        "deb_size": len(raw),
        "deb_sha256": hashlib.sha256(raw).hexdigest(),
        "member": f"./usr/doc/{name}.pdf",
        "pdf_sha256": hashlib.sha256(content).hexdigest(),
        "license": "GPL-2",
        "cite_keys_in_source": 2 if name == "p/one" else 7,
        "component": 1,
        "cites": ["q/three", "gone/four"] if name == "p/one" else [],
    }


def run(*arguments: str | Path) -> str:
    """Run a verb of the articles stage; a fault that a user can mend is raised."""
    verb, *rest = map(str, arguments)
    result = CliRunner().invoke(getattr(commands, verb), rest, standalone_mode=False, catch_exceptions=False)
    return str(result.output)


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


@pytest.mark.parametrize("harm", ["change", "remove"])
def test_a_snapshot_that_was_changed_is_refused(tmp_path: Path, harm: str) -> None:
    corpus = little_debian(tmp_path)
    run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror")
    file = tmp_path / "s" / "files" / "p_two.pdf"
    file.unlink() if harm == "remove" else file.write_bytes(PDF)
    with pytest.raises(LongtrekError, match=r"p_two\.pdf: (SHA-256 is|missing)"):
        snapshot.read(tmp_path / "s")


@pytest.mark.parametrize(
    "manifest",
    [
        *("", "{", "[]", "null", "{}", "[" * 9_000, "\udcff", '{"format": 2}'),
        *('{"format": 1}', '{"format": 1, "files": []}', '{"format": 1, "files": {}, "skipped": [], "settings": "x"}'),
    ],
)
def test_a_damaged_manifest_is_refused_with_its_name(tmp_path: Path, manifest: str) -> None:
    (tmp_path / snapshot.MANIFEST).write_text(manifest, errors="surrogateescape")
    with pytest.raises(LongtrekError, match=snapshot.MANIFEST):
        snapshot.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("articles", {"id": 1}),
        ("articles", []),
        ("articles", {"id": "a", "x": 1}),
        ("citations", {"a": 1}),
        ("citations", 5),
    ],
)
def test_a_snapshots_row_of_another_shape_is_refused(tmp_path: Path, name: str, row: Any) -> None:
    for each in ("articles", "citations"):
        write_jsonl(tmp_path / f"{each}.jsonl", [row] if each == name else [])
    names = ("articles.jsonl", "citations.jsonl")
    hashes = {each: hashlib.sha256((tmp_path / each).read_bytes()).hexdigest() for each in names}
    manifest = {"format": 1, "files": hashes, "skipped": [], "settings": "x"}
    (tmp_path / snapshot.MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(LongtrekError, match="make the snapshot again"):
        snapshot.read(tmp_path)


@pytest.mark.parametrize(
    "record", [{}, [], None, {"id": "a"}, {"id": "a", "status": "converted"}, {"status": "failed"}]
)
def test_a_conversion_record_of_another_shape_is_refused(tmp_path: Path, record: Any) -> None:
    nothing = snapshot.Snapshot(tmp_path, {}, [], [])
    with pytest.raises(LongtrekError, match=r"conversion\.jsonl"):
        tables.build(nothing, [record], tmp_path, (1, 9), None)


def test_offline_never_fetches(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    with pytest.raises(LongtrekError, match="run without --offline"):
        run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror", "--offline")


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


# PLOS: JATS in a wheel

JATS = """<article article-type="{type}" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<article-id pub-id-type="doi">10.1371/{id}</article-id>
<article-categories><subj-group subj-group-type="Discipline-v3"><subject>Physical sciences</subject></subj-group>
</article-categories><title-group>
<article-title>On <italic>E. coli</italic> &amp; H<sub>2</sub>O</article-title>
</title-group>
<contrib-group><contrib contrib-type="author">
<name><surname>O'Hagan</surname><given-names>Niamh</given-names></name></contrib>
<contrib contrib-type="author">
<name><surname>Fisher</surname><given-names>John W.</given-names><suffix>III</suffix></name></contrib>
<contrib contrib-type="author">
<name name-style="eastern"><surname>山田</surname><given-names>太郎</given-names></name></contrib>
<contrib contrib-type="author"><collab>The <italic>PRISMA</italic> Group<contrib-group><contrib contrib-type="author">
<name><surname>Member</surname><given-names>Some</given-names></name></contrib></contrib-group></collab></contrib>
</contrib-group><contrib-group>
<contrib contrib-type="editor"><name><surname>Editor</surname></name></contrib></contrib-group>
<abstract><p>Short.</p></abstract></article-meta></front>
<body><sec><title>Methods</title><p>We saw<xref>1</xref> that<list list-type="bullet">
<list-item><p>one</p></list-item></list> and
 <inline-formula><mml:math><mml:mi>x</mml:mi></mml:math></inline-formula>.</p>
<table-wrap><label>Table 1</label><caption><title>Counts.</title></caption>
<table><tr><th>a|b</th><th>c</th></tr>
<tr><td>1</td></tr>
</table></table-wrap><sec><title>Detail</title><p>Deep &lt; deeper.</p></sec></sec></body>
<back><ref-list><title>References</title>
<ref><element-citation>
<person-group><name><surname>Hanahan</surname><given-names>D</given-names></name></person-group>
<year>2000</year>
<article-title>Hallmarks.</article-title><source>Cell</source><volume>100</volume><fpage>57</fpage><lpage>70</lpage></element-citation></ref>
<ref><mixed-citation>Us. <ext-link xlink:href="https://doi.org/10.1371/{cites}">here</ext-link></mixed-citation></ref>
</ref-list></back></article>"""


def little_plos(folder: Path) -> tuple[Path, Path]:
    """A corpus file and its wheel: two research articles, one citing the other, and an editorial."""
    file = folder / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("t/c/journal.a.xml", JATS.format(type="research-article", id="journal.a", cites="JOURNAL.b"))
        archive.writestr("t/c/journal.b.xml", JATS.format(type="research-article", id="journal.b", cites="journal.zz"))
        archive.writestr("t/c/journal.e.xml", JATS.format(type="editorial", id="journal.e", cites="journal.a"))
        archive.writestr("t/c/__init__.py", "raise SystemExit")
    package = {"name": "tiny", "version": "1", "file": file.name, "folder": "t/c/"}
    content = {
        "source": "plos",
        "package": {**package, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
        "article_types": ["research-article"],
        "corrections": "corrections.yaml",
        "subsets": {"all": {}},
        "tokens": {"fewest": 10, "most": 9999},
    }
    (folder / "plos.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    (folder / "corrections.yaml").write_text("[]", encoding="utf-8")
    return folder / "plos.yaml", file


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


def whole_chain(corpus: Path, folder: Path, *fetch: str | Path) -> None:
    """Every verb of the stage, one after the other, into a folder."""
    run("articles", "--corpus", corpus, "--out", folder / "s", *fetch)
    run("convert", "--corpus", corpus, "--snapshot", folder / "s", "--out", folder / "c")
    run("corpus", "--corpus", corpus, "--snapshot", folder / "s", "--converted", folder / "c", "--out", folder / "o")
    tabled = ("--articles", folder / "o/articles.parquet", "--citations", folder / "o/citations.parquet")
    run("collections", *tabled, "--out", folder / "o/collections.parquet", "--fill", "0")


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


NO_ROUTE = """
import socket, sys
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
except OSError:
    pass
else:
    sys.exit("there is a route out")
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import test_articles as t
t.whole_chain(Path(sys.argv[2]), Path(sys.argv[3]))
"""


def test_a_rebuild_from_a_snapshot_needs_no_network(tmp_path: Path) -> None:
    corpus, wheel = little_plos(tmp_path)
    whole_chain(corpus, tmp_path / "first", "--wheel", wheel)
    shutil.copytree(tmp_path / "first" / "s", tmp_path / "again" / "s")
    wheel.unlink()
    isolated = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets no one make a network namespace (unshare --net)")
    command = [
        *isolated,
        sys.executable,
        "-c",
        NO_ROUTE,
        str(Path(__file__).parent),
        str(corpus),
        str(tmp_path / "again"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("articles.parquet", "citations.parquet", "collections.parquet", "markdown/journal.a.md"):
        assert (tmp_path / "again" / "o" / name).read_bytes() == (tmp_path / "first" / "o" / name).read_bytes()


# Metadata

TEXT = (
    "# Econometric Computing with *HC*\n\n"
    "Torsten Hothorn<sup>1</sup>, Bettina Grün2,3 and John W. Fisher, III\n\n## 1 Introduction"
)


def article(**changes: Any) -> sources.Article:
    """An article whose metadata agrees with TEXT."""
    facts: dict[str, Any] = {
        "id": "a",
        "title": "Econometric computing with HC",
        "authors": ("Torsten Hothorn", "Bettina Grün", "John W. Fisher, III"),
        "subject": "statistics",
        "kind": "pdf",
        "reference_count": 2,
    }
    return sources.Article(**{**facts, **changes})


REFERENCES = (
    "\n\n## **References**\n\nHothorn T (2004). *A Title of Some Length*.\n\n"
    "Zeileis A (2006). *Another Title*. 1–2.\n\n## A Appendix\n\nText."
)


def test_metadata_that_agrees_gives_no_row() -> None:
    assert metadata.disagreements(article(), TEXT + REFERENCES) == []


@pytest.mark.parametrize(
    ("changes", "text", "field", "note"),
    [
        ({"title": "Something else"}, TEXT + REFERENCES, "title", "not found on the first page"),
        ({"authors": ("Bettina Grün", "Torsten Hothorn")}, TEXT + REFERENCES, "authors", "in this order"),
        ({"reference_count": 3}, TEXT + REFERENCES, "reference_count", "counts differ"),
        ({}, TEXT, "references", "no reference list found"),
        ({"authors": ()}, TEXT + REFERENCES, "authors", "no author is known"),
    ],
)
def test_each_disagreement_is_a_row(changes: dict[str, Any], text: str, field: str, note: str) -> None:
    (row,) = metadata.disagreements(article(**changes), text)
    assert row["field"] == field and note in row["note"]


def test_numbered_entries_are_counted_one_a_line() -> None:
    text = "# T\n\n## 7. Bibliography\n\n- [1] A. Long entry\n- [2] B.\n- [3] C.\n"
    assert len(metadata.reference_list(text) or ()) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "field": "title", "value": "x"}, "expected the keys id, field, value and why"),
        ({"id": "a", "field": "tokens", "value": 1, "why": "x"}, "field 'tokens'"),
        ({"id": "a", "field": "authors", "value": "A, B", "why": "x"}, "expected a list"),
    ],
)
def test_a_faulty_correction_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(LongtrekError, match=message):
        metadata.corrected([article()], file)


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
