"""Conversion: PDFs become Markdown one process each; whatever is wrong with one is listed, and the rest is done."""

import json
import os
import shutil
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import small_pdfs
from longtrek.corpus import accents, conversion, geometry, metadata, snapshot
from longtrek.corpus.commands import read_corpus
from longtrek.corpus.conversion import Limits, convert, run_marker
from longtrek.corpus.geometry import Line, Page
from longtrek.corpus.sources import Article, source_of
from longtrek.errors import LongtrekError
from longtrek.messages import tell
from longtrek.paths import ROOT

BUILT = Path(os.environ.get(conversion.PYTHON_VARIABLE, ROOT / ".venv" / "converter" / "bin" / "python"))
needs_converter = pytest.mark.skipif(not BUILT.is_file(), reason="no converter environment (`make test` makes it)")


def snapshot_of(folder: Path, files: dict[str, bytes]) -> snapshot.Snapshot:
    """A snapshot of PDFs as they are."""
    (folder / "files").mkdir(parents=True)
    articles = [Article(id=name, title="T", authors=("A",), subject="s", kind="pdf") for name in files]
    for name, content in files.items():
        (folder / "files" / f"{name}.pdf").write_bytes(content)
    return snapshot.Snapshot(folder, {"source": "vignettes"}, articles, [])


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A converter that does what the PDF's first line says: `hang`, `die`, `crash`, `chatter`, or anything else."""
    script = tmp_path / "stand-in"
    script.write_text(
        textwrap.dedent(f"""\
        #!{sys.executable}
        import json, os, pathlib, subprocess, sys, time
        source, target = map(pathlib.Path, sys.argv[3:5])
        order = source.read_text().strip()
        with open({str(tmp_path / "calls")!r}, "a") as calls:
            calls.write(source.stem + "\\n")
        if order == "hang":
            child = subprocess.Popen(["sleep", "600"])
            pathlib.Path({str(tmp_path / "child")!r}).write_text(str(child.pid))
            target.write_text("half")
            time.sleep(600)
        if order == "die":
            os.kill(os.getpid(), 9)
        if order == "crash":
            raise MemoryError("Cannot allocate memory")
        if order == "chatter":
            print("Downloading ...")
        target.write_text("# " + order)
        print(json.dumps({{"pages": 1, "version": "2.0.0", "layout": "geometry"}}))
        """),
        encoding="utf-8",
    )
    script.chmod(0o755)
    monkeypatch.setenv(conversion.PYTHON_VARIABLE, str(script))
    return script


def test_each_failure_is_listed_with_its_reason_and_the_rest_is_done(tmp_path: Path, stand_in: Path) -> None:
    orders = {"a": b"good", "b": b"hang", "c": b"die", "d": b"crash", "e": b"chatter"}
    records = convert(snapshot_of(tmp_path / "s", orders), tmp_path / "c", Limits(seconds=3), lambda line: None)
    assert [(record["id"], record["status"]) for record in records] == [
        ("a", "converted"),
        ("b", "failed"),
        ("c", "failed"),
        ("d", "failed"),
        ("e", "converted"),
    ]
    assert records[1]["reason"] == "time: not done within 3 s"
    assert records[2]["reason"] == "the converter was ended by SIGKILL; the machine may be out of memory"
    assert records[3]["reason"].startswith("memory over the limit of 8 GiB")
    assert sorted(path.name for path in (tmp_path / "c").glob("*.md")) == ["a.md", "e.md"]
    assert not list((tmp_path / "c").glob(".*.part"))
    assert {"converter", "version", "layout", "seconds", "pages", "sha256"} <= set(records[0])
    told = conversion.summary(records)
    assert told.startswith("2 of 5 articles converted") and "  b: time: not done within 3 s" in told


