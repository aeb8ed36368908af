"""Random databases and random queries in scope, whose answers are held to SQLite's."""

from collections.abc import Callable
from random import Random

from longtrek.scitrek.sql.database import SCHEMA, Database, Row

NAMES = ("O'Hagan", "John W. Fisher, III", "Ann % Lee", "李明", "wei chen", "Wei Chen", "É Dupont", "é dupont", None)
TITLES = (
    "Deep Learning",
    "deep LEARNING of 100% things",
    "Étude, sur l'état",
    "a_b % c",
    'On "quotes"',
    "",
    None,
    "Αβγ δ",
)
NUMBERS = {
    "articles": ("title_word_count", "author_count", "reference_count"),
    "article_author": ("author_position",),
    "citing_cited": (),
}
TEXTS = {
    "articles": ("article_id", "article_title"),
    "article_author": ("article_id", "author_name", "relation_id"),
    "citing_cited": ("article_id_citing", "article_id_cited"),
}
IDS = ("article_id", "article_id_citing", "article_id_cited")


def random_database(draw: Random, nulls: bool = True) -> Database:
    """A small database with ties, NULLs, empty tables and awkward names."""
    ids = [f"article_{number}" for number in range(draw.choice((0, 1, 2, 4, 7, 12)))]

    def missing(chance: float) -> bool:
        return nulls and draw.random() < chance

    def count(highest: int) -> int | None:
        return None if missing(0.06) else draw.choice((draw.randint(0, highest), draw.randint(0, highest), 50, -3))

    articles = [(each, _text(draw, TITLES, nulls), count(4), count(3), count(12)) for each in ids]
    authors: list[Row] = [
        (None if missing(0.5) else f"r{each}{place}", each, _text(draw, NAMES, nulls), place)
        for each in ids
        for place in range(draw.randint(0, 4))
    ]
    if draw.random() < 0.3:
        draw.shuffle(authors)
    links = draw.randint(0, 8) if ids else 0
    pairs = [(f"c{n}", None if missing(0.1) else draw.choice(ids), draw.choice(ids)) for n in range(links)]
    return Database(tuple(articles), tuple(authors), tuple(pairs))


def _text(draw: Random, pool: tuple[str | None, ...], nulls: bool) -> str | None:
    return draw.choice([text for text in pool if nulls or text is not None])


