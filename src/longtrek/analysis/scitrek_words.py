"""SciTrek's skills, topics and levels as the paper prints them, and the sentence that says what was run."""

from collections.abc import Iterable, Sequence

from longtrek.analysis.run import imported_note
from longtrek.analysis.scitrek_run import Row, SciTrekRun, Series
from longtrek.scitrek.analyses import COUNTS, LEVELS

SKILLS = {
    "aggregating": "Aggregating",
    "sorting": "Sorting",
    "filtering": "Filtering",
    "filtering_aggregating": "Filtering+Aggregating",
    "filtering_sorting": "Filtering+Sorting",
    "relational_filtering": "Relational Filtering",
}
INITIALS = {
    "aggregating": "A",
    "sorting": "S",
    "filtering": "F",
    "filtering_aggregating": "F+A",
    "filtering_sorting": "F+S",
    "relational_filtering": "R",
}
TOPICS = {
    "author_count": "Author Count",
    "author_list": "Author List",
    "reference_count": "Reference Count",
    "title_word_count": "Title Word Count",
    "title_list": "Title List",
    "author_relation": "Author Relation",
    "citation_relation": "Citation Relation",
}
SUBJECTS = {
    "computer_science": "CS",
    "economics": "Economics",
    "electronic_engineering": "EE",
    "math": "Math",
    "physics": "Physics",
    "biology": "Biology",
    "finance": "Finance",
    "statistics": "Statistics",
}
CONTEXTS = {"full_text": "full-text articles", "tables": "database tables"}
POST = {"zero-shot": "Zero-shot", "sft": "SFT", "grpo": "GRPO"}
"""How a model was trained after its release, as Tables 9 and 10 print it."""
PAPER_LEVELS = LEVELS[1:]
"""The paper's context lengths; `single` is a level of this kit."""
MEASURES = {"paper": ("exact match", "F1"), "strict": ("correct answers", "F1 of the answers' parts")}
"""What each rule's two scores are called."""


def setting_words(setting: tuple[str, tuple[str, ...]] | None) -> str:
    """Where scores are shown, in words: `database tables at 64K`."""
    if setting is None:
        return "no answers yet"
    context, levels = setting
    named = ["single articles" if level == "single" else level for level in levels]
    return f"{CONTEXTS[context]} at {', '.join(named)}"


def totals(rows: Iterable[Row]) -> dict[str, int]:
    """Counts of samples over rows: asked, answered, failed, not_asked, missing, truncated."""
    found = list(rows)
    return {name: sum(row[name] for row in found) for name in COUNTS}


def four(rows: Sequence[Row]) -> str:
    """Samples asked/answered/failed/cut, as tables carry them under a score."""
    if not rows:
        return "–"
    found = totals(rows)
    return "/".join(str(found[name]) for name in ("asked", "answered", "failed", "truncated"))


def what_was_run(run: SciTrekRun, series: Sequence[Series]) -> str:
    """The sentence that every artifact with scores carries: models, rule, samples, quick or full."""
    models = [one for one in series if not one.check]
    checks = [one.label for one in series if one.check]
    named = ", ".join(_unbroken(one.label) for one in models) or "none"
    said = f" Check, not a model: {', '.join(checks)}." if checks else ""
    answers = _in_words([row for one in models for row in one.rows])
    said += imported_note(one.label for one in models)
    return f"Models: {named}. Rule: {run.rule}. Answers: {answers}. {_unbroken(f'Run: {run.kind}.')}{said}"


def _in_words(rows: Sequence[Row]) -> str:
    found = totals(rows)
    questions = len({row["question"] for row in rows})
    if not rows:
        return "none yet"
    words = [f"{found['answered']:,} of {found['asked']:,} asked, to {questions:,} questions"]
    words += [f"{found['failed']:,} failed (count as wrong)"] if found["failed"] else []
    words += [f"{found['not_asked']:,} not asked (count as wrong)"] if found["not_asked"] else []
    words += [f"{found['missing']:,} without an answer yet (count as wrong)"] if found["missing"] else []
    words += [f"{found['truncated']:,} cut at the output cap"] if found["truncated"] else []
    return ", ".join(words)


def nulls_left_out(run: SciTrekRun) -> list[str]:
    """What is said where questions without an answer were asked."""
    left = {row["question"] for row in run.scitrek if row["null_gold"]}
    return [f"{len(left)} questions whose right answer is NULL are left out, as in the paper."] if left else []


def _unbroken(words: str) -> str:
    return words.replace(" ", "\N{NO-BREAK SPACE}")
