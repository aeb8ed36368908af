"""GPUs: no two jobs take the same, a killed job's are free again, and what lacks them is told before it starts."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from longtrek.answers.devices import Device, devices_here, lease
from longtrek.errors import LongtrekError
from pretend_gpus import PretendGpus
from serving import LOCAL_ENGINE
from test_engine import running

HOLD = """
import sys
from longtrek.answers.devices import lease
with lease(int(sys.argv[1])) as held:
    print(held.environment["CUDA_VISIBLE_DEVICES"], flush=True)
    sys.stdin.read()
"""


class Job:
    """A process that takes devices and holds them until it is told to end."""

    def __init__(self, count: int, code: str = HOLD, *arguments: str) -> None:
        command = [sys.executable, "-c", code, str(count), *arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def devices(self) -> list[str]:
        """The devices it has; waits until it has them."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip().split(",")

    def says(self) -> str:
        """The next line that it tells while it waits."""
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def end(self) -> None:
        """Let it end by itself."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(30) == 0

    def kill(self) -> None:
        """End it as the kernel would."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Job]]:
    """A host with two pretend devices; the jobs that a test appends are ended with it."""
    monkeypatch.setenv("LONGTREK_DEVICES", "a,b")
    monkeypatch.setenv("LONGTREK_LOCKS", str(tmp_path / "locks"))
    for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"):
        monkeypatch.delenv(name, raising=False)
    jobs: list[Job] = []
    yield jobs
    for job in jobs:
        job.kill()


@pytest.mark.parametrize(("named", "visible"), [("a,a", None), ("a,b", "a,a")])
def test_a_device_that_is_named_twice_is_one(
    host: list[Job], monkeypatch: pytest.MonkeyPatch, named: str, visible: str | None
) -> None:
    monkeypatch.setenv("LONGTREK_DEVICES", named)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices_here() == [Device("a", "a")]
    with pytest.raises(LongtrekError, match="needs 2 GPUs and may use 1"), lease(2):
        pass


def test_devices_with_like_names_have_locks_of_their_own(host: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTREK_DEVICES", "a/b,a_b")
    with lease(2) as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "a/b,a_b"


# Jobs at once


def test_two_jobs_that_start_at_once_never_share_a_device(host: list[Job]) -> None:
    host += [Job(1), Job(1)]
    taken = [job.devices() for job in host]
    assert sorted(taken) == [["a"], ["b"]]
    host.append(Job(1))
    assert "waiting for 1 free GPUs of 2; in use: a by process" in host[2].says()
    host[1].end()
    assert host[2].devices() == taken[1]


def test_a_job_that_asks_for_two_gets_two_and_is_not_overtaken(host: list[Job]) -> None:
    host.append(Job(1))
    assert host[0].devices() == ["a"]
    host.append(Job(2))
    assert "waiting for 2 free GPUs of 2; in use" in host[1].says()
    host.append(Job(1))
    assert f"waiting for GPUs behind process {host[1].process.pid}" in host[2].says()
    host[0].end()
    assert host[1].devices() == ["a", "b"]
    host[1].end()
    assert host[2].devices() in (["a"], ["b"])  # it may look at the second just as both are given back


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_jobs_devices_are_free_at_once(host: list[Job], number: int) -> None:
    host.append(Job(2))
    assert host[0].devices() == ["a", "b"]
    host.append(Job(2))
    host[1].says()
    host[0].process.send_signal(number)
    began = time.monotonic()
    assert host[1].devices() == ["a", "b"]
    assert time.monotonic() - began < 5


MANY = """
import sys, time
from pathlib import Path
from longtrek.answers.devices import lease
for _ in range(4):
    with lease(int(sys.argv[1]), say=lambda line: None) as held:
        taken = [Path(sys.argv[2], name) for name in held.environment["CUDA_VISIBLE_DEVICES"].split(",")]
        for path in taken:
            path.touch(exist_ok=False)
        time.sleep(0.01)
        for path in taken:
            path.unlink()
"""


def test_many_jobs_that_come_and_go_never_meet_on_a_device(
    host: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGTREK_DEVICES", "a,b,c")
    code = MANY.replace("import sys", "import longtrek.answers.devices as d; d.LOOK_EVERY_S = 0.02\nimport sys", 1)
    host += [Job(count, code, str(tmp_path)) for count in (1, 2, 3, 1, 2)]
    for job in host:
        _, complaints = job.process.communicate(timeout=60)
        assert job.process.returncode == 0, complaints


ENGINE_JOB = """
import functools, sys
from pathlib import Path
from longtrek.answers.devices import lease
from longtrek.answers.server import LocalServer
engine, log = sys.argv[2:]
command = [sys.executable, engine, "--log", log, "--child", "plain"]
start = lambda port: [*command, "--port", str(port)]
server = LocalServer(start, {}, Path(log).with_suffix(".log"), "local", 20, functools.partial(lease, int(sys.argv[1])))
server.start()
print("ready", flush=True)
sys.stdin.read()
server.stop()
"""


def test_a_killed_jobs_device_stays_taken_until_nothing_of_its_engine_is_left(host: list[Job], tmp_path: Path) -> None:
    host.append(Job(2, ENGINE_JOB, str(LOCAL_ENGINE), str(tmp_path / "asked.jsonl")))
    assert host[0].devices() == ["ready"]
    engine = [int(pid) for pid in (tmp_path / "asked.pids").read_text().split()]
    environment = Path(f"/proc/{engine[0]}/environ").read_bytes().split(b"\0")
    assert {b"CUDA_VISIBLE_DEVICES=a,b", b"CUDA_DEVICE_ORDER=PCI_BUS_ID"} <= set(environment)
    host.append(Job(2))
    host[1].says()
    host[0].process.kill()
    assert host[1].devices() == ["a", "b"]
    assert not any(running(pid) for pid in engine)


def test_a_job_that_ends_gives_its_devices_back(host: list[Job], tmp_path: Path) -> None:
    host.append(Job(2, ENGINE_JOB, str(LOCAL_ENGINE), str(tmp_path / "asked.jsonl")))
    assert host[0].devices() == ["ready"]
    host[0].end()
    with lease(2, say=pytest.fail) as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "a,b"


# What there is to choose from


DRIVER = """#!/bin/sh
echo "GPU 0: NVIDIA H200 (UUID: GPU-$FIRST-0)"
test -n "$ONLY" || echo "GPU 1: NVIDIA H200 (UUID: GPU-$FIRST-1)"
"""


@pytest.fixture
def driver(tmp_path: Path, host: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose driver's tool lists two devices, or only one where a cluster hides the other."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(DRIVER)
    tool.chmod(0o755)
    monkeypatch.delenv("LONGTREK_DEVICES")
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("FIRST", "1a")


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("visible", "names"),
    [
        (None, ["0", "1"]),
        ("1", ["1"]),
        ("1,0", ["1", "0"]),
        ("GPU-1a-1", ["1"]),
        ("", []),
        ("-1", []),
        ("7", []),
    ],
)
def test_only_what_a_cluster_made_visible_is_taken(
    monkeypatch: pytest.MonkeyPatch, visible: str | None, names: list[str]
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices_here() == [Device(name, f"GPU-1a-{name}") for name in names]


@pytest.mark.usefixtures("driver")
def test_devices_that_a_cluster_numbers_from_0_in_every_job_are_told_apart(
    host: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("ONLY", "yes")
    for first in ("1a", "2b"):
        monkeypatch.setenv("FIRST", first)
        host.append(Job(1))
    assert [job.devices() for job in host] == [["0"], ["0"]]


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"LONGTREK_DEVICES": "a"}, r"needs 2 GPUs and may use 1 here \(a\)\. Run where they are"),
        ({"LONGTREK_DEVICES": "a,b", "CUDA_VISIBLE_DEVICES": "b"}, "CUDA_VISIBLE_DEVICES='b' leaves no more"),
        ({"APPTAINER_CONTAINER": "engine.sif"}, 'may use 0 here.*apptainer-args: "--nv"'),
        ({"LONGTREK_DEVICES": "a", "SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "a"}, "sbatch as --gpus=2"),
    ],
)
@pytest.mark.usefixtures("host")
def test_too_few_devices_are_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], said: str
) -> None:
    if "LONGTREK_DEVICES" not in environment:
        monkeypatch.delenv("LONGTREK_DEVICES")
        monkeypatch.setenv("PATH", "/nowhere")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(LongtrekError, match=said), lease(2):
        pass


