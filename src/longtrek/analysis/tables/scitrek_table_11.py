"""Table 11 of SciTrek: three corpora for post-training."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import by_row, notes_on, theirs
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table

READS = ()
CAPTION = (
    "Qwen3-4B-Instruct after one epoch of GRPO on each of three corpora, as published: LongBench v2 (accuracy, %), "
    "Loong (1 to 100, judged by a model) and SciTrek (exact match, %; at most 128K tokens)."
)
COLUMNS = ("LongBench v2", "Loong-Academic", "Loong-Financial", "SciTrek")


def make(run: SciTrekRun) -> Table:
    """The published numbers, and the size of SciTrek's corpus against the others'."""
    values = published.read("scitrek_table_11", run.published)
    printed = by_row(values)
    size = {corpus: cells["#Samples"].value or 0 for corpus, cells in printed.items()}
    rows = [
        (corpus, f"{size[corpus]:,.0f}", *(theirs(cells[column]) for column in COLUMNS))
        for corpus, cells in printed.items()
    ]
    shares = [f"{100 * size['SciTrek'] / size[other]:.1f} % of {other}'s" for other in size if other != "SciTrek"]
    notes = (
        "Not run: it takes GRPO on each corpus (2,048 tokens a reply) and the benchmarks of Table 10.",
        f"SciTrek's samples are {' and '.join(shares)}; the paper says roughly a third.",
        *notes_on(values),
        f"Run: {run.kind}.",
    )
    return Table("scitrek_table_11", CAPTION, ("Post-training Corpus", "#Samples", *COLUMNS), tuple(rows), notes)
