"""The Slurm profile on a real Slurm of one node: GPUs by rule, failures retried and told, kills survived."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from longtrek.files import read_jsonl
from longtrek.paths import ROOT
from pretend_gpus import PretendGpus
from serving import serving

pytestmark = pytest.mark.machine
TOOLS = ROOT.parent / "shared" / "tools"
PROFILE = ROOT / "profiles" / "slurm"
# The node is small, and the test waits for each answer of squeue.
SMALL = ["--max-threads", "2", "--latency-wait", "10", "--slurm-init-seconds-before-status-checks", "3"]
SMALL += ["--seconds-between-status-checks", "3", "--set-resources", "answer_transduction:mem_mb=1500"]
SMALL += ["answer_transduction:runtime=1440", "--default-resources"]
SMALL += ["runtime=120", "mem_mb=1000", "nodes=1", "cpus_per_gpu=1", "tasks_per_gpu=0"]
GPUS = 2
SETTINGS = [Path("/etc/slurm", name) for name in ("slurm.conf", "gres.conf", "cgroup.conf")]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Slurm of this machine alone, from its start to its end."""
    missing = [tool for tool in ("slurmctld", "slurmd", "sbatch", "munged") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)}: not installed (Debian: slurm-wlm munge)")
    if os.geteuid() != 0 or not TOOLS.is_dir():
        pytest.skip(f"needs root and the scripts of {TOOLS}")
    if subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode == 0:
        pytest.skip("a Slurm runs here already, and its settings are not ours to change")
    folder = tmp_path_factory.mktemp("slurm")
    before = {path: path.read_bytes() if path.is_file() else None for path in SETTINGS}
    try:
        _call(str(TOOLS / "slurm_start.sh"), str(folder))
        _give_gpus(folder)
        deadline = time.monotonic() + 30
        while "idle" not in _told("sinfo", "--noheader", "--format=%T"):
            assert time.monotonic() < deadline, "Slurm's node is not ready"
            time.sleep(0.5)
        yield folder
    finally:
        subprocess.run([str(TOOLS / "slurm_stop.sh"), str(folder)], check=False)
        # With settings of a Slurm that is gone, the plugin asks it for ten seconds whenever Snakemake starts.
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)


def _give_gpus(folder: Path) -> None:
    """Start the daemons again with device files that Slurm takes for GPUs, so that it numbers them for its jobs."""
    for daemon in ("slurmd", "slurmctld"):
        os.kill(int((folder / f"{daemon}.pid").read_text()), signal.SIGTERM)
    for number in range(GPUS):
        os.mknod(folder / f"nvidia{number}", stat.S_IFCHR | 0o600, os.makedev(1, 3))  # what is written there is gone
    settings, devices, _ = SETTINGS
    settings.write_text(settings.read_text().replace("Gres=gpu:1", f"Gres=gpu:{GPUS}"))
    devices.write_text(f"NodeName={socket.gethostname()} Name=gpu File={folder}/nvidia[0-{GPUS - 1}]\n")
    time.sleep(1)
    for command in (["slurmctld", "-i"], ["slurmd"]):
        _call(*command)


def _call(*command: str) -> None:
    # The daemons keep what they inherit: a pipe would never end.
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, check=False)
        said.seek(0)
        assert done.returncode == 0, said.read()


def _told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def on_slurm(run: Run, *arguments: str, retries: int) -> list[str]:
    """The command that runs the workflow through Slurm, as anyone would: the profile, and no cores."""
    words = run.command(*SMALL, "--retries", str(retries), *arguments)
    words[words.index("--profile") + 1] = str(PROFILE)
    at = words.index("--cores")
    return [*words[:at], *words[at + 2 :]]


def jobs_of(rule: str) -> list[dict[str, str]]:
    """What Slurm knows of all jobs of a rule: comments are the plugin's, `rule_NAME_wildcards_…`."""
    text = _told("scontrol", "--oneliner", "show", "jobs")
    jobs = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines()]
    return [job for job in jobs if job.get("Comment", "").startswith(f"rule_{rule}")]


