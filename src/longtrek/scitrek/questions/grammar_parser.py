"""The way back of the `grammar` writer: reads its English and gives an equivalent query.

A recursive descent over the phrases of `phrases.yaml` that follows every reading; a question with two readings
that differ is an error, so the writer's English cannot be ambiguous without a test noticing.
"""

import functools
import re
from collections.abc import Callable, Iterator

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.grammar_words import Reader, Reading, fixed, listing, number, people, place, text_part
from longtrek.scitrek.questions.phrases import SLOT, lexicon

Slots = dict[str, str]

_LEFT = "\x00"  # stands in a quantity's SQL for what is counted


def read_question(question: str) -> str:
    """Give the query that a question of the grammar writer asks for (Section 3.3's way back).

    Raises:
        LongtrekError: the question has no reading, or several that differ.
    """
    found: set[str] = set()
    for frame in lexicon()["frames"].values():
        for slots, end in _match(frame["english"], question, 0):
            if end == len(question):
                found.add(_fill(frame["sql"], slots))
    if len(found) != 1:
        readings = "; ".join(sorted(found)) or "none"
        raise LongtrekError(
            f"the grammar parser found {len(found)} readings of {question[:300]!r} ({readings[:600]}); expected one: "
            "a question as the grammar writer words it"
        )
    return found.pop()


def _fill(sql: str, slots: Slots) -> str:
    def slot(match: re.Match[str]) -> str:
        value = slots[match[1]]
        return value.replace(_LEFT, match[2]) if match[2] else value

    return SLOT.sub(slot, sql)


def _match(pattern: str, text: str, start: int) -> Iterator[tuple[Slots, int]]:
    """Every way in which `pattern` reads `text` from `start`: the slots' SQL, and the end."""
    return _match_parts(_parts(pattern), text, start)


def _match_parts(parts: tuple[tuple[str, str], ...], text: str, start: int) -> Iterator[tuple[Slots, int]]:
    if not parts:
        yield {}, start
        return
    (literal, slot), rest = parts[0], parts[1:]
    if not text.startswith(literal, start):
        return
    after = start + len(literal)
    if not slot:
        yield from _match_parts(rest, text, after)
        return
    for sql, end in _READERS[slot](text, after):
        for slots, last in _match_parts(rest, text, end):
            yield {slot: sql} | slots, last


@functools.cache
def _parts(pattern: str) -> tuple[tuple[str, str], ...]:
    """A pattern as pairs of literal text and the slot that follows it."""
    pieces = SLOT.split(pattern)
    return tuple(zip(pieces[::3], [*pieces[1::3], ""], strict=True))


def _phrase(pattern: str, build: Callable[[Slots], str]) -> Reader:
    """A reader of one phrase, whose slots `build` turns into SQL."""

    def read(text: str, start: int) -> Iterator[Reading]:
        for slots, end in _match(pattern, text, start):
            yield build(slots), end

    return read


def _any(readers: list[Reader]) -> Reader:
    def read(text: str, start: int) -> Iterator[Reading]:
        for reader in readers:
            yield from reader(text, start)

    return read


def _quantity(text: str, start: int) -> Iterator[Reading]:
    said = lexicon()["quantities"]
    for sign in ("=", ">", "<", ">=", "<="):
        for slots, end in _match(said[sign], text, start):
            yield f"{_LEFT} {sign} {slots['number']}", end
    for slots, end in _match(said["between"], text, start):
        yield f"{_LEFT} BETWEEN {slots['low']} AND {slots['high']}", end
    for slots, end in _match(said["in"], text, start):
        yield f"{_LEFT} IN ({slots['list']})", end


def _joined(reader: Reader, joiner: str, sql_joiner: str) -> Reader:
    """A reader of one or more of a thing with `joiner` between, as SQL with `sql_joiner` between."""

    def read(text: str, start: int) -> Iterator[Reading]:
        for sql, end in reader(text, start):
            yield sql, end
            if text.startswith(joiner, end):
                for rest, last in read(text, end + len(joiner)):
                    yield f"{sql} {sql_joiner} {rest}", last

    return read


def _quantities(text: str, start: int) -> Iterator[Reading]:
    for sql, end in _joined(_quantity, " or ", "OR")(text, start):
        yield (f"({sql})" if " OR " in sql else sql), end


def _of(slots: Slots, slot: str, left: str) -> str:
    """A quantity's SQL about `left`."""
    return slots[slot].replace(_LEFT, left)


