"""Small whole runs that tests build: a config of their own, with models of their own."""

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from longtrek.paths import ROOT

EASIEST = {"arithmetic": [1], "uuid_sort": [1], "lookup": [1], "table": [1]}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what needs the machine's own tools, unless asked: it installs, builds images and takes its time."""
    if item.get_closest_marker("machine") and os.environ.get("LONGTREK_MACHINE_TESTS") != "1":
        pytest.skip("needs the machine's own tools and minutes: set LONGTREK_MACHINE_TESTS=1, as .ci/run does")


class Run:
    """A run in a folder of its own: one config, models that answer by themselves, the kit's own workflow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models = folder / "models"
        self.models.mkdir(exist_ok=True)
        self.config: dict[str, Any] = {
            "run": "quick",
            "results": "results",
            "rule": "paper",
            "models": "models",
            "published": str(ROOT / "config" / "published"),
            "transduction": {
                "seed": 7,
                "horizons": [4096],
                "samples": 1,
                "prompts": str(ROOT / "config" / "prompts" / "transduction"),
                "frozen": None,
                "ask": {"horizons": [4096], "difficulty_ranks": EASIEST, "samples": [0]},
                "early_stop": True,
                "models": [],
            },
            "scitrek": None,
        }

    def add_model(self, name: str, **entry: Any) -> None:
        """Add a model to the run: without an entry of its own it is a check that answers with the gold output."""
        entry = entry or {"kind": "check", "engine": "reference"}
        (self.models / f"{name}.yaml").write_text(yaml.safe_dump({"name": name, **entry}))
        if name not in self.config["transduction"]["models"]:
            self.config["transduction"]["models"].append(name)

    def add_scitrek(self, *models: str, **changes: Any) -> None:
        """Add SciTrek as the quick run has it, asked of these models, without a baseline or a model that writes."""
        quick = yaml.safe_load((ROOT / "config" / "quick.yaml").read_text())["scitrek"]
        paths = {name: str(ROOT / "config" / quick[name]) for name in ("corpus", "prompts")}
        questions = {"questions": quick["questions"] | {"model_writer": None}}
        self.config["scitrek"] = quick | paths | questions | {"baseline": None, "models": list(models)} | changes

    @property
    def config_file(self) -> Path:
        """The config as a file, written anew from `config`."""
        path = self.folder / "run.yaml"
        path.write_text(yaml.safe_dump(self.config))
        return path

    def command(self, *arguments: str, config: Path | None = None) -> list[str]:
        """The command that runs the kit's workflow in this folder, with this run's config or another."""
        bare = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
        profile = ["--profile", str(ROOT / "profiles" / "default")]
        return [*bare, *profile, "--cores", "2", "--configfile", str(config or self.config_file), *arguments]

    def environment(self) -> dict[str, str]:
        """The environment of the run's commands: `longtrek` is the one under test."""
        return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def snakemake(self, *arguments: str, config: Path | None = None, fails: bool = False) -> str:
        """Run the workflow to its end and give what it said."""
        done = subprocess.run(
            self.command(*arguments, config=config),
            cwd=self.folder,
            env=self.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout

    def planned(self, config: Path | None = None) -> dict[str, list[str]]:
        """The commands that a dry run lists: by verb of `longtrek`, the words between the verb and its options."""
        commands: dict[str, list[str]] = {}
        for line in self.snakemake("--dry-run", config=config).splitlines():
            if line.startswith("Shell command: longtrek "):
                verb, *words = line.split()[3:]
                said = itertools.takewhile(lambda word: not word.startswith("-"), words)
                commands.setdefault(verb, []).append(" ".join(said))
        return commands


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run with one model, the reference solver, at the smallest tier."""
    run = Run(tmp_path)
    run.add_model("solver-a")
    return run


@pytest.fixture(scope="session")
def tier() -> list[dict[str, Any]]:
    """One sample of every cell of the 4K tier of Long-Transduction's documents."""
    from generated_documents import PROMPTS, SEED
    from longtrek.transduction.documents import documents_of
    from longtrek.transduction.grid import grid, groups

    return [built for group in groups(grid().specs(4096, 1)) for built in documents_of(group, SEED, PROMPTS)]
