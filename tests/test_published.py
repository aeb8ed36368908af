"""The papers' numbers as data: files have their shape, tables all their cells, and no number of a paper is left out."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from longtrek.analysis import published
from longtrek.analysis.artifacts import FIGURES, TABLES
from longtrek.analysis.published import Published
from longtrek.errors import LongtrekError
from longtrek.paths import ROOT, shipped

FOLDER = shipped("config/published")
FILES = sorted(FOLDER.glob("*.csv"))
PAPERS = ROOT / "../shared/papers"
LONG_TRANSDUCTION, SCITREK = PAPERS / "long-transduction.txt", PAPERS / "scitrek.txt"
beside = pytest.mark.skipif(not SCITREK.exists(), reason="the papers' texts are not beside this tree")

SETTINGS = {
    "axis", "baseline", "benchmark", "change", "context", "corpus", "difficulty", "family", "format", "from", "horizon",
    "level", "measure", "operator", "over", "pattern", "post", "skill", "subject", "subset", "to", "topic", "type",
}  # fmt: skip
SHAPES = {
    "scitrek_table_1": (6, 11),
    "scitrek_table_2": (16, 96),
    "scitrek_table_3": (6, 28),
    "scitrek_table_4": (6, 6),
    "scitrek_table_5": (4, 16),
    "scitrek_table_6": (7, 14),
    "scitrek_table_7": (14, 140),
    "scitrek_table_8": (13, 52),
    "scitrek_table_9": (4, 70),
    "scitrek_table_10": (4, 48),
    "scitrek_table_11": (3, 15),
    "scitrek_table_12": (5, 30),
    "scitrek_table_13": (3, 12),
    "scitrek_table_14": (29, 58),
    "scitrek_table_15": (13, 68),
    "scitrek_table_16": (14, 140),
    "scitrek_table_17": (15, 180),
    "scitrek_table_18": (15, 75),
    "transduction_table_1": (4, 24),
    "transduction_table_2": (8, 22),
    "transduction_figure_8": (12, 96),
}
"""Rows and cells of the papers' tables: with models printed three times for three ways of training, one row."""
GRID = [f"{letter}-{size}" for letter in "FD" for size in (64, 128, 512, 1024)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_has_the_columns_and_says_of_every_cell_what_it_means(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, strict=True))
    assert rows and tuple(rows[0]) == published.COLUMNS
    assert b"\r" not in path.read_bytes()
    for row, value in zip(rows, published.read(path.stem), strict=True):
        assert None not in row and all(text == text.strip() for text in row.values())
        assert set(value.setting) <= SETTINGS
        assert value.paper == ("scitrek" if path.stem.startswith("scitrek") else "long-transduction")
        assert row["value"] in published.MARKS or float(row["value"]) == value.value
        assert value.digits == len(row["value"].partition(".")[2]) * (value.mark is None)
    places = Counter(
        (value.place, value.row, value.column, value.model, *value.setting.items())
        for value in published.read(path.stem)
    )
    assert max(places.values()) == 1, "a number stands there twice"


def test_there_is_a_file_for_every_figure_and_table_with_numbers() -> None:
    pictures = {"transduction_figure_1", *(f"scitrek_figure_{number}" for number in range(3, 9))}
    named = {path.stem for path in FILES}
    assert named == {*FIGURES, *TABLES, "transduction_text", "scitrek_text"} - pictures


@pytest.mark.parametrize("name", SHAPES)
def test_every_table_is_there_with_all_its_cells(name: str) -> None:
    values = published.read(name)
    assert (len({value.row for value in values}), len(values)) == SHAPES[name]


@pytest.mark.parametrize("name", ["scitrek_table_7", "scitrek_table_16"])
def test_the_two_large_tables_have_fourteen_rows_of_eight_scores(name: str) -> None:
    rows: dict[str, dict[str, Published]] = {}
    for value in published.read(name):
        if value.column in GRID:
            rows.setdefault(value.row, {})[value.column] = value
    assert len(rows) == 14 and all(list(cells) == GRID for cells in rows.values())
    stars = {(row, column) for row, cells in rows.items() for column in cells if cells[column].mark == "too_costly"}
    assert stars == {("Gemini 2.5 Pro", "F-512"), ("Gemini 2.5 Pro", "F-1024")}
    dashes = Counter(row for row, cells in rows.items() for cell in cells.values() if cell.mark == "does_not_fit")
    assert len(dashes) == 8 and set(dashes.values()) == {2}
    windows = {
        value.model: value.value or 0 for value in published.read("scitrek_table_15") if "Context" in value.column
    }
    for row, cells in rows.items():
        if row in dashes:
            assert {column for column in cells if cells[column].mark} == {"F-512", "F-1024"}
            assert windows[cells["F-64"].model] < 512 * 1024, "a dash means that the context does not fit"


