"""The words that the grammar writer and its parser share: numbers, ordinals, quoted names, and `phrases.yaml`."""

import functools
import re
from importlib import resources
from typing import Any

import yaml

SLOT = re.compile(r"\{(\w+)(?::([^}]*))?\}")
FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

# A name that needs no quotes: capitalised words, so that the lower-case words around it end it.
_NAME_WORD = r"[A-ZÀ-ÖØ-Þ](?:[^\W\d_]|[-’'.](?=[^\W\d_]))*\.?"
PLAIN_NAME = re.compile(rf"{_NAME_WORD}(?: {_NAME_WORD})*")
QUOTED = re.compile(r"“((?:[^”]|””)*)”(?!”)", re.DOTALL)


@functools.cache
def lexicon() -> dict[str, Any]:
    """The phrases, as `phrases.yaml` has them."""
    text = resources.files("longtrek.scitrek.questions").joinpath("phrases.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data


def quoted(text: str) -> str:
    """Text in typographic quotes, a closing quote inside it doubled."""
    return "“" + text.replace("”", "””") + "”"


def unquoted(text: str) -> str:
    """What stood between the quotes before `quoted` doubled its closing quotes."""
    return text.replace("””", "”")


def person(name: str) -> str:
    """A person's name as a sentence has it: bare if it can be told from the words around it, else quoted."""
    bare = PLAIN_NAME.fullmatch(name) is not None and not name.endswith(".")
    return name if bare else quoted(name)


def number(value: int) -> str:
    """A number in words up to nine, in digits above."""
    words: list[str] = lexicon()["numbers"]
    return words[value] if 0 <= value < len(words) else str(value)


def numbers(values: list[int]) -> list[str]:
    """Numbers that stand together: all in words or all in digits."""
    words = all(0 <= value < len(lexicon()["numbers"]) for value in values)
    return [number(value) if words else str(value) for value in values]


def ordinal(position: int) -> str:
    """The place of an author whose position counts from 0: `first` for 0, `11th` for 10."""
    words: list[str] = lexicon()["ordinals"]
    if 0 <= position < len(words):
        return words[position]
    place = position + 1
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def series(items: list[str]) -> str:
    """Items as a person lists them: `a`, `a or b`, `a, b or c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"
