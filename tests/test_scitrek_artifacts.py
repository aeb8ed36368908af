"""SciTrek's tables and figures: the paper's numbers with ours beside them."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longtrek.analysis import artifacts, published
from longtrek.analysis.figures import scitrek_figure_1 as figure_1
from longtrek.analysis.figures import scitrek_figure_2 as figure_2
from longtrek.analysis.figures import scitrek_figure_3 as figure_3
from longtrek.analysis.run import entries
from longtrek.analysis.scitrek_run import SciTrekRun, read, setting_of
from longtrek.analysis.style import looks, page
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from longtrek.paths import shipped
from scitrek_run import CHECK, build

FIGURES = tuple(f"scitrek_figure_{number}" for number in range(1, 9))
TABLES = tuple(f"scitrek_table_{number}" for number in range(1, 19))
KINDS = {"scitrek", "baseline", "questions", "model_writer", "collections", "annotations"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four models, the check and the baseline, on both contexts at three levels."""
    models = ("o4-mini", "GPT-4.1", "Qwen3-4B-Thinking-2507", "SmolLM2-135M-Instruct", CHECK)
    return build(tmp_path_factory.mktemp("results"), (*models, "Qwen2.5-Coder-32B-Instruct+SQL"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Only the quick run's model and the check, on tables of one level."""
    return build(tmp_path_factory.mktemp("quick"), ("SmolLM2-135M-Instruct", CHECK), count=15, level="64K")


def run_of(results: Path, rule: Any = "paper", **changes: Any) -> SciTrekRun:
    found = read(results, KINDS, None, complete=False)
    models = tuple(sorted({row["model"] for row in found["scitrek"]}))
    run = SciTrekRun("quick", rule, entries=entries(shipped("config/models")), asked=models, **found)
    return replace(run, **changes)


def rows_of(name: str, run: SciTrekRun, out: Path) -> list[dict[str, str]]:
    path = artifacts.write_table(name, run, out)[0]
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def words_of(drawn: Any) -> str:
    found = [item.get_text() for item in drawn.findobj(lambda item: hasattr(item, "get_text"))]
    return " ".join("\n".join(found).split())


def test_the_artifacts_are_the_papers_figures_and_tables() -> None:
    assert tuple(name for name in artifacts.FIGURES if artifacts.paper(name) == "scitrek") == FIGURES
    assert tuple(name for name in artifacts.TABLES if artifacts.paper(name) == "scitrek") == TABLES
    for name in (*FIGURES, *TABLES):
        assert len(artifacts.caption(name)) > 40
        assert set(artifacts.reads(name)) <= KINDS


def test_table_7_has_the_papers_rows_in_order_with_ours_under_them(results: Path, tmp_path: Path) -> None:
    run = run_of(results)
    rows = rows_of("scitrek_table_7", run, tmp_path)
    order = list(dict.fromkeys(value.row for value in published.read("scitrek_table_7")))
    assert [row["Model"] for row in rows if row["source"] == "published"] == order
    printed = next(row for row in rows if row["Model"] == "Gemini 2.5 Pro")
    assert (printed["F-64"], printed["F-512"], printed["Ctx"], printed["Think"]) == ("41.7", "⋆", "1M", "✓")
    place = next(i for i, row in enumerate(rows) if row["Model"] == "o4-mini")
    assert [row["source"] for row in rows[place : place + 3]] == [
        "published", "reproduced", "asked/answered/failed/cut",
    ]  # fmt: skip
    mine = [row for row in run.scitrek if row["model"] == "o4-mini" and row["context"] == "tables"]
    mine = [row for row in mine if row["level"] == "64K" and not row["null_gold"]]
    value = 100 * math.fsum(row["paper_exact_match"] for row in mine) / len(mine)
    assert rows[place + 1]["D-64"].startswith(f"{value:.1f}")
    assert rows[place + 2]["D-64"].startswith(f"{len(mine)}/{len(mine)}/0/")
    assert any(row["Model"].startswith("Qwen-2.5-Coder") and row["source"] == "reproduced" for row in rows)
    assert rows[-1]["Model"] == f"check: {CHECK}" and rows[-2]["D-64"] == "100.0"
    assert "Rule: paper" in (tmp_path / "scitrek_table_7.md").read_text(encoding="utf-8")


def test_failed_answers_stay_in_the_denominator(results: Path, tmp_path: Path) -> None:
    run = run_of(results)
    failed = [row for row in run.rows if row["model"] == "GPT-4.1" and row["failed"] and row["context"] == "tables"]
    assert failed
    level = failed[0]["level"]
    mine = [r for r in run.rows if (r["model"], r["context"], r["level"]) == ("GPT-4.1", "tables", level)]
    column = {"single": "D-single", "64K": "D-64", "128K": "D-128"}[level]
    shown = [row for row in rows_of("scitrek_table_7", run, tmp_path) if row["Model"] == "GPT-4.1"]
    right = math.fsum(row["paper_exact_match"] or 0 for row in mine)
    assert shown[1][column].startswith(f"{100 * right / len(mine):.1f}")
    failures = sum(row["failed"] for row in mine)
    assert shown[2][column].startswith(f"{len(mine)}/{len(mine) - failures}/{failures}/")


def test_the_strict_rule_shows_strict_scores(results: Path, tmp_path: Path) -> None:
    rows = tuple(dict(row) | {"strict_correct": 0.25} for row in run_of(results).scitrek)
    shown = rows_of("scitrek_table_7", run_of(results, "strict", scitrek=rows, baseline=()), tmp_path)
    values = {row["D-64"] for row in shown if row["source"] == "reproduced"}
    assert values == {"25.0"}
    assert "Rule: strict" in (tmp_path / "scitrek_table_7.md").read_text(encoding="utf-8")


def test_the_check_is_never_a_model(results: Path, tmp_path: Path) -> None:
    run = run_of(results)
    assert CHECK not in {series.model for series in run.models}
    for name in ("scitrek_table_7", "scitrek_table_9", "scitrek_table_16", "scitrek_table_17", "scitrek_table_18"):
        named = {row["Model"] for row in rows_of(name, run, tmp_path)}
        assert f"check: {CHECK}" in named and CHECK not in named
    assert CHECK not in {row["Model"] for row in rows_of("scitrek_table_8", run, tmp_path)}
    with page():
        words = words_of(figure_2.draw(run))
    assert "check: reference solver (gold output)" in words and "Check, not a model: reference-solver" in words


def test_table_8_stars_what_is_significant(results: Path, tmp_path: Path) -> None:
    base = [row for row in run_of(results).rows if row["model"] == "o4-mini" and row["context"] == "full_text"]
    rows = tuple(dict(row) | {"level": "128K", "paper_exact_match": float(row["sql_words"] < 12)} for row in base)
    shown = rows_of("scitrek_table_8", run_of(results, scitrek=rows), tmp_path)
    mine = next(row for row in shown if row["Model"] == "o4-mini")
    assert mine["SQL-Len"].startswith("-") and mine["SQL-Len"].endswith("∗")
    assert (mine["SQL-Len, published"], mine["pairs"]) == ("-0.25∗", str(len(rows)))


def test_table_6_shows_annotations_where_there_are_any(results: Path, tmp_path: Path) -> None:
    given = [("q1", ("4", "4", "5"), "4"), ("q2", ("a", "b", "c"), "a"), ("q3", ("7", "7", "7"), "8")]
    rows = [
        {"id": name, "annotator": str(who), "skill": "sorting", "gold": gold, "answer": answer}
        for name, texts, gold in given
        for who, answer in enumerate(texts)
    ]
    folder = tmp_path / "results"
    write_jsonl(folder / "annotations" / "annotations.jsonl", rows)
    shown = rows_of("scitrek_table_6", run_of(results, annotations=run_of(folder).annotations), tmp_path)
    sorting = next(row for row in shown if row["Skill"] == "Sorting")
    assert (sorting["Agree (%)"], sorting["Align (%)"], sorting["questions"]) == ("66.7", "33.3", "3")
    assert sorting["Agree (%), published"] == "85.0"
    assert "it takes people" in artifacts.write_table("scitrek_table_6", run_of(results), tmp_path)[1].read_text()


def test_tables_of_questions_are_counted_from_them(results: Path, tmp_path: Path) -> None:
    run = run_of(results)
    kept = [row for row in run.questions if not row["null"]]
    five = {(row["Context Length"], row["source"]): row for row in rows_of("scitrek_table_5", run, tmp_path)}
    assert five["64K", "published"]["#Samples"] == "112"
    every = [row for row in kept if row["level"] == "64K"]
    assert five["64K", "reproduced, all splits"]["#Samples"] == str(len(every))
    tests = [row for row in every if row["split"] == "test"]
    assert five["64K", "reproduced, test split"]["#Samples"] == str(len(tests))
    fourteen = {row["Command/Operator"]: row for row in rows_of("scitrek_table_14", run, tmp_path)}
    assert fourteen["WHERE"]["words"] == str(sum("WHERE" in row["sql"] for row in kept))
    assert fourteen["OR"]["letters"] == str(sum("OR" in row["sql"] for row in kept))
    assert fourteen["OR"]["published, recomputed (%)"] == fourteen["OR"]["published (%)"] == "29.04"
    four = rows_of("scitrek_table_4", run, tmp_path)
    assert all(row["Count"] == row["Count, published"] for row in four)
    assert [row["Skill"] for row in rows_of("scitrek_table_1", run, tmp_path)] == [row["Skill"] for row in four[:-1]]


def test_table_15_says_what_the_run_uses(quick: Path, tmp_path: Path) -> None:
    rows = {row["Model"]: row for row in rows_of("scitrek_table_15", run_of(quick), tmp_path)}
    assert rows["Qwen3-30B-A3B-Instruct-2507"]["#Params"] == "30B (3B)"
    assert rows["o4-mini"]["Release Date"] == "Apr 2025" and rows["o4-mini"]["in this run"] == "✗"
    assert rows["SmolLM2-135M-Instruct"]["in this run"] == "✓" and rows[f"check: {CHECK}"]["in this run"] == "✓"


def test_with_the_quick_model_alone_figure_2_says_what_is_missing(quick: Path) -> None:
    run = run_of(quick)
    with page():
        words = words_of(figure_2.draw(run))
    for said in (
        "database tables at 64K (paper: full-text articles)", "The paper shows its six best models; this run has 1",
        "Models: SmolLM2-135M-Instruct.", "Rule: paper.", "Run: quick.",
        "The paper draws its own values and prints none",
    ):  # fmt: skip
        assert said in words, said
    rows = figure_2.numbers(run)
    assert {row["label"] for row in rows} == {"SmolLM2-135M-Instruct", CHECK}
    assert {row["category"] for row in rows if row["by"] == "skill"} >= {"Filtering+Sorting", "Relational Filtering"}


def test_figure_2_takes_the_six_best_in_the_papers_order(results: Path) -> None:
    base = [row for row in run_of(results).rows if row["model"] == "o4-mini"]
    names = ("A", "GPT-4.1", "B", "o4-mini", "C", "D", "E", "F")
    rows = tuple(
        dict(row) | {"model": name, "paper_exact_match": place / 10} for place, name in enumerate(names) for row in base
    )
    run = run_of(results, scitrek=rows)
    shown = [series.model for series in figure_2.shown(run)]
    assert shown == ["o4-mini", "B", "C", "D", "E", "F"]
    listed = {value.model for name in TABLES for value in published.read(name)} - {"", "Qwen2.5-Coder-32B-Instruct"}
    seen = [(look.colour, look.marker) for look in looks(sorted(listed)).values()]
    assert len(listed) == len(set(seen)) == 15


def test_figure_1_counts_what_was_made(results: Path) -> None:
    run = run_of(results)
    counts = {row["stage"]: row for row in figure_1.numbers(run)}
    assert (counts["scientific articles"]["published"], counts["scientific articles"]["here"]) == (662, 33)
    assert counts["round trip"]["here"] == 100 and counts["round trip"]["published"] == 82.9
    with page():
        assert "paper: 2,612, here: 12 collections" in words_of(figure_1.draw(run))


def test_figure_1_shows_what_a_model_writers_tries_came_to(results: Path) -> None:
    def row(text: str | None, verdict: str, *tries: tuple[int, str]) -> dict[str, Any]:
        return {"text": text, "verdict": verdict, "tries": [{"reading": at, "reason": why} for at, why in tries]}

    rows = (
        row("How many?", "passed", (0, "not JSON: x"), (0, ""), (1, "results differ: 3 against 4"), (2, "")),
        row(
            None, "failed", (0, "the question names 'author_count'"), (0, ""), (1, "the query read back is refused: y")
        ),
        row(None, "failed", (0, "request failed: down"), (0, "a reason that nobody foresaw")),
    )
    run = run_of(results, model_writer=rows, model_writer_name="SmolLM2-135M-Instruct")
    counts = {str(row["stage"]): row["here"] for row in figure_1.numbers(run)}
    assert counts["model writer"] == pytest.approx(100 / 3)
    tried = {stage.partition("tried: ")[2]: count for stage, count in counts.items() if "tried" in stage}
    assert tried == {
        "read back": 2, "not in the form asked for": 1, "names ids, columns or tables": 1, "request failed": 1,
        "another reason": 1,
    }  # fmt: skip
    with page():
        words = words_of(figure_1.draw(run))
    assert "beside the grammar, SmolLM2-135M-Instruct writes 1 of 3 queries became questions (paper: 82.9 %)" in words
    assert "3 readings: 1 another result, 1 refused by the sandbox, 1 the same result" in words
    with page():
        assert "beside the grammar" not in words_of(figure_1.draw(run_of(results)))


def test_prompts_are_drawn_as_they_are_sent() -> None:
    run = SciTrekRun("quick", "paper")
    rows = figure_3.numbers(run)
    text = "\n".join(str(row["text"]) for row in rows if row["prompt"] == "extract_title")
    assert text == (shipped("config/prompts/scitrek/extract_title.txt")).read_text(encoding="utf-8").rstrip("\n")
    assert len({row["prompt"] for row in rows}) == 4
    with page():
        drawn = figure_3.draw(run)
        width = drawn.bbox.width
        texts = [item for item in drawn.axes[0].texts if item.get_fontfamily() == ["DejaVu Sans Mono"]]
        assert max(item.get_window_extent().x1 for item in texts) < width * 0.99
    assert {item.get_text() for item in texts if item.get_fontweight() == "bold"} == {"{chunk}", "{title}"}


def test_what_is_shown_is_the_papers_setting_or_the_one_with_most_answers() -> None:
    def row(context: str, level: str, answered: int) -> dict[str, Any]:
        return {"context": context, "level": level, "answered": answered}

    wanted = [("full_text", "64K"), ("full_text", "128K")]
    rows = [row("tables", "64K", 9), row("full_text", "single", 2), row("full_text", "128K", 0)]
    assert setting_of(rows, wanted) == ("tables", ("64K",))
    assert setting_of([*rows, row("full_text", "128K", 1)], wanted) == ("full_text", ("128K",))
    assert setting_of([row("full_text", "64K", 0)], wanted) is None


def test_a_run_without_scitrek_shows_the_published_values(tmp_path: Path) -> None:
    run = SciTrekRun("quick", "paper")
    for name in TABLES:
        assert artifacts.write_table(name, run, tmp_path)
    shown = (tmp_path / "scitrek_table_7.md").read_text(encoding="utf-8")
    assert "Models: none." in shown and "| o4-mini | 195K | ✓ | published |" in shown
    with page():
        assert "no answers" in words_of(figure_2.draw(run))


def test_what_a_run_should_have_and_has_not_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LongtrekError, match=r"questions\.parquet: no such file"):
        read(tmp_path, {"questions"}, ())
    with pytest.raises(LongtrekError, match=r"o4-mini/scitrek\.parquet"):
        read(tmp_path, {"scitrek"}, ("o4-mini",))
    assert read(tmp_path, {"annotations"}, ())["annotations"] == ()


def test_latex_escapes_what_queries_hold(results: Path, tmp_path: Path) -> None:
    latex = artifacts.write_table("scitrek_table_4", run_of(results), tmp_path)[2].read_text(encoding="utf-8")
    assert r"author\_count" in latex and r"\{reference-count\}" in latex and r"p{0.70\linewidth}" in latex