def test_marks_stand_for_what_the_papers_do_not_show_and_nothing_else() -> None:
    marks = {path.stem: Counter(value.mark for value in published.read(path.stem) if value.mark) for path in FILES}
    for name, found in marks.items():
        drawn = "_figure_" in name or name in ("transduction_table_1", "transduction_table_2")
        assert drawn or "lost" not in found, f"{name}: only pixels and the tables without text are lost"
    assert marks["transduction_figure_8"] == {"lost": 84, "missing": 12}
    assert marks["scitrek_table_1"] == {"text": 1}


def test_a_number_keeps_the_places_to_which_it_is_printed(tmp_path: Path) -> None:
    head = ",".join(published.COLUMNS)
    (tmp_path / "some.csv").write_text(f"{head}\nscitrek,Table 1,a,b,,,42.0,%,\nscitrek,Table 1,a,c,,,lost,%,gone\n")
    assert [value.digits for value in published.read("some", tmp_path)] == [1, 0]
    (tmp_path / "none.csv").write_text(f"{head}\nscitrek,Table 1,a,b,,,about 42,%,\n")
    with pytest.raises(LongtrekError, match=r"none\.csv, line 2.*a number or one of"):
        published.read("none", tmp_path)


WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "twelve": 12, "zero": 0}
NUMBER = re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)")
LEFT_OUT = {
    r"\[[^\]]*\]\(https?://[^)]*\)": "links: citations, and the numbers of figures, tables and sections",
    r"!\S*\.png\)": "a picture's file name",
    r"(?:12|4)times \d.*?=1\{,\}440": "a product that is written a second time, in TeX",
    r"Nemotron 3\b|Qwen3\.5|Olmo 3\.1|Qwen-\d+B": "names of models; what they say of sizes stands in Section 3",
    r"\b(?=\w*[a-f])[0-9a-f]{8}\b|\b01234567|\b[0-9a-f]{3}(?==)": "the worked examples' identifiers and keys",
    r"(?<=\[\d\])\d[+-][\d+-]*": "the worked examples' sums; their results are kept",
    r"\[\d\]|\[[RC]\d\]|\b[an]0\b": "labels of records, rows, columns and keys",
    r"(?m)^\d\. \d\.": "numbers of a list's items",
    r"localized zero": "a score of nothing",
}
"""What is no number of Long-Transduction's, and why; taken out before the rest is looked up."""


def places(paper: str) -> Iterator[tuple[str, str]]:
    """The paper cut into sections and captions: the section, and the text with what is left out taken out."""
    text = paper.replace("\\", "")
    for pattern in LEFT_OUT:
        text = re.sub(pattern, " ", text)
    body, appendix = text.partition("###### Abstract")[2].partition("## References")[::2]
    whole = "## Abstract" + body + "## Appendix A" + appendix.partition("## Appendix A")[2]
    cut = re.split(r"(?m)^#+ (Abstract|\d(?=[A-Z])|Appendix [A-E])", whole)[1:]
    for name, words in zip(cut[::2], cut[1::2], strict=True):
        yield (f"Section {name}" if name.isdigit() else name), words


@beside
def test_every_number_of_long_transduction_is_kept_where_it_stands() -> None:
    kept: dict[str, set[float]] = {}
    for path in FILES:
        for value in published.read(path.stem) if path.stem.startswith("transduction") else ():
            spots = kept.setdefault(re.sub(r"(?<=\d)[a-l]$", "", value.place), set())
            spots |= {value.value} if value.value is not None else set()
            spots |= {
                int(value.setting[key]) / 1024
                for key in ("horizon", "from", "to")
                if value.setting.get(key, "").isdigit()
            }
    found = list(places(LONG_TRANSDUCTION.read_text(encoding="utf-8")))
    assert [place for place, _ in found] == [
        "Abstract", *(f"Section {number}" for number in range(1, 6)), *(f"Appendix {letter}" for letter in "ABCDE"),
    ]  # fmt: skip
    absent, seen = [], 0
    for place, words in found:
        captions = re.findall(r"(?:Figure|Table) \d(?=:)", words)
        there = set().union(*(kept.get(one, set()) for one in (place, *captions)))
        words = re.sub(r"(?:Figure|Table) \d:", " ", words)
        numbers = [(match, float(match[1].replace(",", ""))) for match in NUMBER.finditer(words)]
        numbers += [(match, WORDS[match[0].lower()]) for match in re.finditer(rf"(?i)\b({'|'.join(WORDS)})\b", words)]
        seen += len(numbers)
        absent += [
            (place, words[max(0, match.start() - 30) : match.end() + 20])
            for match, number in numbers
            if number not in there
        ]
    assert absent == []
    assert seen > 150, "the paper has many more numbers than that: the reading of its text is broken"


