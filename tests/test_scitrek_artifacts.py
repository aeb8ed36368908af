"""SciTrek's artifacts: the paper's numbers and its own arithmetic, and tables and figures beside them."""

import csv
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from longtrek.analysis import artifacts, published, statistics
from longtrek.analysis.commands import figure as figure_command
from longtrek.analysis.commands import table as table_command
from longtrek.analysis.figures import scitrek_figure_1 as figure_1
from longtrek.analysis.figures import scitrek_figure_2 as figure_2
from longtrek.analysis.figures import scitrek_figure_3 as figure_3
from longtrek.analysis.published import Published
from longtrek.analysis.run import entries
from longtrek.analysis.scitrek_run import SciTrekRun, read, setting_of
from longtrek.analysis.style import looks, page
from longtrek.analysis.tables import scitrek_table_10 as table_10
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from longtrek.paths import ROOT, shipped
from longtrek.scitrek.analyses import incomplete_beta
from scitrek_run import CHECK, build

FIGURES = tuple(f"scitrek_figure_{number}" for number in range(1, 9))
TABLES = tuple(f"scitrek_table_{number}" for number in range(1, 19))
PUBLISHED = sorted(shipped("config/published").glob("scitrek_*.csv"))
KINDS = {"scitrek", "baseline", "questions", "collections", "annotations"}
NEGATION = {"filtering": 11, "filtering_aggregating": 15, "filtering_sorting": 12, "relational_filtering": 94}
PAPER = ROOT / "../shared/papers/scitrek.txt"


# Published values


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_published_row_has_a_place_and_a_number_or_a_mark(path: Path) -> None:
    values = published.read(path.stem)
    assert values
    known = {file.stem for file in shipped("config/models").glob("*.yaml")}
    ours = {value.model for value in values} - {"", "Qwen3-235B-A22B-Instruct", "Gemma-3-4B-IT"}
    assert ours <= known
    for value in values:
        assert value.paper == "scitrek" and value.place and value.row and value.column and value.unit
        assert (value.value is None) != (value.mark is None)
        assert value.mark is None or value.note
    places = [(value.place, value.row, value.column, value.model) for value in values]
    assert len(places) == len(set(places)) or path.stem in ("scitrek_table_9", "scitrek_table_10")


def test_every_table_of_the_paper_has_its_published_values() -> None:
    assert {path.stem for path in PUBLISHED} >= {*TABLES, "scitrek_figure_1", "scitrek_figure_2", "scitrek_text"}
    for name in ("scitrek_table_7", "scitrek_table_16"):
        cells = [value for value in published.read(name) if "level" in value.setting]
        assert len({value.row for value in cells}) == 14 and len(cells) == 14 * 8
        marks = Counter(value.mark for value in cells)
        assert marks["too_costly"] == 2 and marks["does_not_fit"] == 16
    assert all(value.mark == "lost" for value in published.read("scitrek_figure_2") if value.unit == "%")


def text(row: str, column: str, place: str) -> float:
    (found,) = [
        value.value
        for value in published.read("scitrek_text")
        if (value.place, value.row, value.column) == (place, row, column)
    ]
    assert found is not None
    return found


def cells(name: str, **setting: str) -> dict[tuple[str, str], Published]:
    return {
        (value.row, value.column): value
        for value in published.read(name)
        if all(value.setting.get(key) == wanted for key, wanted in setting.items())
    }


def number(found: dict[tuple[str, str], Published], row: str, column: str) -> float:
    value = found[row, column].value
    assert value is not None
    return value


