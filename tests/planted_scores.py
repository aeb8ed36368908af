"""Whole runs of the papers' models with scores that are planted, so that what claims find in them is known."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.scitrek_printed import grid_of
from longtrek.analysis.run import Run
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.statistics import Document
from longtrek.answers.model import Model
from longtrek.transduction.grid import DocumentSpec, grid
from longtrek.transduction.scores import RECORDS

Accuracy = Callable[[str, DocumentSpec], float]
RECORDS_EACH = 20
QUESTIONS = 200


def documents(
    models: Mapping[str, Model], names: tuple[str, ...], accuracy: Accuracy, check: bool = False
) -> Iterator[Document]:
    """Every document of the grid that a model is asked, scored with a planted accuracy."""
    for name in names:
        for horizon in models[name].tiers or grid().horizons:
            for spec in grid().specs(horizon):
                value = accuracy(name, spec)
                yield Document(
                    name, check, spec.id, spec.family, spec.format, float(spec.difficulty), horizon, spec.sample,
                    RECORDS_EACH, "scored", "stop", value, value == 1.0,
                )  # fmt: skip


def write_records(run: Run, scores: Path, consistent: float) -> None:
    """The records behind planted documents: the first ones right, some more of them self-consistent."""
    for name in run.models:
        found = run.select(name)
        places = np.tile(np.arange(RECORDS_EACH, dtype=np.int32), len(found))
        right = np.repeat([round((one.accuracy or 0.0) * RECORDS_EACH) for one in found], RECORDS_EACH)
        columns: dict[str, Any] = {"document": np.repeat([one.id for one in found], RECORDS_EACH), "record": places}
        for rule in ("paper", "strict"):
            columns |= {f"{rule}_correct": places < right, f"{rule}_copied": places < right}
            columns[f"{rule}_consistent"] = places < right + consistent * RECORDS_EACH
        (scores / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns, schema=RECORDS), scores / name / "transduction.parquet")


def scitrek_rows(evidence: Evidence) -> Iterator[dict[str, Any]]:
    """Rows of every model, context and level that Tables 7 and 16 print, right as often as they print."""
    f1 = grid_of(evidence.printed, "f1")
    for (model, context, level), span in grid_of(evidence.printed, "exact_match").items():
        for number in range(QUESTIONS):
            right = float(number < round(span.value * QUESTIONS / 100))
            yield {
                "model": model, "question": f"q{level}-{number}", "context": context, "level": level,
                "prompt": "direct", "collection": f"c{number % 20}", "skill": ("aggregating", "sorting")[number % 2],
                "topic": "author_count", "subject": ("math", "biology")[number % 2], "null_gold": False, "asked": 3,
                "answered": 3, "failed": 0, "not_asked": 0, "missing": 0, "truncated": 0, "paper_exact_match": right,
                "paper_f1": f1[model, context, level].value / 100, "null_answers": 1 - right, "non_compliant": 0.0,
                "articles": 4 + number % 3, "question_words": 10 + number % 7, "sql_words": 9 + number // 20,
                "answer_words": 1 + number % 3, "negation_paper": number % 4 == 0,
                "prompt_tokens": 2048.0 if context == "tables" else 60000.0,
            }  # fmt: skip


def scitrek_run(**rows: Any) -> SciTrekRun:
    """A full run of SciTrek with planted rows."""
    return SciTrekRun("full", "paper", **rows)
