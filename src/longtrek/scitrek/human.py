"""Agreement of human annotators and alignment of the queries' answers with theirs (Table 6)."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.scitrek.released import SKILLS
from longtrek.scitrek.scoring import normalised


def annotations(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Group annotation rows by question.

    Args:
        rows: as the annotation tool writes them (`instance_id`, `user_id`, `meta` {sql_type, question, answer},
            `label_annotations` {answer {text_box}}), or flat (`id`, `annotator`, `skill`, `gold`, `answer`).

    Returns `{id: {"skill", "gold", "answers": {annotator: text}}}`. Control questions (ids that end in
    `_testing`) and simple ones are left out. A second answer of one annotator replaces the first.
    """
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows, 1):
        flat = _flat(row, number)
        if flat["id"].endswith("_testing") or flat["skill"] == "simple":
            continue
        entry = found.setdefault(flat["id"], {"skill": flat["skill"], "gold": flat["gold"], "answers": {}})
        entry["answers"][flat["annotator"]] = flat["answer"]
    return found


def _flat(row: Mapping[str, Any], number: int) -> dict[str, str]:
    try:
        if "instance_id" not in row:
            return {name: str(row[name]) for name in ("id", "annotator", "skill", "gold", "answer")}
        meta = row["meta"]
        return {
            "id": str(row["instance_id"]),
            "annotator": str(row["user_id"]),
            "skill": SKILLS.get(meta["sql_type"], meta["sql_type"]),
            "gold": str(meta["answer"]),
            "answer": str(row["label_annotations"]["answer"]["text_box"]),
        }
    except KeyError as missing:
        raise LongtrekError(f"annotation row {number}: no field {missing}; see the reader's two forms") from None


def agreement(found: Mapping[str, Mapping[str, Any]], annotators: int = 3) -> list[dict[str, Any]]:
    """Rebuild Table 6: one row a skill and one for all, percentages of questions.

    A question is agreed on when two or more annotators gave the same answer, aligned when two or more gave the
    query's; answers are folded as exact match folds them. Only questions with exactly `annotators` answers count, as
    with the authors; the rest are `left_out`.
    """
    cells: dict[str, list[tuple[bool, bool]]] = {}
    left_out: dict[str, int] = {}
    for entry in found.values():
        for skill in (entry["skill"], "all"):
            cells.setdefault(skill, [])
            left_out.setdefault(skill, 0)
            if len(entry["answers"]) == annotators:
                cells[skill].append(_judge(entry))
            else:
                left_out[skill] += 1
    order = [*dict.fromkeys(SKILLS.values()), *sorted(cells)]
    return [
        {
            "skill": skill,
            "questions": len(judged),
            "left_out": left_out[skill],
            "agree": _percent(sum(agreed for agreed, _ in judged), len(judged)),
            "align": _percent(sum(aligned for _, aligned in judged), len(judged)),
        }
        for skill, judged in sorted(cells.items(), key=lambda cell: (cell[0] == "all", order.index(cell[0])))
    ]


def _judge(entry: Mapping[str, Any]) -> tuple[bool, bool]:
    given = [_folded(text) for text in entry["answers"].values()]
    agreed = any(one == other for one, other in combinations(given, 2))
    return agreed, given.count(_folded(entry["gold"])) >= 2


def same_answer(one: str, other: str) -> bool:
    """Whether two answers count as the same one."""
    return _folded(one) == _folded(other)


def _folded(text: str) -> str:
    return normalised(", ".join(piece.strip() for piece in " ".join(text.split()).split(",")))


def _percent(count: int, total: int) -> float | None:
    return 100 * count / total if total else None
