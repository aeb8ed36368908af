"""A small SciTrek run for tests: invented articles, real questions of them, and models that are right now and then."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.files import write_jsonl
from longtrek.scitrek.prompts import request_id
from longtrek.scitrek.questions.make import GrammarWriter, databases, write
from longtrek.scitrek.questions.round_trip import Engines
from longtrek.scitrek.scores import score_rows, write_scores

SUBJECTS = ("biology", "computer_science", "economics", "Ecology")
WORDS = (
    "Deep",
    "Sparse",
    "Random",
    "Models",
    "Graphs",
    "Markets",
    "Proteins",
    "Sorting",
    "Learning",
    "Fields",
    "Waves",
)
NAMES = ("Ada Byron", "Grace O'Hagan", "Emmy Noether", "Alan Tor", "John W. Fisher, III", "Li Wei", "Bo Ek", "Mo Salt")
SHARES = {"o4-mini": 0.7, "GPT-4.1": 0.3, "Qwen3-4B-Thinking-2507": 0.5, "SmolLM2-135M-Instruct": 0.05}
CHECK = "reference-solver"


def chance(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6]) / 2**48


def articles(count: int) -> list[dict[str, Any]]:
    """Invented articles, rows as `articles.parquet` has them."""
    made = []
    for number in range(count):
        picks = sorted(range(len(WORDS)), key=lambda place: chance("title", number, place))
        authors = sorted(NAMES, key=lambda name: chance("authors", number, name))[: 1 + number % 5]
        made.append(
            {
                "id": f"a{number:03}",
                "title": " ".join(WORDS[place] for place in picks[: 3 + number % 6]),
                "authors": authors,
                "reference_count": 10 + int(chance("references", number) * 50),
                "subject": SUBJECTS[number * len(SUBJECTS) // count],
                "tokens": 9000,
            }
        )
    return made


def collections(members: Sequence[str]) -> list[dict[str, Any]]:
    """Collections of four to six neighbours at 64K and 128K, random and along citations, and single articles."""
    made = []
    for number in range(0, len(members) - 6, 3):
        size = 4 if number % 2 else 6
        level, strategy = ("64K", "128K")[number % 2], ("random", "random", "dfs", "bfs")[number % 4]
        made.append({"id": f"c{number:02}", "level": level, "strategy": strategy, "articles": members[number:][:size]})
    made += [{"id": f"s{one}", "level": "single", "strategy": "single", "articles": [one]} for one in members[:3]]
    return [row | {"tokens": 9000 * len(row["articles"])} for row in made]


def answers(model: str, asked: Sequence[dict[str, Any]], contexts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Answers that are right with the model's share, less often with full text; some fail or are cut."""
    prompt = "reasoning" if model.endswith("Thinking-2507") else "direct"
    for question in asked:
        for context in contexts:
            name = request_id(question["id"], context, prompt)
            row = {"id": name, "sample": 0, "status": "answered", "finish_reason": "stop", "usage": {}}
            lucky = chance(model, name) < SHARES.get(model, 1.0) / (1 if context == "tables" or model == CHECK else 2)
            wrong = "NULL" if chance("null", model, name) < 0.4 else "7, 11"
            text = question["answer"] if lucky else wrong
            text = f"\\boxed{{{text}}}" if prompt == "reasoning" else text
            if model == "GPT-4.1" and chance("failed", name) < 0.04:
                yield row | {"status": "failed", "text": "", "finish_reason": None}
            else:
                yield row | {"text": text, "finish_reason": "length" if chance("cut", name) < 0.03 else "stop"}


def build(folder: Path, models: Sequence[str] = (*SHARES, CHECK), count: int = 33, level: str = "") -> Path:
    """Make a folder of results up to the scores; only questions of `level` are asked where one is given."""
    rows = articles(count)
    by_id = {row["id"]: row for row in rows}
    grown = collections(list(by_id))
    pairs = [(f"a{one:03}", f"a{other:03}") for one in range(count) for other in (one - 1, one - 3) if other >= 0]
    made, records = asyncio.run(write(databases(grown, by_id, pairs), GrammarWriter(), Engines().run, 3, 10, 1))
    splits = ("test", "train", "train", "dev")
    made = [row | {"split": splits[int(4 * chance("split", row["id"]))]} for row in made]
    for name, table in (("articles", rows), ("collections", grown), ("questions", made)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(table), folder / name / f"{name}.parquet")
    cited = [{"citing": citing, "cited": cited} for citing, cited in pairs]
    pq.write_table(pa.Table.from_pylist(cited), folder / "articles" / "citations.parquet")
    write_jsonl(folder / "questions" / "drafts.jsonl", records)
    members = {row["id"]: row["articles"] for row in grown}
    subjects = {row["id"]: row["subject"] for row in rows}
    asked = [row | {"articles": members[row["collection"]]} for row in made if not level or row["level"] == level]
    for model in models:
        contexts = ("tables",) if level else ("full_text", "tables")
        write_model(folder, model, asked, list(answers(model, asked, contexts)), subjects)
    return folder


def write_model(
    folder: Path, model: str, asked: Sequence[dict[str, Any]], given: list[dict[str, Any]], subjects: dict[str, str]
) -> None:
    """Score a model's answers and write them where a run has them."""
    (folder / "scores" / model).mkdir(parents=True, exist_ok=True)
    requests = [(row["id"], row["sample"]) for row in given]
    write_scores(folder / "scores" / model / "scitrek.parquet", score_rows(model, asked, requests, given, subjects))
