"""Long-Transduction's documents: what is promised of every one of them."""

import hashlib
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated_documents import (
    CELLS,
    PROMPTS,
    SEED,
    build_cell,
    few,
    horizons,
    input_of,
    samples,
    seeds,
    table_of,
)
from longtrek.errors import LongtrekError
from longtrek.transduction import frozen, records
from longtrek.transduction.build import line_of
from longtrek.transduction.documents import document, documents_of, table_1
from longtrek.transduction.grid import DocumentSpec, difficulty_of, grid, groups
from longtrek.transduction.prompts import prompt_file, read_prompts, shipped_prompts
from longtrek.transduction.stream import draws, moved, permutation
from longtrek.transduction.tables import share_of
from longtrek.transduction.words import words


def test_the_grid_has_the_paper_s_1440_documents_and_no_two_of_one_name() -> None:
    specs = [spec for horizon in grid().horizons for spec in grid().specs(horizon)]
    assert len(specs) == len({spec.id for spec in specs}) == 1440
    assert {horizon: len(grid().specs(horizon)) for horizon in grid().horizons} == dict.fromkeys(grid().horizons, 240)
    assert grid().horizons == (4096, 8192, 16384, 32768, 65536, 131072)


def test_ids_and_limits_are_those_of_the_contract() -> None:
    assert DocumentSpec("arithmetic", "ordered", 2, 4096, 0).id == "arithmetic-ordered-2-4096-0"
    assert DocumentSpec("table", "resolve", 0.125, 4096, 0).id == "table-resolve-0.125-4096-0"
    assert DocumentSpec("table", "permute_homogeneous", 1.0, 4096, 3).id == "table-permute_homogeneous-1-4096-3"
    largest = DocumentSpec("lookup", "no_ids", 8, 131072, 0)
    assert (largest.budget, largest.cap) == (65536, 98304)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (DocumentSpec("sums", "ordered", 2, 4096, 0), ["family", "'sums'", "arithmetic, uuid_sort, lookup, table"]),
        (DocumentSpec("table", "ordered", 2, 4096, 0), ["format of table", "'ordered'", "resolve"]),
        (DocumentSpec("lookup", "ordered", 2, 4096, 0), ["difficulty of lookup", "found 2", "8, 32, 128, 256"]),
        (DocumentSpec("lookup", "ordered", 8, 0, 0), ["horizon", "found 0"]),
        (DocumentSpec("lookup", "ordered", 8, 4096, -1), ["sample", "found -1"]),
    ],
)
def test_a_document_outside_the_grid_is_refused_with_what_is_allowed(spec: DocumentSpec, said: list[str]) -> None:
    with pytest.raises(LongtrekError) as error:
        document(spec, SEED, PROMPTS)
    assert all(part in str(error.value) for part in said)


def test_difficulties_may_be_written_as_fractions() -> None:
    assert [difficulty_of(text) for text in ("1/8", "0.125", "16", " 1 ")] == [0.125, 0.125, 16, 1]
    with pytest.raises(LongtrekError, match="'half'"):
        difficulty_of("half")


@few
@given(cell=st.sampled_from(CELLS), horizon=horizons, seed=seeds, sample=samples)
def test_a_document_alone_equals_the_same_one_built_with_others(
    cell: tuple[str, str, float], horizon: int, seed: int, sample: int
) -> None:
    spec = DocumentSpec(*cell, horizon, sample)
    group = [other for other in grid().specs(horizon, sample + 1) if other.shared == spec.shared]
    assert len(group) == (4 if spec.family == "table" else 3)
    together = {built["id"]: line_of(built) for built in documents_of(group, seed, PROMPTS)}
    assert together[spec.id] == line_of(document(spec, seed, PROMPTS))


