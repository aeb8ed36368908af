"""Every figure and table by name, found from the files, and how one is written."""

import csv
import importlib
import io
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from longtrek.analysis import figures, tables
from longtrek.errors import LongtrekError
from longtrek.files import atomic, write_text

if TYPE_CHECKING:  # names are listed without matplotlib and DuckDB
    from longtrek.analysis.run import Run
    from longtrek.analysis.scitrek_run import SciTrekRun
    from longtrek.analysis.typeset import Table


def _names(package: ModuleType) -> tuple[str, ...]:
    found = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return tuple(sorted(found, key=lambda name: (name.rsplit("_", 1)[0], int(name.rsplit("_", 1)[1]))))


FIGURES = _names(figures)
"""Names of the figures, one file each: `transduction_figure_2`."""
TABLES = _names(tables)
"""Names of the tables, one file each: `transduction_table_1`."""
FIGURE_SUFFIXES = (".pdf", ".svg", ".png", ".csv")
"""What a figure is written as; the CSV holds what it shows as numbers."""
TABLE_SUFFIXES = (".csv", ".md", ".tex", ".html")
"""What a table is written as; the HTML is the form that Snakemake's report opens."""


def caption(name: str) -> str:
    """A figure's or table's caption, in our words."""
    text: str = module(name).CAPTION
    return text


def paper(name: str) -> str:
    """The paper that an artifact is of: `transduction` or `scitrek`."""
    return name.partition("_")[0]


def reads(name: str) -> tuple[str, ...]:
    """What an artifact reads of the run, or nothing.

    Long-Transduction: `documents`, `records`. SciTrek: `scitrek` and `baseline` (scores), `questions` (with the records
    of drafts), `collections` (with the articles), and where there are any: `model_writer` (a model's tries beside the
    grammar), `annotations` (people's answers).
    """
    found: tuple[str, ...] = module(name).READS
    return found


def module(name: str) -> Any:
    """The program of a figure or table.

    Raises:
        LongtrekError: there is none of that name; the message lists those there are.
    """
    for package, names in ((figures, FIGURES), (tables, TABLES)):
        if name in names:
            return importlib.import_module(f"{package.__name__}.{name}")
    raise LongtrekError(f"no figure or table {name!r}; there are: {', '.join((*FIGURES, *TABLES))}")


def write_figure(name: str, run: "Run | SciTrekRun", out: Path) -> list[Path]:
    """Draw a figure as PDF, SVG, PNG (300 dpi) and CSV of what it shows; the same run gives the same bytes."""
    from longtrek.analysis.style import page

    program = module(name)
    with page():
        figure = program.draw(run)
        files = []
        for suffix in FIGURE_SUFFIXES[:-1]:
            path = out / f"{name}{suffix}"
            with atomic(path) as stream:
                figure.savefig(stream, format=suffix[1:], dpi=300, metadata=_metadata(suffix, name, program.CAPTION))
            files.append(path)
    files.append(out / f"{name}.csv")
    write_text(files[-1], csv_text(program.numbers(run)))
    return files


def write_table(name: str, run: "Run | SciTrekRun", out: Path) -> list[Path]:
    """Write a table as CSV, Markdown, LaTeX (booktabs) and HTML; the same run gives the same bytes."""
    from longtrek.analysis.typeset import html, latex, markdown

    table: Table = module(name).make(run)
    texts = {
        ".csv": csv_text(dict(zip(table.header, row, strict=True)) for row in table.rows),
        ".md": markdown(table),
        ".tex": latex(table),
        ".html": html(table),
    }
    for suffix, text in texts.items():
        write_text(out / f"{name}{suffix}", text)
    return [out / f"{name}{suffix}" for suffix in TABLE_SUFFIXES]


def csv_text(rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV with a header; None is empty, fractions have six places, line ends are LF."""
    found: Sequence[Mapping[str, object]] = list(rows)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if found:
        writer.writerow(found[0])
    for row in found:
        writer.writerow(f"{value:.6f}" if isinstance(value, float) else value for value in row.values())
    return stream.getvalue()


def _metadata(suffix: str, name: str, text: str) -> dict[str, Any]:
    """A title and a description, and no date, so that bytes depend on the run alone."""
    match suffix:
        case ".pdf":
            return {"Title": name, "Subject": text, "Creator": "longtrek", "Producer": None, "CreationDate": None}
        case ".svg":
            return {"Title": name, "Description": text, "Creator": "longtrek", "Date": None}
        case _:
            return {"Title": name, "Description": text, "Software": None}
