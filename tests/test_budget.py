"""Token counts are exact, and a document fills its budget as far as it can."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generated_documents import CELLS, NUMBERED, PROMPTS, build_cell, few, horizons, seeds
from longtrek.errors import LongtrekError
from longtrek.transduction import records, tokens
from longtrek.transduction.documents import documents_of
from longtrek.transduction.grid import DocumentSpec, grid


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
