"""How the parser of the grammar writer's English reads single words: numbers, places, names, quoted text, lists."""

import re
from collections.abc import Callable, Iterator, Mapping

from longtrek.scitrek.questions import phrases
from longtrek.scitrek.questions.phrases import lexicon
from longtrek.scitrek.sql.literals import literal

Reading = tuple[str, int]  # SQL, and where the text that gave it ends
Reader = Callable[[str, int], Iterator[Reading]]

_NUMBER = re.compile(r"-?\d+|[a-z]+")
_PLACE = re.compile(r"(\d+)(?:st|nd|rd|th)|[a-z]+")


def fixed(table: Mapping[str, str]) -> Reader:
    """A reader of fixed wordings: English to SQL; of two that fit, both."""

    def read(text: str, start: int) -> Iterator[Reading]:
        for english, sql in table.items():
            if text.startswith(english, start):
                yield sql, start + len(english)

    return read


def number(text: str, start: int) -> Iterator[Reading]:
    """A number in words or digits."""
    match = _NUMBER.match(text, start)
    if match is None:
        return
    words: list[str] = lexicon()["numbers"]
    if match[0] in words:
        yield str(words.index(match[0])), match.end()
    elif not match[0].isalpha():
        yield match[0], match.end()


def place(text: str, start: int) -> Iterator[Reading]:
    """An author's place, `first` or `11th`, as a position from 0."""
    match = _PLACE.match(text, start)
    if match is None:
        return
    words: list[str] = lexicon()["ordinals"]
    if match[1]:
        yield str(int(match[1]) - 1), match.end()
    elif match[0] in words:
        yield str(words.index(match[0])), match.end()


def listing(item: Reader) -> Reader:
    """A reader of `a, b or c` with at least two items: SQL of the items with commas."""

    def more(text: str, start: int, before: list[str]) -> Iterator[Reading]:
        for sql, end in item(text, start):
            items = [*before, sql]
            if text.startswith(" or ", end):
                for last, last_end in item(text, end + 4):
                    yield ", ".join([*items, last]), last_end
            if text.startswith(", ", end):
                yield from more(text, end + 2, items)

    return lambda text, start: more(text, start, [])


def text_part(text: str, start: int) -> Iterator[Reading]:
    """A quoted part of a title, as a LIKE pattern."""
    match = phrases.QUOTED.match(text, start)
    if match is not None:
        yield literal(f"%{phrases.unquoted(match[1])}%"), match.end()


def person(text: str, start: int) -> Iterator[Reading]:
    """A name, bare or quoted, as a literal."""
    match = phrases.QUOTED.match(text, start)
    if match is not None:
        yield literal(phrases.unquoted(match[1])), match.end()
        return
    match = phrases.PLAIN_NAME.match(text, start)
    if match is not None:
        name = match[0].removesuffix(".")
        yield literal(name), start + len(name)


def people(text: str, start: int) -> Iterator[Reading]:
    """One name or several, as a condition on authors."""
    for sql, end in person(text, start):
        yield f"author_name = {sql}", end
    for sql, end in listing(person)(text, start):
        yield f"author_name IN ({sql})", end