@functools.cache
def _possession_readers() -> Reader:
    said = lexicon()["possessions"]
    build: dict[str, Callable[[Slots], str]] = {
        "count": lambda s: _of(s, "quantities", s["noun"]),
        "title": lambda s: _of(s, "quantities", "title_word_count"),
        "other": lambda s: f"{s['nouns']} <> {s['number']}",
        "even": lambda s: f"{s['nouns']} % 2 = 0",
        "odd": lambda s: f"{s['nouns']} % 2 = 1",
        "divisible": lambda s: f"{s['nouns']} % {s['number']} = 0",
        "remainder": lambda s: f"{s['nouns']} % {s['number']} = {s['rest']}",
        "more": lambda s: f"{s['nouns']} > {s['others']}",
        "fewer": lambda s: f"{s['nouns']} < {s['others']}",
        "as_many": lambda s: f"{s['nouns']} {s['bound']} {s['others']}",
        "times": lambda s: f"{s['nouns']} {s['bound']} {s['others']} * {s['times']}",
        "difference": lambda s: _of(s, "quantity", f"{s['nouns']} - {s['others']}"),
        "together": lambda s: _of(s, "quantities", f"{s['nouns']} + {s['others']}"),
        "containing": lambda s: f"article_title LIKE {s['text']}",
    }
    return _any([_phrase(said[name], builder) for name, builder in build.items()])


def _possession(text: str, start: int) -> Iterator[Reading]:
    return _possession_readers()(text, start)


def _among(column: str, rest: str = "") -> str:
    return f"article_id IN (SELECT {column} FROM citing_cited{rest})"


def _times(column: str, slots: Slots) -> str:
    return _among(column, f" GROUP BY {column} HAVING {_of(slots, 'quantities', 'COUNT(*)')}")


def _most(column: str) -> str:
    counts = f"SELECT COUNT(*) AS citation_count FROM citing_cited GROUP BY {column}"
    return _among(column, f" GROUP BY {column} HAVING COUNT(*) = (SELECT MAX(citation_count) FROM ({counts}))")


def _linked(column: str, other: str, slots: Slots) -> str:
    return _among(column, f" WHERE {other} IN (SELECT article_id FROM articles{slots['articles']})")


def _by(slots: Slots, rest: str = "") -> str:
    return f"IN (SELECT article_id FROM article_author WHERE {slots['people']}{rest})"


@functools.cache
def _property_readers(form: int) -> Reader:
    """Readers of what is true of an article; `form` 0 after `articles`, 1 after `how many articles`."""
    cited, citing = "article_id_cited", "article_id_citing"
    build: dict[str, Callable[[Slots], str]] = {
        "written": lambda s: f"article_id {_by(s)}",
        "written_as": lambda s: "article_id " + _by(s, f" AND author_position = {s['place']}"),
        "not_written": lambda s: f"article_id NOT {_by(s)}",
        "cited": lambda s: _among(cited),
        "not_cited": lambda s: _among(cited).replace("IN", "NOT IN", 1),
        "citing": lambda s: _among(citing),
        "not_citing": lambda s: _among(citing).replace("IN", "NOT IN", 1),
        "cited_times": lambda s: _times(cited, s),
        "citing_times": lambda s: _times(citing, s),
        "most_cited": lambda s: _most(cited),
        "most_citing": lambda s: _most(citing),
        "cited_by": lambda s: _linked(cited, citing, s),
        "citing_which": lambda s: _linked(citing, cited, s),
    }
    said = lexicon()["properties"]
    return _any([_phrase(said[name][form], builder) for name, builder in build.items()])


@functools.cache
def _quotient_reader() -> Reader:
    return _phrase(lexicon()["quotient"], lambda s: f"{s['nouns']} / {s['number']} {s['verb']} {s['right']}")


def _right(text: str, start: int) -> Iterator[Reading]:
    yield from _phrase(lexicon()["right"], lambda s: s["nouns"])(text, start)
    yield from number(text, start)


def _clause(form: int, *, bare: bool) -> Reader:
    """A reader of one condition; `bare` where the word before a possession may have been left out."""
    readers: list[Reader] = [_property_readers(1 if form == 2 else 0)]
    readers.append(_phrase(("with " if form < 2 else "have ") + "{possession}", lambda s: s["possession"]))
    readers.append(_phrase(lexicon()["not_having"][form], lambda s: f"NOT {s['possession']}"))
    if form < 2:
        readers.append(_quotient_reader())
    if bare:
        readers.append(_possession)
    return _any(readers)


