"""The grid of SciTrek's Tables 7 and 16: models by context and level."""

from collections.abc import Mapping

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_cells import (
    EMPTY,
    FOUR,
    INTERVALS,
    NONE,
    beside,
    counted,
    notes_on,
    ours,
    score,
    tick,
    tokens,
)
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series
from longtrek.analysis.scitrek_words import MEASURES, PAPER_LEVELS, nulls_left_out, what_was_run
from longtrek.analysis.typeset import Table

LETTERS = {"full_text": "F", "tables": "D"}
SIZES = {"single": "single", "64K": "64", "128K": "128", "512K": "512", "1M": "1024"}


def make(name: str, caption: str, run: SciTrekRun, measure: int) -> Table:
    """A table in the paper's layout; measure 0 is exact match, 1 is F1, each as the run's rule has it."""
    values = published.read(name, run.published)
    column = (run.column, run.f1)[measure]
    places = _places(run)
    heads = [f"{LETTERS[context]}-{SIZES[level]}" for context, level in places]

    def groups(series: Series) -> list[list[Row]]:
        return [[row for row in series.rows if (row["context"], row["level"]) == place] for place in places]

    rows = beside(
        run,
        values,
        heads,
        cells=lambda series: [ours(score(found, column)) for found in groups(series)],
        counts=lambda series: counted(groups(series)),
        lead=_lead,
        our_lead=lambda series: _our_lead(run, series),
        baselines=run.baselines,
    )
    notes = (
        f"Reproduced: {MEASURES[run.rule][measure]} (%) under the {run.rule} rule. {INTERVALS}",
        f"{FOUR} {EMPTY}",
        *(["F-single, D-single: single articles, a level that the paper's table does not have."] * _single(places)),
        *nulls_left_out(run),
        *notes_on(values),
        what_was_run(run, (*run.series, *run.baselines)),
    )
    header = ("Model", "Ctx", "Think", "source", *heads)
    return Table(name, caption, header, tuple(rows), notes, "lrcl" + "r" * len(heads))


def _places(run: SciTrekRun) -> list[tuple[str, str]]:
    there = {(row["context"], row["level"]) for row in (*run.rows, *run.baseline)}
    return [
        (context, level)
        for context in LETTERS
        for level in ("single", *PAPER_LEVELS)
        if level != "single" or (context, level) in there
    ]


def _single(places: list[tuple[str, str]]) -> int:
    return int(any(level == "single" for _, level in places))


def _lead(printed: Mapping[str, Published]) -> tuple[str, str]:
    window = printed.get("Ctx")
    return (tokens(window.value) if window and window.value else NONE, tick(printed.get("Think")))


def _our_lead(run: SciTrekRun, series: Series) -> tuple[str, str]:
    entry = run.entries.get(series.model, {})
    if series.check or series in run.baselines:
        return (NONE, NONE)
    thinks = entry.get("thinking") == "on" or any(row["prompt"] == "reasoning" for row in series.rows)
    return (tokens(entry.get("window")), "✓" if thinks else "✗")
