"""Long-Transduction's documents: what is promised of every one of them, and of the tiers they make."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.paths import ROOT
from longtrek.transduction import commands, frozen, records, tokens
from longtrek.transduction.build import build, line_of
from longtrek.transduction.documents import document, documents_of, table_1
from longtrek.transduction.grid import DocumentSpec, difficulty_of, grid, groups
from longtrek.transduction.prompts import prompt_file, read_prompts, shipped_prompts
from longtrek.transduction.stream import draws, moved, permutation
from longtrek.transduction.tables import share_of
from longtrek.transduction.words import words

PROMPTS = read_prompts()
SEED = 7
CELLS = [(spec.family, spec.format, spec.difficulty) for spec in grid().specs(4096, 1)]
NUMBERED = ["arithmetic", "uuid_sort", "lookup"]
few = settings(max_examples=30, deadline=None)

# The lookup pool of 256 alone needs some 1,500 tokens, so it cannot go below a budget of about 2,000.
horizons = st.integers(4000, 7000)
seeds = st.integers(0, 2**40)
samples = st.integers(0, 9)


def input_of(built: dict[str, Any]) -> str:
    """What follows the last line `Input:` of a prompt."""
    return str(built["prompt"]).rpartition("\nInput:\n")[2]


def table_of(text: str) -> list[list[str]]:
    """A table's lines cut at commas."""
    return [line.split(",") for line in text.split("\n")]


def build_cell(family: str, form: str, difficulty: float, horizon: int = 4096, seed: int = SEED) -> dict[str, Any]:
    return document(DocumentSpec(family, form, difficulty, horizon, 0), seed, PROMPTS)


@pytest.fixture(scope="module")
def tier() -> list[dict[str, Any]]:
    """One sample of every cell of the 4K tier."""
    return [built for group in groups(grid().specs(4096, 1)) for built in documents_of(group, SEED, PROMPTS)]


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


def test_counting_by_parts_equals_counting_the_whole(tier: list[dict[str, Any]]) -> None:
    largest = [build_cell(*cell, horizon=131072) for cell in CELLS[::7]]
    for built in tier + largest:
        assert built["prompt_tokens"] == tokens.count(built["prompt"]), built["id"]
        assert built["expected_tokens"] == tokens.count(built["expected"]), built["id"]


@few
@given(cell=st.sampled_from(CELLS), horizon=horizons, seed=seeds)
def test_counts_are_exact_for_any_seed_and_horizon(cell: tuple[str, str, float], horizon: int, seed: int) -> None:
    built = build_cell(*cell, horizon=horizon, seed=seed)
    assert built["prompt_tokens"] == tokens.count(built["prompt"]) <= built["budget"] == horizon // 2
    assert built["expected_tokens"] == tokens.count(built["expected"])
    assert built["cap"] == 3 * built["budget"] // 2


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(st.from_regex(r"[^\s][^\n\r]{0,12}", fullmatch=True), min_size=1),
    rest=st.from_regex(r"\S[^\r]{0,20}", fullmatch=True),
)
def test_counts_add_up_at_line_feeds(lines: list[str], rest: str) -> None:
    text = "\n".join(lines) + "\n"
    assert tokens.count(text + rest) == tokens.count(text) + tokens.count(rest)
    assert tokens.count_lines(text).tolist() == [tokens.count(line + "\n") for line in lines]


@few
@given(family=st.sampled_from(NUMBERED), rank=st.integers(0, 3), horizon=horizons, seed=seeds)
def test_one_more_record_would_not_fit_the_longest_format(family: str, rank: int, horizon: int, seed: int) -> None:
    difficulty = grid().families[family]["ordered"][rank]
    group = [DocumentSpec(family, form, difficulty, horizon, 0) for form in ("ordered", "shuffled", "no_ids")]
    built = documents_of(group, seed, PROMPTS)
    size = built[0]["records"]
    drawn = records.FAMILIES[family]((seed, *group[0].shared), int(difficulty), size + 1).inputs
    longer = max(
        tokens.count(f"{one['prompt']}\n{drawn.texts[-1] if one['format'] == 'no_ids' else drawn.numbered()[-1]}")
        for one in built
    )
    assert max(one["prompt_tokens"] for one in built) <= horizon // 2 < longer