def test_the_papers_sums_hold() -> None:
    templates = [value.value or 0 for value in published.read("scitrek_table_4")]
    assert templates == [20, 27, 107, 107, 106, 20] and sum(templates) == 387
    samples = [value.value or 0 for (_, column), value in cells("scitrek_table_5").items() if column == "#Samples"]
    assert samples == [112, 728, 667, 614] and sum(samples) == text("test set", "count", "Section 1") == 2121
    random, graph = (text("collections", column, "Section 3.1") for column in ("random", "graph"))
    assert random + graph == text("collections", "all", "Section 3.1") == 2612
    skills = [text("negation questions", skill, "Appendix E") for skill in NEGATION]
    assert skills == list(NEGATION.values()) and sum(skills) == text("negation questions", "all", "Appendix E") == 132
    pairs = 10 * 2612
    made = 2121 + text("training set", "count", "Section 1")
    assert round(100 * made / pairs, 1) == text("pairs with a question", "share", "Section 3.3")
    thinking = [value for value in published.read("scitrek_table_15") if value.column == "Think" and value.value]
    assert len(thinking) == text("thinking models", "count", "Appendix C")


def test_the_percentages_of_table_14_are_those_of_its_counts() -> None:
    found = cells("scitrek_table_14")
    operators = {row for row, _ in found}
    assert len(operators) == 29
    for row in operators:
        assert round(100 * number(found, row, "Count") / 2121, 2) == number(found, row, "%"), row
    named = {value.column for value in published.read("scitrek_table_3")}
    assert operators == {*named, "SELECT"}, "the test set covers what Table 3 lists"


def test_the_best_model_at_128k_and_the_ranges_of_section_4() -> None:
    found = cells("scitrek_table_7")
    models = {row for row, _ in found if "SQL" not in row}
    assert len(models) == text("models evaluated", "count", "Section 6") == 13
    best = max(models, key=lambda row: found[row, "F-128"].value or 0)
    assert (best, number(found, best, "F-128")) == ("o4-mini", text("best exact match", "128K", "Abstract"))
    assert number(cells("scitrek_table_16"), "o4-mini", "F-128") == text("F1", "o4-mini at 128K", "Appendix D")
    baseline = "Qwen-2.5-Coder + SQL execution"
    gold = [number(found, baseline, column) for column in ("D-64", "D-128", "D-512", "D-1024")]
    full = [number(found, baseline, column) for column in ("F-64", "F-128", "F-512", "F-1024")]
    assert min(gold) == text("baseline on gold tables", "at least", "Section 4") == 86.8
    assert (min(full), max(full)) == (25.6, 38.4)
    r = [abs(value.value or 0) for value in published.read("scitrek_table_8")]
    assert max(r) == text("correlations", "largest magnitude", "Section 4") == 0.25


def test_the_changes_of_table_10_are_differences_and_table_11_repeats_tables_9_and_10() -> None:
    values = published.read("scitrek_table_10")
    scores = {(v.row, v.setting["post"], v.setting["benchmark"]): v for v in values if "change" not in v.setting}
    changes = [value for value in values if "change" in value.setting]
    assert len(changes) == 18
    assert all(table_10.change(scores, value) == value.value for value in changes)
    corpus = cells("scitrek_table_11", corpus="SciTrek")
    for benchmark, column in table_10.BENCHMARKS.items():
        assert scores["Qwen3-4B-Instruct", "grpo", benchmark].value == number(corpus, "SciTrek", column)
    trained = cells("scitrek_table_9", post="grpo")
    assert number(trained, "Qwen3-4B-Instruct", "Overall") == number(corpus, "SciTrek", "SciTrek") == 32.9


def test_table_6_averages_over_the_questions_that_its_percentages_need() -> None:
    found = cells("scitrek_table_6")
    of = {"Aggregating": 21, "Sorting": 20, "Filtering": 21, "Filtering+Aggregating": 20}
    of |= {"Filtering+Sorting": 19, "Relational Filtering": 19}
    assert sum(of.values()) == text("questions annotated", "count", "Section 3.4") == 120
    for column in ("Agree", "Align"):
        counts = {skill: round(number(found, skill, column) * n / 100) for skill, n in of.items()}
        for skill, n in of.items():
            assert round(100 * counts[skill] / n, 1) == number(found, skill, column)
        assert round(100 * sum(counts.values()) / 120, 1) == number(found, "All", column)
    twentieths = {round(100 * count / 20, 1) for count in range(21)}
    odd = {row for row, column in found if column == "Agree" and number(found, row, column) not in twentieths}
    assert noted("scitrek_table_6") == {(row, "Agree") for row in odd - {"All"}}


