"""Table 10 of SciTrek: what post-training on SciTrek does to other benchmarks."""

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_cells import notes_on, theirs
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.scitrek_words import POST
from longtrek.analysis.typeset import Table

READS = ()
CAPTION = (
    "LongBench v2 (accuracy, %) and Loong (quality of answers as a model judges it, 1 to 100), zero-shot and after "
    "post-training on SciTrek, as published; in brackets the change against the same model zero-shot, recomputed."
)
BENCHMARKS = {
    "longbench_v2": "LongBench v2",
    "loong_academic": "Loong-Academic",
    "loong_financial": "Loong-Financial",
}


def make(run: SciTrekRun) -> Table:
    """The published numbers, with each change computed from them and compared with the printed one."""
    values = published.read("scitrek_table_10", run.published)
    scores = {
        (value.row, value.setting["post"], value.setting["benchmark"]): value
        for value in values
        if "change" not in value.setting
    }
    named = dict.fromkeys((row, post) for row, post, _ in scores)
    rows = [(row, POST[post], *(_cell(scores, row, post, one) for one in BENCHMARKS)) for row, post in named]
    changes = [value for value in values if "change" in value.setting]
    wrong = [value for value in changes if value.value != change(scores, value)]
    notes = (
        "Not run: it takes the post-trained models of Table 9, the two benchmarks (503, 119 and 309 questions, of up "
        "to 128K tokens) and GPT-5 mini as the judge.",
        f"Changes that the paper prints: {len(changes)}; recomputed as printed: {len(changes) - len(wrong)}.",
        *notes_on(values),
        f"Run: {run.kind}.",
    )
    header = ("Model", "Post-training", *BENCHMARKS.values())
    return Table("scitrek_table_10", CAPTION, header, tuple(rows), notes, "llrrr")


Scores = dict[tuple[str, str, str], Published]


def change(scores: Scores, value: Published) -> float | None:
    """The change that a printed one should be: the score less the same model's zero-shot score."""
    return _difference(scores, value.row, value.setting["post"], value.setting["benchmark"])


def _difference(scores: Scores, row: str, post: str, benchmark: str) -> float | None:
    now, before = scores[row, post, benchmark].value, scores[row, "zero-shot", benchmark].value
    return None if now is None or before is None else round(now - before, 1)


def _cell(scores: Scores, row: str, post: str, benchmark: str) -> str:
    difference = _difference(scores, row, post, benchmark)
    after = "" if post == "zero-shot" or difference is None else f" ({difference:+.1f})".replace("-", "−")
    return theirs(scores[row, post, benchmark]) + after
