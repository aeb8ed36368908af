"""Figure 1 of SciTrek: from articles to questions with verified answers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from longtrek.analysis import published
from longtrek.analysis.panels import write_footer
from longtrek.analysis.scitrek_run import Row, SciTrekRun
from longtrek.analysis.style import FAINT, INK, WIDTH, wrapped
from longtrek.scitrek.questions.templates import templates

READS = ("collections", "questions", "model_writer")
CAPTION = (
    "How SciTrek is made. I: articles are gathered and joined to collections of 64K to 1M tokens. II: a database of "
    "each collection's titles, authors and references answers SQL queries, which are filled-in templates. III: "
    "queries become questions, kept if the question, read back into SQL, gives the same result. Blue: what the dataset "
    "consists of. Dashed: in a run whose questions the grammar writes, what a model's tries at some of them came to."
)
HEIGHT = 3.3
BESIDE = 4.43
"""Inches across the second and third step."""
MODEL_WRITER = "model writer"
FATES = {
    "not JSON": "not in the form asked for",
    "no text in": "not in the form asked for",
    "half a character": "not in the form asked for",
    "the question names": "names ids, columns or tables",
    "the question speaks": "names ids, columns or tables",
    "the query read back is refused": "refused by the sandbox",
    "results differ": "another result",
    "request failed": "request failed",
}
"""How the reason of a try that was not kept begins, and what that is counted as."""
BLUE, PALE_BLUE = "#0072B2", "#E3F0F8"
STEPS = ("I  gather articles", "II  database and queries", "III  questions, verified")


@dataclass(frozen=True)
class Box:
    """A stage of the drawing: what it is, the row of published numbers it shows, and whether it is in the dataset."""

    step: int
    row: int
    title: str
    about: str
    kept: bool = False


BOXES = (
    Box(0, 0, "scientific articles", "PDF → Markdown, with metadata"),
    Box(0, 1, "collections", "random, or along citations", True),
    Box(1, 0, "databases of 3 tables", "titles, authors, references"),
    Box(1, 1, "SQL queries", "templates filled with its values"),
    Box(1, 2, "answers", "queries executed", True),
    Box(2, 0, "questions, as written", "query → plain English"),
    Box(2, 1, "round trip", "back to SQL: same result?"),
    Box(2, 2, "questions", "kept if it is the same", True),
)


def draw(run: SciTrekRun) -> Figure:
    """Draw the three steps with the published counts and this run's."""
    counts = {row["stage"]: row for row in numbers(run)}
    beside = _came_to(run, counts["round trip"]["published"])
    more = _beside_height(beside) + 0.07 if beside else 0.0
    figure = Figure(figsize=(WIDTH, HEIGHT + more))
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(-more, HEIGHT))
    axes.set_axis_off()
    axes.text(0.09, HEIGHT - 0.16, "From articles to verified questions", size=9, weight="bold", va="center")
    for step, name in enumerate(STEPS):
        axes.text(_x(step) + 1.0, HEIGHT - 0.42, name, size=8, weight="bold", ha="center", va="center")
    for box in BOXES:
        _draw_box(axes, box, counts.get(box.title))
    for step, row in ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1)):
        _arrow(axes, (_x(step) + 1.0, _y(row)), (_x(step) + 1.0, _y(row + 1) + 0.62))
    _arrow(axes, (_x(0) + 2.0, _y(1) + 0.31), (_x(1), _y(0) + 0.2))
    _arrow(axes, (_x(1) + 2.0, _y(1) + 0.4), (_x(2), _y(0) + 0.2))
    axes.text(_x(0) + 1.0, _y(2) + 0.31, "blue: context, question\nand answer of the dataset", size=7, color=BLUE,
              ha="center", va="center", style="italic")  # fmt: skip
    if beside:
        _draw_model_writer(axes, run, beside)
    said = "“Here” is this run." if run.articles else "This run has no SciTrek data yet."
    write_footer(figure, [f"A drawing with counts; no answers to questions are shown. {said} Run: {run.kind}."])
    return figure


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """Counts of each stage, published and of this run."""
    values = {value.row: value.value for value in published.read("scitrek_figure_1", run.published)}
    text = published.read("scitrek_text", run.published)
    made = sum(value.value or 0 for value in text if value.row in ("test set", "training set"))
    printed = sum(value.value or 0 for value in published.read("scitrek_table_4", run.published))
    kept = [row for row in run.questions if not row["null"]]
    tests = sum(row["split"] == "test" for row in kept) if run.questions else None
    drafts = len(run.drafts) or len(run.questions) or None
    grown = len(run.collections) or None
    return [
        _row("scientific articles", values["articles"], len(run.articles) or None, "articles"),
        _row("collections", values["collections"], grown, "collections"),
        _row("databases of 3 tables", values["collections"], grown, "databases"),
        _row("SQL queries", printed, len(templates()), "templates"),
        _row("answers", None, drafts, "queries executed"),
        _row("questions, as written", None, drafts, "queries said in English"),
        _row("round trip", values["pairs with a question"], _kept(run.drafts), "% kept"),
        _row("questions", values["test questions"], tests, "test questions"),
        _row("all questions", made, len(kept) if run.questions else None, "questions"),
        *_verdicts("", run.drafts),
        *(_model_writer(run, values["pairs with a question"]) if run.model_writer else []),
    ]


