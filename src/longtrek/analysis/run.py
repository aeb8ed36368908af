"""A run as figures and tables see it: scored documents of all models, read from Parquet with DuckDB."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from longtrek import schemas
from longtrek.analysis.statistics import BINS, Document
from longtrek.analysis.style import in_order
from longtrek.errors import LongtrekError
from longtrek.messages import ELSEWHERE

IMPORTED = " (imported)"
"""How the label of a model ends whose answers were made elsewhere, wherever it is shown."""


def imported_note(labels: Iterable[str]) -> str:
    """The sentence that says what imported means, for artifacts that show such a model; empty for others."""
    if any(IMPORTED in label for label in labels):
        return " Imported: answers made elsewhere, not asked by this run; how they were made is not known here."
    return ""


@dataclass(frozen=True)
class Run:
    """Scored documents under one rule, and where their records, the papers' numbers and the prompts are."""

    kind: str
    """`quick` or `full`."""
    rule: str
    """`paper` or `strict`."""
    scores: Path
    published: Path | None
    documents: tuple[Document, ...]
    seed: int = 0
    """The root seed of the documents, for what is computed from the generator."""
    prompts: Path | None = None
    tiers: tuple[int, ...] = ()
    """The horizons that are generated; the grid's when empty."""
    samples: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """What models are called in figures and tables; their names where nothing is said."""

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models, without checks, in the papers' order."""
        return in_order({document.model for document in self.documents if not document.check})

    @cached_property
    def checks(self) -> tuple[str, ...]:
        """The reference solvers among what was run."""
        return tuple(sorted({document.model for document in self.documents if document.check}))

    def label(self, model: str) -> str:
        """What a model is called in figures and tables."""
        return self.labels.get(model, model)

    @cached_property
    def _by_model(self) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = defaultdict(list)
        for document in self.documents:
            found[document.model].append(document)
        return found

    def select(self, model: str, **wanted: object) -> list[Document]:
        """A model's documents that have the wanted family, format, difficulty or horizon."""
        return [
            document
            for document in self._by_model.get(model, [])
            if all(getattr(document, name) == value for name, value in wanted.items())
        ]

    def horizons(self, model: str) -> tuple[int, ...]:
        """The horizons at which a model has scored documents, ascending."""
        return tuple(sorted({doc.horizon for doc in self.select(model) if doc.accuracy is not None}))

    @cached_property
    def horizon(self) -> int | None:
        """The largest horizon at which any model has a score; the checks' where no model has one."""
        reached = [
            {horizon for model in group for horizon in self.horizons(model)} for group in (self.models, self.checks)
        ]
        return next((max(horizons) for horizons in reached if horizons), None)

    def positions(self, model: str, measure: str, documents: Sequence[Document]) -> dict[str, list[float | None]]:
        """Per document, the mean of a per-record measure in each of 20 equal bins of the required output.

        Args:
            measure: `correct`, `copied` or `consistent`.

        Returns:
            Document id → 20 means; None where no record of a short document falls in a bin.

        Raises:
            LongtrekError: the records of a scored document are not all there.
        """
        if not any(doc.accuracy is not None for doc in documents):
            return {}
        means = self._bins.get((model, measure))
        if means is None:
            means = self._bins[model, measure] = self._read_bins(model, measure)
        return {doc.id: means[doc.id] for doc in documents if doc.accuracy is not None}

    @cached_property
    def _bins(self) -> dict[tuple[str, str], dict[str, list[float | None]]]:
        return {}

    def _read_bins(self, model: str, measure: str) -> dict[str, list[float | None]]:
        records = {doc.id: doc.records for doc in self.select(model) if doc.accuracy is not None}
        file = self.scores / model / "transduction.parquet"
        if not file.exists():
            raise LongtrekError(f"{file}: no such file; expected the scored records of {model}. {ELSEWHERE}")
        rows = _query(_POSITIONS.format(column=f"{self.rule}_{measure}", bins=BINS), [str(file)], file)
        means: dict[str, list[float | None]] = {name: [None] * BINS for name in records}
        seen: dict[str, int] = defaultdict(int)
        for name, count, place, total, known, right in rows:
            if name not in records or records[name] != count or not 0 <= place < BINS:
                raise LongtrekError(
                    f"{file}: {count} records of {name}, but its document has {records.get(name)}; score it again"
                )
            seen[name] += total
            means[name][place] = right / known if known else None
        absent = sorted(set(records) - set(seen))
        if absent:
            raise LongtrekError(f"{file}: no records of {absent[0]}, which has a score; score it again")
        return means


_POSITIONS = """
WITH sized AS (
    SELECT document, record, {column} AS value, count(*) OVER (PARTITION BY document) AS records
    FROM read_parquet($1)
)
SELECT document, records, (record * {bins}) // records AS place,
    count(*), count(value), count(*) FILTER (WHERE value)
FROM sized GROUP BY ALL ORDER BY ALL
"""

_DOCUMENTS = """
SELECT model, "check", document, family, format, difficulty, horizon, sample, records, status, finish_reason,
    {rule}_accuracy, {rule}_complete, reasoned
FROM read_parquet($1) ORDER BY model, document
"""


def read_documents(scores: Path, rule: str, models: Sequence[str] = ()) -> tuple[Document, ...]:
    """Read the scored documents of a run under one rule.

    Args:
        scores: the folder with one folder a model, each with `transduction_documents.parquet`.
        models: the models to read; all that stand there when empty.

    Raises:
        LongtrekError: no scores there, a named model has none, or a file is not what it should be.
    """
    name = "transduction_documents.parquet"
    files = [scores / model / name for model in models] or sorted(scores.glob(f"*/{name}"))
    absent = [file for file in files if not file.exists()]
    if absent or not files:
        where = absent[0] if absent else scores / "*" / name
        raise LongtrekError(f"{where}: no such file; expected scored documents. {ELSEWHERE}")
    rows = [row for file in files for row in _query(_DOCUMENTS.format(rule=rule), [str(file)], file)]
    return tuple(Document(*row) for row in rows)


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    """The model entries of a folder by name, as their files have them.

    Raises:
        LongtrekError: a file is not YAML, or no entry.
    """
    found = {file: schemas.load(file, "model") for file in sorted(folder.glob("*.yaml"))}
    odd = [file for file, entry in found.items() if not isinstance(entry, dict)]
    if odd:
        raise LongtrekError(f"{odd[0]}: holds no entry; expected a model's keys (schemas/model.yaml)")
    return {file.stem: entry for file, entry in found.items()}


def entry_labels(folder: Path) -> dict[str, str]:
    """What the models of a folder of entries are called, by model name (the file's name)."""
    return {name: label_of(name, entry) for name, entry in entries(folder).items()}


def label_of(name: str, entry: Mapping[str, Any]) -> str:
    """What figures and tables call a model: its entry's label or its name, and that its answers were imported."""
    label = str(entry.get("label", name))
    return f"{label}{IMPORTED}" if entry.get("engine") == "imported" else label


def _query(statement: str, values: list[Any], file: Path) -> list[tuple[Any, ...]]:
    try:
        with duckdb.connect() as connection:
            return connection.execute(statement, values).fetchall()
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise LongtrekError(f"{file}: {first}; expected the Parquet that `longtrek scores` writes") from None
