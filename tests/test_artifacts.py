"""Artifacts: statistics, the papers' numbers, and figures and tables that are the same bytes every time."""

import csv
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from longtrek.analysis import artifacts, curves, panels, published, statistics
from longtrek.analysis.answer_view import view
from longtrek.analysis.commands import figure as figure_command
from longtrek.analysis.figures import transduction_figure_2 as figure_2
from longtrek.analysis.figures import transduction_figure_3 as figure_3
from longtrek.analysis.figures import transduction_figure_8 as figure_8
from longtrek.analysis.run import Run, read_documents
from longtrek.analysis.statistics import Document, Interval
from longtrek.analysis.style import looks, page
from longtrek.analysis.tables import transduction_table_1 as table_1
from longtrek.analysis.tables import transduction_table_2 as table_2
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from longtrek.paths import ROOT, shipped
from longtrek.transduction.documents import document as build_document
from longtrek.transduction.grid import DocumentSpec, grid
from longtrek.transduction.prompts import read_prompts
from longtrek.transduction.scores import DOCUMENTS, RECORDS

PUBLISHED = sorted(shipped("config/published").glob("transduction_*.csv"))
FIGURES = tuple(f"transduction_figure_{number}" for number in range(1, 10))
TABLES = tuple(f"transduction_table_{number}" for number in (1, 2))
SHARES = {"DeepSeek-V4-Flash": 0.8, "Olmo-3.1-32B": 0.4, "SmolLM2-135M-Instruct": 0.1, "reference-solver": 1.0}
RECORD_COUNT = 30


def scored(accuracy: float | None, status: str = "scored", **changes: Any) -> Document:
    base = Document(
        "m", False, "d", "arithmetic", "ordered", 2.0, 4096, 0, 10, status, "stop", accuracy, accuracy == 1.0
    )
    return replace(base, **changes)


# Statistics


def test_every_cell_weighs_the_same_however_many_documents_it_has() -> None:
    documents = [
        scored(1.0),
        scored(0.0, sample=1),
        scored(0.5, sample=2),
        scored(0.1, difficulty=4.0),
        scored(0.3, format="no_ids"),
    ]
    assert statistics.macro_average(statistics.by_cell(documents)) == pytest.approx((0.5 + 0.1 + 0.3) / 3)


def test_failed_and_not_asked_documents_are_counted_and_never_averaged() -> None:
    documents = [
        scored(0.5),
        scored(None, "failed", sample=1, finish_reason=None),
        scored(None, "not_asked", sample=2, finish_reason=None),
        scored(None, "missing", sample=3, finish_reason=None),
        scored(0.7, "truncated", sample=4, finish_reason="length"),
    ]
    found = statistics.estimate(documents)
    assert found.value == pytest.approx(0.6)
    assert found.counts == statistics.Counts(documents=5, scored=2, failed=1, not_asked=1, missing=1, truncated=1)


def test_nothing_scored_has_no_value_and_no_interval() -> None:
    found = statistics.estimate([scored(None, "failed")])
    assert (found.value, found.interval, found.counts.failed) == (None, None, 1)


def test_a_cell_with_a_single_document_has_no_interval() -> None:
    pair = [scored(0.2), scored(0.4, sample=1)]
    assert statistics.estimate(pair).interval is not None
    assert statistics.estimate([*pair, scored(0.5, difficulty=4.0)]).interval is None


def test_the_bootstrap_is_the_same_on_every_numpy() -> None:
    cells = {("f", "g", 2.0, 4096): [0.0, 0.5, 1.0, 0.25], ("f", "g", 4.0, 4096): [0.1, 0.9]}
    assert statistics.bootstrap(cells, "key") == Interval(0.14375, 0.825)
    assert statistics.bootstrap(cells, "another key") != statistics.bootstrap(cells, "key")


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=5), min_size=1, max_size=6))
def test_the_average_lies_in_its_interval_and_the_interval_among_the_scores(cells: list[list[float]]) -> None:
    named = {("f", "g", float(place), 4096): values for place, values in enumerate(cells)}
    average, interval = statistics.macro_average(named), statistics.bootstrap(named, "k")
    assert average is not None and interval is not None
    flat = [value for values in cells for value in values]
    assert min(flat) - 1e-8 <= interval.low <= interval.high <= max(flat) + 1e-8
    assert min(flat) - 1e-8 <= average <= max(flat) + 1e-8


