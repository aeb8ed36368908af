"""Table 3 of SciTrek: the SQL commands and operators that queries are made of."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import by_row
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table
from longtrek.scitrek.questions.templates import templates
from longtrek.scitrek.sql.operators import operator_distribution

READS = ()
CAPTION = (
    "The SQL commands and operators that queries are made of, and how many of this kit's templates use each. Counted "
    "as whole words and signs."
)


def make(run: SciTrekRun) -> Table:
    """The paper's rows, each command with the number of templates that use it."""
    values = published.read("scitrek_table_3", run.published)
    queries = [template.sql for template in templates()]
    shares = operator_distribution(queries, "tokens")
    rows = [
        (
            next(iter(cells.values())).note,
            group,
            ", ".join(cells),
            ", ".join(f"{command} {round(shares[command] * len(queries) / 100)}" for command in cells),
        )
        for group, cells in by_row(values).items()
    ]
    notes = (f"Counted over all {len(queries)} templates; no model's answers enter. Run: {run.kind}.",)
    return Table("scitrek_table_3", CAPTION, ("Kind", "Group", "published", "in templates"), tuple(rows), notes, "llpp")
