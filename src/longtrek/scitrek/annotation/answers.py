"""What people answered, held against what they were asked."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.scitrek.annotation.sample import CONTROL, Item
from longtrek.scitrek.human import agreement, annotations, same_answer


@dataclass(frozen=True)
class Given:
    """One answer as a file holds it: who gave it, to which question, and where it stands; None where left open."""

    where: str
    annotator: str
    id: str
    question: str
    answer: str | None


def collected(items: Sequence[Item], given: Iterable[Given]) -> list[dict[str, Any]]:
    """Answers as rows of `annotations.jsonl`, in the sample's order; what was left open is left out.

    Raises:
        LongtrekError: an answer is to no question of the sample, stands beside another question's words, or is an
            annotator's second one to a question; the message says where.
    """
    sample = {item.id: item for item in items}
    first: dict[tuple[str, str], Given] = {}
    for one in given:
        item = sample.get(one.id)
        if item is None:
            raise LongtrekError(
                f"{one.where}: the id {one.id!r} is none of the sample's; expected the ids as they were exported"
            )
        if _plain(one.question) != _plain(item.question):
            raise LongtrekError(
                f"{one.where}: beside the id {one.id} stands {one.question!r}, but it was exported with "
                f"{item.question!r}; expected ids and questions as they were exported"
            )
        if one.answer is None:
            continue
        before = first.setdefault((_plain(one.annotator).casefold(), one.id), one)
        if before is not one:
            raise LongtrekError(
                f"{one.where}: {one.annotator!r} answers {one.id} a second time (first: {before.where}); expected one "
                "answer a person. If these are two people, give them two names; if it is one file twice, name it once"
            )
    places = {item.id: place for place, item in enumerate(items)}
    ordered = sorted(first.values(), key=lambda one: (places[one.id], _plain(one.annotator)))
    return [_row(sample[one.id], one) for one in ordered]


def _row(item: Item, one: Given) -> dict[str, Any]:
    return {
        "id": item.id,
        "session": item.session,
        "annotator": _plain(one.annotator),
        "skill": item.skill,
        "question": item.question,
        "gold": item.gold,
        "answer": one.answer,
    }


def summary(items: Sequence[Item], rows: Sequence[Mapping[str, Any]], annotators: int = 3) -> list[str]:
    """What came of an import, as lines: answers, control questions by annotator, and Table 6's percentages."""
    asked = sum(item.skill != CONTROL for item in items)
    people = sorted({row["annotator"] for row in rows})
    answered = Counter(row["id"] for row in rows if row["skill"] != CONTROL)
    whole = sum(count == annotators for count in answered.values())
    lines = [
        f"{len(people)} annotators, {answered.total()} answers to {len(answered)} of {asked} questions; "
        f"{whole} have exactly {annotators}, which is what Table 6 counts"
    ]
    for person in people:
        controls = [row for row in rows if row["skill"] == CONTROL and row["annotator"] == person]
        right = sum(same_answer(row["answer"], row["gold"]) for row in controls)
        lines.append(f"control questions of {person}: {right} of {len(controls)} right")
    for line in agreement(annotations(rows), annotators):
        if line["agree"] is not None:
            lines.append(f"{line['skill']}: agree {line['agree']:.1f} %, align {line['align']:.1f} %")
    return lines


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))
