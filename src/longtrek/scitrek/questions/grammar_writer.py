"""The `grammar` question writer: plain English from a query's syntax tree, by the phrases of `phrases.yaml`.

It reads the queries that `templates.yaml` is made of and their like; `grammar_parser` reads its English back.
"""

import sqlglot
from sqlglot import exp

from longtrek.errors import LongtrekError
from longtrek.scitrek.questions.grammar_conditions import (
    Clause,
    article_clauses,
    member_clauses,
    places,
    plain_number,
    quantities,
    restriction,
    unsayable,
    written_by,
)
from longtrek.scitrek.questions.phrases import lexicon

_AGGREGATES = {exp.Max: "max", exp.Min: "min", exp.Avg: "avg", exp.Sum: "sum"}
_NUMBERS = ("author_count", "reference_count", "title_word_count")


def write_question(sql: str) -> str:
    """Ask in English for what a query asks for (Section 3.3).

    Raises:
        LongtrekError: the query is not of a kind that the phrases can say.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
    except sqlglot.errors.ParseError as error:
        raise LongtrekError(f"query is not SQL: {sql[:200]!r} ({str(error).splitlines()[0]})") from None
    if not isinstance(tree, exp.Select):
        raise unsayable(tree)
    for select in tree.find_all(exp.Select):
        _refuse_what_no_frame_says(select)
    name, slots = _frame(tree)
    question: str = lexicon()["frames"][name]["english"]
    for slot, text in slots.items():
        question = question.replace("{" + slot + "}", text)
    return question


def _refuse_what_no_frame_says(select: exp.Select) -> None:
    said = {"expressions", "from_", "where", "group", "having", "order", "distinct"}
    if any(value and part not in said for part, value in select.args.items()) or not select.args.get("from_"):
        raise unsayable(select)
    grouped = select.args.get("group") is not None and select.parent is None
    counted = grouped and [type(one) for one in select.expressions] == [exp.Column, exp.Count]
    if len(select.expressions) != 1 and not counted:
        raise unsayable(select)


def _frame(tree: exp.Select) -> tuple[str, dict[str, str]]:
    """The frame that fits a query, and the English of its slots."""
    source = tree.args["from_"].this
    if isinstance(source, exp.Subquery):
        return _frame_of_cited_often(tree, source)
    if source.name == "article_author":
        return _frame_of_authors(tree)
    if source.name == "citing_cited":
        return _frame_of_citations(tree)
    return _frame_of_articles(tree)


def _frame_of_articles(tree: exp.Select) -> tuple[str, dict[str, str]]:
    clauses, joiner = article_clauses(tree.args.get("where"))
    one, many = restriction(clauses, joiner, 0), restriction(clauses, joiner, 1)
    slots = {"article": one, "articles": many, "filtered": many, "order": _order(tree)}
    what = tree.expressions[0]
    ordered = "_sorted" if slots["order"] else ""
    if tree.args.get("group"):
        return f"group{ordered}", slots | _nouns(what)
    if isinstance(what, exp.Count):
        return _frame_of_count(what, clauses, joiner, slots)
    if type(what) in _AGGREGATES:
        name = _AGGREGATES[type(what)]
        return name if many or name == "avg" else f"{name}_all", slots | _nouns(what.this)
    if tree.args.get("distinct"):
        return "distinct", slots | _nouns(what)
    if what.name == "article_title":
        return f"titles{ordered}", slots
    words = "_words" if what.name == "title_word_count" else ""
    each = "_each" if not ordered and _is_long(clauses) else ""
    return f"value{each}{ordered}{words}", slots | _nouns(what)


def _is_long(clauses: list[Clause]) -> bool:
    """Whether a condition is better said before the question than in the middle of it."""
    return len(clauses) > 1 or any(
        clause.kind in ("whose", "not") or clause.forms[0].count(" ") > 6 for clause in clauses
    )


def _frame_of_count(
    what: exp.Count, clauses: list[Clause], joiner: str, slots: dict[str, str]
) -> tuple[str, dict[str, str]]:
    if isinstance(what.this, exp.Distinct):
        return "count_distinct", slots | _nouns(what.this.expressions[0])
    if not clauses or any(clause.kind == "whose" for clause in clauses):
        return "count_there", slots
    return "count", slots | {"doing": restriction(clauses, joiner, 2).strip()}


def _nouns(column: exp.Expr) -> dict[str, str]:
    if column.name not in _NUMBERS:
        raise unsayable(column)
    noun = lexicon()["nouns"][column.name][1]
    return {"nouns": noun, "counted": noun}


def _order(tree: exp.Select) -> str:
    order = tree.args.get("order")
    if order is None:
        return ""
    ordered = order.expressions[0]
    key = f"{ordered.this.name} {'DESC' if ordered.args.get('desc') else 'ASC'}"
    if len(order.expressions) > 1 or key not in lexicon()["orders"]:
        raise unsayable(order)
    return str(lexicon()["orders"][key])


def _frame_of_authors(tree: exp.Select) -> tuple[str, dict[str, str]]:
    what = tree.expressions[0]
    column = what.find(exp.Column)
    if column is None:
        raise unsayable(what)
    if isinstance(what, exp.Count) and column.name == "article_id":
        return _frame_of_written(tree)
    if tree.args.get("group"):
        often = tree.args["having"].this
        plural = plain_number(often.expression) != 1
        return "names_often", {"quantities": quantities([often]), "articles_noun": _articles(plural)}
    if column.name != "author_name":
        raise unsayable(what)
    slots = {"listed": _listed(tree.args.get("where")), "order": _order(tree)}
    if isinstance(what, exp.Count):
        return "names_count", slots
    if tree.args.get("distinct"):
        return "names_distinct", slots
    return "names_sorted" if slots["order"] else "names", slots


def _articles(plural: bool) -> str:
    return str(lexicon()["articles_noun"][plural])


def _listed(where: exp.Where | None) -> str:
    """Which entries of the author lists: a place, and the articles that count."""
    if where is None:
        return f" {lexicon()['nothing_listed']}"
    operands = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    members = [node for node in operands if isinstance(node, exp.In) and node.this.name == "article_id"]
    rest = [node for node in operands if node not in members]
    if len(members) > 1 or len(rest) > 1:
        raise unsayable(where)
    on = lexicon()["any_article"]
    if members:
        clauses, joiner = member_clauses(members[0])
        on = lexicon()["listed_articles"].replace("{articles}", restriction(clauses, joiner, 1))
    return (f" {places(rest[0])}" if rest else "") + f" {on}"


def _frame_of_written(tree: exp.Select) -> tuple[str, dict[str, str]]:
    people, place = written_by(tree)
    return ("wrote_as", {"people": people, "place": place}) if place else ("wrote", {"people": people})


def _frame_of_citations(tree: exp.Select) -> tuple[str, dict[str, str]]:
    column = tree.expressions[0].find(exp.Column)
    distinct = tree.expressions[0].find(exp.Distinct)
    if column is None or distinct is None or tree.args.get("where"):
        raise unsayable(tree)
    return ("cited_count" if column.name == "article_id_cited" else "citing_count"), {}


def _frame_of_cited_often(tree: exp.Select, source: exp.Subquery) -> tuple[str, dict[str, str]]:
    having = source.this.args.get("having")
    if having is None or not isinstance(tree.expressions[0], exp.Count) or tree.args.get("where"):
        raise unsayable(tree)
    if source.this.expressions[0].name != "article_id_cited":
        raise unsayable(tree)
    plural = plain_number(having.this.expression) != 1
    return "cited_often", {"quantities": quantities([having.this]), "articles_noun": _articles(plural)}