def _restriction(form: int, *, empty: bool) -> Reader:
    """A reader of what narrows the articles, as a WHERE clause; `empty` allows nothing at all."""
    first, later = _clause(form, bare=False), _clause(form, bare=True)

    def more(text: str, start: int, joiner: str) -> Iterator[Reading]:
        yield "", start
        for said in (f" {joiner.lower()} ", f", {joiner.lower()} "):
            if text.startswith(said, start):
                for sql, end in later(text, start + len(said)):
                    for rest, last in more(text, end, joiner):
                        yield f" {joiner} {sql}{rest}", last

    def read(text: str, start: int) -> Iterator[Reading]:
        if empty:
            yield "", start
        if not text.startswith(" ", start) and form < 2:
            return
        for sql, end in first(text, start + (form < 2)):
            yield f" WHERE {sql[1:-1] if sql.startswith('(') else sql}", end
            for joiner in ("AND", "OR"):
                for rest, last in more(text, end, joiner):
                    if rest:
                        yield f" WHERE {sql}{rest}", last

    return read


def _place_or(text: str, start: int) -> Iterator[Reading]:
    said = lexicon()["places"]
    build: dict[str, Callable[[Slots], str]] = {
        "between": lambda s: f"author_position BETWEEN {s['low_place']} AND {s['high_place']}",
        "in": lambda s: f"author_position IN ({s['place_list']})",
        "even": lambda s: "author_position % 2 = 1",
        "odd": lambda s: "author_position % 2 = 0",
    }
    renamed = {"{low}": "{low_place}", "{high}": "{high_place}", "{list}": "{place_list}"}
    for name, pattern in said.items():
        for english, slot in renamed.items():
            pattern = pattern.replace(english, slot)
        for slots, end in _match(pattern, text, start):
            yield (build[name](slots) if name in build else f"author_position {name} {slots['place']}"), end


def _listed(text: str, start: int) -> Iterator[Reading]:
    """A reader of which entries of the author lists are meant, as a WHERE clause."""
    nothing = f" {lexicon()['nothing_listed']}"
    if text.startswith(nothing, start):
        yield "", start + len(nothing)
    found = [("", start)]
    if text.startswith(" ", start):
        found += list(_joined(_place_or, " or ", "OR")(text, start + 1))
    for position, after in found:
        for member, end in _listed_articles(text, after):
            conditions = [f"({position})" if " OR " in position and member else position, member]
            kept = " AND ".join(condition for condition in conditions if condition)
            yield (f" WHERE {kept}" if kept else ""), end


def _listed_articles(text: str, start: int) -> Iterator[Reading]:
    if text.startswith(f" {lexicon()['any_article']}", start):
        yield "", start + len(lexicon()["any_article"]) + 1
    for slots, end in _match(" " + lexicon()["listed_articles"], text, start):
        yield f"article_id IN (SELECT article_id FROM articles{slots['articles']})", end


def _noun_words(*, counted: bool = False, either: bool = False) -> dict[str, str]:
    nouns: dict[str, list[str]] = lexicon()["nouns"]
    if either:
        return {form: column for column, (one, many) in nouns.items() for form in (one, many)}
    skipped = "title_word_count" if counted else ""
    return {many: column for column, (_, many) in nouns.items() if column != skipped}


def _times_words(text: str, start: int) -> Iterator[Reading]:
    yield from fixed({lexicon()["twice"]: "2"})(text, start)
    yield from _phrase(lexicon()["times"], lambda s: s["number"])(text, start)


_READERS: dict[str, Reader] = {
    "number": number,
    "low": number,
    "high": number,
    "list": listing(number),
    "place": place,
    "low_place": place,
    "high_place": place,
    "place_list": listing(place),
    "text": text_part,
    "people": people,
    "quantity": _quantity,
    "quantities": _quantities,
    "possession": _possession,
    "noun": fixed(_noun_words(either=True)),
    "nouns": fixed(_noun_words()),
    "others": fixed(_noun_words()),
    "counted": fixed(_noun_words(counted=True)),
    "word": fixed(dict.fromkeys(lexicon()["word"], "")),
    "articles_noun": fixed(dict.fromkeys(lexicon()["articles_noun"], "")),
    "bound": fixed({english: sign for sign, english in lexicon()["bounds"].items()}),
    "verb": fixed({english: sign for sign, english in lexicon()["verbs"].items()}),
    "times": _times_words,
    "rest": _phrase(lexicon()["rest"], lambda slots: slots["number"]),
    "right": _right,
    "order": fixed({english: key for key, english in lexicon()["orders"].items()}),
    "article": _restriction(0, empty=True),
    "articles": _restriction(1, empty=True),
    "filtered": _restriction(1, empty=False),
    "doing": _restriction(2, empty=False),
    "listed": _listed,
}