# Where the paper disagrees with itself: each is recomputed, and noted where it stands


def noted(name: str) -> set[tuple[str, str]]:
    return {(value.row, value.column) for value, _ in published.inconsistencies(published.read(name))}


def test_scores_that_rise_with_length_are_noted() -> None:
    rising = {}
    for name in ("scitrek_table_7", "scitrek_table_16"):
        found = cells(name)
        for row in {row for row, _ in found if "SQL" not in row}:
            for letter in "FD":
                columns = [f"{letter}-{size}" for size in (64, 128, 512, 1024)]
                line = [found[row, column].value for column in columns]
                for column, shorter, longer in zip(columns[1:], line, line[1:], strict=False):
                    if shorter is not None and longer is not None and longer > shorter:
                        rising.setdefault(name, set()).add((row, column))
    assert rising["scitrek_table_7"] == noted("scitrek_table_7") == {("Qwen3-4B-Instruct-2507", "F-128")}
    assert rising["scitrek_table_16"] <= noted("scitrek_table_16")
    f1, exact = cells("scitrek_table_16"), cells("scitrek_table_7")
    orders = [
        sorted(rows, key=lambda row: -number(found, row, "F-64"))
        for found in (f1, exact)
        for rows in [("GPT-4.1", "DeepSeek-R1-Distill-Llama-70B")]
    ]
    assert orders[0] != orders[1], "Appendix D: the ranking is unchanged"


def test_table_7_and_the_overall_column_of_table_9_are_compared() -> None:
    seven, nine = cells("scitrek_table_7"), cells("scitrek_table_9", post="zero-shot")
    for ours, theirs in (
        ("Qwen2.5-7B-Instruct-1M", "Qwen2.5-7B-Instruct-1M"),
        ("Qwen3-4B-Instruct-2507", "Qwen3-4B-Instruct"),
    ):
        both = (112 * number(seven, ours, "F-64") + 728 * number(seven, ours, "F-128")) / 840
        assert abs(both - number(nine, theirs, "Overall")) > 0.2
        assert (theirs, "Overall") in noted("scitrek_table_9")


def test_table_8_stars_that_728_questions_do_not_bear_out_are_noted() -> None:
    wrong = set()
    for (row, column), value in cells("scitrek_table_8").items():
        assert value.value is not None
        # what the printed figure may stand for, by which the star is most easily right
        starred = value.note.startswith("p < 0.05")
        r = abs(value.value) + (0.005 if starred else -0.005)
        p = incomplete_beta(363, 0.5, 1 - r * r)
        if starred != (p < 0.05):
            wrong.add((row, column))
    assert wrong == noted("scitrek_table_8") - {("Llama-4-Scout", "#Articles")}


def test_table_18_overall_scores_that_are_not_those_of_its_columns_are_noted() -> None:
    found = cells("scitrek_table_18")
    heads = dict(zip(NEGATION.values(), ("F", "F+A", "F+S", "R"), strict=True))
    wrong = {
        (row, "All")
        for row, column in found
        if column == "All"
        and abs(sum(n * number(found, row, head) for n, head in heads.items()) / 132 - number(found, row, "All")) > 0.1
    }
    assert len(wrong) == 9
    assert noted("scitrek_table_18") == wrong | {("Qwen2.5-14B-Instruct-1M", "R")}
    below = [row for (row, column) in found if column == "All" and "(" not in row and number(found, row, "All") < 5]
    assert len(below) == 9 and text("models below 5 % on negation", "count", "Appendix E") == 7
    relational = {row: number(found, row, "R") for row, column in found if column == "R"}
    assert max(value for row, value in relational.items() if "(" not in row) == 6.4
    assert {row for row, value in relational.items() if value > 6.4} == {"Qwen2.5-7B-Inst.-1M (SFT)"}


