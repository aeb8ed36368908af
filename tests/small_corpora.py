"""Small corpora: a Debian mirror of three packages, a wheel of three JATS articles, and the stage run on them."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from longtrek.cli import LONGTREK
from longtrek.corpus import (
    sources,
)
from longtrek.files import write_jsonl
from longtrek.paths import ROOT
from semantic_scholar_server import PDF

CORPORA = ROOT / "config" / "corpora"
NAMES = ["Niamh O'Hagan", "John W. Fisher, III", "José Ångström-Ñandú", "山田 太郎", 'A "Q" %s {x}', "Ольга Иванова"]
TITLE = "100% of \"Names\", titles & O'Hagan's {brackets}: 数学, Ωmega"


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
    """Run a verb; a fault that a user can mend is raised."""
    words = list(map(str, arguments))
    result = CliRunner().invoke(LONGTREK, words, standalone_mode=False, catch_exceptions=False)
    return str(result.output)


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


def whole_chain(corpus: Path, folder: Path, *fetch: str | Path) -> None:
    """Every verb of the stage, one after the other, into a folder."""
    run("articles", "--corpus", corpus, "--out", folder / "s", *fetch)
    run("convert", "--corpus", corpus, "--snapshot", folder / "s", "--out", folder / "c")
    run("tabulate", "--corpus", corpus, "--snapshot", folder / "s", "--converted", folder / "c", "--out", folder / "o")
    tabled = ("--articles", folder / "o/articles.parquet", "--citations", folder / "o/citations.parquet")
    run("collections", *tabled, "--out", folder / "o/collections.parquet", "--fill", "0")


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
