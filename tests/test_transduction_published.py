"""Long-Transduction's published numbers: each is in the paper, and its arithmetic holds."""

from pathlib import Path

import pytest

from longtrek.analysis import published
from longtrek.paths import ROOT, shipped
from longtrek.transduction.grid import grid

PUBLISHED = sorted(shipped("config/published").glob("transduction_*.csv"))


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
