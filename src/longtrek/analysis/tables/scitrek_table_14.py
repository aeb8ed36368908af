"""Table 14 of SciTrek: how many questions' queries use each SQL command and operator."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import NONE, by_row, notes_on, theirs
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table
from longtrek.scitrek.sql.operators import OPERATORS, operator_distribution

READS = ("questions",)
CAPTION = (
    "Questions whose SQL query uses each command and operator, in the order of the published counts. Letters: counted "
    "wherever a command's letters stand, which is how the published numbers come about; words: whole words and signs."
)
HEADER = (
    "Command/Operator", "letters", "letters (%)", "words", "words (%)", "published", "published (%)",
    "published, recomputed (%)",
)  # fmt: skip


def make(run: SciTrekRun) -> Table:
    """This run's questions without NULL answers, beside the published counts and their percentages recomputed."""
    values = published.read("scitrek_table_14", run.published)
    printed = by_row(values)
    total = printed["SELECT"]["Count"].value or 0
    queries = [row["sql"] for row in run.questions if not row["null"]]
    ways = [operator_distribution(queries, counting) for counting in ("text", "tokens")]
    rows = []
    for command in sorted(printed, key=OPERATORS.index):
        cells = printed[command]
        mine = [part for way in ways for part in _ours(way[command], len(queries))]
        again = f"{100 * (cells['Count'].value or 0) / total:.2f}"
        rows.append((command, *mine, theirs(cells["Count"], 0), theirs(cells["%"], 2), again))
    notes = (
        f"This run: {len(queries):,} questions; published: {total:,.0f} test questions. OR in ORDER BY, IN in MIN and "
        "DISTINCT, and < in <= are what letters count beyond words.",
        "Percentages need not add up to 100: a query uses several. Recomputed: the published count's share of all.",
        *notes_on(values),
        f"Computed from the questions; no model's answers enter. Run: {run.kind}.",
    )
    return Table("scitrek_table_14", CAPTION, HEADER, tuple(rows), notes)


def _ours(percent: float, total: int) -> tuple[str, str]:
    return (str(round(percent * total / 100)), f"{percent:.2f}") if total else (NONE, NONE)
