"""Claims about scores: planted ones are found again, and none is held against a paper out of turn."""

from dataclasses import replace
from pathlib import Path

import pytest

import planted_scores as planted
from claims_evidence import evidence_in, full, of
from longtrek.analysis.claims import judged, table
from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.run import Run
from longtrek.analysis.scitrek_run import read as read_scitrek
from longtrek.transduction.grid import DocumentSpec, grid
from scitrek_run import build


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return evidence_in(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def claims(evidence: Evidence) -> tuple[Asked, ...]:
    return table.read(evidence.printed)


def test_a_quick_run_judges_no_score_whatever_it_has(evidence: Evidence, claims: tuple[Asked, ...]) -> None:
    papers = evidence.papers
    found = tuple(planted.documents(papers.models, papers.config.transduction.models, lambda *_: 0.5))
    seen = replace(evidence, transduction=Run("quick", "paper", Path(), None, found))
    for one in judged.judged([asked for asked in claims if asked.claim.kind not in ("built", "printed")], seen):
        assert one.verdict == "not run" and one.needs and one.row()["recomputed"] == ""


def test_a_check_is_never_held_against_the_paper(evidence: Evidence, claims: tuple[Asked, ...]) -> None:
    papers = evidence.papers
    found = tuple(planted.documents(papers.models, papers.config.transduction.models, lambda *_: 1.0, check=True))
    seen = full(evidence, transduction=Run("full", "paper", Path(), None, found))
    scores = [asked for asked in claims if (asked.claim.paper, asked.claim.kind) == ("long-transduction", "scores")]
    assert {one.verdict for one in judged.judged(scores, seen)} == {"not run"}


@pytest.fixture(scope="module")
def planted_run(evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A full run of Long-Transduction's models, worse with the horizon, the difficulty and without IDs."""
    papers, folder = evidence.papers, tmp_path_factory.mktemp("scores")

    def accuracy(model: str, spec: DocumentSpec) -> float:
        rank = grid().families[spec.family][spec.format].index(spec.difficulty)
        tier = grid().horizons.index(spec.horizon)
        start = 0.9 if model.startswith("DeepSeek") else 0.8
        return round(start * (1 - 0.1 * tier) * (1 - 0.1 * rank) * (0.5 if spec.format == "no_ids" else 1), 6)

    found = tuple(planted.documents(papers.models, papers.config.transduction.models, accuracy))
    run = Run("full", "paper", folder, None, found)
    planted.write_records(run, folder, 0.2)
    return full(evidence, transduction=run)


def test_planted_scores_are_found_again(planted_run: Evidence, claims: tuple[Asked, ...]) -> None:
    wanted = [asked for asked in claims if (asked.claim.paper, asked.claim.kind) == ("long-transduction", "scores")]
    found = {one.asked.claim.id: one for one in judged.judged(wanted, planted_run)}
    value = {name: one.found.span.value for name, one in found.items() if one.found.span}
    assert len(value) == len(wanted), "all is there"
    by_format, by_rank = 1 - 3 * 0.5 / 12, 1 - 0.1 * 1.5
    assert value["lt-acc-deepseek-4k"] == pytest.approx(0.9 * by_format * by_rank, abs=1e-6)
    assert value["lt-task-deepseek-table"] == pytest.approx(0.9 * 0.5 * by_rank, abs=1e-6)
    assert value["lt-62"] == pytest.approx(50.0, abs=1e-4), "each of seven models falls by half; Olmo has no 128K"
    assert found["lt-62"].found.remark.startswith("7 models")
    assert value["lt-format-lookup"] == value["lt-36"] == pytest.approx(50.0, abs=1e-4)
    assert value["lt-39"] == pytest.approx(30.0, abs=1e-4)
    assert value["lt-gap"] == 0 and value["lt-complete-deepseek"] == 0
    zeros = ("lt-monotonic", "lt-leads", "lt-harder-table", "lt-no-ids-below", "lt-consistent", "lt-no-reasoning")
    assert value["lt-consistent-copied"] == 1 and found["lt-consistent-copied"].verdict == "reproduced"
    for name in (*zeros, "lt-robust"):
        assert found[name].verdict == "reproduced" and value[name] == 0


def test_findings_that_do_not_hold_are_told(planted_run: Evidence, claims: tuple[Asked, ...], tmp_path: Path) -> None:
    papers = planted_run.papers

    def accuracy(model: str, spec: DocumentSpec) -> float:
        if spec.family == "arithmetic" and spec.format == "no_ids":
            return 0.4
        return 0.5 if model.startswith("DeepSeek") else 0.6 if spec.horizon < 131072 else 0.7

    documents = tuple(planted.documents(papers.models, papers.config.transduction.models, accuracy))
    run = Run("full", "paper", tmp_path, None, (replace(documents[0], reasoned=True), *documents[1:]))
    planted.write_records(run, tmp_path, -0.8)
    names = (
        "lt-monotonic", "lt-leads", "lt-harder-table", "lt-no-ids-below", "lt-consistent", "lt-consistent-copied",
        "lt-robust", "lt-no-reasoning",
    )  # fmt: skip
    for one in judged.judged(of(claims, *names), replace(planted_run, transduction=run)):
        assert one.verdict == "differs", one.asked.claim.id


def test_a_run_that_is_not_whole_is_not_judged(planted_run: Evidence, claims: tuple[Asked, ...]) -> None:
    run = planted_run.transduction
    lacking = tuple(
        replace(one, accuracy=None, complete=None, status="failed")
        if one.model.startswith("DeepSeek") and one.cell == ("lookup", "ordered", 8.0, 131072)
        else one
        for one in run.documents
    )
    partly = replace(planted_run, transduction=replace(run, documents=lacking))
    at_128k, at_4k = judged.judged(of(claims, "lt-acc-deepseek-4k", "lt-acc-deepseek-128k"), partly)[::-1]
    assert (at_128k.verdict, at_128k.found.remark) == (
        "not run", "235 of 240 documents of DeepSeek-V4-Flash have a score",
    )  # fmt: skip
    assert at_4k.verdict != "not run"
    few = tuple(
        replace(one, accuracy=None, complete=None, status="failed") if one.sample > 2 and "ordered" in one.cell else one
        for one in run.documents
    )
    (decrease,) = judged.judged(of(claims, "lt-62"), replace(planted_run, transduction=replace(run, documents=few)))
    assert decrease.verdict == "not run", "two documents of each cell of three variants are 10 %"


@pytest.fixture(scope="module")
def printed_run(evidence: Evidence) -> Evidence:
    """A full run of SciTrek in which every model is right as often as Tables 7 and 16 print."""
    rows = tuple(planted.scitrek_rows(evidence))
    return full(evidence, scitrek=planted.scitrek_run(scitrek=rows))


def test_scores_as_printed_are_reproduced(printed_run: Evidence, claims: tuple[Asked, ...]) -> None:
    by = {
        "score_at",
        "cells_agreeing",
        "best_score",
        "rising_with_level",
        "thinking_gain",
        "tables_not_above",
        "cells_above",
    }
    wanted = [asked for asked in claims if asked.claim.computed_by in by and "baseline" not in asked.claim.id]
    verdict = {one.asked.claim.id: one.verdict for one in judged.judged(wanted, printed_run)}
    differs = {name for name, found in verdict.items() if found != "reproduced"}
    assert differs == {"st-degrades-run", "st-gain-low-run"}, "as the paper's own tables do"
    spread = of(
        claims, "st-subjects-run", "st-sorting-run", "st-weak-r-run", "st-negation-run", "st-tables-2k", "st-null-run"
    )
    found = {one.asked.claim.id: one.found.span for one in judged.judged(spread, printed_run)}
    assert all(found.values())
    (strongest,) = judged.judged(of(claims, "st-r-o4-mini"), printed_run)
    assert strongest.found.span is not None and -1 < strongest.found.span.value < -0.8, (
        "the planted queries grow longer"
    )


def test_one_model_alone_is_judged_and_the_table_is_not(printed_run: Evidence, claims: tuple[Asked, ...]) -> None:
    assert printed_run.scitrek is not None
    alone = replace(
        printed_run.scitrek, scitrek=tuple(row for row in printed_run.scitrek.scitrek if row["model"] == "o4-mini")
    )
    names = ("st-em-o4-mini-f-128", "st-em-gpt-4.1-f-128", "st-cells-7", "st-best-run")
    found = {one.asked.claim.id: one for one in judged.judged(of(claims, *names), replace(printed_run, scitrek=alone))}
    assert found["st-em-o4-mini-f-128"].verdict == "reproduced"
    assert {name for name, one in found.items() if one.verdict == "not run"} == set(names[1:])
    assert found["st-cells-7"].found.remark == "6 of the 86 cells of the paper's table have been run"


def test_other_questions_than_the_papers_are_not_judged(printed_run: Evidence, claims: tuple[Asked, ...]) -> None:
    other = replace(printed_run, papers_questions=False, papers_corpus=False)
    wanted = [
        asked
        for asked in claims
        if asked.claim.paper == "scitrek" and asked.claim.kind in ("scores", "corpus", "training")
    ]
    assert {one.verdict for one in judged.judged(wanted, other)} == {"not run"}


def test_questions_and_collections_are_counted(evidence: Evidence, claims: tuple[Asked, ...], tmp_path: Path) -> None:
    found = read_scitrek(build(tmp_path, ()), {"questions", "collections"}, (), complete=False)
    run = planted.scitrek_run(**found)
    wanted = [asked for asked in claims if asked.claim.kind == "corpus"]
    value = {
        one.asked.claim.id: one.found.span.value
        for one in judged.judged(wanted, full(evidence, scitrek=run))
        if one.found.span
    }
    tests = [row for row in run.questions if row["split"] == "test" and not row["null"]]
    assert value["st-made-articles"] == len(run.articles) and value["st-made-tests"] == len(tests)
    assert value["st-made-random"] + value["st-made-graph"] == value["st-made-collections"] > 4
    assert value["st-tests-64k"] == sum(row["level"] == "64K" for row in tests)
    assert value["st-articles-64k"] == 6 and value["st-round-trip"] > 90
    assert value["st-asked-where"] == pytest.approx(100 * sum("WHERE" in row["sql"] for row in tests) / len(tests))


def test_annotators_and_trained_models_are_judged_where_there_are_any(
    printed_run: Evidence, claims: tuple[Asked, ...]
) -> None:
    assert printed_run.scitrek is not None
    answers = tuple(
        {
            "id": f"q{number}",
            "annotator": str(who),
            "skill": "relational_filtering",
            "gold": "4",
            "answer": "4" if number else "5",
        }
        for number in range(10)
        for who in range(3)
    )
    trained = tuple(
        row | {"model": "Qwen3-4B-Instruct-2507-GRPO"}
        for row in map(dict, printed_run.scitrek.scitrek)
        if row["model"] == "Qwen3-4B-Instruct-2507"
    )
    run = replace(printed_run.scitrek, annotations=answers, scitrek=trained)
    names = ("st-people-align-relational", "st-people-agree-all", "st-trained-qwen3-4b-grpo", "st-trained-qwen3-4b-sft")
    found = {one.asked.claim.id: one for one in judged.judged(of(claims, *names), replace(printed_run, scitrek=run))}
    span = found["st-people-align-relational"].found.span
    assert span is not None and (span.value, span.low < 90 < span.high) == (90, True)
    assert found["st-people-agree-all"].found.span is not None
    assert found["st-trained-qwen3-4b-grpo"].found.span is not None
    assert found["st-trained-qwen3-4b-sft"].verdict == "not run"