@pytest.mark.usefixtures("slurm")
def test_a_run_ends_through_slurm_with_its_failing_job_retried_and_told(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = PretendGpus(run.folder, monkeypatch, "0,1,2,3", delay=0.3)  # of which Slurm gives a job one of its two
    run.add_model("on-gpu", **gpus.entry(shards={"4096": 2}))
    nowhere = {"url": "http://127.0.0.1:9/v1"}
    run.add_model("nobody", engine="endpoint", repository="local", window=99999, endpoint=nowhere)
    targets = [f"results/scores/{model}/transduction.parquet" for model in ("on-gpu", "nobody")]
    done = subprocess.run(
        on_slurm(run, *targets, retries=1),
        cwd=run.folder,
        env=run.environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert [(run.folder / target).exists() for target in targets] == [True, False], said
    engines: dict[int, list[dict[str, Any]]] = {}
    for request in gpus.asked():
        engines.setdefault(request["pid"], []).append(request)
    spans = sorted((asked[0]["devices"], asked[0]["time"], asked[-1]["time"]) for asked in engines.values())
    assert len(spans) == 2 and {device for device, _, _ in spans} <= {"0", "1"}
    assert spans[0][0] != spans[1][0] or spans[0][2] < spans[1][1]
    asked = jobs_of("answer_transduction")
    states = {name: [job["JobState"] for job in asked if name in job["Comment"]] for name in ("on-gpu", "nobody")}
    assert states == {"on-gpu": ["COMPLETED", "COMPLETED"], "nobody": ["FAILED", "FAILED"]}, said
    assert "Trying to restart job" in said and "nobody answers at http://127.0.0.1:9" in said
    job = next(job for job in asked if "on-gpu" in job["Comment"])
    given = {name: job[name] for name in ("TresPerJob", "CpusPerTres", "NumNodes", "TimeLimit", "MinMemoryNode")}
    assert given == {
        "TresPerJob": "gres:gpu:1",
        "CpusPerTres": "gres:gpu:1",
        "NumNodes": "1",
        "TimeLimit": "1-00:00:00",
        "MinMemoryNode": "1500M",
    }
    assert not any(name.lower().startswith("ntaskspertres") for name in job)


@pytest.mark.usefixtures("slurm")
def test_after_a_slurm_job_is_cancelled_amid_its_answers_the_next_run_asks_the_rest(tmp_path: Path) -> None:
    with serving(tmp_path, "--delay", "0.25") as server:
        run = Run(tmp_path)
        endpoint: dict[str, Any] = {"engine": "endpoint", "repository": "local", "window": 99999}
        run.add_model("hosted", **endpoint, endpoint={"url": server.url}, max_concurrency=1)
        target = "results/answers/hosted/transduction/4096.jsonl"
        command = on_slurm(run, target, retries=0)
        piped: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        whole = subprocess.Popen(command, cwd=tmp_path, env=run.environment(), **piped)
        store = tmp_path / "results" / "store" / "hosted" / "transduction" / "4096.jsonl"
        deadline = time.monotonic() + 180
        while not store.exists() or store.read_bytes().count(b"\n") < 3:
            assert whole.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        (job,) = [job["JobId"] for job in jobs_of("answer_transduction") if job["JobState"] == "RUNNING"]
        subprocess.run(["scancel", job], check=True)
        said, _ = whole.communicate()
        assert whole.returncode != 0 and "CANCELLED" in said, said
        kept, before = store.read_bytes().count(b"\n"), len(server.asked())
        assert 3 <= kept < 12 and not (tmp_path / target).exists()
        again = subprocess.run(command, cwd=tmp_path, env=run.environment(), check=False, **piped)
        assert again.returncode == 0, again.stdout
        prompts = server.asked()
    assert len(prompts) - before == 12 - kept and len(set(prompts)) == 12
    assert len(list(read_jsonl(tmp_path / target))) == 12
