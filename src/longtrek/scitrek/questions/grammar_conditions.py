"""What the grammar writer says about conditions: counts, arithmetic, titles, authorship, citations, places."""

from dataclasses import dataclass

from sqlglot import exp

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions import phrases
from longtrek.scitrek.questions.phrases import FLIPPED, lexicon

_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.LT: "<",
    exp.GTE: ">=",
    exp.LTE: "<=",
}
_NEGATED = {"=": "<>", "<>": "=", ">": "<=", "<": ">=", ">=": "<", "<=": ">"}


@dataclass(frozen=True)
class Clause:
    """A condition in English.

    `forms` are what stands after `article`, after `articles`, and after `how many articles`; where `kind` is
    `having`, or `count` for a short one, the word before it (`with`, `have`) is left to the sentence.
    """

    kind: str
    forms: tuple[str, str, str]


def unsayable(node: exp.Expr) -> LongtrekError:
    """The error for a piece of SQL that has no phrase."""
    return LongtrekError(
        f"the grammar writer has no phrase for {node.sql(dialect='sqlite')!r}; expected a query like those of "
        "templates.yaml; add a phrase to phrases.yaml, or use the `model` writer"
    )


def fill(phrase: str, **slots: str) -> str:
    """Put texts into a phrase's slots."""
    for slot, text in slots.items():
        phrase = phrase.replace("{" + slot + "}", text)
    return phrase


def article_clauses(where: exp.Where | None) -> tuple[list[Clause], str]:
    """The clauses of a condition on articles, and the word (`and`, `or`) that joins them."""
    return _clauses(where.this) if where is not None else ([], "and")


def _clauses(node: exp.Expr) -> tuple[list[Clause], str]:
    node = node.unnest()
    if not isinstance(node, exp.Or | exp.And):
        return [_clause(node)], "and"
    operands = [operand.unnest() for operand in node.flatten()]
    if any(isinstance(operand, exp.Or | exp.And) for operand in operands):
        raise unsayable(node)
    joiner = "or" if isinstance(node, exp.Or) else "and"
    columns = {_counted(operand) for operand in operands}
    if joiner == "or" and len(columns) == 1 and columns != {""}:
        return [_having_count(operands)], joiner
    return [_clause(operand) for operand in operands], joiner


def _counted(node: exp.Expr) -> str:
    """The column of a plain comparison with a number, which can share its noun with another."""
    plain = type(node) in _SIGNS and not isinstance(node, exp.NEQ)
    return node.this.name if plain and isinstance(node.this, exp.Column) and _is_number(node.expression) else ""


def _is_number(node: exp.Expr) -> bool:
    bare = node.this if isinstance(node, exp.Neg) else node
    return isinstance(bare, exp.Literal) and bare.is_int


def plain_number(node: exp.Expr) -> int:
    """The value of a whole number in a query."""
    if not _is_number(node):
        raise unsayable(node)
    return -int(node.this.name) if isinstance(node, exp.Neg) else int(node.name)


def _clause(node: exp.Expr) -> Clause:
    if isinstance(node, exp.Not):
        return _negation(node)
    if isinstance(node, exp.In) and node.args.get("query"):
        return _property(node, negated=False)
    if isinstance(node, exp.Like):
        text = node.expression.name
        if len(text) < 3 or text[0] != "%" or text[-1] != "%":
            raise unsayable(node)
        return _having("containing", text=phrases.quoted(text[1:-1]))
    if isinstance(node, exp.Between | exp.In):
        return _having_count([node])
    if type(node) in _SIGNS:
        return _comparison(node)
    raise unsayable(node)


def _having(name: str, **slots: str) -> Clause:
    text = fill(lexicon()["possessions"][name], **slots)
    return Clause("count" if name == "count" else "having", (text, text, text))


def _negation(node: exp.Not) -> Clause:
    inner = node.this.unnest()
    if isinstance(inner, exp.In) and inner.args.get("query"):
        return _property(inner, negated=True)
    clause = _clause(inner)
    if clause.kind not in ("count", "having"):
        raise unsayable(node)
    one, many, doing = (fill(form, possession=clause.forms[0]) for form in lexicon()["not_having"])
    return Clause("not", (one, many, doing))


def _having_count(nodes: list[exp.Expr]) -> Clause:
    column = nodes[0].this.name
    if column not in lexicon()["nouns"]:
        raise unsayable(nodes[0])
    single = len(nodes[0].args) == 2 and type(nodes[-1]) in _SIGNS and plain_number(nodes[-1].expression) == 1
    amount = quantities(nodes)
    if column == "title_word_count":
        return _having("title", quantities=amount, word=lexicon()["word"][not single])
    return _having("count", quantities=amount, noun=lexicon()["nouns"][column][not single])