class Grammar:
    """Writes random queries that the translation promises to answer as SQLite does."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.table = "articles"
        self.level = 0  # how many subqueries around

    def query(self) -> str:
        """One SELECT over one table or subquery, its parts drawn at random."""
        kinds: tuple[Callable[[], str], ...] = (
            *(self.plain,) * 4,
            *(self.grouped,) * 3,
            self.aggregated,
            self.aggregated,
            self.compound,
            self.nested,
            self.nested,
        )
        self.table = self.draw.choice(("articles", "articles", "article_author", "article_author", "citing_cited"))
        return self.draw.choice(kinds)()

    def one_of(self, *texts: str | Callable[[], str]) -> str:
        chosen = self.draw.choice(texts)
        return chosen if isinstance(chosen, str) else chosen()

    def maybe(self, chance: float, text: Callable[[], str]) -> str:
        return text() if self.draw.random() < chance else ""

    # Expressions.

    def column(self) -> str:
        return self.draw.choice((*NUMBERS[self.table], *TEXTS[self.table]))

    def text_column(self) -> str:
        return self.draw.choice(TEXTS[self.table])

    def constant(self) -> str:
        return str(self.draw.choice((0, 1, 2, 3, 5, 10, 50, -2)))

    def text(self) -> str:
        found = self.draw.choice(
            (*(name for name in NAMES if name), "Deep Learning", "article_0", "article_1", "5", "%deep%", "%É%")
        )
        return "'" + found.replace("'", "''") + "'"

    def number(self, depth: int = 0) -> str:
        columns = NUMBERS[self.table]
        if not columns or self.draw.random() < 0.15:
            return self.one_of(f"LENGTH({self.text_column()})", self.constant(), f"INSTR({self.text_column()}, 'e')")
        if depth > 1 or self.draw.random() < 0.6:
            return self.draw.choice(columns)
        left, right = self.number(depth + 1), self.one_of(self.constant(), lambda: self.number(depth + 1))
        sign = self.one_of("+", "-", "*", "/", "%")
        return self.one_of(
            f"({left} {sign} {right})", f"{left} {sign} {right}", f"-{left}", f"ABS({left})", f"(1.0 * {left})",
            f"ROUND({left} * 1.0 / {right}, {self.draw.randint(0, 3)})",
            lambda: f"CASE WHEN {self.condition(2)} THEN {self.draw.choice(columns)} ELSE {self.constant()} END",
            f"COALESCE({self.draw.choice(columns)}, {self.constant()})",
            f"MAX({self.draw.choice(columns)}, {self.constant()})",
            f"CAST({left} AS INTEGER)",
        )  # fmt: skip

    def expression(self) -> str:
        if self.draw.random() < 0.7:
            return self.column()
        texts = (
            f"UPPER({self.text_column()})", f"LOWER({self.text_column()})", f"{self.text_column()} || '!'",
            f"SUBSTR({self.text_column()}, {self.draw.randint(-3, 4)}, {self.draw.randint(-2, 4)})",
            f"REPLACE({self.text_column()}, 'ee', 'é')", f"TRIM({self.text_column()}, 'aD')",
        )  # fmt: skip
        return self.one_of(self.number, lambda: self.condition(2), *texts[:2], self.draw.choice(texts))

    def condition(self, depth: int = 0) -> str:
        if depth < 2 and self.draw.random() < 0.35:
            left, right = self.condition(depth + 1), self.condition(depth + 1)
            return self.one_of(f"{left} AND {right}", f"{left} OR {right}", f"NOT {left}", f"NOT ({left} OR {right})")
        sign = self.one_of("=", "<>", "<", ">", "<=", ">=", "==", "!=", "IS", "IS NOT")
        number, text = self.number(2), self.text_column()
        return self.one_of(
            f"{number} {sign} {self.constant()}", f"{number} {sign} {self.number(2)}", f"{text} {sign} {self.text()}",
            f"{number} BETWEEN {self.constant()} AND {self.constant()}",
            f"{number} NOT BETWEEN {self.constant()} AND {self.constant()}",
            f"{number} IN ({self.constant()}, {self.constant()}, NULL)", f"{number} NOT IN ({self.constant()}, '5')",
            f"{number} IN ()", f"{text} IN ({self.text()}, {self.text()}, 5)", f"{text} NOT IN ({self.text()})",
            f"{text} LIKE {self.text()}", f"{text} NOT LIKE {self.text()}", f"NOT {text} LIKE '_e%'",
            f"{text} LIKE '%!%%' ESCAPE '!'", f"{number} LIKE '%1%'", f"{text} {sign} {self.constant()}",
            f"{number} {sign} '5'", f"{text} BETWEEN 'D' AND 'a'", f"{text} BETWEEN 3 AND 'a'", f"{text} IS NULL",
            f"{number} IS NOT NULL", number, f"({number} > 1) = {self.constant()}", self.membership, self.membership,
        )  # fmt: skip

    def membership(self) -> str:
        if self.level > 1:
            return f"{self.text_column()} IS NOT NULL"
        self.level += 1
        try:
            return self._membership()
        finally:
            self.level -= 1

    def _membership(self) -> str:
        mine = self.draw.choice([name for name in TEXTS[self.table] if name in IDS])
        table = self.draw.choice(tuple(SCHEMA))
        theirs = self.draw.choice([name for name in TEXTS[table] if name in IDS])
        before, self.table = self.table, table
        where = self.maybe(0.5, lambda: f" WHERE {self.condition(2)}")
        one = f"SELECT COUNT(*) FROM {table} AS inside WHERE inside.{theirs} = {before}.{mine}"
        best = f"SELECT {theirs} FROM {table}{where} ORDER BY {self.column()} DESC LIMIT 2"
        often = f"SELECT {theirs} FROM {table} GROUP BY {theirs} HAVING COUNT(*) > 1"
        odd = f"SELECT {self.number(1)} FROM {table}{where}"
        self.table = before
        alike = f"SELECT {self.one_of('DISTINCT ', '')}{theirs} FROM {table}{where}"
        inside = self.one_of(alike, alike, best, often, odd)
        return self.one_of(
            f"{mine} IN ({inside})", f"{mine} NOT IN ({inside})", f"({one}) > {self.constant()}",
            f"EXISTS ({alike})", f"{mine} = ({self.one_of(alike, best)})",
        )  # fmt: skip

    def aggregate(self) -> str:
        number = self.number(1)
        return self.one_of(
            "COUNT(*)", f"COUNT({self.column()})", f"COUNT(DISTINCT {self.column()})", f"SUM({number})",
            f"AVG({number})", f"MIN({self.column()})", f"MAX({self.column()})", f"TOTAL({number})",
            f"SUM(DISTINCT {number})", f"AVG({number}) + 1", f"MAX({number}) - MIN({number})",
            f"ROUND(AVG({number}), 2)", f"GROUP_CONCAT({self.text_column()}, '; ')", f"COUNT(*) * 100 / {number}",
        )  # fmt: skip

    # Statements.

    def where(self) -> str:
        return self.maybe(0.5, lambda: f" WHERE {self.condition()}")

    def order(self, width: int, terms: Callable[[], str]) -> str:
        def written() -> str:
            return f"{self.one_of(terms(), terms(), str(self.draw.randint(1, width)))}{self.direction()}"

        return " ORDER BY " + ", ".join(written() for _ in range(self.draw.choice((1, 1, 2))))

    def direction(self) -> str:
        return self.one_of("", " ASC", " DESC", " DESC", " DESC NULLS FIRST", " ASC NULLS LAST")

    def limit(self) -> str:
        number = self.draw.randint(0, 4)
        return self.one_of(f" LIMIT {number}", f" LIMIT {number} OFFSET 1", f" LIMIT 1, {number}", " LIMIT -1")

    def plain(self) -> str:
        width = self.draw.choice((1, 1, 2))
        items = [self.expression() for _ in range(width)]
        order = self.maybe(0.5, lambda: self.order(width, self.expression))
        distinct = self.one_of("", "", "DISTINCT ")
        return (
            f"SELECT {distinct}{', '.join(items)} FROM {self.table}{self.where()}{order}{self.maybe(0.2, self.limit)}"
        )

    def grouped(self) -> str:
        keys = [self.expression() for _ in range(self.draw.choice((1, 1, 2)))]
        items = [self.one_of(*keys, self.aggregate(), self.aggregate(), self.column()) for _ in keys]
        having = self.maybe(0.3, lambda: f" HAVING {self.one_of('COUNT(*) > 1', f'MAX({self.column()}) > 2')}")
        order = self.maybe(0.5, lambda: self.order(len(items), lambda: self.one_of(*keys, self.aggregate())))
        distinct = self.one_of("", "", "", "DISTINCT ")
        return (
            f"SELECT {distinct}{', '.join(items)} FROM {self.table}{self.where()} GROUP BY {', '.join(keys)}"
            f"{having}{order}{self.maybe(0.2, self.limit)}"
        )

    def aggregated(self) -> str:
        items = [self.aggregate() for _ in range(self.draw.choice((1, 1, 2)))]
        items += self.draw.choice(([], [], [self.column()]))
        return f"SELECT {', '.join(items)} FROM {self.table}{self.where()}"

    def compound(self) -> str:
        table, column = self.table, self.column
        texts = self.draw.random() < 0.5 or not NUMBERS[table]
        column = self.text_column if texts else lambda: self.draw.choice(NUMBERS[self.table])
        words = ("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
        sides = [f"SELECT {column()} AS found FROM {table}{self.where()}" for _ in range(self.draw.choice((2, 2, 3)))]
        joined = sides[0] + "".join(f" {self.draw.choice(words)} {side}" for side in sides[1:])
        return joined + self.maybe(0.4, lambda: f" ORDER BY found{self.direction()}") + self.maybe(0.2, self.limit)

    def nested(self) -> str:
        inner = self.one_of(self.plain_pair(), self.plain_pair(), self.grouped_pair())
        outer = self.one_of(
            "SELECT one FROM <s>", "SELECT DISTINCT one FROM <s>", "SELECT two, one FROM <s> ORDER BY two DESC",
            "SELECT MAX(two) FROM <s>", "SELECT one, COUNT(*) FROM <s> GROUP BY one", "SELECT * FROM <s> WHERE two > 1",
            "SELECT AVG(two) FROM <s>", "SELECT COUNT(*) FROM <s> WHERE two = (SELECT MAX(two) FROM <s>)",
            "SELECT one FROM <s> WHERE two = (SELECT MIN(two) FROM <s>) ORDER BY one", "SELECT one, MAX(two) FROM <s>",
            "SELECT DISTINCT one FROM <s> ORDER BY two", "SELECT one FROM <s> LIMIT 2",
        )  # fmt: skip
        if self.draw.random() < 0.3:
            return f"WITH s AS ({inner}) " + outer.replace("<s>", "s")
        return outer.replace("<s>", f"({inner}) AS s")

    def plain_pair(self) -> str:
        order = self.maybe(0.4, lambda: f" ORDER BY {self.column()}{self.direction()}")
        limit = self.maybe(0.2, lambda: f" LIMIT {self.draw.randint(0, 5)}")
        distinct = self.one_of("", "", "DISTINCT ")
        items = f"{distinct}{self.column()} AS one, {self.number(1)} AS two"
        return f"SELECT {items} FROM {self.table}{self.where()}{order}{limit}"

    def grouped_pair(self) -> str:
        order = self.maybe(0.4, lambda: self.one_of(" ORDER BY COUNT(*) DESC", " ORDER BY two", " ORDER BY one DESC"))
        return f"SELECT {self.column()} AS one, COUNT(*) AS two FROM {self.table}{self.where()} GROUP BY one{order}"


# Joins, each with conditions and SELECT lists; SQLite picks another outer loop for some of the conditions.
JOINS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "articles a JOIN article_author aa ON a.article_id = aa.article_id": (
        (
            " WHERE a.reference_count > 5",
            " WHERE a.author_count = 2",
            " WHERE aa.author_position = 0",
            " WHERE aa.author_name = 'Wei Chen'",
            " WHERE a.article_title LIKE '%e%' AND aa.author_position > 1",
        ),
        ("a.article_title", "aa.author_name, a.reference_count", "*"),
    ),
    "article_author aa JOIN articles a ON aa.article_id = a.article_id": (
        (" WHERE a.reference_count > 5", " WHERE aa.author_position = 0 AND a.author_count = 2"),
        ("a.article_title", "aa.author_name", "aa.*"),
    ),
    "citing_cited c JOIN articles a ON c.article_id_cited = a.article_id": (
        (" WHERE a.reference_count > 5",),
        ("a.article_title", "c.article_id_citing", "*"),
    ),
    "articles a LEFT JOIN citing_cited c ON a.article_id = c.article_id_citing": (
        (" WHERE a.reference_count > 5",),
        ("a.article_title", "c.article_id_cited", "*"),
    ),
    "articles LEFT JOIN article_author USING (article_id)": ((" WHERE reference_count > 5",), ("author_name", "*")),
    "articles NATURAL JOIN article_author": ((" WHERE author_position < 2",), ("author_name", "article_title")),
    "article_author x, article_author y": (
        (" WHERE x.article_id = y.article_id AND x.author_position < y.author_position",),
        ("x.author_name, y.author_name",),
    ),
    "articles a CROSS JOIN citing_cited c": ((" WHERE a.author_count > 1",), ("a.article_title, c.article_id_cited",)),
    "articles a JOIN articles b ON a.reference_count = b.reference_count": (
        (" WHERE a.author_count > 1", " WHERE b.author_count = 2"),
        ("a.article_title", "b.article_title"),
    ),
    "articles a JOIN citing_cited c ON a.article_id = c.article_id_citing "
    "JOIN articles b ON b.article_id = c.article_id_cited": (
        (" WHERE a.author_count = 2", " WHERE b.author_count > 1"),
        ("a.article_title", "a.article_title, b.article_title"),
    ),
}
