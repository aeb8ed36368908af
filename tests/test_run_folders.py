"""A run works wherever it stands, and says before it starts what cannot work."""

import shutil
import subprocess
from pathlib import Path

from conftest import Run
from longtrek.paths import ROOT


def test_names_with_spaces_and_quotes_are_no_trouble(tmp_path: Path) -> None:
    folder = tmp_path / "it's a run"
    folder.mkdir()
    run = Run(folder)
    run.add_model("solver-a")
    run.config["results"] = "my $results"
    config = folder / "my run.yaml"
    run.config_file.rename(config)
    scores = "my $results/scores/solver-a/transduction.parquet"
    run.snakemake("--", scores, config=config)
    assert (folder / scores).is_file()
    shown = ["longtrek", "show", "solver-a", "arithmetic-ordered-2-4096-0", "--results", "my $results"]
    done = subprocess.run(shown, cwd=folder, env=run.environment(), capture_output=True, check=True)
    assert "scored" in done.stdout.decode()
    for model, document, said in (
        ("solver-a", "arithmetic-ordered-4-4096-0", "no line with id"),
        ("solver-a", "arithmetic-ordered-2-8192-0", "8192.jsonl.zst"),
        ("nobody", "arithmetic-ordered-2-4096-0", "solver-a"),
        ("solver-a", "sum", "not a document's id"),
    ):
        shown[2:4] = [model, document]
        done = subprocess.run(shown, cwd=folder, env=run.environment(), capture_output=True, check=False)
        assert done.returncode == 1 and said in done.stderr.decode() and b"Traceback" not in done.stderr


def test_prompts_that_leave_no_room_for_a_record_are_known_before_anything_is_written(run: Run) -> None:
    prompts = run.folder / "prompts"
    shutil.copytree(ROOT / "config" / "prompts" / "transduction", prompts)
    longer = prompts / "arithmetic-ordered.txt"
    longer.write_text("word " * 3000 + longer.read_text())
    run.config["transduction"]["prompts"] = "prompts"
    output = run.snakemake(fails=True)
    assert "arithmetic-ordered-2-4096" in output and "Traceback" not in output
    assert not (run.folder / "results").exists()
