"""Cells of SciTrek's tables: the paper's numbers as it prints them, and ours with their intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series
from longtrek.analysis.scitrek_words import four
from longtrek.analysis.statistics import Interval, clustered
from longtrek.scitrek.analyses import mean

NONE = "–"
EMPTY = f"{NONE}: no answers, or nothing published."
MARKS_EXPLAINED = {
    "does_not_fit": "too long: the model cannot process the context (the paper prints a dash).",
    "too_costly": "⋆: not evaluated for its price (published).",
    "lost": "lost: printed as pixels that the paper's stored text does not hold.",
}
FOUR = "asked/answered/failed/cut: the samples that a score rests on; a failed one counts as wrong."
INTERVALS = "In brackets: 95% bootstrap, collections resampled; none where they do not differ or are fewer than two."


@dataclass(frozen=True)
class Score:
    """A score in percent with its interval, None where nothing was answered, and the rows behind it."""

    value: float | None
    interval: Interval | None
    rows: tuple[Row, ...]


def score(rows: Iterable[Row], column: str) -> Score:
    """The mean of a score column in percent over the samples asked, with an interval over collections."""
    found = tuple(rows)
    value = mean(found, column) if found else None
    if value is None:
        return Score(None, None, found)
    groups: dict[str, tuple[float, float]] = {}
    for row in sorted(found, key=lambda row: (row["collection"], row["question"], row["prompt"])):
        total, weight = groups.get(row["collection"], (0.0, 0.0))
        share = (row[column] or 0.0) * row["asked"]
        groups[row["collection"]] = (total + share, weight + row["asked"])
    models = sorted({row["model"] for row in found})
    interval = clustered([group for _, group in sorted(groups.items())], f"{models} {column} {sorted(groups)}")
    percent = Interval(100 * interval.low, 100 * interval.high) if interval else None
    return Score(100 * value, percent, found)


def ours(found: Score) -> str:
    """A reproduced score as a cell: `12.3 [8.1, 17.0]`."""
    if found.value is None:
        return NONE
    between = f" [{found.interval.low:.1f}, {found.interval.high:.1f}]" if found.interval else ""
    return f"{found.value:.1f}{between}"


def theirs(value: Published | None, digits: int = 1) -> str:
    """A published number or mark as a cell."""
    if value is None:
        return NONE
    if value.value is None:
        return published.MARKS[value.mark or "missing"]
    return f"{value.value:,.{digits}f}"


def tick(value: Published | None) -> str:
    """A published yes or no as a cell."""
    return NONE if value is None or value.value is None else "✓" if value.value else "✗"


def tokens(value: float | None) -> str:
    """A window in tokens as the paper prints it: 262144 is 256K."""
    if value is None:
        return NONE
    size = int(value)
    if size >= 1_000_000:
        return f"{size // 1_000_000}M"
    return f"{size // 1024}K"


def by_row(values: Iterable[Published]) -> dict[str, dict[str, Published]]:
    """A published table: its rows in order, each with its cells by column."""
    found: dict[str, dict[str, Published]] = {}
    for value in values:
        found.setdefault(value.row, {})[value.column] = value
    return found


def beside(
    run: SciTrekRun,
    values: Sequence[Published],
    columns: Sequence[str],
    cells: Callable[[Series], Sequence[str]],
    counts: Callable[[Series], Sequence[str]],
    lead: Callable[[Mapping[str, Published]], Sequence[str]] = lambda _: (),
    our_lead: Callable[[Series], Sequence[str]] = lambda _: (),
    digits: int = 1,
    baselines: Sequence[Series] = (),
) -> list[tuple[str, ...]]:
    """Rows of a table of models: the paper's in its order, each with ours under it, then models that it lacks.

    Args:
        values: the published table.
        columns: the published columns that hold scores.
        cells, counts: a series' cells in those columns, and the samples behind them.
        lead, our_lead: cells between a row's name and its source.
        digits: decimals of published numbers.
        baselines: the SQL-execution baseline, in the tables that show it.
    """
    made: list[tuple[str, ...]] = []
    shown: set[str] = set()
    for name, printed in by_row(values).items():
        first = next(iter(printed.values()))
        made.append((name, *lead(printed), "published", *(theirs(printed.get(one), digits) for one in columns)))
        if first.setting.get("post", "zero-shot") != "zero-shot":
            continue
        if "baseline" in first.setting:  # all of them at the top, as the paper has it
            for series in baselines:
                made += _both(series, name if series.model == first.model else series.label, cells, counts, our_lead)
                shown.add(series.label)
            continue
        for series in run.series:
            if series.model == first.model and not series.check:
                made += _both(series, name, cells, counts, our_lead)
                shown.add(series.label)
    for series in (*baselines, *run.series):
        if series.label not in shown:
            name = f"check: {series.label}" if series.check else series.label
            made += _both(series, name, cells, counts, our_lead)
    return made


def _both(
    series: Series,
    name: str,
    cells: Callable[[Series], Sequence[str]],
    counts: Callable[[Series], Sequence[str]],
    lead: Callable[[Series], Sequence[str]],
) -> list[tuple[str, ...]]:
    before = tuple(lead(series))
    return [
        (name, *before, series.source, *cells(series)),
        (name, *before, "asked/answered/failed/cut", *counts(series)),
    ]


def counted(groups: Iterable[Sequence[Row]]) -> list[str]:
    """A cell of counts for each group of rows."""
    return [four(rows) for rows in groups]


def notes_on(values: Iterable[Published]) -> list[str]:
    """What the marks of a published table mean, and where the paper disagrees with itself in it."""
    found = list(values)
    marks = [told for mark, told in MARKS_EXPLAINED.items() if any(value.mark == mark for value in found)]
    faults = [f"{value.row}, {value.column}: {told}" for value, told in published.inconsistencies(found)]
    return [*marks, *(f"Inconsistent in the paper: {fault}." for fault in faults)]
