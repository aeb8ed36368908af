"""The 387 SQL templates: composed from `templates.yaml`, and filled in with a collection's own values."""

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from longtrek.errors import LongtrekError
from longtrek.transduction.stream import Key, permutation

RELATIONAL = "relational_filtering"
PLACEHOLDER = re.compile(r"\{([a-z-]+)\}")
_ROLE = re.compile(r"\b(own|next|last)\b")


@dataclass(frozen=True)
class Template:
    """A query with placeholders in braces, and the skill and topic it stands for (Tables 3 and 4)."""

    id: str
    skill: str
    topic: str
    sql: str

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The placeholders in the order in which they stand, repeats kept."""
        return tuple(PLACEHOLDER.findall(self.sql))


@functools.cache
def _data() -> dict[str, Any]:
    text = resources.files("longtrek.scitrek.questions").joinpath("templates.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data


@functools.cache
def dull_words() -> frozenset[str]:
    """Words of titles that nobody would ask for."""
    return frozenset(_data()["dull_words"])


@functools.cache
def templates() -> tuple[Template, ...]:
    """All 387 templates (Section 3.2), in the data's order.

    Raises:
        LongtrekError: the composition does not give `expected` counts, or gives a query twice.
    """
    made: list[Template] = []
    numbers: Counter[tuple[str, str]] = Counter()
    for cell in _data()["cells"]:
        for topic in cell["topics"]:
            for sql in _compose(cell, topic):
                numbers[cell["skill"], topic] += 1
                name = f"{cell['skill']}-{topic}-{numbers[cell['skill'], topic]:03}"
                made.append(Template(name, cell["skill"], topic, sql))
    _check(made)
    return tuple(made)


def template(name: str) -> Template:
    """The template of that id."""
    for candidate in templates():
        if candidate.id == name:
            return candidate
    raise LongtrekError(f"no template {name!r}; expected an id such as {templates()[0].id!r}")


def _compose(cell: dict[str, Any], topic: str) -> Iterator[str]:
    conditions = _data()["conditions"][cell["conditions"]] if "conditions" in cell else [""]
    conditions = conditions[: cell.get("take")]
    orders = cell.get("orders", [""])
    skeletons = cell["skeletons"]
    rows: Iterable[tuple[str, str, str]]
    if cell["combine"] == "turns":
        rows = zip(itertools.cycle(skeletons), conditions, itertools.cycle(orders), strict=False)
    else:
        rows = itertools.product(skeletons, conditions, orders)
    columns = _data()["columns"][topic]
    for skeleton, condition, order in rows:
        sql = skeleton.replace("<where>", f"WHERE {condition}") + (f" ORDER BY {order}" if order else "")
        yield _with_columns(sql, columns)


def _with_columns(sql: str, columns: dict[str, str]) -> str:
    placeholders = _data()["placeholders"]
    for role, column in columns.items():
        sql = sql.replace("{" + role + "}", "{" + placeholders[column] + "}")
    return _ROLE.sub(lambda role: columns[role[1]], sql)


def _check(made: Sequence[Template]) -> None:
    counts = Counter((template.skill, template.topic) for template in made)
    expected = {
        (skill, topic): count for skill, topics in _data()["expected"].items() for topic, count in topics.items()
    }
    if dict(counts) != expected:
        wrong = {cell for cell in counts.keys() | expected.keys() if counts[cell] != expected.get(cell, 0)}
        found = ", ".join(f"{s} × {t}: {counts[s, t]} for {expected.get((s, t), 0)}" for s, t in sorted(wrong))
        raise LongtrekError(f"templates.yaml: composed counts differ from `expected`: {found}; mend the cell's lists")
    repeated = [sql for sql, count in Counter(template.sql for template in made).items() if count > 1]
    if repeated:
        raise LongtrekError(f"templates.yaml: composed twice: {repeated[0]}; change a condition or an order")


def draw(key: Key, strategy: str) -> list[Template]:
    """A collection's templates in the order in which they are drawn; it uses the first ten (Section 3.2).

    Graph collections (`dfs`, `bfs`) draw from the relational ones, all others from the rest.
    """
    graph = strategy in ("dfs", "bfs")
    pool = [template for template in templates() if (template.skill == RELATIONAL) == graph]
    return [pool[index] for index in permutation(key, len(pool))]
