"""SciTrek's part of a run: its tables as the stages leave them, and the requests of a tier of answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.answers.model import Model
from longtrek.answers.preflight import Tokenizer
from longtrek.answers.request import Request
from longtrek.config import Scitrek, Setting
from longtrek.corpus.tables import read_table
from longtrek.errors import LongtrekError
from longtrek.files import atomic
from longtrek.scitrek import contexts
from longtrek.scitrek.contexts import Window, WindowDecision
from longtrek.scitrek.prompts import question_requests, request_id, split_request_id
from longtrek.scitrek.questions.make import databases
from longtrek.scitrek.released import read_rows, released_requests
from longtrek.scitrek.sql.database import Database
from longtrek.transduction.stream import permutation

Row = Mapping[str, Any]

QUESTIONS = pa.schema(
    [
        ("id", pa.string()),
        ("collection", pa.string()),
        ("articles", pa.list_(pa.string())),
        ("level", pa.string()),
        ("strategy", pa.string()),
        ("skill", pa.string()),
        ("topic", pa.string()),
        ("template", pa.string()),
        ("template_id", pa.string()),
        ("sql", pa.string()),
        ("text", pa.string()),
        ("answer", pa.string()),
        ("parts", pa.list_(pa.list_(pa.string()))),
        ("columns", pa.int32()),
        ("null", pa.bool_()),
        ("left_out", pa.string()),
        ("order", pa.string()),
        ("ties", pa.list_(pa.list_(pa.int32()))),
        ("split", pa.string()),
        ("writer", pa.string()),
        ("verdict", pa.string()),
    ]
)
"""`questions.parquet`: a question a row; `parts` is the answer's rows of values, `ties` positions among them.

