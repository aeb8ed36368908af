"""A config is checked before anything is written, and its error says what to mend."""

import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from longtrek import config, schemas
from longtrek.answers.model import Model
from longtrek.errors import LongtrekError
from longtrek.paths import PACKAGE, ROOT

QUICK = yaml.safe_load((ROOT / "config" / "quick.yaml").read_text())


def changed(tmp_path: Path, **changes: Any) -> Path:
    """The quick config with some of its values changed (`transduction__seed=…` for a nested one), in a file."""
    content = copy.deepcopy(QUICK)
    for key in ("models", "published"):
        content[key] = str(ROOT / "config" / content[key])
    for part, key in (
        ("transduction", "prompts"),
        ("transduction", "frozen"),
        ("scitrek", "corpus"),
        ("scitrek", "prompts"),
    ):
        content[part][key] = str(ROOT / "config" / content[part][key])
    for key, value in changes.items():
        *folders, last = key.split("__")
        place = content
        for folder in folders:
            place = place[folder]
        place[last] = value
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize("name", ["config.yaml", "quick.yaml"])
def test_shipped_configs_are_valid(name: str) -> None:
    assert config.load(ROOT / "config" / name).transduction.models


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"transduction__samples": "five"}, ["transduction.samples", '"five"', "integer"]),
        ({"transduction__samples": 0}, ["transduction.samples", "0", "minimum 1"]),
        ({"rule": "lenient"}, ["rule", '"lenient"', "paper", "strict"]),
        ({"colour": "blue"}, ["colour", "allowed", "rule"]),
        ({"modles": "models"}, ["modles", "did you mean 'models'"]),
        ({"transduction__models": ["GPT-17"]}, ["models", "GPT-17", "SmolLM2-135M-Instruct"]),
        ({"transduction__prompts": "nowhere"}, ["transduction.prompts", "nowhere", "no folder"]),
        ({"transduction__ask__horizons": [4096, 999]}, ["transduction.ask.horizons", "999", "4096"]),
        ({"scitrek__questions__writer": "model", "scitrek__questions__model_writer": None}, ["model_writer", "null"]),
        ({"scitrek__ask__settings": [{"context": "tables", "level": "2M"}]}, ["settings.0.level", '"2M"', "64K"]),
        ({"scitrek__ask__settings": [{"context": "tables", "level": "64K"}] * 2}, ["tables-64K", "twice"]),
        ({"transduction__samples": 5.0}, ["transduction.samples", "5.0", "integer"]),
        ({"transduction__horizons": [4096.0]}, ["transduction.horizons.0", "4096.0", "integer"]),
        ({"scitrek__collections__fill": float("nan")}, ["scitrek.collections.fill", "NaN", "number"]),
        ({"transduction__frozen": ""}, ["transduction.frozen", "minLength"]),
        ({"transduction__frozen": "."}, ["transduction.frozen", "no file"]),
        ({"transduction__prompts": __file__}, ["transduction.prompts", "no folder"]),
        ({"published": __file__}, ["published", "no folder"]),
        ({"models": __file__}, ["models", "no folder"]),
        ({"transduction__ask__samples": [99]}, ["transduction.ask.samples", "99", "0 to"]),
        ({"scitrek__subset": "largest"}, ["scitrek.subset", "'largest'", "all, largest-component, quick"]),
    ],
)
def test_a_fault_names_file_key_what_was_found_and_what_is_allowed(
    tmp_path: Path, changes: dict[str, Any], said: list[str]
) -> None:
    with pytest.raises(LongtrekError) as error:
        config.load(changed(tmp_path, **changes))
    assert "run.yaml" in str(error.value)
    for words in said:
        assert words in str(error.value)


def test_every_fault_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(LongtrekError) as error:
        config.load(changed(tmp_path, rule="lenient", transduction__samples="five"))
    assert len(str(error.value).splitlines()) == 2


def test_missing_keys_are_told_once_and_together(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("run: quick")
    with pytest.raises(LongtrekError, match=r"^\S+: \(top level\): missing results, rule, models, \S+ \S+ scitrek$"):
        config.load(tmp_path / "run.yaml")


@pytest.mark.parametrize(
    "text",
    ["run: [", "\x00", "- a\n- b\n", "", "run: quick\nrun: full", "1: x", "null: x", "run: 2026-99-99", "&a {x: *a}"],
)
def test_a_file_that_is_not_a_config_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    with pytest.raises(LongtrekError, match=r"run\.yaml"):
        config.load(path)


def test_a_config_that_is_a_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(LongtrekError, match=re.escape(str(tmp_path))):
        config.load(tmp_path)


def test_a_model_that_is_asked_no_tier_is_an_error(tmp_path: Path) -> None:
    run = config.load(changed(tmp_path, transduction__models=["reference-solver"], scitrek=None))
    config.check_models(run, {"reference-solver": Model("reference-solver", "reference", tiers=(4096, 8192))})
    with pytest.raises(LongtrekError, match=r"reference-solver is asked nothing.*8192"):
        config.check_models(run, {"reference-solver": Model("reference-solver", "reference", tiers=(8192,))})


def test_an_entry_may_leave_out_contexts_but_not_all_that_are_asked(tmp_path: Path) -> None:
    run = config.load(changed(tmp_path))
    assert run.scitrek is not None
    model = Model("SmolLM2-135M-Instruct", "vllm-cpu", contexts=("tables-64K", "full_text-1M"))
    assert [one.tier for one in run.scitrek.settings_of(model)] == ["tables-64K"]
    check = Model("reference-solver", "reference")
    assert run.scitrek.settings_of(check) == run.scitrek.settings
    config.check_models(run, {model.name: model, check.name: check})
    bare = replace(model, contexts=("full_text-1M",))
    with pytest.raises(LongtrekError, match=r"scitrek\.models: SmolLM2-135M-Instruct is asked nothing.*tables-64K"):
        config.check_models(run, {bare.name: bare, check.name: check})


@pytest.mark.parametrize(("writer", "queries"), [("model", 10), ("grammar", 2)])
def test_a_model_that_is_the_writer_writes_every_query_of_a_collection(
    tmp_path: Path, writer: str, queries: int
) -> None:
    run = config.load(changed(tmp_path, scitrek__questions__writer=writer))
    assert run.scitrek is not None and run.scitrek.queries_by_model == queries


@pytest.mark.parametrize("name", sorted(path.stem for path in (PACKAGE / "schemas").glob("*.yaml")))
def test_every_key_of_a_schema_is_described(name: str) -> None:
    bare = [key for key, schema in keys_of(schemas.schema(name)) if not schema.get("description")]
    assert not bare


def keys_of(schema: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every key that a schema allows, with its own schema; conditions (`if`, `then`) allow no further key."""
    for key, below in schema.get("properties", {}).items():
        yield f"{above}{key}", below
        yield from keys_of(below, f"{above}{key}.")
    for part in (*schema.get("oneOf", ()), *([schema["items"]] if "items" in schema else [])):
        yield from keys_of(part, above)


@pytest.mark.parametrize(
    ("key", "value"),
    [("samples", 10**6), ("horizons", [1 << 30]), ("horizons", list(range(2, 40)))],
)
def test_a_size_that_would_never_end_is_refused_with_its_reason(tmp_path: Path, key: str, value: object) -> None:
    path = changed(tmp_path)
    content = yaml.safe_load(path.read_text())
    content["transduction"][key] = value
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(LongtrekError, match=rf"transduction\.{key}.*expected max.* \(.+\)"):
        config.load(path)
