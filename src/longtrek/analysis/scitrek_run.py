"""A SciTrek run as figures and tables see it: scores of all models, and the tables that they came from."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.analysis.run import IMPORTED, label_of
from longtrek.analysis.style import in_order
from longtrek.corpus.tables import check_columns
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.messages import ELSEWHERE
from longtrek.scitrek.analyses import LEVELS, SCORES, Rule, paper_set

Row = Mapping[str, Any]

FILES = {
    "articles": ("collections", "articles/articles.parquet"),
    "collections": ("collections", "collections/collections.parquet"),
    "questions": ("questions", "questions/questions.parquet"),
    "drafts": ("questions", "questions/drafts.jsonl"),
    "model_writer": ("model_writer", "questions/model_writer.jsonl"),
    "annotations": ("annotations", "annotations/annotations.jsonl"),
}
"""What an artifact may read beside scores: for each field of a run, its kind in `READS`, and the file in results."""
OPTIONAL = ("model_writer", "annotations")
"""Kinds that a run may do without: a model's tries at questions, and people's answers."""
SCORES_FILE = "scitrek.parquet"
NEEDED = {
    SCORES_FILE: ("model", "question", "context", "prompt", "null_gold"),
    "collections.parquet": ("id", "level", "articles"),
    "questions.parquet": ("id", "level", "skill"),
    "articles.parquet": ("id",),
}
"""Columns that a table must have to be the one that is meant."""
BASELINE = "+SQL"
"""How the name of a baseline's folder of scores ends, after its model's."""
_UNUSED = ("sql", "text", "assumed", "template")


@dataclass(frozen=True)
class Series:
    """One model under one prompt: what is drawn with a look of its own, or fills rows of a table."""

    model: str
    label: str
    check: bool
    rows: tuple[Row, ...]

    @property
    def source(self) -> str:
        """Where the answers come from, as tables say it beside the published ones."""
        return "imported" if IMPORTED in self.label else "reproduced"


@dataclass(frozen=True)
class SciTrekRun:
    """Score rows under one rule, the run's questions and collections, and where the paper's numbers are."""

    kind: str
    """`quick` or `full`."""
    rule: Rule
    published: Path | None = None
    scitrek: tuple[Row, ...] = ()
    """Rows of every model's `scitrek.parquet`."""
    baseline: tuple[Row, ...] = ()
    """Rows of the SQL-execution baseline, in the same form; the model's name ends in `+SQL`."""
    articles: tuple[Row, ...] = ()
    collections: tuple[Row, ...] = ()
    questions: tuple[Row, ...] = ()
    drafts: tuple[Row, ...] = ()
    model_writer: tuple[Row, ...] = ()
    """Records of the drafts that a model wrote beside the grammar."""
    model_writer_name: str = ""
    annotations: tuple[Row, ...] = ()
    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Model entries by name, as their files have them."""
    asked: tuple[str, ...] = ()
    """The models of the run, whether or not an artifact reads their scores."""
    prompts: Path | None = None

    @property
    def column(self) -> str:
        """The column of the rule's main score: exact match, or the strict rule's correct."""
        return SCORES[self.rule][0]

    @property
    def f1(self) -> str:
        """The column of the rule's F1."""
        return SCORES[self.rule][1]

    def label(self, model: str) -> str:
        """What a model is called in figures and tables."""
        return label_of(model, self.entries.get(model, {}))

    def is_check(self, model: str) -> bool:
        """Whether a name is the reference solver's, which is never shown as a model."""
        return self.entries.get(model, {}).get("kind") == "check"

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the paper's test set: questions whose right answer is NULL are left out."""
        return tuple(paper_set(self.scitrek))

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """Models in the paper's order, then checks; a model that was asked with two prompts is two series."""
        return _series(self, self.rows)

    @cached_property
    def models(self) -> tuple[Series, ...]:
        """The series that are models."""
        return tuple(series for series in self.series if not series.check)

    @cached_property
    def checks(self) -> tuple[Series, ...]:
        """The series that are checks."""
        return tuple(series for series in self.series if series.check)

    @cached_property
    def baselines(self) -> tuple[Series, ...]:
        """The SQL-execution baseline, one series a model."""
        return _series(self, paper_set(self.baseline), " + SQL execution")

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """The articles of each collection, in order."""
        return {row["id"]: tuple(row["articles"]) for row in self.collections}


