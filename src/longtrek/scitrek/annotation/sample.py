"""Which questions people are asked (Section 3.4): a seeded sample of each skill, in sessions of different contexts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from longtrek.scitrek.analyses import SKILLS
from longtrek.scitrek.sql.database import Database
from longtrek.transduction.stream import draws, permutation

PER_SKILL = 20
"""Questions of each skill (Section 3.4: 120 in all)."""
PER_SESSION = 3
"""Questions of a session, over different contexts; a control question comes beside them."""
CONTROL = "control"
CONTROL_SUFFIX = "_testing"
"""How the id of a control question ends, as in the authors' annotation files."""


@dataclass(frozen=True)
class Item:
    """A question put to people; `gold` is the query's answer, which they never see."""

    id: str
    session: int
    collection: str
    skill: str
    question: str
    gold: str


def draw(
    questions: Iterable[Mapping[str, Any]], seed: int, per_skill: int = PER_SKILL, per_session: int = PER_SESSION
) -> list[Item]:
    """Draw questions of each skill and group them in sessions, without control questions.

    Args:
        questions: rows with `id`, `collection`, `skill`, `text` and `answer` that may be asked.
        seed: the study's; another one draws other questions.
        per_skill: how many of each skill; all where there are fewer.
        per_session: how many a session has at the most, no two of one collection.

    Returns:
        Items in the order of their sessions, which are numbered from 1.

    Raises:
        LongtrekError: there is no question to draw.
    """
    rows = list(questions)
    drawn: list[Mapping[str, Any]] = []
    for skill in SKILLS:
        found = [row for row in rows if row["skill"] == skill]
        places = sorted(permutation((seed, "annotated", skill), len(found))[:per_skill])
        drawn += [found[place] for place in places]
    if not drawn:
        raise LongtrekError("no question to annotate; check scitrek.ask.splits in the config, or write questions first")
    sessions: list[list[Mapping[str, Any]]] = []
    for place in permutation((seed, "annotated", "sessions"), len(drawn)):
        _seat(sessions, drawn[place], per_session)
    return [
        Item(row["id"], number, row["collection"], row["skill"], row["text"], row["answer"])
        for number, members in enumerate(sessions, 1)
        for row in members
    ]


def _seat(sessions: list[list[Mapping[str, Any]]], row: Mapping[str, Any], per_session: int) -> None:
    """Put a question into the first session with room that does not have its collection."""
    for members in sessions:
        if len(members) < per_session and row["collection"] not in {one["collection"] for one in members}:
            members.append(row)
            return
    sessions.append([row])


def with_controls(items: Sequence[Item], databases: Mapping[str, Database], seed: int) -> list[Item]:
    """Add a question to every session that anyone can answer who reads the tables (Section 3.4).

    Args:
        items: as `draw` gives them.
        databases: the database of each collection.
        seed: draws the article that is asked about, and the control's place in its session.
    """
    made: list[Item] = []
    for number in dict.fromkeys(item.session for item in items):
        members = [item for item in items if item.session == number]
        raw = draws((seed, "annotated", "control", number), 3)
        about = members[int(raw[0] % len(members))].collection
        rows = databases[about].as_dict()["articles"]
        row = rows[int(raw[1] % len(rows))]
        text = f"How many authors does the article with the identifier {row['article_id']} have?"
        control = Item(f"session-{number}{CONTROL_SUFFIX}", number, about, CONTROL, text, str(row["author_count"]))
        place = int(raw[2] % (len(members) + 1))
        made += [*members[:place], control, *members[place:]]
    return made


def write_sample(path: Path, items: Sequence[Item]) -> None:
    """Keep what was put to people, with the answers; the same sample may be written again.

    Raises:
        LongtrekError: another sample stands there, whose annotations a new one would make unreadable.
    """
    if path.exists() and read_sample(path) != list(items):
        raise LongtrekError(
            f"{path}: another sample was exported before, and annotations of it could not be imported any more; "
            "give --out another folder, or move the old one away"
        )
    write_jsonl(path, [asdict(item) for item in items])


def read_sample(path: Path) -> list[Item]:
    """Read what was put to people.

    Raises:
        LongtrekError: there is no such file, or a line is not of a sample.
    """
    if not path.is_file():
        raise LongtrekError(f"{path}: no such file; expected the sample that `longtrek annotation export` wrote")
    made = []
    for number, row in enumerate(read_jsonl(path), 1):
        try:
            made.append(Item(**row))
        except TypeError:
            raise LongtrekError(
                f"{path}, line {number}: {row!r} is no question of a sample; expected what "
                "`longtrek annotation export` wrote"
            ) from None
    return made


def still_asked(items: Sequence[Item], questions: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Hold a sample against the run's questions, which may have been written again since.

    Raises:
        LongtrekError: a question of the sample is no longer there, or its words or answer are others.
    """
    now = {row["id"]: (row["text"], row["answer"]) for row in questions}
    for item in items:
        if item.skill != CONTROL and now.get(item.id) != (item.question, item.gold):
            raise LongtrekError(
                f"{path}: the question {item.id} is not, or not in these words and with this answer, among the run's "
                "questions; they were written again since the export, so that these annotations tell nothing of them"
            )


def instructions(prompt: str) -> list[str]:
    """What a model is told about tables (Figure 8), as lines for people: the prompt without what is filled in."""
    paragraphs = [part for part in prompt.split("\n\n") if "{" not in part and not part.isupper()]
    return [line.strip() for part in paragraphs for line in part.split("\n") if line.strip()]
