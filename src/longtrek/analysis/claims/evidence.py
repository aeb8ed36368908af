"""What claims are computed from: published numbers, what the kit builds, and what a run has left."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.analysis.claims.printed import Printed, read_all
from longtrek.analysis.run import Run, entries, read_documents
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.scitrek_run import read as read_scitrek
from longtrek.answers.model import Model, load_model
from longtrek.config import Config, load
from longtrek.csv_files import read_rows
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.transduction.build import SUMMARY
from longtrek.transduction.documents import documents_of, table_1
from longtrek.transduction.grid import grid, groups
from longtrek.transduction.prompts import Prompts, read_prompts

Document = dict[str, Any]
PAPERS_CORPUS = "semantic-scholar"
"""The source of the paper's articles; other corpora have other articles."""


@dataclass(frozen=True)
class Built:
    """Long-Transduction's documents as the run builds them, and what its build said of each tier."""

    seed: int
    prompts: Prompts
    horizons: tuple[int, ...]
    samples: int
    tiers: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """The rows of `documents/summary.csv` by horizon; empty where the run has not built them yet."""

    @cached_property
    def smallest(self) -> tuple[Document, ...]:
        """All documents of the smallest horizon, generated here."""
        specs = grid().specs(min(self.horizons), self.samples)
        return tuple(document for group in groups(specs) for document in documents_of(group, self.seed, self.prompts))

    @cached_property
    def active_words(self) -> tuple[Mapping[str, Any], ...]:
        """Table 1, computed from the grids: a row a horizon and share."""
        return tuple(table_1(self.seed, self.prompts, self.horizons, self.samples))


@dataclass(frozen=True)
class Papers:
    """The kit's run of the papers, as its files set it: the config, the models' entries and the corpus."""

    config: Config
    models: Mapping[str, Model]
    corpus: Mapping[str, Any]


@dataclass(frozen=True)
class Evidence:
    """All that a computation may read.

    Scores are always those of the papers' own rule, whichever the run shows.
    """

    printed: Printed
    built: Built
    papers: Papers
    full: bool
    """Whether the run is the papers'. A quick run's scores are never held against a paper."""
    transduction: Run
    scitrek: SciTrekRun | None = None
    papers_questions: bool = False
    """Whether SciTrek's questions are the paper's released ones, or made from the paper's corpus in full."""
    papers_corpus: bool = False
    """Whether SciTrek's articles and collections are made from the paper's corpus in full."""


def papers_run(path: Path) -> Papers:
    """Read the kit's run of the papers.

    Raises:
        LongtrekError: the config leaves SciTrek out, or a file is not what it should be.
    """
    config = load(path)
    if config.scitrek is None:
        raise LongtrekError(f"{path}: scitrek is null; expected the run of both papers")
    corpus = schemas.read(config.scitrek.corpus, "corpus")
    seeds = config.scitrek.corpus.parent / corpus["seeds"]
    models = {name: load_model(config.model_file(name)) for name in config.model_names}
    return Papers(config, models, corpus | {"seeds": list(read_jsonl(seeds))})


def gather(config: Config, papers: Path) -> Evidence:
    """Read what a run has left, as far as claims need it.

    Args:
        config: the run's.
        papers: the config of the papers' run.

    Raises:
        LongtrekError: scores of a model that the run asks are not there.
    """
    part = config.transduction
    full = config.run == "full"
    questions, corpus = _papers_material(config)
    return Evidence(
        printed=read_all(config.published),
        built=Built(
            part.seed,
            read_prompts(part.prompts),
            part.horizons,
            part.samples,
            _tiers(config.results / "documents" / "summary.csv"),
        ),
        papers=papers_run(papers),
        full=full,
        transduction=_transduction(config) if full else _no_scores(config),
        scitrek=_scitrek(config) if full else None,
        papers_questions=full and questions,
        papers_corpus=full and corpus,
    )


def _papers_material(config: Config) -> tuple[bool, bool]:
    """Whether the run's questions, and its corpus, are the paper's."""
    part = config.scitrek
    if part is None:
        return False, False
    if part.released is not None:
        return True, False
    whole = part.subset == "all" and part.tokens is None
    corpus = whole and schemas.read(part.corpus, "corpus")["source"] == PAPERS_CORPUS
    return corpus, corpus


def _tiers(path: Path) -> dict[int, dict[str, str]]:
    if not path.exists():
        return {}
    rows = read_rows(path, SUMMARY)
    for line, row in rows:
        strange = [name for name in SUMMARY[:-2] if not re.fullmatch(r"\d+(\.\d+)?", row[name])]
        if strange:
            raise LongtrekError(
                f"{path}, line {line}: {strange[0]} is {row[strange[0]]!r}; expected a number: make it again with "
                "`longtrek documents`"
            )
    return {int(row["horizon"]): row for _, row in rows}


def _transduction(config: Config) -> Run:
    scores = config.results / "scores"
    documents = read_documents(scores, "paper", config.transduction.models) if config.transduction.models else ()
    return Run(config.run, "paper", scores, config.published, documents)


def _no_scores(config: Config) -> Run:
    return Run(config.run, "paper", config.results / "scores", config.published, ())


def _scitrek(config: Config) -> SciTrekRun | None:
    part = config.scitrek
    if part is None:
        return None
    kinds = {"scitrek", "baseline", "questions", "annotations", *([] if part.released else ["collections"])}
    baseline = part.baseline.model if part.baseline else None
    found = read_scitrek(config.results, kinds, part.models, baseline)
    return SciTrekRun(
        kind=config.run,
        rule="paper",
        published=config.published,
        entries=entries(config.models),
        asked=part.models,
        prompts=part.prompts,
        model_writer_name="",
        **found,
    )