def test_bins_without_a_record_of_a_short_document_are_left_out_of_the_mean() -> None:
    documents = [scored(0.5, id="long"), scored(0.5, id="short", sample=1)]
    bins = {"long": [0.0] * 20, "short": [1.0, None] * 10}
    curve = statistics.position_curve(documents, bins, "k")
    assert [point.value for point in curve] == [0.5, 0.0] * 10
    assert curve[0].interval is not None
    assert curve[1].interval is None, "one document alone has no interval"


def test_relative_decreases_are_averaged_over_models_that_have_both_ends() -> None:
    found = statistics.relative_decrease({"a": 0.8, "b": 0.4, "c": 0.5, "z": 0.0}, {"a": 0.4, "b": 0.3, "c": None})
    assert found.mean == pytest.approx((0.5 + 0.25) / 2)
    assert found.of_means == pytest.approx(1 - 0.7 / 1.2)
    assert found.models == ("a", "b")
    assert statistics.relative_decrease({"a": 0.5}, {}).mean is None


def test_wilson_bounds_are_the_rates_that_the_test_just_rejects() -> None:
    found = statistics.wilson(41, 240)
    assert found is not None
    for bound in (found.low, found.high):
        assert abs(41 / 240 - bound) == pytest.approx(1.959964 * math.sqrt(bound * (1 - bound) / 240), abs=1e-7)
    assert statistics.wilson(0, 0) is None