def test_text_and_tables_that_disagree_are_noted() -> None:
    seven, form = cells("scitrek_table_7"), cells("scitrek_table_17", pattern="form")
    assert number(seven, "GPT-4.1", "D-64") > text("non-thinking models on tables", "highest at 64K", "Section 4")
    gpt = [number(form, "GPT-4.1", f"form {letter}") for letter in "ASF"]
    assert (
        min(gpt)
        == 40
        > text("answers that break the form", "GPT-4.1, lowest of aggregating, sorting, filtering", "Appendix E")
    )
    gain = [
        number(seven, f"{size}-Thinking-2507", column) - number(seven, f"{size}-Instruct-2507", column)
        for size in ("Qwen3-4B", "Qwen3-30B-A3B")
        for column in ("F-64", "F-128")
    ]
    assert [round(value, 1) for value in gain] == [39.0, 22.1, 47.9, 38.8]
    assert {
        ("gain of thinking at matched size", "at least"),
        ("non-thinking models on tables", "highest at 64K"),
        ("models below 5 % on negation", "count"),
        ("questions annotated", "of each skill"),
    } <= noted("scitrek_text")


@pytest.mark.skipif(not PAPER.exists(), reason="the papers' texts are not beside this tree")
def test_every_published_number_stands_in_the_papers_text() -> None:
    paper = PAPER.read_text(encoding="utf-8").replace("\\", "")
    spelled = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 10: "ten"}
    spelled |= {13: "thirteen", 0.5: "half", 0.333: "a third", 0.000002: "2times 10^{-6}"}
    for path in PUBLISHED:
        for value in published.read(path.stem):
            made = "1 " in value.unit or value.unit.startswith("place") or value.unit == "month"
            if value.value is None or made or value.note.startswith("printed as"):
                continue
            found = abs(value.value)
            forms = {f"{found:g}", f"{found:.1f}", f"{found:.2f}", f"{found:,.0f}", spelled.get(found, "")}
            assert any(form and form in paper for form in forms), value


# A run


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


def test_the_same_run_gives_the_same_bytes_in_another_process_and_folder(results: Path, tmp_path: Path) -> None:
    for verb, command, names in (("figure", figure_command, FIGURES), ("table", table_command, TABLES)):
        for name in names:
            arguments = [name, "--results", str(results), "--out", str(tmp_path / "a")]
            assert CliRunner().invoke(command, arguments, catch_exceptions=False).exit_code == 0
        kept = [name for name in names if name.endswith(("_2", "_7", "_17"))]
        for name in kept:
            other = [sys.executable, "-m", "longtrek", verb, name, "--results", str(results)]
            environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
            subprocess.run([*other, "--out", str(tmp_path / "b" / "deeper")], check=True, env=environment)
    run = run_of(results, published=shipped("config/published"))
    for name in TABLES:  # all kinds read at once change nothing either
        artifacts.write_table(name, replace(run, kind="quick"), tmp_path / "c")
    expected = {f"{name}{suffix}" for name in FIGURES for suffix in artifacts.FIGURE_SUFFIXES}
    expected |= {f"{name}{suffix}" for name in TABLES for suffix in artifacts.TABLE_SUFFIXES}
    assert {path.name for path in (tmp_path / "a").iterdir()} == expected
    for again in [*(tmp_path / "b" / "deeper").iterdir(), *(tmp_path / "c").iterdir()]:
        assert again.read_bytes() == (tmp_path / "a" / again.name).read_bytes(), again.name


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
    assert fourteen["OR"]["recomputed (%)"] == fourteen["OR"]["published (%)"] == "29.04"
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
        "Models: SmolLM2-135M-Instruct.", "Rule: paper.", "Run: quick.", "Published values are pixels and lost",
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


def test_intervals_resample_collections_whole() -> None:
    assert statistics.clustered([(3.0, 10.0)], "k") is None
    assert statistics.clustered([(3.0, 10.0), (6.0, 20.0)], "k") is None, "two equal means tell of no spread"
    found = statistics.clustered([(0.0, 10.0), (10.0, 10.0), (5.0, 10.0)], "k")
    assert found is not None and found.low <= 0.5 <= found.high
    assert statistics.clustered([(0.0, 10.0), (10.0, 10.0), (5.0, 10.0)], "k") == found


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
    assert r"author\_count" in latex and r"\{reference-count\}" in latex and r"p{0.80\linewidth}" in latex