def quantities(nodes: list[exp.Expr]) -> str:
    """How many: `fewer than three or more than 12`, `between 3 and 5`, `exactly 3, 5 or 8`."""
    said = lexicon()["quantities"]
    values = [value for node in nodes for value in _values(node)]
    texts = iter(phrases.numbers(values))
    parts: list[str] = []
    for node in nodes:
        if isinstance(node, exp.Between):
            parts.append(fill(said["between"], low=next(texts), high=next(texts)))
        elif isinstance(node, exp.In):
            parts.append(fill(said["in"], list=phrases.series([next(texts) for _ in node.expressions])))
        else:
            parts.append(fill(said[_SIGNS[type(node)]], number=next(texts)))
    return " or ".join(parts)


def _values(node: exp.Expr) -> list[int]:
    if isinstance(node, exp.Between):
        return [plain_number(node.args["low"]), plain_number(node.args["high"])]
    if isinstance(node, exp.In):
        return [plain_number(value) for value in node.expressions]
    return [plain_number(node.expression)]


def _comparison(node: exp.Expr) -> Clause:
    left, right, sign = node.this.unnest(), node.expression.unnest(), _SIGNS[type(node)]
    if isinstance(right, exp.Mul | exp.Div | exp.Add | exp.Sub) or not isinstance(left, exp.Column | exp.Binary):
        left, right, sign = right, left, FLIPPED[sign]
    if isinstance(left, exp.Mod):
        return _remainder(node, left, right, sign)
    if isinstance(left, exp.Div):
        return _quotient(left, right, sign)
    if isinstance(left, exp.Column):
        return _plain(left, right, sign)
    return _sum_or_product(node, left, right, sign)


def _names(*columns: exp.Expr) -> list[str]:
    known = lexicon()["nouns"]
    for column in columns:
        if not isinstance(column, exp.Column) or column.name not in known:
            raise unsayable(column)
    return [known[column.name][1] for column in columns]


def _plain(left: exp.Expr, right: exp.Expr, sign: str) -> Clause:
    if not isinstance(right, exp.Column):
        (nouns,) = _names(left)
        if sign == "<>":
            return _having("other", nouns=nouns, number=phrases.number(plain_number(right)))
        made = {mark: kind for kind, mark in _SIGNS.items()}[sign]
        return _having_count([made(this=left.copy(), expression=right.copy())])
    nouns, others = _names(left, right)
    name = {">": "more", "<": "fewer"}.get(sign, "as_many")
    if sign == "<>":
        raise unsayable(left)
    return _having(name, nouns=nouns, others=others, bound=lexicon()["bounds"][sign])


def _remainder(node: exp.Expr, left: exp.Mod, right: exp.Expr, sign: str) -> Clause:
    (nouns,) = _names(left.this)
    divisor, rest = plain_number(left.expression), plain_number(right)
    if sign != "=":
        raise unsayable(node)
    if divisor == 2 and rest < 2:
        return _having(("even", "odd")[rest], nouns=nouns)
    if rest == 0:
        return _having("divisible", nouns=nouns, number=phrases.number(divisor))
    left_over = fill(lexicon()["rest"], number=phrases.number(rest))
    return _having("remainder", nouns=nouns, number=phrases.number(divisor), rest=left_over)


def _quotient(left: exp.Div, right: exp.Expr, sign: str) -> Clause:
    (nouns,) = _names(left.this)
    if _is_number(right):
        other = phrases.number(plain_number(right))
    else:
        other = fill(lexicon()["right"], nouns=_names(right)[0])
    divisor = phrases.number(plain_number(left.expression))
    verb = lexicon()["verbs"][sign]
    text = fill(lexicon()["quotient"], nouns=nouns, number=divisor, verb=verb, right=other)
    return Clause("whose", (text, text, text))


def _sum_or_product(node: exp.Expr, left: exp.Expr, right: exp.Expr, sign: str) -> Clause:
    one, two = left.this, left.expression
    if sign == "<>":
        raise unsayable(node)
    if isinstance(left, exp.Mul):
        nouns, others = _names(right, one)
        factor = plain_number(two)
        times = lexicon()["twice"] if factor == 2 else fill(lexicon()["times"], number=phrases.number(factor))
        bound = lexicon()["bounds"][FLIPPED[sign]]
        return _having("times", bound=bound, times=times, nouns=nouns, others=others)
    if isinstance(left, exp.Add) and _is_number(two):
        nouns, others = _names(right, one)
        return _having("difference", quantity=_amount(FLIPPED[sign], two), nouns=nouns, others=others)
    nouns, others = _names(one, two)
    name, slot = ("together", "quantities") if isinstance(left, exp.Add) else ("difference", "quantity")
    if not isinstance(left, exp.Add | exp.Sub):
        raise unsayable(node)
    return _having(name, **{slot: _amount(sign, right)}, nouns=nouns, others=others)


def _amount(sign: str, value: exp.Expr) -> str:
    return fill(lexicon()["quantities"][sign], number=phrases.number(plain_number(value)))