# Whole runs


def test_a_run_without_enough_gpus_stops_before_its_first_job(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTREK_DEVICES", "a")
    entry = {"engine": "vllm", "repository": "org/m", "window": 99999}
    run.add_model("one", **entry, gpus=1)
    run.add_model("two", **entry, gpus=2, shards={"4096": 2})
    assert len(run.planned()["answers"]) == 4
    said = run.snakemake(fails=True)
    assert "2 jobs of this run need up to 2 GPUs each, and this host shows 1" in said
    assert "--profile profiles/slurm" in said and "Traceback" not in said
    assert not (run.folder / "results" / "documents").exists()
    with contextlib.suppress(FileNotFoundError):
        assert not any((run.folder / "results" / "logs").rglob("*.log"))


def test_a_run_uses_each_device_for_one_engine_at_a_time_and_asks_long_tiers_first(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = PretendGpus(run.folder, monkeypatch, "a,b", delay=0.05)
    tiers = [4096, 8192]
    run.config["transduction"] |= {
        "horizons": tiers,
        "ask": run.config["transduction"]["ask"] | {"horizons": tiers},
    }
    run.add_model("one", **gpus.entry(shards={"4096": 3}))
    run.snakemake("--cores", "8", *(f"results/answers/one/transduction/{tier}.jsonl" for tier in tiers))
    engines: dict[int, list[dict[str, Any]]] = {}
    for request in gpus.asked():
        engines.setdefault(request["pid"], []).append(request)
    assert sorted(len(asked) for asked in engines.values()) == [4, 4, 4, 12]
    assert len(next(iter(engines.values()))) == 12 or len(list(engines.values())[1]) == 12
    spans = sorted((asked[0]["devices"], asked[0]["time"], asked[-1]["time"]) for asked in engines.values())
    assert {device for device, _, _ in spans} == {"a", "b"}
    for earlier, later in itertools.pairwise(spans):
        assert earlier[0] != later[0] or earlier[2] < later[1]
    logs = list((run.folder / "results" / "logs" / "answer_transduction").rglob("*.log"))
    assert len(logs) == 4 and not any("waiting for" in log.read_text() for log in logs)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_of_locks_that_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LONGTREK_DEVICES", "a")
    monkeypatch.setenv("LONGTREK_LOCKS", str(tmp_path / place))
    with pytest.raises(LongtrekError, match=r"LONGTREK_LOCKS names it.*expected a folder"), lease(1):
        pass


def test_a_path_is_no_list_of_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for named in (str(tmp_path), ".", "x" * 300):
        monkeypatch.setenv("LONGTREK_DEVICES", named)
        with pytest.raises(LongtrekError, match="is no device's name; expected names with commas"):
            devices_here()
