"""SciTrek's claims about its articles, collections, questions and annotators, counted in what this run has made."""

from collections.abc import Mapping, Sequence

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.spans import estimated, exact
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.transduction_scores import QUICK, Incomplete, when_whole
from longtrek.analysis.claims.verdicts import Found
from longtrek.analysis.scitrek_run import Row, SciTrekRun
from longtrek.analysis.statistics import Interval, wilson
from longtrek.scitrek.analyses import description
from longtrek.scitrek.human import agreement, annotations
from longtrek.scitrek.scores import negated_paper, words
from longtrek.scitrek.sql.operators import operator_distribution

COLUMNS = {"#Context Articles": "articles", "Question Length": "question_words", "Gold-answer Length": "answer_words"}


def _run(evidence: Evidence, corpus: bool) -> SciTrekRun:
    there = evidence.papers_corpus if corpus else evidence.papers_questions
    if not evidence.full or evidence.scitrek is None or not there:
        raise Incomplete("this run's articles and questions are not the paper's" if evidence.scitrek else QUICK)
    return evidence.scitrek


def _tests(run: SciTrekRun) -> list[Row]:
    found = [row for row in run.questions if not row["null"] and row["split"] == "test"]
    if not found:
        raise Incomplete("this run has no test questions")
    return found


@computes
def corpus_count(evidence: Evidence, asked: Asked) -> Found:
    """Articles, or collections by strategy, that the run has made from the paper's seeds (Section 3.1)."""

    def compute() -> Found:
        run = _run(evidence, True)
        graph = [row for row in run.collections if row["strategy"] in ("dfs", "bfs")]
        counted: dict[str, Sequence[Row]] = {
            "articles": run.articles,
            "collections": [*graph, *(row for row in run.collections if row["strategy"] == "random")],
            "random": [row for row in run.collections if row["strategy"] == "random"],
            "graph": graph,
        }
        return Found(exact(len(counted[asked.need("count")])))

    return when_whole(compute)


@computes
def question_count(evidence: Evidence, asked: Asked) -> Found:
    """Questions of a split without NULL answers, all, of a level, or those that negate (Table 5, Appendix E)."""
    split, level, skill = asked.get("split"), asked.get("level"), asked.get("skill")

    def compute() -> Found:
        kept = [row for row in _run(evidence, False).questions if not row["null"] and row["split"] == split]
        kept = [row for row in kept if level in ("", row["level"]) and skill in ("", "all", row["skill"])]
        negating = [row for row in kept if negated_paper(row["text"])]
        return Found(exact(len(negating if asked.get("subset") == "negation" else kept)))

    return when_whole(compute)


@computes
def question_mean(evidence: Evidence, asked: Asked) -> Found:
    """Mean articles of the test questions' contexts, or mean words of question or answer, at a level (Table 5)."""

    def compute() -> Found:
        run = _run(evidence, False)
        rows = [_described(run, row) for row in _tests(run)]
        by_level = {line["level"]: line for line in description(rows)}
        if asked.need("level") not in by_level:
            raise Incomplete("this run has no test question at that level")
        assert asked.value is not None
        return Found(exact(by_level[asked.need("level")][COLUMNS[asked.value.column]]))

    return when_whole(compute)


def _described(run: SciTrekRun, row: Row) -> Mapping[str, object]:
    members = run.members.get(row["collection"]) or row.get("articles") or ()
    return {
        "question": row["id"],
        "level": row["level"],
        "articles": len(members) or None,
        "question_words": words(row["text"]),
        "answer_words": words(row["answer"]),
    }


@computes
def operator_share_asked(evidence: Evidence, asked: Asked) -> Found:
    """The percentage of the run's test questions whose query has a command or operator, by letters (Table 14)."""

    def compute() -> Found:
        queries = [row["sql"] for row in _tests(_run(evidence, False))]
        share = operator_distribution(queries, "text")[asked.need("operator")]
        bounds = wilson(round(share * len(queries) / 100), len(queries))
        assert bounds is not None
        return Found(estimated(share, Interval(100 * bounds.low, 100 * bounds.high)), f"{len(queries)} questions")

    return when_whole(compute)


@computes
def round_trip_share(evidence: Evidence, asked: Asked) -> Found:
    """The percentage of queries of which the model made a question that reads back to the same result (Section 3.3)."""

    def compute() -> Found:
        drafts = _run(evidence, True).drafts
        made = sum(row["text"] is not None for row in drafts)
        bounds = wilson(made, len(drafts))
        if bounds is None:
            raise Incomplete("this run has no drafts of questions")
        interval = Interval(100 * bounds.low, 100 * bounds.high)
        return Found(estimated(100 * made / len(drafts), interval), f"{made} of {len(drafts)}")

    return when_whole(compute)


@computes
def annotators_percentage(evidence: Evidence, asked: Asked) -> Found:
    """Agreement, or alignment with the query's answer, of the people who annotated this run's questions (Table 6)."""
    assert asked.value is not None
    column = asked.value.column.lower()

    def compute() -> Found:
        if not evidence.full or evidence.scitrek is None or not evidence.scitrek.annotations:
            raise Incomplete("no people have annotated this run's questions")
        lines = {row["skill"]: row for row in agreement(annotations(evidence.scitrek.annotations))}
        line = lines.get(asked.need("skill"))
        if line is None or not line["questions"]:
            raise Incomplete("no annotated question of that skill")
        bounds = wilson(round(line[column] * line["questions"] / 100), line["questions"])
        assert bounds is not None
        interval = Interval(100 * bounds.low, 100 * bounds.high)
        return Found(estimated(line[column], interval), f"{line['questions']} questions")

    return when_whole(compute)
