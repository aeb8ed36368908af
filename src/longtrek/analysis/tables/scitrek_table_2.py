"""Table 2 of SciTrek: datasets for long contexts."""

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_cells import by_row, tick
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table
from longtrek.scitrek.analyses import LEVELS

READS = ("collections",)
CAPTION = (
    "Datasets that evaluate or train models on long contexts. N-Ctx: contexts occur naturally; Numerical: numerical "
    "reasoning over long contexts; Scalable: grows with little human work; Length: longest input in tokens; Use: "
    "evaluation (E), training (T)."
)


def make(run: SciTrekRun) -> Table:
    """The paper's facts; of this run only its own longest level can be told."""
    values = published.read("scitrek_table_2", run.published)
    rows = [
        (name, tick(cells["N-Ctx"]), tick(cells["Numerical"]), tick(cells["Scalable"]), _length(cells), _use(cells))
        for name, cells in by_row(values).items()
    ]
    longest = max((row["level"] for row in run.collections), key=LEVELS.index, default="none yet")
    notes = (
        "As published (2026); nothing here is measured. The paper's column of example questions, which quotes the "
        "datasets, is left out.",
        "∗: the length of the retrieved text, as the full articles are not available.",
        f"Longest level of this run's collections: {longest}. Run: {run.kind}.",
    )
    header = ("Dataset", "N-Ctx", "Numerical", "Scalable", "Length", "Use")
    return Table("scitrek_table_2", CAPTION, header, tuple(rows), notes, "lcccrl")


def _length(cells: dict[str, Published]) -> str:
    printed = cells["Length"].note.removeprefix("printed as ").split(";")[0]
    return printed + ("∗" if "starred" in cells["Length"].note else "")


def _use(cells: dict[str, Published]) -> str:
    return ", ".join(letter for letter, column in (("E", "evaluation"), ("T", "training")) if cells[column].value)
