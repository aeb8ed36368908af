"""Questions and answers → `scores/<model>/scitrek.parquet`: one row a question, context and prompt, both rules."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longtrek.errors import LongtrekError
from longtrek.files import atomic
from longtrek.scitrek.prompts import split_request_id
from longtrek.scitrek.scoring import PAPER_RULE, STRICT_RULE, Tally, gold_of

SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("question", pa.string()),
        ("context", pa.string()),
        ("prompt", pa.string()),
        ("collection", pa.string()),
        ("level", pa.string()),
        ("strategy", pa.string()),
        ("skill", pa.string()),
        ("topic", pa.string()),
        ("subject", pa.string()),  # the subject of most of the collection's articles
        ("template", pa.string()),
        ("split", pa.string()),
        ("writer", pa.string()),
        ("order", pa.string()),
        ("assumed", pa.list_(pa.string())),
        ("null_gold", pa.bool_()),  # left out of the paper's test set
        ("status", pa.string()),
        ("asked", pa.int32()),
        ("answered", pa.int32()),
        ("failed", pa.int32()),
        ("not_asked", pa.int32()),
        ("missing", pa.int32()),
        ("truncated", pa.int32()),
        ("empty", pa.int32()),
        ("unclosed_reasoning", pa.int32()),
        ("window", pa.string()),  # fits, truncated, refused, unchecked
        ("paper_exact_match", pa.float64()),
        ("paper_f1", pa.float64()),
        ("strict_correct", pa.float64()),
        ("strict_parts_f1", pa.float64()),
        ("null_answers", pa.float64()),
        ("non_compliant", pa.float64()),
        ("articles", pa.int32()),
        ("question_words", pa.int32()),
        ("sql_words", pa.int32()),
        ("answer_words", pa.int32()),
        ("negation", pa.bool_()),
        ("negation_paper", pa.bool_()),
        ("prompt_tokens", pa.float64()),  # means over the answered samples, the model's own tokens
        ("completion_tokens", pa.float64()),
        ("sql", pa.string()),
        ("text", pa.string()),
    ],
    metadata={"paper_rule": PAPER_RULE, "strict_rule": STRICT_RULE},
)

_NEGATION = re.compile(r"\b(?:not|never|no|none|neither|nor|without|except|excluding|\w+n't|cannot)\b", re.IGNORECASE)


def words(text: str | None) -> int:
    """Space-separated words, as Tables 5 and 8 count lengths."""
    return len((text or "").split())


def negated(question: str) -> bool:
    """Whether a question negates, told by whole words."""
    return bool(_NEGATION.search(question.replace("’", "'")))


def negated_paper(question: str) -> bool:
    """Whether a question is in the paper's negation subset (Table 18): `not` or `never` anywhere in its letters.

    So the authors select it, which takes in `another`.
    """
    return "not" in question or "never" in question


def main_subject(articles: Iterable[str], subjects: Mapping[str, str]) -> str | None:
    """The subject of most articles of a collection (Figure 2); the first seen where two are as frequent."""
    counted = Counter(subjects[article] for article in articles if article in subjects)
    return counted.most_common(1)[0][0] if counted else None


def score_rows(
    model: str,
    questions: Iterable[Mapping[str, Any]],
    requests: Iterable[tuple[str, int]],
    answers: Iterable[Mapping[str, Any]],
    subjects: Mapping[str, str] | None = None,
    windows: Mapping[str, str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Score a model's answers; yields rows of `SCHEMA`, ordered by question, context, prompt.

    Args:
        model: its name.
        questions: rows of `questions.parquet`, with `articles` (ids in order) where known.
        requests: id (`<question>/<context>/<prompt>`) and sample of everything that was to be asked: what has no
            answer row is `missing` and stays in the denominator.
        answers: answer rows, read once as a stream.
        subjects: subject of each article.
        windows: window action by request id, where a policy was applied.

    Raises:
        LongtrekError: a request's question is unknown, or an answer belongs to no request.
    """
    known = {question["id"]: question for question in questions}
    wanted: dict[str, set[int]] = {}
    for identity, sample in requests:
        wanted.setdefault(identity, set()).add(sample)
    cells = {identity: _Cell(_of(known, identity)) for identity in wanted}
    for answer in answers:
        identity = answer["id"]
        if answer.get("sample", 0) not in wanted.get(identity, ()):
            raise LongtrekError(
                f"answer {identity!r}, sample {answer.get('sample', 0)}: it was not requested, or "
                "stands there twice; expected each request once: check that answers and requests come from one config"
            )
        wanted[identity].discard(answer.get("sample", 0))
        cells[identity].add(answer, split_request_id(identity)[2] == "reasoning")
    for identity in sorted(cells, key=split_request_id):
        window = (windows or {}).get(identity)
        yield cells[identity].row(model, identity, len(wanted[identity]), subjects or {}, window)


