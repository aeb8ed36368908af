"""The selftest finds an engine that does not repeat itself, says where answers part, and keeps nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from longtrek.answers.client import Door
from longtrek.answers.engines import Endpoint
from longtrek.answers.preflight import preflight
from longtrek.answers.request import Request
from longtrek.answers.selftest import Pass, ask_repeatedly, compare, compare_all, lines, parting
from longtrek.cli import LONGTREK
from longtrek.errors import LongtrekError
from serving import HASTY, Served, serving


def asked(served: Served, told: list[str], batches: tuple[int, int] = (1, 3)) -> list[Pass]:
    """Ask the local engine prompts with instructions, as the selftest does."""
    requests = [Request(f"p{n}", [{"role": "user", "content": f"#{one}\n{n}"}], 50) for n, one in enumerate(told)]
    prepared = preflight(served.model, requests, None)
    engine = Endpoint(Door(served.url, "local"))
    return ask_repeatedly(served.model, prepared, engine, batches, patience=HASTY, say=lambda _: None)


def test_every_prompt_is_asked_twice_at_both_batch_sizes(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        passes = asked(served, ["tokens=3 delay=0.05"] * 4)
        arrived = served.requests()
    assert [(one.batch, one.number) for one in passes] == [(1, 1), (1, 2), (3, 1), (3, 2)]
    assert [max(one["in_flight"] for one in arrived[start : start + 4]) for start in (0, 4, 8, 12)] == [1, 1, 3, 3]
    found = compare_all(["p0", "p1", "p2", "p3"], passes)
    assert [(one.equal, one.prompts) for one in found] == [(4, 4)] * 3
    assert passes[0].tokens == 12


def test_answers_that_change_are_counted_with_the_place_where_they_part(tmp_path: Path) -> None:
    names = ["p0", "p1", "p2"]
    with serving(tmp_path) as served:
        passes = asked(served, ["tokens=3", "tokens=3 vary=2", "tokens=3 vary=3"])
    small, large, across = compare_all(names, passes)
    assert (small.equal, [one.prompt for one in small.differences]) == (2, ["p1"])
    assert (large.equal, large.differences) == (3, ())
    (difference,) = across.differences
    assert (difference.prompt, difference.at, difference.first, difference.second) == ("p2", 6, "w2\n", "other\n")
    told = "\n".join(lines(passes, [small, large, across]))
    assert "batch 1 against 3" in told and "6 to 6, median 6" in told and "not known" in told


def test_a_request_that_fails_is_neither_equal_nor_different(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        passes = asked(served, ["fail=400", "tokens=2"])
    found = compare_all(["p0", "p1"], passes)
    assert [(one.equal, one.failed, one.prompts) for one in found] == [(1, 1, 2)] * 3


@given(st.text(), st.text(), st.text())
def test_the_parting_is_the_length_of_the_longest_common_beginning(same: str, one: str, other: str) -> None:
    first, second = same + one, same + other
    at = parting(first, second) if first != second else len(first)
    assert first[:at] == second[:at] and at >= len(same)
    assert at in (len(first), len(second)) or first[at] != second[at]
    asked_for = [Pass(1, number, (text,), 0.0, 0, None, None) for number, text in enumerate((first, second))]
    assert compare("", ["p"], *asked_for).equal == (first == second)


def test_the_command_reports_the_reference_solver_as_equal_and_writes_json(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.folder)
    done = CliRunner().invoke(LONGTREK, ["selftest", "solver-a", "--prompts", "3", "--config", str(run.config_file)])
    assert done.exit_code == 0, done.output
    across = next(line for line in done.output.splitlines() if line.startswith("batch 1 against 8"))
    assert across.split()[-4:-1] == ["3", "0", "0"]
    report = json.loads((run.folder / "results/selftest/solver-a.json").read_text())
    assert [one["differ"] for one in report["comparisons"]] == [0, 0, 0]
    assert len(report["passes"]) == 4 and len(report["prompts"]) == 3
    assert not (run.folder / "results/store").exists()


def test_imported_answers_cannot_be_tested(run: Run) -> None:
    run.add_model("theirs", engine="imported")
    done = CliRunner().invoke(LONGTREK, ["selftest", "theirs", "--config", str(run.config_file)])
    assert isinstance(done.exception, LongtrekError) and "made elsewhere" in str(done.exception)