def test_the_stream_is_shake_128_of_its_name_and_grows_without_changing() -> None:
    raw = hashlib.shake_128(b'[7,"arithmetic","2",4096,0,"digits"]').digest(16)
    key = (7, "arithmetic", "2", 4096, 0, "digits")
    assert draws(key, 2).tolist() == [int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")]
    assert draws(key, 50)[:20].tolist() == draws(key, 20).tolist()


@pytest.mark.parametrize(("family", "difficulty"), [("arithmetic", 8), ("uuid_sort", 4), ("lookup", 32)])
def test_the_first_records_do_not_depend_on_how_many_are_drawn(family: str, difficulty: int) -> None:
    draw = records.FAMILIES[family]
    few_, many = draw((1, "x"), difficulty, 30), draw((1, "x"), difficulty, 300)
    assert few_.preamble == many.preamble
    assert (few_.inputs.texts, few_.outputs.texts) == (many.inputs.texts[:30], many.outputs.texts[:30])


def test_another_seed_sample_or_horizon_makes_other_records() -> None:
    made = [
        input_of(document(DocumentSpec("uuid_sort", "ordered", 4, horizon, sample), seed, PROMPTS))[:40]
        for horizon, sample, seed in [(4096, 0, 1), (4096, 0, 2), (4096, 1, 1), (8192, 0, 1)]
    ]
    assert len(set(made)) == 4


def test_frozen_documents_are_rebuilt_byte_for_byte() -> None:
    """One document of every cell of the smallest tier, and the largest tier's first of every family."""
    known = frozen.read_frozen(frozen.frozen_file())
    specs = grid().specs(4096, 1) + [DocumentSpec(*CELLS[i], 131072, 4) for i in (0, 13, 25, 36, 41, 47)]
    for group in groups(specs):
        for built in documents_of(group, known["seed"], PROMPTS):
            assert frozen.line_digest(line_of(built)) == known["documents"][built["id"]], built["id"]


def test_formats_of_a_numbered_family_hold_the_same_records(tier: list[dict[str, Any]]) -> None:
    by_cell: dict[tuple[str, float], dict[str, dict[str, Any]]] = defaultdict(dict)
    for built in tier:
        if built["family"] != "table":
            by_cell[built["family"], built["difficulty"]][built["format"]] = built
    for forms in by_cell.values():
        ordered, shuffled, bare = (input_of(forms[name]) for name in ("ordered", "shuffled", "no_ids"))
        preamble, _, lines = ordered.rpartition("\n\n")
        assert preamble == shuffled.rpartition("\n\n")[0] == bare.rpartition("\n\n")[0]
        shown, mixed, plain = (text.rpartition("\n\n")[2].split("\n") for text in (ordered, shuffled, bare))
        assert shown == [f"[{number}]{line}" for number, line in enumerate(plain, 1)] == lines.split("\n")
        assert sorted(mixed) == sorted(shown) and mixed != shown
        assert forms["ordered"]["expected"] == forms["shuffled"]["expected"]
        gold = forms["ordered"]["expected"].split("\n")
        assert gold == [f"[{n}]{line}" for n, line in enumerate(forms["no_ids"]["expected"].split("\n"), 1)]
        assert {built["records"] for built in forms.values()} == {len(plain)} == {len(gold)}


def test_arithmetic_is_right_and_its_operands_are_uniform() -> None:
    built = build_cell("arithmetic", "no_ids", 4, horizon=65536)
    operands: dict[int, int] = defaultdict(int)
    for line, gold in zip(input_of(built).split("\n"), built["expected"].split("\n"), strict=True):
        assert re.fullmatch(r"\d([+-]\d){1,3}", line)
        assert gold == f"{line}={eval(line)}"
        operands[len(line) // 2 + 1] += 1
    assert sorted(operands) == [2, 3, 4]
    assert max(operands.values()) < 1.15 * min(operands.values())
    assert "=-" in built["expected"]


@pytest.mark.parametrize("per_line", [2, 4, 8, 16])
def test_identifiers_are_sorted_within_their_line(per_line: int) -> None:
    built = build_cell("uuid_sort", "ordered", per_line)
    for line, gold in zip(input_of(built).split("\n"), built["expected"].split("\n"), strict=True):
        number, _, listed = line.partition("]")
        assert re.fullmatch(r"[0-9a-f]{8}(,[0-9a-f]{8})*", listed)
        assert listed.count(",") == per_line - 1
        assert gold == f"{number}]{','.join(sorted(listed.split(',')))}"


@pytest.mark.parametrize("pool", [8, 32, 128, 256])
def test_lookup_keys_are_distinct_and_pair_an_adjective_with_a_noun(pool: int) -> None:
    built = build_cell("lookup", "ordered", pool)
    preamble, _, lines = input_of(built).partition("\n\n")
    pairs = [line.split("=") for line in preamble.split("\n")]
    meaning = dict(pairs)
    assert len(pairs) == len(meaning) == len(set(meaning.values())) == pool
    assert all(re.fullmatch("[0-9a-f]{3}", name) for name in meaning)
    assert sum(word in words().adjectives for word in meaning.values()) == pool // 2
    for line, gold in zip(lines.split("\n"), built["expected"].split("\n"), strict=True):
        number, left, right = re.fullmatch(r"(\[\d+\])(...)\+(...)", line).groups()  # type: ignore[union-attr]
        assert gold == f"{number}{meaning[left]} {meaning[right]}"
        assert meaning[left] in words().adjectives and meaning[right] in words().nouns


def test_words_are_single_lowercase_and_distinct() -> None:
    lists = words()
    every = lists.adjectives + lists.nouns
    assert len(set(every)) == len(every) > 2 * 256
    assert all(re.fullmatch("[a-z]{2,}", word) for word in every)
    assert list(lists.adjectives) == sorted(lists.adjectives) and list(lists.nouns) == sorted(lists.nouns)
    assert min(len(lists.adjectives), len(lists.nouns)) >= 256


@few
@given(size=st.integers(2, 160), share=st.sampled_from([0.2, 0.4, 0.8, 1.0]), seed=seeds)
def test_exactly_the_chosen_positions_are_moved(size: int, share: float, seed: int) -> None:
    count = share_of(size, share)
    order = moved((seed, "rows"), size, count)
    assert sorted(order) == list(range(size))
    assert sum(order[i] != i for i in range(size)) == count == max(2, round(size * share))
    assert sorted(permutation((seed, "x"), size)) == list(range(size))


@pytest.mark.parametrize("form", ["permute_homogeneous", "permute_heterogeneous"])
def test_the_four_shares_of_a_permuted_table_share_their_grid(form: str, tier: list[dict[str, Any]]) -> None:
    four = [built for built in tier if built["format"] == form]
    tables, orders = zip(*(input_of(built).split("\n\n") for built in four), strict=True)
    assert len(four) == 4 == len(set(orders)) and len(set(tables)) == 1
    header, *rows = table_of(tables[0])
    shape = r"[1-9]\d{3}" if form == "permute_homogeneous" else r"[0-9a-f-]{1,36}"
    assert all(re.fullmatch(shape, cell) for row in rows for cell in row[1:])
    assert len(rows) == len(header) - 1
    cells = {(row[0], label): cell for row in rows for label, cell in zip(header[1:], row[1:], strict=True)}
    for built in four:
        asked_rows, asked_columns = (line.partition(": ")[2].split(",") for line in input_of(built).split("\n")[-2:])
        gold_header, *gold = table_of(built["expected"])
        assert gold_header == ["", *asked_columns] and [row[0] for row in gold] == asked_rows
        assert all(row[1:] == [cells[row[0], label] for label in asked_columns] for row in gold)
        moved_ = sum(label != f"[R{i}]" for i, label in enumerate(asked_rows))
        assert moved_ == share_of(len(rows), built["difficulty"])
        assert built["records"] == len(rows) ** 2


def test_the_four_shares_of_resolve_share_size_and_words(tier: list[dict[str, Any]]) -> None:
    four = [built for built in tier if built["format"] == "resolve"]
    assert len({built["records"] for built in four}) == 1
    size = len(table_of(four[0]["expected"])) - 1
    largest = dict(line.split("=") for line in input_of(four[-1]).partition("\n\n")[0].split("\n"))
    for built in four:
        definitions, _, table = input_of(built).partition("\n\n")
        meaning = dict(line.split("=") for line in definitions.split("\n"))
        active = share_of(size, built["difficulty"])
        assert list(meaning) == [f"a{i}" for i in range(active)] + [f"v{i}" for i in range(active)]
        assert meaning.items() <= largest.items()
        (header, *rows), (gold_header, *gold) = table_of(table), table_of(built["expected"])
        assert header == gold_header
        for row, gold_row in zip(rows, gold, strict=True):
            left, right = zip(*(cell.split("+") for cell in row[1:]), strict=True)
            phrases = [f"{meaning[a]} {meaning[v]}" for a, v in zip(left, right, strict=True)]
            assert gold_row == [row[0], *phrases]


def test_table_1_counts_what_the_documents_define() -> None:
    rows = table_1(SEED, PROMPTS, [4096], 2)
    assert [row["share"] for row in rows] == [0.125, 0.25, 0.5, 1]
    for row in rows:
        for sample, active in enumerate(row["active"]):
            built = document(DocumentSpec("table", "resolve", row["share"], 4096, sample), SEED, PROMPTS)
            definitions = input_of(built).partition("\n\n")[0].split("\n")
            assert sum(line.startswith("a") for line in definitions) == active
            assert len(definitions) == 2 * active


def test_a_prompt_states_the_rules_and_marks_its_input_once(tier: list[dict[str, Any]]) -> None:
    for built in tier:
        prompt = built["prompt"]
        assert (
            "Do not think" in prompt and "Do not ask any question" in prompt and "do not stop before" in prompt.lower()
        )
        assert prompt.split("\n").count("Input:") == 1
        file = prompt_file(shipped_prompts(), built["family"], built["format"])
        assert built["prompt_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert not prompt.endswith("\n") and not re.search(r"[ \t]$", built["expected"], re.MULTILINE)


def test_the_worked_example_of_each_prompt_is_right() -> None:
    for family, forms in grid().families.items():
        for form in forms:
            text = prompt_file(shipped_prompts(), family, form).read_text()
            shown = text.split("Example input:\n")[1].split("\n\nExample output:")[0]
            gold = text.split("Example output:\n")[1].split("\n\nRules:")[0]
            assert gold == _solved(family, form, shown), (family, form)


def _solved(family: str, form: str, shown: str) -> str:
    preamble, _, body = shown.rpartition("\n\n")
    if form.startswith("permute"):
        asked_rows, asked_columns = (line.partition(": ")[2].split(",") for line in body.split("\n"))
        header, *rows = table_of(preamble)
        named = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
        lines = [["", *asked_columns], *([name, *(named[name][c] for c in asked_columns)] for name in asked_rows)]
        return "\n".join(",".join(line) for line in lines)
    meaning = dict(line.split("=") for line in preamble.split("\n") if line)
    if form == "resolve":
        return re.sub(r"([av]\d+)\+([av]\d+)", lambda m: f"{meaning[m[1]]} {meaning[m[2]]}", body)
    lines_: list[str] = []
    for line in body.split("\n"):
        number, _, record = line.rpartition("]")
        if family == "arithmetic":
            record = f"{record}={eval(record)}"
        elif family == "uuid_sort":
            record = ",".join(sorted(record.split(",")))
        else:
            record = " ".join(meaning[name] for name in record.split("+"))
        lines_.append(f"{number}]{record}" if number else record)
    return "\n".join(sorted(lines_) if form == "shuffled" else lines_)


def test_a_missing_or_mended_prompt_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    shutil.copytree(shipped_prompts(), folder)
    file = prompt_file(folder, "lookup", "shuffled")
    text = file.read_text()
    file.unlink()
    with pytest.raises(LongtrekError, match=r"lookup-shuffled\.txt: no such prompt file"):
        read_prompts(folder)
    file.write_text(text.replace("Input:\n{input}", "{input}\nGo!"))
    with pytest.raises(LongtrekError, match=r"lookup-shuffled\.txt: a prompt file must end with"):
        read_prompts(folder)
