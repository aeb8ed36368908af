"""The authors' released dataset as questions, with the instructions it carries.

Rows come as JSON lines or Parquet, with contexts and instructions (`prompt_full`, `prompt_meta`, as on the
Hugging Face hub) or without (`articles`, `sample_level`, `sql_type`, `focus`, `sql`, `template`, `question`,
`answer`, `label`). Nothing of theirs is changed: the strict rule is told only what the rows say.
"""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from longtrek.answers.request import Request
from longtrek.errors import LongtrekError
from longtrek.files import canonical_json, read_jsonl
from longtrek.scitrek.prompts import CONTEXTS, PROMPTS, request_id

SKILLS = {
    "multi_ran_aggregating": "aggregating",
    "multi_ran_organizing": "sorting",
    "multi_ran_filtering_ofo": "filtering",
    "multi_ran_filtering_foa": "filtering_aggregating",
    "multi_ran_filtering_foo": "filtering_sorting",
    "multi_graph_filtering": "relational_filtering",
    "multi_simple": "simple",
}
TOPICS = {
    "author_relationship": "author_relation",
    "citation_relationship": "citation_relation",
    "title_entire": "title_list",
}
LEVELS = {"64": "64K", "128": "128K", "512": "512K", "1024": "1M"}
STRATEGIES = {"ran": "random", "dfs": "dfs", "bfs": "bfs"}
SPLITS = {"training": "train", "train": "train", "dev": "dev", "val": "dev", "test": "test"}

_MARKER = re.compile(r"<(question|articles|table-articles|table-article_author|table-citing_cited)>")
_IDENTIFYING = ("articles", "sample_level", "sql_type", "focus", "sql", "template", "question", "answer", "label")


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read rows of the released dataset as a stream: `.parquet`, `.jsonl` or `.jsonl.zst`."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        if not path.is_file():
            raise LongtrekError(f"{path}: no such file; expected the released dataset as Parquet")
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=16):
                yield from batch.to_pylist()
    else:
        yield from read_jsonl(path)


