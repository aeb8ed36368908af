"""The models that work for SciTrek without being asked its questions: the question writer and the SQL baseline."""

from collections.abc import Mapping

from longtrek.config import Scitrek
from longtrek.plan.jobs import Job
from longtrek.plan.scitrek import (
    ARTICLE_TOKENS,
    QUESTION_TOKENS,
    TEXT_FACTOR,
    WRITTEN,
    articles_of,
    collections_of,
    questions_of,
)
from longtrek.scitrek.collections import LEVELS, SINGLE
from longtrek.scitrek.prompts import prompt
from longtrek.scitrek.questions.model_writer import PROMPTS
from longtrek.transduction.tokens import count

REPLY_TOKENS = 40
"""Assumed tokens of a question, a query, or an extracted fact with its JSON."""
EXTRACTIONS = ("extract_title", "extract_authors", "count_references")


def writer_job(scitrek: Scitrek) -> Job | None:
    """The writing of questions by a model: at least one call for the question and one for the way back (Section 3.3).

    Queries that fail are written again, up to the config's tries; the paper's share of success is assumed.
    """
    writer = scitrek.model_writer
    if writer is None:
        return None
    collections = sum(collections_of(scitrek).values())
    if writer.collections is not None:
        collections = min(collections, writer.collections)
    pairs = round(collections * scitrek.queries_by_model / WRITTEN["model"])
    fixed = sum(count(prompt(name, scitrek.prompts).text) + QUESTION_TOKENS for name in PROMPTS.values())
    return _job(writer.model, "questions", 2 * pairs, pairs * fixed, pairs * fixed, writer.max_tokens)


def baseline_job(scitrek: Scitrek) -> Job | None:
    """The SQL-execution baseline: facts of every article from its chunks, citations of pairs, a query a question.

    Articles are read once for each fact, and every pair of articles that some collection holds is compared once,
    chunk by chunk (Section 4, Appendix F). A chunk's comparisons share it where the prompt has the title after it:
    the prefix cache then serves all but the first.
    """
    baseline = scitrek.baseline
    if baseline is None:
        return None
    asked = [_bounded(scitrek, levels) for levels in (baseline.gold, baseline.extracted)]
    queries = sum(asked[0].values()) + sum(asked[1].values())
    articles, pairs = _extracted(scitrek, asked[1])
    chunks = max(1.0, ARTICLE_TOKENS / baseline.chunk_tokens)
    chunk = ARTICLE_TOKENS / chunks * TEXT_FACTOR["split"]
    extractions = round(articles * chunks * len(EXTRACTIONS))
    comparisons = round(pairs * chunks)
    text = count(prompt("question_to_sql_baseline", scitrek.prompts).text) + QUESTION_TOKENS
    detect = prompt("detect_citation", scitrek.prompts).text
    alone = round(queries * text + extractions * chunk + comparisons * (count(detect) + QUESTION_TOKENS))
    shared = detect.index("{chunk}") < detect.index("{title}")
    read = round((articles * chunks if shared else comparisons) * chunk)
    return _job(
        baseline.model,
        "baseline",
        queries + extractions + comparisons,
        alone + round(comparisons * chunk),
        alone + read,
        baseline.max_tokens,
    )


def _bounded(scitrek: Scitrek, levels: Mapping[str, int | None]) -> dict[str, int]:
    """The questions that the baseline is asked at each level."""
    found = {}
    for level, most in levels.items():
        questions = questions_of(scitrek, level)
        found[level] = questions if most is None else min(most, questions)
    return found


def _extracted(scitrek: Scitrek, questions: Mapping[str, int]) -> tuple[float, float]:
    """The distinct articles, and distinct ordered pairs of articles, of the collections that are asked about.

    Collections are taken as drawn from all articles: of N articles, or pairs, each of C collections holds a share p,
    so that N (1 - (1 - p)^C) are met.
    """
    corpus = articles_of(scitrek)
    known = collections_of(scitrek)
    no_article, no_pair = 1.0, 1.0
    for level, wanted in questions.items():
        collections = min(float(wanted), known.get(level, 0.0))
        size = min(float(corpus), 1.0 if level == SINGLE else LEVELS[level] / ARTICLE_TOKENS)
        no_article *= (1 - size / corpus) ** collections
        if corpus > 1:
            no_pair *= (1 - size * (size - 1) / (corpus * (corpus - 1))) ** collections
    return corpus * (1 - no_article), corpus * (corpus - 1) * (1 - no_pair)


def _job(model: str, work: str, prompts: int, tokens_in: int, read: int, cap: int) -> Job:
    out = prompts * min(REPLY_TOKENS, cap)
    held = tokens_in // max(1, prompts) + cap
    return Job(model, "scitrek", work, prompts, 0, tokens_in, min(read, tokens_in), out, prompts * cap, held, True)