@beside
def test_every_number_of_scitrek_is_kept() -> None:
    kept = {12345.0: "an example question's own number"} | {256.0: "Ctx of 256K, kept as its 262,144 tokens"}
    for path in FILES:
        for value in published.read(path.stem) if path.stem.startswith("scitrek") else ():
            kept |= {abs(value.value): ""} if value.value is not None else {}
    text = SCITREK.read_text(encoding="utf-8").replace("\\", "")
    body, appendix = text.partition("\nReferences\n")[::2]
    words = body + appendix.partition("\nAppendix A ")[2]
    words = re.sub(r"(?<=[A-Za-z.,;]) ?\(?(?:19|20)\d\d[a-c]?\)?", " ", words)  # years of citations
    found = [
        (match, float(match[1].replace(",", "")))
        for match in re.finditer(NUMBER.pattern.replace(r"[\w.]", r"[\w.-]"), words)
    ]
    assert [words[max(0, match.start() - 30) : match.end() + 20] for match, number in found if number not in kept] == []
    assert len(found) > 900


def number(name: str, row: str, column: str, **setting: str) -> float:
    (found,) = [
        value.value
        for value in published.read(name)
        if (value.row, value.column) == (row, column)
        and all(value.setting.get(key) == wanted for key, wanted in setting.items())
    ]
    assert found is not None
    return found


def test_the_papers_rankings_are_those_of_their_tables() -> None:
    def ranked(name: str, column: str) -> list[str]:
        scores = {
            value.row: value.value
            for value in published.read(name)
            if value.column == column and value.value is not None
        }
        return sorted((row for row in scores if "SQL" not in row), key=lambda row: -scores[row])

    assert ranked("scitrek_table_7", "F-128")[:4] == [
        "o4-mini", "Qwen3-30B-A3B-Thinking-2507", "Qwen3-4B-Thinking-2507", "Gemini 2.5 Pro",
    ]  # fmt: skip
    assert number("scitrek_table_7", "o4-mini", "F-128") == number("scitrek_text", "best exact match", "128K") == 46.5
    thinking = {value.row for value in published.read("scitrek_table_15") if value.column == "Think" and value.value}
    assert set(ranked("scitrek_table_7", "D-1024")[:5]) == thinking, "with tables at 1M the five that think lead"
    pairs = {
        value.model: value.value
        for value in published.read("transduction_figure_2")
        if value.column == "128K" and value.value
    }
    assert sorted(pairs, key=lambda model: -pairs[model])[:3] == [
        "DeepSeek-V4-Flash",
        "Qwen3.5-122B-A10B",
        "Qwen3.5-35B-A3B",
    ]
    assert sum(value.value or 0 for value in published.read("scitrek_table_4")) == 387
    tests = [number("scitrek_table_5", level, "#Samples") for level in ("64K", "128K", "512K", "1M")]
    assert tests == [112, 728, 667, 614] and sum(tests) == number("scitrek_text", "test set", "count") == 2121


def test_a_file_of_published_values_that_was_cut_is_told(tmp_path: Path) -> None:
    whole = (shipped("config/published") / "scitrek_table_7.csv").read_bytes()
    path = tmp_path / "scitrek_table_7.csv"
    for content, said in (
        (whole[: len(whole) // 2 - 3], "cells; expected 9|no end|not CSV"),
        (whole[:-1], "the last line has no end"),
        (whole[: whole.index(b"\n") + 1], "no rows"),
        (b"", "empty"),
        (whole.replace(b",note", b"", 1), "cells; expected 8"),
        (whole + b"\xe9\n", "not UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(LongtrekError, match=said):
            published.read("scitrek_table_7", tmp_path)