`left_out` says why the paper's test set would not hold a question. What a released row does not say is null.
"""


ASKED_BY = ("id", "text", "answer", "level", "split", "left_out", "collection")
"""Columns of `questions.parquet` that decide what is asked."""


@dataclass(frozen=True)
class Study:
    """The tables of a run's SciTrek part, read when they are first needed from the folder of results."""

    settings: Scitrek
    results: Path

    @cached_property
    def articles(self) -> dict[str, Row]:
        """The corpus's articles by id."""
        return {
            row["id"]: row
            for row in read_table(self.results / "articles" / "articles.parquet", "id", "title", "subject", "tokens")
        }

    @cached_property
    def collections(self) -> dict[str, Row]:
        """The collections by id."""
        return {
            row["id"]: row
            for row in read_table(self.results / "collections" / "collections.parquet", "id", "articles", "tokens")
        }

    @cached_property
    def questions(self) -> list[dict[str, Any]]:
        """The questions, each with its collection's `articles`."""
        return read_table(self.results / "questions" / "questions.parquet", *ASKED_BY)

    @cached_property
    def subjects(self) -> dict[str, str]:
        """Each article's subject; released rows do not say it."""
        if self.settings.released:
            return {}
        return {name: row["subject"] for name, row in self.articles.items() if row["subject"]}

    def databases(self, collections: Sequence[Row]) -> Iterator[tuple[Row, Database]]:
        """Collections, each with its database."""
        pairs = read_table(self.results / "articles" / "citations.parquet", "citing", "cited")
        return databases(collections, self.articles, [(pair["citing"], pair["cited"]) for pair in pairs])

    def markdown(self, article: str) -> str:
        """An article's Markdown text."""
        path = self.results / "articles" / "markdown" / f"{article}.md"
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise LongtrekError(f"{path}: no such file; make the tables again with `longtrek tabulate`") from None

    def selected(self, level: str, most: int | None, longest: int | None = None) -> list[dict[str, Any]]:
        """The questions of a level that are asked, in their order: of the chosen splits, less what is left out.

        The paper leaves questions whose answer is NULL out of its test set (Section 4). Where there are more
        than `most`, they are drawn.
        """
        found = [
            row
            for row in self.questions
            if level in ("any", row["level"])
            and row["split"] in self.settings.splits
            and not row["left_out"]
            and (longest is None or self.collections[row["collection"]]["tokens"] <= longest)
        ]
        if most is None or len(found) <= most:
            return found
        drawn = sorted(permutation((self.settings.seed, "asked", level), len(found))[:most])
        return [found[place] for place in drawn]

    def requests(self, model: Model, tier: str, tokenizer: Tokenizer | None) -> list[Request]:
        """The requests of one tier for one model.

        Args:
            model: its entry, which says which prompt it is asked with and how long its window is.
            tier: `<context>-<level>`, as the run's settings name it.
            tokenizer: the model's, needed only to truncate.

        Raises:
            LongtrekError: no such tier, or no question of it is selected.
        """
        setting = self.settings.setting(tier)
        asked = self.selected(setting.level, setting.most, setting.longest)
        if not asked:
            raise LongtrekError(
                f"scitrek.ask.settings: no question is selected for {tier}; check splits, longest and "
                "scitrek.collections in the config"
            )
        if self.settings.released:
            return self._released(self.settings.released, setting, {row["id"] for row in asked}, model)
        made = question_requests(
            asked,
            _Contexts(self, setting, asked),
            context=setting.context,
            kind=model.prompt,
            samples=self.settings.samples,
            max_tokens=self.settings.max_tokens,
            folder=self.settings.prompts,
            window=self._window(model, tokenizer),
        )
        return list(made)

    def asked(self, model: Model, tier: str) -> list[tuple[str, int]]:
        """The id and sample of each of a tier's `requests`, without their texts."""
        setting = self.settings.setting(tier)
        rows = self.selected(setting.level, setting.most, setting.longest)
        names = [request_id(row["id"], setting.context, model.prompt) for row in rows]
        return [(name, sample) for name in names for sample in range(self.settings.samples)]

    def _released(self, path: Path, setting: Setting, asked: set[str], model: Model) -> list[Request]:
        """Released rows with their own instructions; a prompt that is too long is refused by the preflight."""
        made = released_requests(
            read_rows(path),
            context=setting.context,
            kind=model.prompt,
            samples=self.settings.samples,
            max_tokens=self.settings.max_tokens,
        )
        unchecked = {"window": WindowDecision("unchecked", 0, 0, 0).record()}
        return [replace(one, facts=unchecked) for one in made if split_request_id(one.id)[0] in asked]

    def _window(self, model: Model, tokenizer: Tokenizer | None) -> Window | None:
        """The model's window where contexts may be cut; where they may not, the preflight refuses what is too long."""
        if self.settings.window == "refuse" or model.window is None or model.engine == "imported":
            return None
        if tokenizer is None:
            raise LongtrekError(
                f"model {model.name}: scitrek.ask.window is truncate, which needs the model's own tokenizer; "
                "give its weights' folder, or set window to refuse"
            )
        return Window(model.window, "truncate", tokenizer.encode, tokenizer.decode)


class _Contexts(Mapping[str, str]):
    """Contexts by collection, made when they are read: full texts of a level do not fit in memory together."""

    def __init__(self, study: Study, setting: Setting, asked: Sequence[Row]) -> None:
        self._study = study
        self._full_text = setting.context == "full_text"
        self._names = list(dict.fromkeys(row["collection"] for row in asked))
        members = [study.collections[name] for name in self._names]
        self._databases = {} if self._full_text else {row["id"]: one for row, one in study.databases(members)}

    def __getitem__(self, name: str) -> str:
        if self._full_text:
            return contexts.full_text(self._study.markdown(one) for one in self._study.collections[name]["articles"])
        return contexts.tables(self._databases[name].as_dict())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def write_questions(path: Path, rows: Sequence[Row]) -> None:
    """Write `questions.parquet`; equal rows give equal bytes."""
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=QUESTIONS)
    with atomic(path) as stream:
        pq.write_table(table, stream, compression="zstd", compression_level=3, version="2.6")
