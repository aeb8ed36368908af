"""Table 16 of SciTrek: F1 by context and level."""

from longtrek.analysis import scitrek_grid
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table

READS = ("scitrek", "baseline")
CAPTION = (
    "F1 (%) by context and level, for the SQL-execution baseline (top), open-weight and proprietary models; rows and "
    "columns as in Table 7."
)


def make(run: SciTrekRun) -> Table:
    """The paper's rows in its order, each with ours under it, then other models that were run."""
    return scitrek_grid.make("scitrek_table_16", CAPTION, run, 1)