def test_a_converter_out_of_time_leaves_no_process_behind(tmp_path: Path, stand_in: Path) -> None:
    files = snapshot_of(tmp_path / "s", {"b": b"hang"})
    convert(files, tmp_path / "c", Limits(seconds=2), lambda line: None)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 10
    while _alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_what_is_done_is_not_done_again_unless_its_input_its_settings_or_its_text_changed(
    tmp_path: Path, stand_in: Path
) -> None:
    files = snapshot_of(tmp_path / "s", {"a": b"good", "c": b"die"})
    first = convert(files, tmp_path / "c", Limits(), lambda line: None)
    assert convert(files, tmp_path / "c", Limits(jobs=2), lambda line: None) == first
    assert _calls(tmp_path) == ["a", "c"]
    (tmp_path / "c" / "a.md").write_text("torn")
    assert convert(files, tmp_path / "c", Limits(), lambda line: None)[0]["sha256"] == first[0]["sha256"]
    (tmp_path / "s" / "files" / "a.pdf").write_bytes(b"other")
    assert convert(files, tmp_path / "c", Limits(), lambda line: None)[0]["sha256"] != first[0]["sha256"]
    convert(files, tmp_path / "c", Limits(pages=7), lambda line: None)
    assert sorted(_calls(tmp_path)) == ["a", "a", "a", "a", "c", "c"]


def _calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


