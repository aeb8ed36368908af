"""The papers' figures and tables as the report shows them: copied beside the pages, captioned, in the papers' order."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longtrek.analysis.artifacts import FIGURE_SUFFIXES, FIGURES, TABLE_SUFFIXES, TABLES, caption, paper
from longtrek.csv_files import read_cells, read_text

IN_ORDER = {
    "transduction": "f1 f2 f3 f4 f5 t1 t2 f6 f7 f8 f9",
    "scitrek": "t1 t2 f1 t3 t4 t5 t6 t7 t8 f2 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 f3 f4 f5 f6 f7 f8",
}
"""Figures and tables as each paper's text brings them; what is not listed follows."""
FILES = "files"
"""Where the report keeps copies of figures and tables."""
MOST_ROWS = 400
"""Rows of a figure's numbers that stand on the page; the CSV holds all of them."""

_ALIGNED = {":--": "left", ":-:": "middle", "--:": "right"}


@dataclass(frozen=True)
class Grid:
    """Cells as they are printed, with a header and how each column is aligned (left, middle, right)."""

    header: tuple[str, ...]
    align: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0
    """Rows that are not shown."""


@dataclass(frozen=True)
class Exhibit:
    """A figure or table: its caption, the copies that the page links to, its cells; no files where it is not built."""

    name: str
    title: str
    kind: str
    caption: str
    files: tuple[str, ...]
    missing: tuple[str, ...]
    cells: Grid | None
    notes: tuple[str, ...]

    @property
    def image(self) -> str | None:
        """The figure's drawing, where there is one."""
        return next((file for file in self.files if file.endswith(".svg")), None)

    @property
    def target(self) -> str:
        """What `snakemake` is asked for to rebuild it alone, within the folder of results."""
        return f"figures/{self.name}.svg" if self.kind == "figure" else f"tables/{self.name}.csv"


def exhibits(results: Path, folder: Path, papers: Sequence[str]) -> dict[str, list[Exhibit]]:
    """Copy every figure and table of the run's papers into the report; those that are not built are listed as such.

    Args:
        results: the run's folder.
        folder: the report's folder.
        papers: `transduction`, `scitrek`.

    Raises:
        LongtrekError: a table's or figure's numbers are no CSV, or its Markdown no text.
    """
    (folder / FILES).mkdir()
    return {one: [_exhibit(name, results, folder) for name in _ordered(one)] for one in papers}


def place_of(words: str, of: str) -> str | None:
    """The figure or table that a place in a paper names (`Table 7, row 3`, `Figure 2a`), or None."""
    match = re.search(r"\b(Table|Figure)\s+(\d+)", words)
    name = f"{of}_{match[1].lower()}_{match[2]}" if match else ""
    return name if name in FIGURES or name in TABLES else None


def _ordered(of: str) -> list[str]:
    kinds = {"f": "figure", "t": "table"}
    listed = [f"{of}_{kinds[one[0]]}_{one[1:]}" for one in IN_ORDER[of].split()]
    known = [name for name in (*FIGURES, *TABLES) if paper(name) == of]
    return [name for name in listed if name in known] + [name for name in known if name not in listed]


def _exhibit(name: str, results: Path, folder: Path) -> Exhibit:
    kind = "figure" if name in FIGURES else "table"
    suffixes = FIGURE_SUFFIXES if kind == "figure" else TABLE_SUFFIXES
    files, missing = [], []
    for suffix in suffixes:
        source = results / f"{kind}s" / f"{name}{suffix}"
        if source.is_file():
            shutil.copyfile(source, folder / FILES / source.name)
            files.append(f"{FILES}/{source.name}")
        else:
            missing.append(suffix)
    cells, notes = _cells(results / f"{kind}s" / name, kind) if ".csv" not in missing else (None, ())
    return Exhibit(
        name=name,
        title=f"{kind.capitalize()} {name.rsplit('_', 1)[1]}",
        kind=kind,
        caption=caption(name),
        files=tuple(files),
        missing=tuple(missing),
        cells=cells,
        notes=notes,
    )


def _cells(stem: Path, kind: str) -> tuple[Grid, tuple[str, ...]]:
    header, lines = read_cells(stem.with_suffix(".csv"))
    rest = [row for _, row in lines]
    markdown = stem.with_suffix(".md")
    align, notes = _typeset(markdown) if kind == "table" and markdown.is_file() else ((), ())
    if len(align) != len(header):
        columns = ([row[place] for row in rest] for place in range(len(header)))
        align = tuple("right" if _numeric(column) else "left" for column in columns)
    shown = rest if kind == "table" else rest[:MOST_ROWS]
    return Grid(tuple(header), align, tuple(map(tuple, shown)), len(rest) - len(shown)), notes


def _typeset(markdown: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How a table's columns are aligned and the notes under it, as its Markdown says."""
    lines = read_text(markdown, "the table in Markdown").splitlines()
    piped = [place for place, line in enumerate(lines) if line.startswith("| ")]
    if len(piped) < 2:
        return (), ()
    rules = lines[piped[1]].strip("| ").split(" | ")
    notes = [line.strip() for line in lines[piped[-1] + 1 :] if line.strip()]
    return tuple(_ALIGNED.get(rule, "left") for rule in rules), tuple(notes)


def _numeric(column: Sequence[str]) -> bool:
    return all(re.fullmatch(r"[-−+]?[\d.,]*%?", cell) for cell in column)