def _model_writer(run: SciTrekRun, paper: float | None) -> list[dict[str, object]]:
    """What the model writer's tries came to: how many queries became questions, and the fate of every try."""
    return [
        _row(MODEL_WRITER, paper, _kept(run.model_writer), "% kept"),
        _row(f"{MODEL_WRITER}, queries", None, len(run.model_writer), "queries"),
        *_verdicts(f"{MODEL_WRITER}, ", run.model_writer),
        *[
            _row(f"{MODEL_WRITER}, {kind}: {fate}", None, count, "tries")
            for kind, fates in _tries(run).items()
            for fate, count in sorted(fates.items())
        ],
    ]


def _tries(run: SciTrekRun) -> dict[str, Counter[str]]:
    """The fates of the model writer's tries: of questions, and of their readings back to SQL."""
    tries = [one for row in run.model_writer for one in row["tries"]]
    return {
        "questions tried": Counter(_fate(one["reason"], "read back") for one in tries if not one["reading"]),
        "readings": Counter(_fate(one["reason"], "the same result") for one in tries if one["reading"]),
    }


def _fate(reason: str, passed: str) -> str:
    return (
        passed
        if not reason
        else next((fate for start, fate in FATES.items() if reason.startswith(start)), "another reason")
    )


def _kept(drafts: Sequence[Row]) -> float | None:
    return 100 * sum(row["text"] is not None for row in drafts) / len(drafts) if drafts else None


def _verdicts(of: str, drafts: Sequence[Row]) -> list[dict[str, object]]:
    verdicts = Counter(row["verdict"] for row in drafts)
    return [_row(f"{of}verdict: {verdict}", None, count, "queries") for verdict, count in sorted(verdicts.items())]


def _row(stage: str, paper: float | None, here: float | None, unit: str) -> dict[str, object]:
    whole = [int(value) if value is not None and value == int(value) else value for value in (paper, here)]
    return {"stage": stage, "published": whole[0], "here": whole[1], "unit": unit}


def _x(step: int) -> float:
    return 0.12 + 2.43 * step


def _y(row: int) -> float:
    return HEIGHT - 1.2 - 0.82 * row


def _draw_box(axes: Any, box: Box, counts: dict[str, object] | None) -> None:
    x, y = _x(box.step), _y(box.row)
    edge, fill = (BLUE, PALE_BLUE) if box.kept else ("#888888", "white")
    shape = "round,pad=0,rounding_size=0.05"
    axes.add_patch(FancyBboxPatch((x, y), 2.0, 0.62, boxstyle=shape, fc=fill, ec=edge, lw=1.6 if box.kept else 0.8))
    axes.text(x + 1.0, y + 0.5, box.title, size=8, weight="bold", ha="center", va="center", color=INK)
    axes.text(x + 1.0, y + 0.32, box.about, size=6.5, ha="center", va="center", color=FAINT)
    if counts:
        axes.text(x + 1.0, y + 0.12, _words(counts), size=6.5, ha="center", va="center", color=INK)


def _came_to(run: SciTrekRun, paper: object) -> list[str]:
    """The lines that say what the model writer's tries came to; none where no model wrote beside the grammar."""
    if not run.model_writer:
        return []
    kept = sum(row["text"] is not None for row in run.model_writer)
    said = [f"{kept} of {len(run.model_writer)} queries became questions (paper: {_number(paper)} %)"]
    for kind, fates in _tries(run).items():
        came_to = ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))
        said.append(f"{fates.total()} {kind}{': ' if came_to else ''}{came_to}")
    return [line for text in said for line in wrapped(text, 6.5, BESIDE - 0.3)]


def _draw_model_writer(axes: Any, run: SciTrekRun, lines: Sequence[str]) -> None:
    """A box under the second and third step: what a model's tries at the same work came to."""
    height = _beside_height(lines)
    x, top = _x(1), _y(2) - 0.17
    shape = "round,pad=0,rounding_size=0.05"
    axes.add_patch(
        FancyBboxPatch((x, top - height), BESIDE, height, boxstyle=shape, fc="white", ec="#888888", ls=(0, (4, 2)))
    )
    title = f"beside the grammar, {run.label(run.model_writer_name) or 'a model'} writes"
    axes.text(x + BESIDE / 2, top - 0.13, title, size=8, weight="bold", ha="center", va="center", color=INK)
    for place, line in enumerate(lines):
        axes.text(x + BESIDE / 2, top - 0.32 - 0.17 * place, line, size=6.5, ha="center", va="center", color=INK)


def _beside_height(lines: Sequence[str]) -> float:
    return 0.27 + 0.17 * len(lines)


def _words(counts: dict[str, object]) -> str:
    here, paper = (_number(counts[name]) for name in ("here", "published"))
    unit = str(counts["unit"])
    sign = " %" if unit.startswith("%") else ""
    unit = unit.removeprefix("% ")
    printed = f"paper: {paper}{sign}, " if counts["published"] is not None else ""
    return f"{printed}here: {here}{sign if here != '–' else ''} {unit}"


def _number(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=10, color=FAINT, lw=1.2, shrinkA=0, shrinkB=0)
    axes.add_patch(arrow)
