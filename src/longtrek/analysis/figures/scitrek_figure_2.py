"""Figure 2 of SciTrek: scores by topic, skill and subject."""

from collections import Counter
from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from longtrek.analysis.scitrek_cells import score
from longtrek.analysis.scitrek_panels import Category, Panel, panel, sheet
from longtrek.analysis.scitrek_panels import numbers as panel_numbers
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series, setting_of
from longtrek.analysis.scitrek_words import (
    MEASURES,
    SKILLS,
    SUBJECTS,
    TOPICS,
    nulls_left_out,
    setting_words,
    what_was_run,
)
from longtrek.scitrek.analyses import LEVELS

READS = ("scitrek",)
CAPTION = (
    "Exact match of the six best models by (a) question topic, (b) skill, (c) subject of most of a collection's "
    "articles, with full-text articles as context. The paper finds little variation by subject, sorting hard, "
    "aggregation easier, and citations and reference counts lowest."
)
BEST = 6
MOST_SUBJECTS = 9


def panels(run: SciTrekRun) -> list[Panel]:
    """The three panels, of the best models and the checks."""
    series = shown(run)
    rows = [row for one in series for row in one.rows]
    topics = [Category(name, _of("topic", topic)) for topic, name in TOPICS.items()]
    skills = [Category(name, _of("skill", skill)) for skill, name in SKILLS.items()]
    return [
        panel(run, "a", "topic", topics, series),
        panel(run, "b", "skill", skills, series),
        panel(run, "c", "subject", _subjects(rows), series),
    ]


def shown(run: SciTrekRun) -> list[Series]:
    """The six models with the highest score where the figure is shown, in the paper's order, and the checks."""
    where = _setting(run)
    there = [_only(one, where) for one in run.series]
    models = [(score(one.rows, run.column).value, one) for one in there if not one.check]
    scored = sorted((-value, place) for place, (value, _) in enumerate(models) if value is not None)
    best = sorted(place for _, place in scored[:BEST])
    return [*(models[place][1] for place in best), *(one for one in there if one.check and one.rows)]


def draw(run: SciTrekRun) -> Figure:
    """Draw the three panels one under another."""
    found = panels(run)
    where = _setting(run)
    drawn = [one for one in shown(run) if not one.check]
    other = "" if where and where[0] == "full_text" else " (paper: full-text articles)"
    notes = [f"Shown: {setting_words(where)}{other}. The paper draws its own values and prints none."]
    if len(drawn) < BEST:
        notes.append(f"The paper shows its six best models; this run has {len(drawn) or 'none'} with answers here.")
    elif len(run.models) > BEST:
        notes.append(f"The six best of {len(run.models)} models.")
    notes += ["Bars: 95% bootstrap, collections resampled; none where collections do not differ."] if drawn else []
    points = [one.value for panel in found for series, line in panel.scores if not series.check for one in line]
    valued = [value for value in points if value is not None]
    floor = valued.count(0.0)
    notes += [f"On the floor: {floor} of {len(valued)} points are exactly 0."] if floor else []
    notes += nulls_left_out(run)
    paragraphs = [" ".join(notes), what_was_run(run, shown(run))]
    measure = MEASURES[run.rule][0]
    title = f"{measure.capitalize()} by topic, skill and subject"
    return sheet(found, title, f"{measure} (%)", 1.35, paragraphs)


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """What the figure shows, as rows."""
    return panel_numbers(panels(run))


def _setting(run: SciTrekRun) -> tuple[str, tuple[str, ...]] | None:
    rows = [row for one in run.models or run.checks for row in one.rows]
    return setting_of(rows, [("full_text", level) for level in LEVELS if level != "single"])


def _only(one: Series, where: tuple[str, tuple[str, ...]] | None) -> Series:
    context, levels = where or ("", ())
    rows = tuple(row for row in one.rows if row["context"] == context and row["level"] in levels)
    return Series(one.model, one.label, one.check, rows)


def _of(column: str, *values: str) -> Callable[[Row], bool]:
    return lambda row: row[column] in values


def _subjects(rows: Sequence[Row]) -> list[Category]:
    """The subjects that were asked about, the paper's first, the rarest together; the paper's where none were."""
    counted = Counter(row["subject"] for row in rows if row["subject"])
    order = [*SUBJECTS, *sorted(set(counted) - set(SUBJECTS))]
    if not counted:
        return [Category(name, _of("subject", subject)) for subject, name in SUBJECTS.items()]
    kept = sorted(counted, key=lambda subject: (-counted[subject], order.index(subject)))
    few = len(kept) <= MOST_SUBJECTS + 1
    named, rest = (kept, []) if few else (kept[:MOST_SUBJECTS], kept[MOST_SUBJECTS:])
    made = [Category(_subject_name(one), _of("subject", one)) for one in sorted(named, key=order.index)]
    return [*made, *([Category(f"{len(rest)} others", _of("subject", *rest))] if rest else [])]


def _subject_name(subject: str) -> str:
    return SUBJECTS.get(subject, subject.replace("_", " "))