def test_a_missing_converter_says_how_to_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(conversion.PYTHON_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(LongtrekError, match="which `make reproduce` and `make test` make"):
        convert(snapshot_of(tmp_path / "s", {"a": b"x"}), tmp_path / "c", Limits(), lambda line: None)


@pytest.mark.parametrize(
    ("settings", "said"), [({"seconts": 3}, "seconts.*seconds"), ({"layout": "surya"}, "surya.*geometry.*marker")]
)
def test_unknown_conversion_settings_are_named(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    content = yaml.safe_load((ROOT / "config" / "corpora" / "vignettes.yaml").read_text())
    path = tmp_path / "corpus.yaml"
    path.write_text(yaml.safe_dump(content | {"conversion": settings}))
    with pytest.raises(LongtrekError, match=said):
        read_corpus(path)


def test_without_a_gpu_the_geometry_layout_hides_cuda_and_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = conversion._environment(Limits(), gpu=False)
    assert environment["HF_HUB_OFFLINE"] == "1" and environment["TORCH_DEVICE"] == "cpu"
    on_gpu = conversion._environment(Limits(layout="marker", inference_url="http://127.0.0.1:8000"), gpu=True)
    assert on_gpu["TORCH_DEVICE"] == "cuda" and on_gpu["SURYA_INFERENCE_URL"] == "http://127.0.0.1:8000"


# Layout by fonts and geometry


def line(text: str, y: float, size: float = 10, x: float = 70, **kind: float) -> Line:
    """A line whose width goes with its text."""
    return Line(text, x, y, x + 0.5 * size * len(text), y + 1.1 * size, size, **kind)


BODY = [
    line(f"This is sentence {number} of the body, and it goes on until the line is", 200 + 12 * number)
    for number in range(9)
]


def labels(lines: list[Line], first: bool = True) -> list[tuple[str, int]]:
    """The labels of a page's boxes, each with how many lines it covers."""
    pages = [Page(595, 842, lines)] if first else [Page(595, 842, BODY), Page(595, 842, lines)]
    boxes = geometry.layout(pages)[-1]
    return [(box.label, sum(box.y0 < x.y0 and x.y1 < box.y1 and box.x0 < x.x0 for x in lines)) for box in boxes]


def test_a_title_of_two_lines_is_one_heading_and_large_authors_are_none() -> None:
    front = [
        line("A Title that Goes", 100, 17, bold=1),
        line("on for Two Lines", 119, 17, bold=1),
        line("Achim Zeileis", 150, 12, bold=1),
        line("Abstract", 180, 10, bold=1),
    ]
    assert labels([*front, *BODY]) == [("SectionHeader", 2), ("Text", 1), ("SectionHeader", 1), ("Text", 9)]


def test_authors_parted_by_superscripts_stay_in_one_row() -> None:
    row = [Line("Torsten Hothorn1", 70, 150, 160, 162, 12), Line(", Kurt Hornik2", 161, 150, 240, 162, 12)]
    assert labels([line("Title", 100, 17), *row, *BODY])[1] == ("Text", 2)


def test_code_captions_and_numbered_headings_are_told_from_text() -> None:
    lines = [
        line("2.1 Methods", 100, 12, bold=1),
        *[line(f"R> x <- {number}", 130 + 12 * number, mono=1) for number in range(3)],
        line("Figure 1: A caption.", 180),
        *[Line(x.text, x.x0, x.y0 + 40, x.x1, x.y1 + 40, x.size) for x in BODY],
    ]
    assert labels(lines, first=False) == [("SectionHeader", 1), ("Code", 3), ("Caption", 1), ("Text", 9)]


def test_each_hanging_entry_of_a_reference_list_is_a_block() -> None:
    lines, y = [line("References", 100, 12, bold=1)], 130
    for number in range(5):
        lines += [
            line(f"Agresti A (200{number}). A title that is long enough to go on", y),
            line("to a second line.", y + 12, x=80),
        ]
        y += 24
    assert labels(lines, first=False) == [("SectionHeader", 1), *[("Text", 2)] * 5]


def test_bold_words_inside_an_entry_are_no_heading() -> None:
    entry = [("Wuertz D (2016). Rmetrics. R packages fArma,", 70, 0), ("fBasics, fCalendar, fCopulae", 80, 1)]
    lines = [line("References", 100, 12, bold=1)]
    lines += [line(text, 130 + 12 * n, x=x, bold=bold) for n, (text, x, bold) in enumerate(entry * 3)]
    assert labels(lines, first=False) == [("SectionHeader", 1), *[("Text", 2)] * 3]


def test_an_entry_that_opens_a_page_is_kept_apart_from_the_last_of_the_page_before() -> None:
    first, second = "Agresti A (2002). A title that is long enough to go on", "to a second line."
    entry = [(first, 70), (second, 80)]
    lines = [line(text, 130 + 12 * n, x=x) for n, (text, x) in enumerate(entry * 3)]
    heading = [
        *BODY,
        line("References", 500, 12, bold=1),
        *[line(t, 530 + 12 * n, x=x) for n, (t, x) in enumerate(entry)],
    ]
    pages = [Page(595, 842, heading), Page(595, 842, lines), Page(595, 842, [line(second, 118, x=80), *lines])]
    whole, going_on = geometry.layout(pages)[1:]
    assert [box.label for box in whole] == ["Bibliography", "Text", "Text"]
    assert [box.label for box in going_on] == ["Text", "Text", "Text", "Text"]  # the rest of an entry may be joined


def test_running_heads_and_page_numbers_are_page_heads() -> None:
    pages = [Page(595, 842, [line(f"{n} The coin Package", 40), *BODY, line(str(n), 800)]) for n in (2, 3, 4)]
    for boxes in geometry.layout(pages):
        assert [box.label for box in boxes] == ["PageHeader", "Text", "PageFooter"]


class Span:
    """A span as Marker holds it."""

    def __init__(self, text: str) -> None:
        self.text = text


def mended(chars: list[tuple[str, float]], text: str) -> str:
    """A one-span line after mending; chars are given with their left edge and are 5 wide."""
    raw = [{"char": c, "bbox": [x, 0, x + 5, 10], "char_idx": i} for i, (c, x) in enumerate(chars)]
    spans = [Span(text)]
    line_of_spans = type("Out", (), {"spans": spans})()
    accents.mend({"blocks": [{"lines": [{"spans": [{"text": text, "chars": raw}]}]}]}, [line_of_spans])
    return spans[0].text


def test_accents_set_beside_their_letters_are_put_back() -> None:
    assert mended([("G", 0), ("r", 5), ("¨", 10), ("u", 10), ("n", 15)], "Gr¨un") == "Grün"
    assert mended([("G", 0), ("r", 5), ("u", 10), ("n", 15), ("¨", 10)], "Grun¨") == "Grün"
    assert mended([("x", 0), ("´", 50), ("y", 10)], "x´y") == "x´y"


def test_ligatures_that_became_control_characters_are_spelt_out() -> None:
    chars = [("m", 0), ("o", 5), ("d", 10), ("i", 15), ("\x1c", 20), ("e", 25), ("d", 30)]
    assert mended(chars, "modied") == "modified"


# The real converter


LIMITS = Limits(seconds=100, memory_gib=3, jobs=2)


@needs_converter
@pytest.mark.slow
def test_the_real_converter_survives_each_kind_of_bad_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(conversion.PYTHON_VARIABLE, str(BUILT))
    good = small_pdfs.article()
    files = {
        "corrupt": good[:300] + b"\0" * 500,
        "encrypted": small_pdfs.encrypted(),
        "html": b"<!doctype html><title>Buy</title>",
        "long": small_pdfs.article(2000),
        "endless": small_pdfs.endless(),
        "swelling": small_pdfs.swelling(),
        "good": good,
    }
    snap = snapshot_of(tmp_path / "s", files)
    records = {r["id"]: r for r in convert(snap, tmp_path / "c", LIMITS, lambda line: None)}
    assert {name: record["status"] for name, record in records.items()} == {
        **dict.fromkeys(files, "failed"),
        "good": "converted",
    }
    assert records["corrupt"]["reason"].startswith("damaged PDF")
    assert records["encrypted"]["reason"] == "encrypted: a password is needed"
    assert records["html"]["reason"].startswith("not a PDF")
    assert records["long"]["reason"] == "too many pages: 2000, the limit is 200"
    assert records["endless"]["reason"] == "time: not done within 100 s"
    assert "memory over the limit of 3 GiB" in records["swelling"]["reason"]
    assert records["good"]["pages"] == 1 and records["good"]["layout"] == "geometry"
    text = (tmp_path / "c" / "good.md").read_text(encoding="utf-8")
    assert "# A Small Article for Conversion\n\nTorsten Hothorn and Bettina Example\n" in text


@needs_converter
@pytest.mark.slow
def test_memory_over_the_limit_is_a_reason(tmp_path: Path) -> None:
    pdf = tmp_path / "a.pdf"
    pdf.write_bytes(small_pdfs.article())
    outcome = run_marker(BUILT, pdf, tmp_path / "a.md", Limits(memory_gib=0.4))
    assert "memory over the limit of 0.4 GiB" in outcome["error"]


def quick_snapshot(folder: Path) -> snapshot.Snapshot:
    """The quick corpus: from a run that has it, or fetched anew."""
    done = ROOT / "results" / "corpus" / "vignettes-quick" / "snapshot"
    if snapshot.exists(done):
        shutil.copytree(done, folder)
        return snapshot.read(folder)
    import yaml

    corpora = ROOT / "config" / "corpora"
    settings: dict[str, Any] = yaml.safe_load((corpora / "vignettes.yaml").read_text(encoding="utf-8"))
    settings |= {"subset": settings["subsets"]["quick"], "mirror": os.environ.get("LONGTREK_DEBIAN_MIRROR")}
    try:
        source = source_of(settings, corpora, folder / "fetched", lambda line: None)
        return snapshot.freeze(source, "quick", settings, folder, lambda line: None)
    except LongtrekError as error:
        pytest.skip(f"the quick corpus is not to be had: {error}")


@needs_converter
@pytest.mark.slow
def test_the_quick_corpus_converts_whole_with_titles_authors_and_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(conversion.PYTHON_VARIABLE, str(BUILT))
    snap = quick_snapshot(tmp_path / "s")
    records = convert(snap, tmp_path / "c", Limits(jobs=2, seconds=600), tell)
    assert [record["reason"] for record in records] == [None] * len(snap.articles)
    assert len(records) >= 12
    with_references = 0
    for article in snap.articles:
        text = (tmp_path / "c" / f"{article.id}.md").read_text(encoding="utf-8")
        page = metadata.first_page(text)
        assert metadata.title_found(article.title, page), article.id
        assert metadata.authors_found(article.authors, page) == [], article.id
        with_references += len(metadata.reference_list(text) or ()) >= 5
    assert with_references >= len(records) - 1
    assert json.loads((tmp_path / "c" / f"{records[0]['id']}.json").read_text())["version"] == "2.0.0"
