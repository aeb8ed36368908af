"""SciTrek's claims about templates, databases and settings, computed from what the kit generates and sets."""

from collections.abc import Callable, Iterable
from typing import Any

from longtrek.analysis.claims.evidence import Evidence, Papers
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.spans import exact
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found
from longtrek.config import Scitrek
from longtrek.scitrek.collections import FEWEST, LEVELS, K, Taken
from longtrek.scitrek.questions.templates import RELATIONAL, templates
from longtrek.scitrek.sql.database import SCHEMA
from longtrek.scitrek.sql.operators import operator_distribution

RELATIONS = ("author_relation", "citation_relation")
TYPES = {"text": "String", "integer": "Integer"}


@computes
def template_count(evidence: Evidence, asked: Asked) -> Found:
    """Templates, all or those of a skill or topic (Table 4, Section 3.2)."""
    skill, topic = asked.get("skill"), asked.get("topic")
    kept = [one for one in templates() if skill in ("", one.skill) and topic in ("", one.topic)]
    return Found(exact(len(kept)))


@computes
def kinds_of_templates(evidence: Evidence, asked: Asked) -> Found:
    """Skills or topics that the templates have, or topics of single articles or of relations (Section 3.2)."""
    topics = {one.topic for one in templates()}
    counted: dict[str, Iterable[str]] = {
        "skills": {one.skill for one in templates()},
        "topics": topics,
        "topics of relations": topics & set(RELATIONS),
    }
    return Found(exact(len(list(counted[asked.need("count")]))))


@computes
def commands_covered(evidence: Evidence, asked: Asked) -> Found:
    """Commands and operators of Table 3 that at least one template uses, counted as whole words and signs."""
    used = operator_distribution(one.sql for one in templates())
    listed = {value.column for value in evidence.printed.files["scitrek_table_3"]}
    return Found(exact(sum(used[name] > 0 for name in listed)), f"of {len(listed)}")


@computes
def operator_share(evidence: Evidence, asked: Asked) -> Found:
    """The percentage of queries with a command or operator that the templates lead to (Table 14).

    Collections by random sampling draw from the templates of single articles, those by graph traversal from the
    relational ones, in the paper's numbers. Letters are counted as the published numbers come about: OR in ORDER BY.
    """
    letters, whole = (_drawn(evidence, asked.need("operator"), counting) for counting in ("text", "tokens"))
    return Found(exact(letters), f"{whole:.1f} by whole words and signs; before execution and round trip")


def _drawn(evidence: Evidence, operator: str, counting: str) -> float:
    weights = {kind: evidence.printed.number("scitrek_text", "collections", kind) for kind in ("random", "graph")}
    shares = {
        kind: operator_distribution(
            (one.sql for one in templates() if (one.skill == RELATIONAL) == (kind == "graph")), counting
        )[operator]
        for kind in weights
    }
    return sum(weights[kind] * share for kind, share in shares.items()) / sum(weights.values())


@computes
def database_tables(evidence: Evidence, asked: Asked) -> Found:
    """Tables of a collection's database (Section 3.2)."""
    return Found(exact(len(SCHEMA)))


@computes
def columns_agreeing(evidence: Evidence, asked: Asked) -> Found:
    """Columns of Table 13 that the kit's databases have at the same place with the same type."""
    ours = {
        (table, column, place, TYPES[kind])
        for table, columns in SCHEMA.items()
        for place, (column, kind) in enumerate(columns.items(), 1)
    }
    theirs = [
        (value.row.replace("-", "_"), value.column, int(value.value or 0), value.setting["type"])
        for value in evidence.printed.files["scitrek_table_13"]
    ]
    return Found(exact(sum(column in ours for column in theirs)), f"of {len(theirs)}")


@computes
def level_tokens(evidence: Evidence, asked: Asked) -> Found:
    """A level of context length by rank, 1 the smallest, in its unit; K is 1,024 and M is 1,024 K (Section 1)."""
    tokens = list(LEVELS.values())[int(asked.need("rank")) - 1]
    return Found(exact(tokens / {"K tokens": K, "M tokens": K * K, "tokens": 1}[asked.unit]))


@computes
def token_unit(evidence: Evidence, asked: Asked) -> Found:
    """What K, or M in K, stands for in the kit's levels (footnote 2)."""
    return Found(exact({"K": LEVELS["64K"] / 64, "M": LEVELS["1M"] / K}[asked.need("of")]))


@computes
def most_shared(evidence: Evidence, asked: Asked) -> Found:
    """The largest share of a collection's articles that another of its level may hold, tried out (Section 3.1)."""
    size = 20
    allowed = [shared for shared in range(size + 1) if _may_share(size, shared)]
    return Found(exact(max(allowed) / size), f"collections of {size} articles; half itself is refused")


def _may_share(size: int, shared: int) -> bool:
    taken = Taken(2 * size, 2)
    taken.add(range(size))
    return taken.add(range(size - shared, 2 * size - shared))


@computes
def setting_of_run(evidence: Evidence, asked: Asked) -> Found:
    """A number that the kit's run of the papers, its models' entries or its corpus file set."""
    papers = evidence.papers
    part = papers.config.scitrek
    assert part is not None
    return Found(exact(SETTINGS[asked.need("setting")](papers, part)))


def _thinking_budget(papers: Papers, _: Scitrek) -> float:
    endpoint = papers.models["Gemini-2.5-Pro"].endpoint
    assert endpoint is not None
    body: Any = endpoint.body
    return float(body["extra_body"]["google"]["thinking_config"]["thinking_budget"])


def _seeds_each(papers: Papers, _: Scitrek) -> float:
    subjects = [row["subject"] for row in papers.corpus["seeds"]]
    counts = {subjects.count(subject) for subject in subjects}
    return float(max(counts)) if len(counts) == 1 else float("nan")


SETTINGS: dict[str, Callable[[Papers, Scitrek], float]] = {
    "subjects": lambda papers, _: len({row["subject"] for row in papers.corpus["seeds"]}),
    "seeds": lambda papers, _: len(papers.corpus["seeds"]),
    "seeds each": _seeds_each,
    "first hop": lambda papers, _: papers.corpus["neighbours"]["first"],
    "second hop": lambda papers, _: papers.corpus["neighbours"]["second"],
    "fewest articles": lambda _, __: FEWEST,
    "random collections": lambda _, part: part.collections["most"]["random"],
    "graph collections": lambda _, part: part.collections["most"]["graph"],
    "templates a collection": lambda _, part: part.per_collection,
    "tries": lambda _, part: part.model_writer.questions if part.model_writer else 0,
    "samples": lambda _, part: part.samples,
    "chunk": lambda _, part: part.baseline.chunk_tokens / K if part.baseline else 0,
    "models": lambda _, part: len(part.models),
    "thinking models": lambda papers, part: sum(papers.models[name].thinking == "on" for name in part.models),
    "thinking budget": _thinking_budget,
    "extraction prompts": lambda _, part: len([file for file in part.prompts.glob("*.txt") if _extracts(file.stem)]),
}
"""What `setting_of_run` reads, by its argument."""


def _extracts(prompt: str) -> bool:
    return prompt.startswith(("extract_", "count_", "detect_"))