def questions(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Turn released rows (from `read_rows`) into questions, in their order.

    Yields `id` (a hash of the row's own fields, so that an answer file's rows find their question), `collection`,
    `level`, `strategy`, `skill`, `topic`, `template`, `sql`, `text`, `answer`, `columns`, `order`,
    `articles`, `split`, `writer` ("released"), and `left_out`: why the paper's test set would not hold it, or null.
    """
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        question = _question(row, number)
        seen[question["id"]] += 1
        if seen[question["id"]] > 1:
            question["id"] += f"-{seen[question['id']]}"
        yield question


def _question(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    full, meta = row.get("prompt_full") or {}, row.get("prompt_meta") or {}
    text = row.get("question") or full.get("question") or meta.get("question") or ""
    answer = row.get("answer") or full.get("answer") or meta.get("answer")
    if not isinstance(answer, str):
        raise LongtrekError(f"released row {number}: no `answer`; found fields {', '.join(sorted(row))}")
    level, strategy = _level(row.get("sample_level"), number)
    articles = list(row.get("articles") or [])
    skill = _known(SKILLS, row.get("sql_type"), "sql_type", number)
    identity = {name: row.get(name) for name in _IDENTIFYING} | {"question": text, "answer": answer}
    return {
        "id": f"released-{_hash(identity)}",
        "collection": f"released-{_hash(articles or full.get('context') or meta)}",
        "level": level,
        "strategy": strategy,
        "skill": skill,
        "topic": TOPICS.get(str(row.get("focus")), row.get("focus")),
        "template": row.get("template"),
        "sql": row.get("sql"),
        "text": text,
        "answer": answer,
        **_shape(row.get("sql")),
        "articles": articles,
        "split": _known(SPLITS, row.get("label"), "label", number),
        "writer": "released",
        "left_out": _left_out(text, answer, skill),
    }


def row_id(row: Mapping[str, Any], number: int) -> str:
    """The id of the question that a released row, or a row of an answer file, is about; `number` is told in errors."""
    return str(_question(row, number)["id"])


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:16]


def _known(names: Mapping[str, str], value: Any, column: str, number: int) -> str | None:
    if value is None:
        return None
    if value not in names:
        raise LongtrekError(f"released row {number}: {column} {value!r}; expected one of {', '.join(names)}")
    return names[value]


def _level(value: Any, number: int) -> tuple[str | None, str | None]:
    """Read `multi_dfs_128` as level 128K, strategy dfs; single articles as level and strategy `single`."""
    if value is None:
        return None, None
    if str(value).startswith("single"):
        return "single", "single"
    match = re.fullmatch(r"multi_(ran|dfs|bfs)_(64|128|512|1024)k?", str(value))
    if not match:
        raise LongtrekError(f"released row {number}: sample_level {value!r}; expected such as multi_ran_64")
    return LEVELS[match.group(2)], STRATEGIES[match.group(1)]


def _shape(sql: str | None) -> dict[str, Any]:
    """What a query alone says of its answer: `columns` of a row, and `order` where no ties can leave it open.

    Without ORDER BY any order is right; where the one returned column is the one sorted by, the order is total. Else
    it takes the tables to know the ties, and `order` stays null.
    """
    if not sql:
        return {"columns": None, "order": None}
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        query = parse_one(sql, read="sqlite")
    except SqlglotError:
        return {"columns": None, "order": None}
    order = query.args.get("order")
    columns = query.expressions
    if order is None:
        return {"columns": len(columns), "order": "any"}
    keys = [key.this for key in order.expressions if isinstance(key, exp.Ordered)]
    return {"columns": len(columns), "order": "total" if keys == columns else None}


def _left_out(text: str, answer: str, skill: str | None) -> str | None:
    """Why the authors' loader leaves a row out of the test set, in its order of checks."""
    if not text:
        return "no question"
    if "database" in text:
        return "names the database"
    if answer == "NULL":
        return "the answer is NULL"
    return "a simple question" if skill == "simple" else None


def released_prompt(row: Mapping[str, Any], context: str, kind: str) -> str:
    """Build a prompt from a row's own instruction, every marker replaced once.

    Markers inside an article or a question are text and stay.

    Raises:
        LongtrekError: the row carries no such instruction, or the instruction's marker has no value.
    """
    if context not in CONTEXTS or kind not in PROMPTS:
        raise LongtrekError(f"no released prompt for {kind!r} on {context!r}")
    part = row.get("prompt_full" if context == "full_text" else "prompt_meta") or {}
    instruction = part.get(f"instruction_{kind}")
    if not instruction:
        raise LongtrekError(f"the released row carries no instruction_{kind} for {context}; use the kit's own prompts")
    values = {
        "question": part.get("question") or row.get("question"),
        "articles": part.get("context"),
        "table-articles": part.get("table_articles_text"),
        "table-article_author": part.get("table_article_author_text"),
        "table-citing_cited": part.get("table_citing_cited_text"),
    }
    missing = {name for name in _MARKER.findall(instruction) if values[name] is None}
    if missing:
        raise LongtrekError(f"the released row has no text for <{'>, <'.join(sorted(missing))}>")
    return _MARKER.sub(lambda match: str(values[match.group(1)]), instruction)


def released_requests(
    rows: Iterable[Mapping[str, Any]],
    *,
    context: str,
    kind: str,
    samples: int,
    max_tokens: int,
) -> Iterator[Request]:
    """Make requests that ask released rows with their own instructions, as a stream in the rows' order.

    Their instructions put the context where the authors chose, so how much of a prefix is shared is theirs too.
    """
    prompted, asked = itertools.tee(rows)
    for row, question in zip(prompted, questions(asked), strict=True):
        body = released_prompt(row, context, kind)
        for sample in range(samples):
            yield Request(
                id=request_id(question["id"], context, kind),
                messages=[{"role": "user", "content": body}],
                max_tokens=max_tokens,
                sample=sample,
                prefix=f"{question['collection']}/{context}",
                expected=question["answer"],
            )