def places(node: exp.Expr) -> str:
    """Where authors stand: `in third place`, `in first place or after third place`."""
    node = node.unnest()
    if isinstance(node, exp.Or):
        return " or ".join(places(operand) for operand in node.flatten())
    said = lexicon()["places"]
    if node.this.unnest().find(exp.Column) is None or "author_position" not in node.this.sql():
        raise unsayable(node)
    if isinstance(node, exp.Between):
        low, high = _values(node)
        return fill(said["between"], low=phrases.ordinal(low), high=phrases.ordinal(high))
    if isinstance(node, exp.In):
        return fill(said["in"], list=phrases.series([phrases.ordinal(value) for value in _values(node)]))
    if isinstance(node, exp.Not):
        sign, node = _NEGATED[_sign(node.this.unnest())], node.this.unnest()
    else:
        sign = _sign(node)
    value = plain_number(node.expression)
    if isinstance(node.this, exp.Mod):
        if sign != "=" or plain_number(node.this.expression) != 2 or value > 1:
            raise unsayable(node)
        return str(said[("odd", "even")[value]])
    return fill(said[sign], place=phrases.ordinal(value))


def _sign(node: exp.Expr) -> str:
    if type(node) not in _SIGNS:
        raise unsayable(node)
    return _SIGNS[type(node)]


def _property(node: exp.In, *, negated: bool) -> Clause:
    query = node.args["query"].this
    if node.this.name != "article_id" or not isinstance(query, exp.Select):
        raise unsayable(node)
    source = query.args["from_"].this.name
    if source == "article_author":
        return _written(query, negated=negated)
    if source == "citing_cited":
        return _citation(query, negated=negated)
    raise unsayable(node)


def _said(name: str, **slots: str) -> Clause:
    after, doing = (fill(form, **slots) for form in lexicon()["properties"][name])
    return Clause("property", (after, after, doing))


def _written(query: exp.Select, *, negated: bool) -> Clause:
    people, place = written_by(query)
    if place and negated:
        raise unsayable(query)
    if place:
        return _said("written_as", people=people, place=place)
    return _said("not_written" if negated else "written", people=people)


def written_by(query: exp.Select) -> tuple[str, str]:
    """The people, and the place in the author list or nothing, that a query on authors asks for."""
    where = query.args.get("where")
    if where is None:
        raise unsayable(query)
    people = place = ""
    for node in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        if node.this.name == "author_name" and isinstance(node, exp.EQ | exp.In):
            names = node.expressions if isinstance(node, exp.In) else [node.expression]
            people = phrases.series([phrases.person(name.name) for name in names])
        elif node.this.name == "author_position" and isinstance(node, exp.EQ):
            place = phrases.ordinal(plain_number(node.expression))
        else:
            raise unsayable(node)
    if not people:
        raise unsayable(where)
    return people, place


def _citation(query: exp.Select, *, negated: bool) -> Clause:
    cited = query.expressions[0].find(exp.Column).name == "article_id_cited"
    having, where = query.args.get("having"), query.args.get("where")
    if negated and (having or where):
        raise unsayable(query)
    if having is not None:
        return _cited_times(having.this, cited=cited)
    if where is not None:
        if not isinstance(where.this, exp.In):
            raise unsayable(where)
        clauses, joiner = member_clauses(where.this)
        return _said("cited_by" if cited else "citing_which", articles=restriction(clauses, joiner, 1))
    return _said(("not_" if negated else "") + ("cited" if cited else "citing"))


def _cited_times(node: exp.Expr, *, cited: bool) -> Clause:
    if isinstance(node.expression, exp.Subquery):
        if not isinstance(node, exp.EQ) or node.expression.find(exp.Max) is None:
            raise unsayable(node)
        return _said("most_cited" if cited else "most_citing")
    noun = lexicon()["articles_noun"][plain_number(node.expression) != 1]
    name = "cited_times" if cited else "citing_times"
    return _said(name, quantities=quantities([node]), articles_noun=noun)


def member_clauses(node: exp.In) -> tuple[list[Clause], str]:
    """The clauses for the articles that a subquery picks."""
    query = node.args["query"].this if node.args.get("query") else None
    if not isinstance(query, exp.Select):
        raise unsayable(node)
    if query.args["from_"].this.name == "articles":
        return article_clauses(query.args.get("where"))
    picked = exp.In(this=exp.column("article_id"), query=node.args["query"].copy())
    return [_property(picked, negated=False)], "and"


def restriction(clauses: list[Clause], joiner: str, form: int) -> str:
    """What narrows the articles, with a leading space, or nothing.

    Args:
        clauses: the conditions.
        joiner: `and` or `or`.
        form: 0 after `article`, 1 after `articles`, 2 after `how many articles`.
    """
    said: list[str] = []
    previous = ""
    for clause in clauses:  # only a short count lets the next one do without the lead: "with two authors or a title …"
        having = clause.kind in ("count", "having") and previous != "count"
        said.append(("have " if form == 2 else "with ") * having + clause.forms[form])
        previous = clause.kind
    nested = any(" or " in text or " and " in text for text in said)
    return (" " + f"{',' if nested else ''} {joiner} ".join(said)) if said else ""