@given(st.integers(1, 500), st.data())
def test_wilson_intervals_hold_the_rate(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    found = statistics.wilson(successes, trials)
    assert found is not None and 0 <= found.low <= successes / trials <= found.high <= 1


# Published values


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_published_row_has_a_place_and_a_number_or_a_mark(path: Path) -> None:
    values = published.read(path.stem)
    assert values
    known = {file.stem for file in shipped("config/models").glob("*.yaml")}
    for value in values:
        assert value.paper == "long-transduction"
        assert value.place and value.row and value.unit
        assert (value.value is None) != (value.mark is None)
        assert value.model in {"", *known}
        assert value.mark is None or value.note


def text(row: str, column: str, **where: str) -> float:
    found = {
        value.value
        for value in published.read("transduction_text")
        if (value.row, value.column) == (row, column)
        and value.model == where.get("model", "")
        and value.place == where.get("place", "Section 4")
    }
    (number,) = found
    assert number is not None
    return number


def test_the_papers_own_arithmetic_holds() -> None:
    factors = ("tasks × formats", "difficulties", "horizons", "samples")
    product = 1.0
    for factor in factors:
        product *= text("documents per model", f"factor: {factor}", place="Section 2")
    assert product == text("documents per model", "product", place="Section 2") == 1440
    assert product / 6 == text("documents per horizon", "count", place="Section 2")
    for model in ("DeepSeek-V4-Flash", "Qwen3.5-122B-A10B", "Qwen3.5-35B-A3B"):
        share = text("complete documents", "count", model=model) / text("complete documents", "of", model=model)
        assert round(100 * share, 1) == text("complete documents", "rate", model=model)
    values = published.read("transduction_figure_2")
    small, large = (
        published.number(values, {"horizon": 131072}, model) for model in ("Qwen3.5-35B-A3B", "Qwen3.5-122B-A10B")
    )
    assert small is not None and large is not None
    gap = text("accuracy gap", "128K", model="Qwen3.5-122B-A10B")
    assert large - small == pytest.approx(gap)


def test_a_figures_values_are_those_of_the_text() -> None:
    stated = {
        (value.model, tuple(value.setting.items())): value.value
        for value in published.read("transduction_text")
        if value.row in ("accuracy", "task accuracy")
    }
    drawn = {
        (value.model, tuple(value.setting.items())): value.value
        for value in published.read("transduction_figure_2")
        if value.value is not None and "0.030 below" not in value.note
    }
    assert drawn == stated


def test_the_grid_is_the_published_one() -> None:
    specs = [spec for horizon in grid().horizons for spec in grid().specs(horizon)]
    assert len(specs) == text("documents per model", "product", place="Section 2")


@pytest.mark.skipif(not (ROOT / "../shared/papers").exists(), reason="the papers' texts are not beside this tree")
def test_every_published_number_stands_in_the_papers_text() -> None:
    paper = (ROOT / "../shared/papers/long-transduction.txt").read_text(encoding="utf-8").replace("\\", "")
    spelled = {2: "2", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 12: "12"}
    for value in published.read("transduction_text"):
        number = value.value
        assert number is not None
        written = {f"{number:g}", f"{number:.3f}", f"{number:,.0f}", spelled.get(int(number), "")} - {""}
        written |= {"zero"} if number == 0 else set()
        assert any(form in paper for form in written), value


# A run


def asked(horizons: tuple[int, ...], samples: int, ranks: tuple[int, ...]) -> list[DocumentSpec]:
    specs = [spec for horizon in horizons for spec in grid().specs(horizon, samples)]
    levels = grid().families
    return [spec for spec in specs if levels[spec.family][spec.format].index(spec.difficulty) + 1 in ranks]


def write_scores(folder: Path, model: str, horizons: tuple[int, ...], samples: int, ranks: tuple[int, ...]) -> None:
    rows: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for number, spec in enumerate(asked(horizons, samples, ranks)):
        status = "scored"
        if model.startswith("Olmo") and spec.horizon > 4096:
            status = "not_asked"
        elif model.startswith("DeepSeek") and number % 50 == 7:
            status = "failed"
        share = SHARES[model] / (1 + (spec.horizon > 4096))
        share = 0.0 if model.startswith("Smol") and spec.family == "table" else share
        share = 1.0 if model == "reference-solver" else share * (1 - 0.1 * spec.sample)
        right = [(7 * place + number) % RECORD_COUNT < share * RECORD_COUNT for place in range(RECORD_COUNT)]
        given_score = status == "scored"
        if given_score:
            records += [
                {"document": spec.id, "record": place}
                | {f"{rule}_{name}": mark for rule in ("paper", "strict") for name in ("correct", "copied")}
                | {f"{rule}_consistent": mark or place % 3 > 0 for rule in ("paper", "strict")}
                for place, mark in enumerate(right)
            ]
        accuracy = sum(right) / RECORD_COUNT if given_score else None
        rows.append(
            {
                "model": model,
                "check": model == "reference-solver",
                "document": spec.id,
                "family": spec.family,
                "format": spec.format,
                "difficulty": float(spec.difficulty),
                "horizon": spec.horizon,
                "sample": spec.sample,
                "records": RECORD_COUNT,
                "status": status,
                "finish_reason": "stop" if given_score else None,
                "paper_accuracy": accuracy,
                "paper_complete": all(right) if given_score else None,
                "strict_accuracy": accuracy and accuracy / 2,
                "strict_complete": False if given_score else None,
            }
        )
    (folder / model).mkdir(parents=True)
    columns = {name: [row.get(name) for row in rows] for name in DOCUMENTS.names}
    pq.write_table(pa.table(columns, schema=DOCUMENTS), folder / model / "transduction_documents.parquet")
    pq.write_table(pa.Table.from_pylist(records, schema=RECORDS), folder / model / "transduction.parquet")


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models, one of which ends early, one with single documents, and the check."""
    folder = tmp_path_factory.mktemp("scores")
    write_scores(folder, "DeepSeek-V4-Flash", (4096, 8192), 2, (1, 2, 3, 4))
    write_scores(folder, "Olmo-3.1-32B", (4096, 8192), 2, (1, 2, 3, 4))
    write_scores(folder, "SmolLM2-135M-Instruct", (4096,), 1, (1, 3))
    write_scores(folder, "reference-solver", (4096, 8192), 1, (1, 2, 3, 4))
    return folder


def run_of(scores: Path, *models: str, rule: str = "paper") -> Run:
    return Run("quick", rule, scores, None, read_documents(scores, rule, models), seed=7, tiers=(4096,), samples=1)


@pytest.fixture
def quick(scores: Path) -> Run:
    return run_of(scores, "SmolLM2-135M-Instruct", "reference-solver")


def words_of(drawn: Any) -> str:
    found = [item.get_text() for item in drawn.findobj(lambda item: hasattr(item, "get_text"))]
    return " ".join("\n".join(found).split())


def test_every_figure_and_table_of_the_paper_has_its_file() -> None:
    assert set(FIGURES) <= set(artifacts.FIGURES)
    assert set(TABLES) <= set(artifacts.TABLES)
    for name in (*FIGURES, *TABLES):
        assert len(artifacts.caption(name)) > 40
        assert set(artifacts.reads(name)) <= {"documents", "records"}


def test_an_unknown_artifact_is_told_what_there_is() -> None:
    with pytest.raises(LongtrekError, match="transduction_figure_2"):
        artifacts.module("transduction_figure_99")


def test_the_same_run_gives_the_same_bytes_in_another_folder_with_another_hash_seed(
    scores: Path, tmp_path: Path
) -> None:
    arguments = ["all", "--scores", str(scores), "--out"]
    for verb in ("figure", "table"):
        other = [sys.executable, "-m", "longtrek", verb, *arguments, str(tmp_path / "b" / "deeper")]
        subprocess.run(other, check=True, env={**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"})
    run = Run("quick", "paper", scores, None, read_documents(scores, "paper"))
    runner = CliRunner()
    result = runner.invoke(figure_command, [*arguments, str(tmp_path / "a")], catch_exceptions=False)
    assert result.exit_code == 0
    for name in TABLES:
        if name != "transduction_table_1":  # its grids take a while; its own test builds it twice
            artifacts.write_table(name, replace(run, labels=labels()), tmp_path / "a")
    expected = {f"{name}{suffix}" for name in FIGURES for suffix in artifacts.FIGURE_SUFFIXES}
    made = {path.name for path in (tmp_path / "a").iterdir()}
    assert expected <= made
    for name in sorted(made):
        again = tmp_path / "b" / "deeper" / name
        assert (tmp_path / "a" / name).read_bytes() == again.read_bytes(), name


def labels() -> dict[str, str]:
    from longtrek.analysis.run import entry_labels

    return entry_labels(shipped("config/models"))


def test_missing_tiers_are_a_gap_that_the_figure_names(quick: Run) -> None:
    first, _ = figure_2.panels(quick)
    curve = next(curve for curve in first.curves if curve.model == "SmolLM2-135M-Instruct")
    assert [point.estimate.value is None for point in curve.points] == [False, *[True] * 5]
    with page():
        words = words_of(figure_2.draw(quick))
    assert "no answers yet at 8K–128K" in words
    assert "at 4K nominal tokens (paper: 128K)" in words
    assert "No interval where a cell holds a single document" in words


def test_a_model_that_cannot_be_asked_is_said_not_to_fit_and_is_starred(scores: Path) -> None:
    run = run_of(scores, "DeepSeek-V4-Flash", "Olmo-3.1-32B")
    with page():
        words = words_of(figure_2.draw(run))
    assert "Olmo-3.1-32B in (a) at 8K (does not fit)" in words
    assert "* Olmo-3.1-32B is shown at 4K, its largest horizon with answers" in words
    assert "Olmo-3.1-32B*" in words


def test_the_check_is_a_dashed_grey_line_and_never_a_model(quick: Run) -> None:
    assert quick.models == ("SmolLM2-135M-Instruct",)
    with page():
        drawn = figure_3.draw(quick)
        words = words_of(drawn)
    assert "check: reference solver (gold output)" in words
    assert "Models: SmolLM2-135M-Instruct." in words
    assert "Check, not a model: reference-solver." in words
    for row in [*figure_3.numbers(quick), *figure_8.numbers(quick)]:
        assert row["check"] == str(row["model"] == "reference-solver").lower()
    assert [row[0] for row in table_2.make(quick).rows][-1] == "check: reference-solver"


def test_every_figure_says_what_was_run(scores: Path, quick: Run) -> None:
    strict = run_of(scores, "SmolLM2-135M-Instruct", rule="strict")
    for run, rule, names in ((quick, "paper", FIGURES[1:]), (strict, "strict", FIGURES[3:4])):
        for name in names:
            with page():
                words = words_of(artifacts.module(name).draw(run))
            for said in ("Models: SmolLM2-135M-Instruct.", f"Rule: {rule}.", "scored of", "Run: quick."):
                assert said in words, (name, said)


def test_published_values_are_hollow_markers_in_the_models_own_colour(quick: Run) -> None:
    with page():
        axes = figure_2.draw(quick).axes[0]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    colours = {line.get_markeredgecolor() for line in hollow}
    assert looks(["DeepSeek-V4-Flash"])["DeepSeek-V4-Flash"].colour in colours
    drawn = sorted(round(float(value), 3) for line in hollow for value in line.get_ydata())
    assert drawn == sorted([0.909, 0.883, 0.711, 0.719, 0.419, 0.554, 0.441, 0.411, 0.138, 0.036, 0.083])


def test_models_stand_in_the_papers_order_each_with_a_look_of_its_own(scores: Path) -> None:
    run = run_of(scores, "SmolLM2-135M-Instruct", "Olmo-3.1-32B", "DeepSeek-V4-Flash")
    assert run.models == ("DeepSeek-V4-Flash", "Olmo-3.1-32B", "SmolLM2-135M-Instruct")
    names = [file.stem for file in shipped("config/models").glob("*.yaml")]
    seen = [(look.colour, look.marker) for look in looks([*names, "a new model", "another"]).values()]
    assert len(set(seen)) == len(seen)


def test_position_curves_are_the_records_means(scores: Path) -> None:
    run = run_of(scores, "DeepSeek-V4-Flash")
    document = run.select("DeepSeek-V4-Flash", family="lookup", horizon=4096)[0]
    bins = run.positions(document.model, "correct", [document])[document.id]
    rows = pq.read_table(scores / document.model / "transduction.parquet").to_pylist()
    marks = [row["paper_correct"] for row in rows if row["document"] == document.id]
    by_bin: list[list[bool]] = [[] for _ in range(20)]
    for record, mark in enumerate(marks):
        by_bin[int(20 * record / RECORD_COUNT)].append(mark)
    assert bins == [sum(found) / len(found) for found in by_bin]


def test_records_that_are_not_all_there_are_an_error(scores: Path) -> None:
    run = run_of(scores, "DeepSeek-V4-Flash")
    longer = replace(run, documents=tuple(replace(doc, records=RECORD_COUNT + 1) for doc in run.documents))
    with pytest.raises(LongtrekError, match="score it again"):
        longer.positions("DeepSeek-V4-Flash", "correct", longer.documents)


def test_scores_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(LongtrekError, match="longtrek scores"):
        read_documents(tmp_path, "paper")


def test_the_strict_rule_shows_strict_scores(scores: Path) -> None:
    values = [
        curves.along(run_of(scores, "DeepSeek-V4-Flash", rule=rule), figure_2.family_axis(), 4096)[0].points[0].estimate
        for rule in ("paper", "strict")
    ]
    assert values[0].value is not None and values[1].value == pytest.approx(values[0].value / 2)


def test_a_tables_csv_markdown_and_latex_hold_the_same_cells(scores: Path, tmp_path: Path) -> None:
    run = run_of(scores, "DeepSeek-V4-Flash", "reference-solver")
    paths = artifacts.write_table("transduction_table_2", run, tmp_path)
    with paths[0].open(encoding="utf-8") as stream:
        rows = {row["model"]: row for row in csv.DictReader(stream)}
    assert rows["DeepSeek-V4-Flash"]["published complete"] == "41"
    assert rows["Falcon-H1-34B"]["published complete"] == "lost"
    assert rows["Olmo-3.1-32B"]["published complete"] == "–"
    assert rows["check: reference-solver"]["rate (%)"] == "100.0"
    markdown, latex = (path.read_text(encoding="utf-8") for path in paths[1:])
    for row in rows.values():
        assert "| " + " | ".join(row.values()) + " |" in markdown
    assert latex.count(r"\\") >= len(rows) and r"\toprule" in latex and "Rule: paper" in latex


def test_table_1_is_computed_and_says_that_the_papers_cells_are_lost() -> None:
    run = Run("full", "paper", Path("nowhere"), None, (), seed=7, tiers=(4096, 8192), samples=1)
    made = table_1.make(run)
    assert [row[0] for row in made.rows] == ["1/8", "1/4", "1/2", "1"]
    whole = int(made.rows[-1][1])
    assert [int(row[1]) for row in made.rows] == [max(2, round(whole * share)) for share in (1 / 8, 1 / 4, 1 / 2, 1)]
    assert all(row[2] == row[4] == "lost" for row in made.rows)
    assert made == table_1.make(run)


# Show


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A run with one document, answered with one wrong and one missing record."""
    spec = DocumentSpec("arithmetic", "ordered", 2, 512, 0)
    document = build_document(spec, 7, read_prompts())
    lines = document["expected"].split("\n")
    answer = [lines[0], lines[1] + "9", *lines[3:]]
    row = {"id": document["id"], "text": "\n".join(answer), "status": "answered", "finish_reason": "stop"}
    write_jsonl(tmp_path / "documents" / "512.jsonl.zst", [document])
    write_jsonl(tmp_path / "answers" / "m" / "transduction" / "512.jsonl", [row])
    write_jsonl(
        tmp_path / "answers" / "broken" / "transduction" / "512.jsonl",
        [{**row, "text": "", "status": "failed", "error": {"kind": "timeout", "message": "no answer in 600 s"}}],
    )
    return tmp_path


def test_show_sets_each_record_beside_what_was_expected(results: Path) -> None:
    lines = list(view(results, "m", "arithmetic-ordered-2-512-0", "paper"))
    shown = "\n".join(lines)
    assert "lost at:  record 2" in shown
    assert "(nothing)" in shown
    assert shown.count("✗") == 4
    assert "\x1b[31" in shown
    wrong = list(view(results, "m", "arithmetic-ordered-2-512-0", "paper", wrong_only=True))
    assert sum("expected" in line for line in wrong) == 2


def test_show_never_scores_a_failed_request(results: Path) -> None:
    shown = "\n".join(view(results, "broken", "arithmetic-ordered-2-512-0", "paper"))
    assert "timeout: no answer in 600 s" in shown and "no score" in shown and "records right" not in shown


def test_show_says_what_is_not_there(results: Path) -> None:
    with pytest.raises(LongtrekError, match=r"512\.jsonl\.zst"):
        list(view(results, "m", "arithmetic-ordered-2-512-1", "paper"))
    with pytest.raises(LongtrekError, match="models with answers there: broken, m"):
        list(view(results, "nobody", "arithmetic-ordered-2-512-0", "paper"))
    with pytest.raises(LongtrekError, match="arithmetic-ordered-2-4096-0"):
        list(view(results, "m", "nonsense", "paper"))


def test_a_footer_counts_failures_apart_from_scores(scores: Path) -> None:
    run = run_of(scores, "DeepSeek-V4-Flash")
    said = panels.what_was_run(run, run.documents)
    failed = sum(document.status == "failed" for document in run.documents)
    assert failed and f"{len(run.documents) - failed} scored of {len(run.documents)} asked, {failed} failed" in said
