"""A finished run says what it is: checksums that are checked anywhere, a crate that conforms, environments listed."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from hypothesis import given
from hypothesis import strategies as st

import report_results
from conftest import Run
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from longtrek.paths import ROOT, shipped
from longtrek.provenance import listing, sbom
from longtrek.provenance.answering import read_answering
from longtrek.provenance.crate import place
from longtrek.provenance.listing import CHECKSUMS, CRATE
from longtrek.provenance.locks import read_lock
from longtrek.provenance.verify import compare, verify
from report_results import MODEL

ANSWERS = f"answers/{MODEL}/transduction/4096.jsonl"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of both papers that has come to its end, and said what it is."""
    folder = tmp_path_factory.mktemp("finished")
    report_results.build(folder)
    for words in (["sbom"], ["crate", "--config", "run.yaml"], ["checksums"]):
        subprocess.run([sys.executable, "-m", "longtrek", *words], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """Its results as somebody else got them: a copy, without benchmarks and config."""
    left_behind = shutil.ignore_patterns("logs", "benchmarks", "store")
    return shutil.copytree(finished / "results", tmp_path / "of a colleague", ignore=left_behind)


def longtrek(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line far from the kit's folder."""
    command = [sys.executable, "-m", "longtrek", *map(str, arguments)]
    return subprocess.run(
        command, cwd="/", env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def entities(results: Path) -> dict[str, dict[str, Any]]:
    """A crate's entities by id, each of which stands there once."""
    graph = json.loads((results / CRATE).read_bytes())["@graph"]
    found = {entity["@id"]: entity for entity in graph}
    assert len(found) == len(graph)
    return found


def kinds(entity: dict[str, Any]) -> list[str]:
    """An entity's types."""
    return entity["@type"] if isinstance(entity["@type"], list) else [entity["@type"]]


def references(value: Any) -> Iterator[str]:
    """Every id that a value refers to."""
    if isinstance(value, dict):
        yield from [value["@id"]] if value.keys() == {"@id"} else references(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


# Checksums


def test_sha256sum_reads_the_list_and_everything_is_in_it(copy: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", CHECKSUMS], cwd=copy, check=True)
    listed = listing.read(copy)
    assert list(listed) == sorted(listed)
    assert {name.split("/")[0] for name in listed} >= {"answers", "documents", "figures", "scores", "tables", CRATE}
    assert {"logs", "benchmarks", "store", CHECKSUMS} & {name.split("/")[0] for name in listed} == set()


def test_a_copied_folder_is_verified_without_the_runs_config(copy: Path) -> None:
    done = longtrek("verify", copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(listing.read(copy))} files as listed" in done.stdout


def test_a_run_without_its_crate_says_how_to_make_it(copy: Path) -> None:
    (copy / CRATE).unlink()
    shutil.rmtree(copy / "workflow")
    assert longtrek("checksums", "--results", copy).returncode == 0
    done = longtrek("verify", copy)
    assert done.returncode == 0
    for said in (f"no {CRATE} is listed", "documents not compared with frozen ones: workflow/config"):
        (line,) = (line for line in done.stdout.splitlines() if line.startswith(said))
        assert "`longtrek crate --config CONFIG`" in line


def test_whatever_is_missing_changed_or_besides_is_named(copy: Path) -> None:
    (copy / "tables" / "scitrek_table_7.csv").unlink()
    (copy / "claims.csv").write_text("id\n")
    (copy / "figures" / "drawn by hand.svg").write_text("<svg/>")
    (copy / ".DS_Store").write_text("")
    done = longtrek("verify", copy)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(("missing", "changed", "unlisted"))] == [
        "changed: claims.csv",
        "unlisted: figures/drawn by hand.svg",
        "missing: tables/scitrek_table_7.csv",
    ]


@pytest.mark.parametrize(
    ("damaged", "content"),
    [
        ("documents/4096.jsonl.zst", b"no zstd"),
        ("documents/4096.jsonl.zst", zstandard.compress(b"5\n")),
        ("documents/4096.jsonl.zst", zstandard.compress(b"{}\n")),
        ("workflow/config/run.yaml", b"a: ["),
        ("workflow/config/run.yaml", b"5"),
        ("workflow/config/run.yaml", b"transduction: {}"),
        ("workflow/config/run.yaml", b"a: \xe9"),
        ("workflow/config/frozen/own.json", b"[]"),
        ("workflow/config/frozen/own.json", b"{}"),
        ("workflow/config/frozen/own.json", b'{"seed": 7, "tiers": {}, "documents": {"a": 5}}'),
        (CRATE, b"[" * 100_000),
        (CRATE, b'{"@graph": ["a"]}'),
    ],
)
def test_a_damaged_file_hides_nothing_else_that_was_found(copy: Path, damaged: str, content: bytes) -> None:
    whole = {"seed": 7, "tiers": {"4096": {"documents": 1, "sha256": ""}}, "documents": {"a-4096-0": "0" * 16}}
    (copy / "workflow/config/frozen").mkdir()
    (copy / "workflow/config/frozen/own.json").write_text(json.dumps(whole))
    (copy / damaged).write_bytes(content)
    (copy / "claims.csv").unlink()
    done = longtrek("verify", copy)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "missing: claims.csv" in done.stdout
    assert f"changed: {damaged}" in done.stdout or f"unlisted: {damaged}" in done.stdout
    assert damaged in done.stdout.partition("not checked: ")[2] or "not as frozen" in done.stdout


def test_names_that_are_no_text_are_told_and_refused_by_the_crate(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / os.fsdecode(b"results/caf\xe9\n")).touch()
    done = longtrek("verify", folder / "results")
    assert "unlisted: caf\\xe9\\n\n" in done.stdout and "Traceback" not in done.stderr
    before = (folder / "results" / CRATE).read_bytes()
    command = [sys.executable, "-m", "longtrek", "crate", "--config", "run.yaml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "caf\\xe9\\n is not UTF-8" in done.stderr
    assert (folder / "results" / CRATE).read_bytes() == before


def test_what_holds_no_bytes_is_not_listed(copy: Path) -> None:
    (copy / "nowhere").symlink_to("gone")
    done = longtrek("checksums", "--results", copy)
    assert done.returncode == 1 and "nowhere is neither a file nor a link to one" in done.stderr
    (copy / "nowhere").unlink()
    os.mkfifo(copy / "pipe")
    assert "pipe is neither a file" in longtrek("checksums", "--results", copy).stderr


def test_a_list_made_again_over_changed_files_is_held_against_the_crate(copy: Path) -> None:
    path = copy / "tables" / "scitrek_table_7.md"
    path.write_text(path.read_text().replace("46.5", "64.5"))
    (copy / "tables" / "scitrek_table_7.csv").unlink()
    (copy / "tables" / "more.csv").write_text("more\n")
    assert longtrek("checksums", "--results", copy).returncode == 0
    assert verify(copy).faults == [
        "not in the crate: tables/more.csv",
        "only in the crate: tables/scitrek_table_7.csv",
        "the crate has another SHA-256: tables/scitrek_table_7.md",
    ]


def test_documents_are_held_against_the_hashes_that_the_run_named(copy: Path) -> None:
    config = copy / "workflow" / "config" / "run.yaml"
    frozen = copy / "workflow" / "config" / "frozen" / "own.json"
    path = copy / "documents" / "4096.jsonl.zst"
    rows = [
        row | {"id": f"{row['family']}-{row['format']}-{place}-4096-0"} for place, row in enumerate(read_jsonl(path))
    ]
    write_jsonl(path, rows)
    write_jsonl(copy / "plain.jsonl", rows)
    lines = (copy / "plain.jsonl").read_bytes().splitlines(keepends=True)
    frozen.parent.mkdir()
    names = [row["id"] for row in rows]
    digests = [hashlib.sha256(line).hexdigest()[:16] for line in lines]
    tier = {"documents": len(rows), "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}
    frozen.write_text(
        json.dumps({"seed": 7, "tiers": {"4096": tier}, "documents": dict(zip(names, digests, strict=True))})
    )
    (copy / "documents" / "8192.jsonl.zst").write_bytes(path.read_bytes())
    assert "documents of 1 horizons as frozen; of 1 nothing is frozen" in verify(copy).good
    write_jsonl(path, rows[::-1])
    assert any("their order is not" in fault for fault in verify(copy).faults)
    write_jsonl(path, [rows[0] | {"prompt": "Write nothing."}, *rows[2:]])
    assert any(
        f"not as frozen: documents/4096.jsonl.zst: 1 of {len(rows) - 1} documents, first {names[0]}" == fault
        for fault in verify(copy).faults
    )
    config.write_text(config.read_text().replace("seed: 7", "seed: 8"))
    assert any("their seed is not 7" in line for line in verify(copy).good)


@given(st.sets(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20), max_size=5))
def test_any_name_of_a_file_survives_the_list(names: set[str]) -> None:
    listed = {name: hashlib.sha256(name.encode()).hexdigest() for name in names - {".", ".."}}
    with tempfile.TemporaryDirectory() as folder:
        lines = [listing.line(digest, name) for name, digest in listed.items()]
        (Path(folder) / CHECKSUMS).write_bytes(b"".join(lines))
        assert listing.read(Path(folder)) == listed


def test_sha256sum_reads_names_that_would_break_a_line(tmp_path: Path) -> None:
    for name in ("a\nb", "back\\slash", " space ", "“quoted”"):
        (tmp_path / name).write_text(name)
    listing.write(tmp_path)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", CHECKSUMS], cwd=tmp_path, check=True)
    assert verify(tmp_path).faults == []


@pytest.mark.parametrize("line", ["nonsense", f"{'0' * 64}  ../secret", f"{'0' * 64}  /etc/passwd", f"{'0' * 63}  a"])
def test_a_list_that_is_none_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / CHECKSUMS).write_text(f"{'0' * 64}  kept\n{line}\n")
    with pytest.raises(LongtrekError, match=f"{CHECKSUMS}, line 2"):
        listing.read(tmp_path)


def test_a_folder_without_a_list_says_how_to_make_one(tmp_path: Path) -> None:
    done = longtrek("verify", tmp_path)
    assert done.returncode == 1 and "longtrek checksums" in done.stderr


# The crate


def test_the_crate_has_what_its_profiles_require(finished: Path) -> None:
    """The MUSTs of RO-Crate 1.1, Process and Workflow Run Crate 0.5 and Workflow RO-Crate 1.0."""
    results = finished / "results"
    found = entities(results)
    descriptor, root = found[CRATE], found["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert {"@id": "https://w3id.org/ro/crate/1.1"} in descriptor["conformsTo"]
    assert {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"} in descriptor["conformsTo"]
    assert root["@type"] == "Dataset" and all(root[key] for key in ("name", "description", "license"))
    time.strptime(root["datePublished"], "%Y-%m-%d")
    for profile in ("wfrun/process/0.5", "wfrun/workflow/0.5"):
        address = f"https://w3id.org/ro/{profile}"
        assert {"@id": address} in root["conformsTo"] and kinds(found[address]) == ["CreativeWork"]
    workflow = found[root["mainEntity"]["@id"]]
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} <= set(kinds(workflow))
    assert kinds(found[workflow["programmingLanguage"]["@id"]]) == ["ComputerLanguage"]
    (parameter,) = references(workflow["input"])
    assert found[parameter]["additionalType"] == "File"
    assert {"File"} <= set(kinds(found[found[parameter]["workExample"]["@id"]]))
    actions = [entity for entity in found.values() if "CreateAction" in kinds(entity)]
    assert {"@id": workflow["@id"]} in [action["instrument"] for action in actions]
    assert {action["@id"] for action in actions} == {one["@id"] for one in root["mentions"]}
    tools = {"SoftwareApplication", "ComputationalWorkflow"}
    assert all(tools & set(kinds(found[tool])) for action in actions for tool in references(action["instrument"]))


def test_everything_the_crate_refers_to_is_in_it_or_on_the_web(finished: Path) -> None:
    found = entities(finished / "results")
    referred = {one for entity in found.values() for one in references(list(entity.values()))}
    assert {one for one in referred - found.keys() if not one.startswith(("https://", "http://"))} == set()
    reached = {"./"}
    for _ in range(3):  # the crate, its folders, and the parts of the workflow
        reached |= {one for here in reached for one in references(found[here].get("hasPart", []))}
    assert {name for name, entity in found.items() if {"File", "Dataset"} & set(kinds(entity))} <= reached


def test_every_file_is_described_by_its_hash_size_and_kind(finished: Path) -> None:
    results = finished / "results"
    found = entities(results)
    for name in listing.paths(results):
        if name != CRATE:
            entity = found[place(name)]
            assert entity["sha256"] == hashlib.sha256((results / name).read_bytes()).hexdigest()
            assert entity["contentSize"] == str((results / name).stat().st_size)
            assert entity["encodingFormat"] != "application/octet-stream", name


def test_actions_carry_the_times_and_counts_of_the_answers(finished: Path) -> None:
    results = finished / "results"
    rows = list(read_jsonl(results / ANSWERS))
    action = entities(results)[f"#answers-{MODEL}-transduction-4096"]
    assert action["startTime"] == min(row["timings"]["started"] for row in rows) < action["endTime"]
    counts = Counter(row["status"] for row in rows)
    assert (
        f"{counts['answered']} answered, {counts['failed']} failed, {counts['not_asked']} not asked"
        in (action["description"])
    )
    assert action["result"] == {"@id": ANSWERS}
    assert {"@id": "documents/4096.jsonl.zst"} in action["object"]
    assert {"@id": f"workflow/config/models/{MODEL}.yaml"} in action["object"]


def test_the_crate_is_the_same_bytes_whenever_and_wherever_it_is_written(finished: Path, tmp_path: Path) -> None:
    for name in ("results", "models", "run.yaml"):
        source = finished / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, tmp_path / name)
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    for words in (["crate", "--config", "run.yaml"], ["checksums"]):
        command = [sys.executable, "-m", "longtrek", *words]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    for name in (CRATE, CHECKSUMS):
        assert (tmp_path / "results" / name).read_bytes() == (finished / "results" / name).read_bytes()


def test_the_config_that_was_run_is_kept_as_it_was(finished: Path) -> None:
    kept = finished / "results" / "workflow"
    assert (kept / "config" / "run.yaml").read_bytes() == (finished / "run.yaml").read_bytes()
    assert (kept / "Snakefile").read_bytes() == shipped("Snakefile").read_bytes()
    assert {path.name for path in (kept / "rules").iterdir()} == {path.name for path in shipped("rules").glob("*.smk")}


def test_a_crate_of_nothing_is_refused_before_anything_is_written(run: Run) -> None:
    done = longtrek("crate", "--config", run.config_file)
    assert done.returncode == 1 and "answers" in done.stderr
    assert not (run.folder / "results").exists()


def test_answers_without_a_time_and_from_two_machines_are_told_as_they_are(tmp_path: Path) -> None:
    def row(cores: int, **more: Any) -> dict[str, Any]:
        engine = {"kind": "endpoint", "name": "endpoint", "url": "http://localhost", "version": None}
        said = {"id": "x", "text": "", "status": "answered"}
        return said | {"provenance": {"engine": engine, "machine": {"cores": cores}}} | more

    at = {"started": "2026-11-30T01:00:00.000+00:00", "first_token_s": 0.1, "total_s": 61.5}
    rows = [row(2, timings=at), row(8, timings={"started": None, "total_s": None})]
    rows.append({"id": "x", "text": "", "status": "not_asked", "error": {"kind": "window", "message": "too long"}})
    write_jsonl(tmp_path / "answers" / "m" / "scitrek" / "tables-64K.jsonl", rows)
    (one,) = read_answering(tmp_path)
    assert (one.model, one.study, one.tier) == ("m", "scitrek", "tables-64K")
    assert one.statuses == {"answered": 2, "not_asked": 1}
    assert (one.started, one.ended) == ("2026-11-30T01:00:00.000+00:00", "2026-11-30T01:01:01.500+00:00")
    assert [machine["cores"] for machine in one.machines] == [2, 8] and len(one.engines) == 1


# Environments


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bills of materials of all environments, as text."""
    return {path.name: path.read_bytes() for path in sbom.write_all(tmp_path_factory.mktemp("sbom"))}


def test_each_environment_has_a_valid_bill_of_materials(bills: dict[str, bytes]) -> None:
    names = ("kit", "engine", "engine-cuda", "converter", "converter-cuda")
    assert set(bills) == {f"{name}.cdx.json" for name in names}
    for name, text in bills.items():
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.decode()) is None, name
        bill = json.loads(text)
        assert "serialNumber" not in bill and "timestamp" not in bill["metadata"]


def test_the_kits_bill_lists_what_is_installed_with_licences_and_all_hashes(bills: dict[str, bytes]) -> None:
    bill = json.loads(bills["kit.cdx.json"])
    locked = {package.name: package for package in read_lock(ROOT / "requirements.lock")}
    components = {component["name"]: component for component in bill["components"]}
    assert components.keys() == locked.keys()
    assert "colorama" not in locked  # only for another system
    for name, component in components.items():
        assert component["purl"] == f"pkg:pypi/{name}@{locked[name].version}"
        assert sorted(one["content"] for one in component["hashes"]) == list(locked[name].sha256) != []
    licences = {name: component["licenses"] for name, component in components.items() if "licenses" in component}
    assert len(licences) > 0.8 * len(components)
    assert licences["click"][0] == {"license": {"acknowledgement": "declared", "id": "BSD-3-Clause"}}


def test_a_bill_says_what_asks_for_what(bills: dict[str, bytes]) -> None:
    graph = {one["ref"]: one.get("dependsOn", []) for one in json.loads(bills["kit.cdx.json"])["dependencies"]}
    named = {ref.partition("@")[0]: [one.partition("@")[0] for one in depends] for ref, depends in graph.items()}
    assert "pkg:pypi/snakemake" in named["longtrek-kit"] and "pkg:pypi/contourpy" not in named["longtrek-kit"]
    assert "pkg:pypi/contourpy" in named["pkg:pypi/matplotlib"]


def test_a_lock_that_is_none_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    for text, said in (("click>=8\n", "no one version"), ("click is nice\n", "no requirement")):
        lock.write_text(text)
        with pytest.raises(LongtrekError, match=said):
            read_lock(lock)
    with pytest.raises(LongtrekError, match=r"absent\.lock"):
        read_lock(tmp_path / "absent.lock")


def test_loops_of_links_are_told_and_what_stands_elsewhere_is_named(copy: Path, tmp_path: Path) -> None:
    (copy / "tables" / "round").symlink_to(copy)
    (copy / "figures" / "up").symlink_to("/")
    done = longtrek("verify", copy)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "loop of links: tables/round" in done.stdout and "loop of links: figures/up" in done.stdout
    refused = longtrek("checksums", "--results", copy)
    assert refused.returncode == 1 and "leads back to a folder that holds it; remove the link" in refused.stderr
    for link in ("tables/round", "figures/up"):
        (copy / link).unlink()
    elsewhere = tmp_path / "elsewhere.csv"
    (copy / "claims.csv").rename(elsewhere)
    (copy / "claims.csv").symlink_to(elsewhere)
    done = longtrek("verify", copy)
    assert done.returncode == 0 and "1 of them stand outside this folder, first claims.csv" in done.stdout


def test_what_cannot_be_read_is_a_fault_among_others(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("longtrek.provenance.verify.sha256_file", refuse)
    listed = {ANSWERS: "0" * 64}
    assert f"unreadable: {ANSWERS} (Permission denied); make it readable for you" in set(compare(copy, listed))


def test_a_crate_of_damaged_answers_says_which_line(copy: Path) -> None:
    rows = list(read_jsonl(copy / ANSWERS))
    write_jsonl(copy / ANSWERS, [rows[0], rows[1] | {"timings": 5}])
    with pytest.raises(LongtrekError, match=r"4096\.jsonl, line 2: timings: found 5"):
        read_answering(copy)
