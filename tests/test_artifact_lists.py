"""The quick run builds every figure and table of both papers, in every form, and nothing else of their kind."""

import re
from pathlib import Path

from conftest import Run
from longtrek.paths import ROOT

FIGURES = {"scitrek": 8, "transduction": 9}
TABLES = {"scitrek": 18, "transduction": 2}


def listed(kind: str, counts: dict[str, int], suffixes: tuple[str, ...]) -> set[str]:
    """The files of a paper's figures or tables, by the papers' own numbers."""
    names = [f"{paper}_{kind}_{number}" for paper, count in counts.items() for number in range(1, count + 1)]
    return {f"results/{kind}s/{name}{suffix}" for name in names for suffix in suffixes}


def test_the_quick_run_builds_the_papers_figures_and_tables(tmp_path: Path) -> None:
    said = Run(tmp_path).snakemake("--dry-run", config=ROOT / "config" / "quick.yaml")
    made = re.findall(r"Missing output files: ([^;\n]*)", said)
    built = {
        file for files in made for file in files.split(", ") if file.startswith(("results/figures", "results/tables"))
    }
    figures = listed("figure", FIGURES, (".pdf", ".svg", ".png", ".csv"))
    assert built == figures | listed("table", TABLES, (".csv", ".md", ".tex", ".html"))
    assert len(figures) == 17 * 4
