"""Table 7 of SciTrek: exact match by context and level."""

from longtrek.analysis import scitrek_grid
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table

READS = ("scitrek", "baseline")
CAPTION = (
    "Exact match (%) by context and level, for the SQL-execution baseline (top), open-weight and proprietary models. "
    "F: full-text articles, D: the database tables of the same collections, of up to 64K, 128K, 512K and 1M tokens. "
    "Ctx is the longest input in tokens; Think marks models that reason before they answer."
)


def make(run: SciTrekRun) -> Table:
    """The paper's rows in its order, each with ours under it, then other models that were run."""
    return scitrek_grid.make("scitrek_table_7", CAPTION, run, 0)