@settings(max_examples=8, deadline=None)
@given(form=st.sampled_from(sorted(grid().families["table"])), horizon=st.integers(1500, 7000), seed=seeds)
def test_one_more_row_and_column_would_not_fit(form: str, horizon: int, seed: int) -> None:
    """The smallest budget that has a larger table is found by halving: it holds that table exactly."""
    size = _same_stream(form, horizon, horizon // 2, seed)["records"]
    low, high = horizon // 2, 2 * horizon
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _same_stream(form, horizon, middle, seed)["records"] == size else (low, middle)
    assert _same_stream(form, horizon, high, seed)["prompt_tokens"] == high > horizon // 2


def _same_stream(form: str, horizon: int, tokens_: int, seed: int) -> dict[str, Any]:
    """A document with the streams of one horizon and the budget of another."""

    class Renamed(DocumentSpec):
        @property
        def budget(self) -> int:
            return tokens_

    return documents_of([Renamed("table", form, 1, horizon, 0)], seed, PROMPTS)[0]


@pytest.mark.parametrize("cell", [("arithmetic", "ordered", 2), ("table", "resolve", 0.125), ("lookup", "no_ids", 256)])
def test_a_budget_too_small_for_one_record_is_an_error_at_once(cell: tuple[str, str, float]) -> None:
    with pytest.raises(LongtrekError) as error:
        build_cell(*cell, horizon=64)
    said = str(error.value)
    needed = int(re.search(r"needs (\d+) cl100k_base tokens", said)[1])  # type: ignore[index]
    assert "-64:" in said
    assert "budget is 32 " in said
    assert build_cell(*cell, horizon=2 * needed + 2)["records"] >= 1
    with pytest.raises(LongtrekError):
        build_cell(*cell, horizon=2 * needed - 2 - 600)


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


def test_the_encoding_is_tiktoken_s_own_and_needs_no_network(tmp_path: Path) -> None:
    shutil.copy(tokens.encoding_file(), tmp_path / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4")
    code = (
        "import tiktoken; from longtrek.transduction import tokens\n"
        "own, genuine = tokens.encoding(), tiktoken.get_encoding('cl100k_base')\n"
        "for part in ('name', '_pat_str', '_special_tokens', '_mergeable_ranks'):\n"
        "    assert getattr(own, part) == getattr(genuine, part), part\n"
    )
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = os.environ | nowhere | {"TIKTOKEN_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_another_encoding_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cl100k_base.tiktoken"
    with pytest.raises(LongtrekError, match="no such file"):
        tokens.verified_ranks(path)
    path.write_bytes(tokens.encoding_file().read_bytes()[:-1])
    with pytest.raises(LongtrekError, match=f"expected {tokens.ENCODING_SHA256}"):
        tokens.verified_ranks(path)


def test_a_tier_s_bytes_do_not_depend_on_the_number_of_cores(tmp_path: Path) -> None:
    specs = [grid().specs(4096, 1), grid().specs(5000, 1)]
    said = [list(build(tmp_path / str(cores), specs, SEED, PROMPTS, cores)) for cores in (1, 2)]
    assert said[0] == said[1]
    for horizon in (4096, 5000):
        one, two = ((tmp_path / cores / f"{horizon}.jsonl.zst").read_bytes() for cores in ("1", "2"))
        assert one == two


def test_a_tier_s_hash_is_of_its_lines_and_its_lines_are_the_documents(
    tmp_path: Path, tier: list[dict[str, Any]]
) -> None:
    (said,) = build(tmp_path, [grid().specs(4096, 1)], SEED, PROMPTS, recount=True)
    assert list(read_jsonl(tmp_path / "4096.jsonl.zst")) == tier
    assert said.built.sha256 == hashlib.sha256(b"".join(map(line_of, tier))).hexdigest()
    assert said.documents == len(tier) == 48
    assert said.prompt_max == max(built["prompt_tokens"] for built in tier) <= 2048
    assert said.output_mean == sum(built["expected_tokens"] for built in tier) / 48


def scenario(tmp_path: Path, **changes: Any) -> Path:
    """A config of the smallest tier and one sample, beside copies of the shipped files."""
    config = yaml.safe_load((ROOT / "config/quick.yaml").read_text())
    for name in ("models", "published", "prompts", "frozen"):
        shutil.copytree(ROOT / "config" / name, tmp_path / name)
    config["results"] = str(tmp_path / "results")
    config["transduction"] |= {"horizons": [4096], "samples": 1} | changes
    config["scitrek"] = None
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def run_documents(*arguments: str) -> Any:
    return CliRunner().invoke(commands.documents, [*arguments, "--cores", "1"])


def test_the_verb_compares_with_the_frozen_documents(tmp_path: Path) -> None:
    ran = run_documents("--config", str(scenario(tmp_path)))
    assert ran.exit_code == 0, ran.output
    assert "48 documents as frozen" in ran.output
    made = tmp_path / "results/documents"
    assert sorted(file.name for file in made.iterdir()) == ["4096.jsonl.zst", "summary.csv"]
    assert "48 documents as frozen" in (made / "summary.csv").read_text()


def test_a_changed_prompt_is_an_error_that_names_the_tier_and_the_prompt(tmp_path: Path) -> None:
    config = scenario(tmp_path)
    file = prompt_file(tmp_path / "prompts/transduction", "uuid_sort", "no_ids")
    file.write_text(file.read_text().replace("Do not ask any question.", "Ask nothing."))
    ran = run_documents("--config", str(config))
    assert isinstance(ran.exception, LongtrekError)
    said = str(ran.exception)
    known = frozen.read_frozen(frozen.frozen_file())["tiers"]["4096"]["sha256"]
    assert all(part in said for part in ("horizon 4096", known, "prompt uuid_sort-no_ids", "--freeze"))
    assert list((tmp_path / "results/documents").iterdir()) == []


def test_another_seed_is_not_compared(tmp_path: Path) -> None:
    ran = run_documents("--config", str(scenario(tmp_path, seed=1)))
    assert ran.exit_code == 0 and "not compared (seed 1 is not the frozen one)" in ran.output


def test_a_horizon_too_small_writes_nothing(tmp_path: Path) -> None:
    ran = run_documents("--config", str(scenario(tmp_path)), "--horizon", "4096", "--horizon", "128")
    assert isinstance(ran.exception, LongtrekError) and "arithmetic-ordered-2-128" in str(ran.exception)
    assert not any((tmp_path / "results").rglob("*.*"))


def test_freezing_needs_the_whole_grid(tmp_path: Path) -> None:
    config = scenario(tmp_path)
    before = (tmp_path / "frozen/transduction.json").read_bytes()
    ran = run_documents("--config", str(config), "--freeze")
    assert isinstance(ran.exception, LongtrekError) and "whole grid" in str(ran.exception)
    assert (tmp_path / "frozen/transduction.json").read_bytes() == before


def test_the_verb_document_prints_the_frozen_document() -> None:
    arguments = ["--family", "table", "--format", "resolve", "--difficulty", "1/8", "--horizon", "4096"]
    ran = CliRunner().invoke(commands.document, arguments)
    assert ran.exit_code == 0 and ran.output.count("\n") == 1
    built = json.loads(ran.output)
    known = frozen.read_frozen(frozen.frozen_file())["documents"]
    assert frozen.line_digest(ran.output.encode()) == known[built["id"]]
    assert built["id"] == "table-resolve-0.125-4096-0" and built["difficulty"] == 0.125