def _series(run: SciTrekRun, rows: Sequence[Row], suffix: str = "") -> tuple[Series, ...]:
    found: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        found.setdefault(row["model"].removesuffix(BASELINE), {}).setdefault(row["prompt"], []).append(row)
    made = [
        Series(model, _label(run.label(model) + suffix, prompt, found[model]), run.is_check(model), tuple(members))
        for model in in_order(found)
        for prompt, members in sorted(found[model].items())
    ]
    return tuple(sorted(made, key=lambda series: series.check))


def _label(name: str, prompt: str, prompts: Collection[str]) -> str:
    return name if len(prompts) == 1 else f"{name}, {prompt}"


def setting_of(rows: Iterable[Row], wanted: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]] | None:
    """The context and levels that an artifact shows: the paper's, or where nothing was asked there, another's.

    Args:
        wanted: the paper's contexts and levels.

    Returns:
        The context and its levels with answers among the wanted ones; without any, the one context and level with the
        most answers; None where nothing was answered.
    """
    answered: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["answered"]:
            place = (row["context"], row["level"])
            answered[place] = answered.get(place, 0) + row["answered"]
    there = [place for place in wanted if place in answered]
    if there:
        return there[0][0], tuple(level for _, level in there)
    if not answered:
        return None
    context, level = max(answered, key=lambda place: (answered[place], place[0], -LEVELS.index(place[1])))
    return context, (level,)


def read(
    results: Path,
    kinds: Collection[str],
    models: Sequence[str] | None,
    baseline: str | None = None,
    scores: Path | None = None,
    complete: bool = True,
) -> dict[str, tuple[Row, ...]]:
    """Read what artifacts need of a run.

    Args:
        results: the run's folder.
        kinds: what the artifacts' `READS` name: `scitrek`, `baseline`, and the kinds of `FILES`.
        models: whose scores; None for all that stand there, the baseline's included.
        baseline: the baseline's model.
        scores: another folder of scores.
        complete: whether a file that is not there is an error; those of `OPTIONAL` kinds never are.

    Returns:
        Rows by field of a `SciTrekRun`.

    Raises:
        LongtrekError: a file is missing or is not what an earlier stage writes.
    """
    folder = scores or results / "scores"
    executed = [f"{baseline}{BASELINE}"] if baseline else []
    if models is None:
        models = models_there(folder)
        executed = sorted(path.parent.name for path in folder.glob(f"*{BASELINE}/{SCORES_FILE}"))
    names = {"scitrek": models, "baseline": executed}
    found = {
        kind: tuple(row for name in names[kind] for row in _rows(folder / name / SCORES_FILE, complete))
        for kind in names
        if kind in kinds
    }
    for kept, (kind, path) in FILES.items():
        if kind in kinds:
            found[kept] = tuple(_rows(results / path, complete and kind not in OPTIONAL))
    return found


def models_there(scores: Path) -> tuple[str, ...]:
    """The models, checks included, whose scores stand in a folder; the baseline is none."""
    found = sorted(path.parent.name for path in scores.glob(f"*/{SCORES_FILE}"))
    return tuple(name for name in found if not name.endswith(BASELINE))


def _rows(path: Path, must: bool) -> list[Row]:
    if not path.is_file():
        if must:
            raise LongtrekError(f"{path}: no such file; expected what SciTrek's stages leave. {ELSEWHERE}")
        return []
    if path.suffix == ".jsonl":
        return list(read_jsonl(path))
    columns = None
    try:
        if path.name == SCORES_FILE:
            columns = [name for name in pq.read_schema(path).names if name not in _UNUSED]
        table = pq.read_table(path, columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise LongtrekError(f"{path}: {str(error).splitlines()[0]}; expected Parquet of an earlier stage") from None
    check_columns(path, table.column_names, NEEDED.get(path.name, ()))
    return list(table.to_pylist())
