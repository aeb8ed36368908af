"""Two questions, their requests and what came back: a small score table of SciTrek."""

from typing import Any

from longtrek.scitrek import scores

QUESTIONS = [
    {
        "id": "q1",
        "collection": "c1",
        "level": "64K",
        "strategy": "random",
        "skill": "sorting",
        "topic": "author_count",
        "template": "t1",
        "sql": "SELECT author_count FROM articles ORDER BY author_count ASC",
        "text": "How many authors do another journal's articles have?",
        "answer": "1, 2",
        "order": "total",
        "split": "test",
        "writer": "grammar",
        "articles": ["x", "y", "z"],
    },
    {
        "id": "q2",
        "collection": "c1",
        "level": "64K",
        "skill": "filtering",
        "text": "Which are not old?",
        "answer": "NULL",
    },
]
REQUESTS = [(f"{q}/{c}/direct", s) for q in ("q1", "q2") for c in ("tables", "full_text") for s in (0, 1)]
ANSWERS = [
    {"id": "q1/tables/direct", "sample": 0, "text": "1, 2", "usage": {"prompt_tokens": 90, "completion_tokens": 4}},
    {"id": "q1/tables/direct", "sample": 1, "text": "NULL", "usage": {"prompt_tokens": 90, "completion_tokens": 2}},
    {"id": "q1/full_text/direct", "sample": 0, "status": "failed", "error": {"kind": "timeout"}},
    {"id": "q2/tables/direct", "sample": 0, "text": "NULL"},
]


def table(model: str = "m") -> list[dict[str, Any]]:
    return list(scores.score_rows(model, QUESTIONS, REQUESTS, ANSWERS, {"x": "Math", "y": "Biology", "z": "Biology"}))
