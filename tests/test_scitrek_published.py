"""SciTrek's published numbers: each is in the paper, its arithmetic holds, and where it does not is noted."""

from collections import Counter
from pathlib import Path

import pytest

from longtrek.analysis import published
from longtrek.analysis.published import Published
from longtrek.analysis.tables import scitrek_table_10 as table_10
from longtrek.paths import ROOT, shipped
from longtrek.scitrek.analyses import incomplete_beta

TABLES = tuple(f"scitrek_table_{number}" for number in range(1, 19))
PUBLISHED = sorted(shipped("config/published").glob("scitrek_*.csv"))
NEGATION = {"filtering": 11, "filtering_aggregating": 15, "filtering_sorting": 12, "relational_filtering": 94}
PAPER = ROOT / "../shared/papers/scitrek.txt"


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
