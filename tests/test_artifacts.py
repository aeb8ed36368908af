"""Long-Transduction's figures and tables: what they say was run, and the same bytes every time."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from matplotlib.text import Text

from longtrek.analysis import artifacts, commands, curves, panels
from longtrek.analysis.figures import transduction_figure_2 as figure_2
from longtrek.analysis.figures import transduction_figure_3 as figure_3
from longtrek.analysis.figures import transduction_figure_8 as figure_8
from longtrek.analysis.run import Run, read_documents
from longtrek.analysis.style import looks, page
from longtrek.analysis.tables import transduction_table_1 as table_1
from longtrek.analysis.tables import transduction_table_2 as table_2
from longtrek.errors import LongtrekError
from longtrek.paths import shipped
from longtrek.transduction.grid import DocumentSpec, grid
from longtrek.transduction.scores import DOCUMENTS, RECORDS

FIGURES = tuple(f"transduction_figure_{number}" for number in range(1, 10))
TABLES = tuple(f"transduction_table_{number}" for number in (1, 2))
SHARES = {"DeepSeek-V4-Flash": 0.8, "Olmo-3.1-32B": 0.4, "SmolLM2-135M-Instruct": 0.1, "reference-solver": 1.0}
RECORD_COUNT = 30


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


@pytest.mark.parametrize("name", FIGURES)
def test_no_word_stands_off_the_page(scores: Path, name: str) -> None:
    long = {"DeepSeek-V4-Flash": "WWW WWW WWW (imported)", "Olmo-3.1-32B": "A model of quite another name (imported)"}
    run = replace(run_of(scores), labels=long, documents=read_documents(scores, "paper"))
    with page():
        drawn = artifacts.module(name).draw(run)
        drawn.draw_without_rendering()
        for text in drawn.findobj(lambda item: isinstance(item, Text) and item.get_text().strip()):
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.x1 <= drawn.bbox.width + 1, text.get_text()
            assert box.y0 >= -1 and box.y1 <= drawn.bbox.height + 1, text.get_text()


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
    with pytest.raises(LongtrekError, match=r"make reproduce.*--results FOLDER"):
        read_documents(tmp_path, "paper")


@pytest.mark.parametrize(
    ("verb", "name", "said"),
    [
        ("table", "transduction_figure_2", "make it with `longtrek figure transduction_figure_2`"),
        ("figure", "scitrek_table_7", "make it with `longtrek table scitrek_table_7`"),
        ("figure", "figure_2", "or all: `longtrek figure all` makes every figure"),
        ("figure", "all", "make reproduce"),
        ("table", "all", "make reproduce"),
    ],
)
def test_a_name_or_a_run_that_is_not_there_is_told_with_the_command_that_was_meant(
    verb: str, name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke({"figure": commands.figure, "table": commands.table}[verb], [name])
    assert isinstance(found.exception, LongtrekError) and said in str(found.exception)


def test_no_line_stands_over_a_marker(quick: Run) -> None:
    """The check's line lies at 1, where markers of good models are."""
    with page():
        axes = figure_2.draw(quick).axes[1]
    marked = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    ours = [line for line in marked if line.get_markerfacecolor() != "none"]
    hollow = [line for line in marked if line.get_markerfacecolor() == "none"]
    others = [line.get_zorder() for line in (*axes.collections, *axes.lines) if line not in marked]
    assert ours and hollow and max(others) < min(line.get_zorder() for line in marked)
    assert all(line.get_markeredgecolor() == "white" and line.get_linestyle() == "None" for line in ours)
    assert all(line.get_path_effects() for line in hollow)


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
    markdown, latex, page = (path.read_text(encoding="utf-8") for path in paths[1:])
    for row in rows.values():
        assert "| " + " | ".join(row.values()) + " |" in markdown
        assert [cell.rpartition(">")[2] for cell in page.split("</td>")].count(row["model"]) == 1
    assert latex.count(r"\\") >= len(rows) and r"\toprule" in latex and "Rule: paper" in latex


def test_table_1_is_computed_and_says_that_the_papers_cells_are_lost() -> None:
    run = Run("full", "paper", Path("nowhere"), None, (), seed=7, tiers=(4096, 8192), samples=1)
    made = table_1.make(run)
    assert [row[0] for row in made.rows] == ["1/8", "1/4", "1/2", "1"]
    whole = int(made.rows[-1][1])
    assert [int(row[1]) for row in made.rows] == [max(2, round(whole * share)) for share in (1 / 8, 1 / 4, 1 / 2, 1)]
    assert all(row[2] == row[4] == "lost" for row in made.rows)
    assert made == table_1.make(run)


def test_a_footer_counts_failures_apart_from_scores(scores: Path) -> None:
    run = run_of(scores, "DeepSeek-V4-Flash")
    said = panels.what_was_run(run, run.documents)
    failed = sum(document.status == "failed" for document in run.documents)
    assert failed and f"{len(run.documents) - failed} scored of {len(run.documents)} asked, {failed} failed" in said