def _of(known: Mapping[str, Mapping[str, Any]], identity: str) -> Mapping[str, Any]:
    question = split_request_id(identity)[0]
    if question not in known:
        raise LongtrekError(f"request {identity!r}: no question has the id {question!r}")
    return known[question]


class _Cell:
    """One question under one context and prompt, while its answers come in."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self.question = question
        self.tally = Tally(gold_of(dict(question)))
        self.tokens: Counter[str] = Counter()
        self.counted = 0

    def add(self, answer: Mapping[str, Any], reasoning: bool) -> None:
        self.tally.add(dict(answer), reasoning)
        usage = answer.get("usage") or {}
        if usage.get("completion_tokens") is not None:
            self.counted += 1
            for name in ("prompt_tokens", "completion_tokens"):
                self.tokens[name] += usage.get(name) or 0

    def row(
        self, model: str, identity: str, missing: int, subjects: Mapping[str, str], window: str | None
    ) -> dict[str, Any]:
        question, tally = self.question, self.tally
        name, context, prompt = split_request_id(identity)
        copied = ("collection", "level", "strategy", "skill", "topic", "template", "split", "writer", "sql", "text")
        articles = list(question.get("articles") or [])
        asked = tally.asked + missing
        return {
            "model": model,
            "question": name,
            "context": context,
            "prompt": prompt,
            **{column: question.get(column) for column in copied},
            "subject": main_subject(articles, subjects),
            "order": tally.gold.order,
            "assumed": list(tally.gold.assumed),
            "null_gold": question["answer"] == "NULL",
            "status": tally.status,
            "asked": asked,
            "answered": tally.answered,
            "failed": tally.failed,
            "not_asked": tally.not_asked,
            "missing": missing,
            "truncated": tally.truncated,
            "empty": int(tally.sums.get("empty", 0)),
            "unclosed_reasoning": int(tally.sums.get("unclosed_reasoning", 0)),
            "window": window,
            **self._scores(asked),
            "articles": len(articles) or None,
            "question_words": words(question.get("text")),
            "sql_words": words(question.get("sql")),
            "answer_words": words(question["answer"]),
            "negation": negated(question.get("text") or ""),
            "negation_paper": negated_paper(question.get("text") or ""),
            "prompt_tokens": self.tokens["prompt_tokens"] / self.counted if self.counted else None,
            "completion_tokens": self.tokens["completion_tokens"] / self.counted if self.counted else None,
        }

    def _scores(self, asked: int) -> dict[str, float | None]:
        """Means over all samples asked: one that failed or is missing is in the denominator; null if none came."""
        columns = {
            "paper_exact_match": "exact_match",
            "paper_f1": "f1",
            "strict_correct": "correct",
            "strict_parts_f1": "parts_f1",
            "null_answers": "null",
            "non_compliant": "non_compliant",
        }
        sums, answered = self.tally.sums, self.tally.answered
        return {column: sums[name] / asked if answered else None for column, name in columns.items()}


def write_scores(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write score rows as Parquet; equal rows give equal bytes. Returns the number of rows."""
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=SCHEMA)
    with atomic(path) as stream:
        pq.write_table(table, stream, compression="zstd", compression_level=3, version="2.6")
    return int(table.num_rows)
