"""Table 12 of SciTrek: questions that people wrote for other benchmarks, and the operations that they need."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import by_row
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table

READS = ()
CAPTION = (
    "Questions that experts wrote for OpenScholar (OS), LongBench v2 (LB) and Loong (LG), in our words, and the "
    "operations of Table 3 that the paper finds in each."
)
SOURCES = {"OS": "OpenScholar", "LB": "LongBench v2", "LG": "Loong"}


def make(run: SciTrekRun) -> Table:
    """The paper's reading of the five questions; their wording is not repeated."""
    values = published.read("scitrek_table_12", run.published)
    rows = []
    for index, cells in by_row(values).items():
        asks, _, why = next(iter(cells.values())).note.removeprefix("asks: ").partition("; why: ")
        needed = ", ".join(operation for operation, value in cells.items() if value.value)
        rows.append((index, SOURCES[index.rsplit("-", 1)[1]], asks, needed, why))
    notes = (
        "As the paper reads them; nothing here is measured. The questions' own wording is in the paper.",
        f"Run: {run.kind}.",
    )
    header = ("Index", "Benchmark", "Asks", "Operations", "Why")
    return Table("scitrek_table_12", CAPTION, header, tuple(rows), notes, "llppp")
