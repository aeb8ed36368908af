"""Tiers of documents: their bytes, their hashes, and the verbs that build and compare them."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from generated_documents import (
    PROMPTS,
    SEED,
)
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.paths import ROOT
from longtrek.transduction import commands, frozen
from longtrek.transduction.build import build, line_of
from longtrek.transduction.grid import grid
from longtrek.transduction.prompts import prompt_file


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
