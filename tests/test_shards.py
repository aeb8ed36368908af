"""A tier asked by several jobs: the same answers and scores as by one, and nothing asked twice, whatever happens."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from longtrek.answers.ask import ask
from longtrek.answers.model import find_model, load_model
from longtrek.answers.request import Request
from longtrek.answers.shards import WHOLE, Shard, merge, share
from longtrek.answers.store import open_store
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from serving import HASTY, Served, serving

SOLVER = find_model("reference-solver")


def request_of(name: str, prefix: str = "", expected: str = "1", told: str = "#tokens=3") -> Request:
    """A small request, told to the local engine."""
    return Request(name, [{"role": "user", "content": f"{told}\n{name}"}], 50, prefix=prefix, expected=expected)


def shards(count: int) -> list[Shard]:
    """All shards of a tier."""
    return [Shard(number, count) for number in range(1, count + 1)]


# Whose a request is


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b", "c"]), st.sampled_from("wxyz"), st.integers(0, 50)), max_size=30),
    st.integers(1, 6),
)
def test_shards_are_a_partition_and_what_belongs_together_stays(asked: list[tuple[str, str, int]], count: int) -> None:
    requests = [request_of(text, prefix, "1" * size) for prefix, text, size in asked]
    shares = [share(requests, shard) for shard in shards(count)]
    assert sorted(place for one in shares for place in one) == list(range(len(requests)))
    assert all(one == sorted(one) for one in shares)
    homes: dict[tuple[str, str], set[int]] = {}
    for number, one in enumerate(shares):
        for place in one:
            prefix, text, _ = asked[place]
            homes.setdefault((prefix, "" if prefix else text), set()).add(number)
    assert all(len(home) == 1 for home in homes.values())


@given(st.lists(st.integers(0, 99), min_size=1, max_size=40), st.integers(1, 5))
def test_shards_differ_in_size_by_one_group_at_most(sizes: list[int], count: int) -> None:
    requests = [request_of(f"{n:03}", expected="1" * size) for n, size in enumerate(sizes)]
    one = len(requests[0].messages[0]["content"])
    loads = [sum(one + sizes[place] for place in share(requests, shard)) for shard in shards(count)]
    assert max(loads) - min(loads) <= one + max(sizes)


@pytest.mark.parametrize("text", ["", "2", "0of3", "4of3", "2/3", "-1of3", "2of3 "])
def test_a_shard_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(LongtrekError, match="NUMBERofCOUNT"):
        Shard.parse(text)


@pytest.mark.parametrize(
    ("given_shards", "said"),
    [("{4096: 2}", "4096"), ('{"4096": 0}', "shards.4096"), ("{full: 2}", "shards"), ('{"4096": two}', "shards.4096")],
)
def test_an_entrys_shards_are_checked(tmp_path: Path, given_shards: str, said: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(f"name: m\nengine: reference\nkind: check\nshards: {given_shards}\n")
    with pytest.raises(LongtrekError, match=said):
        load_model(path)
    path.write_text('name: m\nengine: reference\nkind: check\nshards: {"131072": 4, full_text-1M: 8}\n')
    assert load_model(path).shards == {"131072": 4, "full_text-1M": 8}


# The same answers, asked once


def ask_in(count: int, folder: Path, requests: list[Request], model: Any = SOLVER) -> Path:
    """Ask all shards of a tier, one after the other, and give their answers as one file."""
    parts = []
    for shard in shards(count):
        parts.append(folder / f"{count}" / f"{shard}.jsonl")
        ask(model, requests, store=folder / "tier.jsonl", out=parts[-1], shard=shard, patience=HASTY)
    if count == 1:
        return parts[0]
    out = folder / f"{count}.jsonl"
    merge(parts, out)
    return out


@pytest.mark.parametrize("count", [2, 3, 9])
def test_merged_shards_are_byte_for_byte_what_one_job_writes(tmp_path: Path, count: int) -> None:
    requests = [request_of(f"r{n}", "p" * (n % 3 == 0), str(n)) for n in range(7)]
    whole = ask_in(1, tmp_path / "whole", requests).read_bytes()
    again = ask_in(count, tmp_path / "shards", requests).read_bytes()
    untimed = [[row | {"timings": None} for row in map(_row, text.splitlines())] for text in (whole, again)]
    assert untimed[0] == untimed[1] and list(untimed[0][0]) == list(untimed[1][0])


def _row(line: bytes) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    return row


@pytest.fixture
def served(tmp_path: Path) -> Any:
    """A server that tells what it was asked."""
    with serving(tmp_path) as server:
        yield server


def test_another_number_of_shards_asks_nothing_again(served: Served, tmp_path: Path) -> None:
    requests = [request_of(f"r{n}") for n in range(9)] + [replace(request_of("r3"), id="the same under another name")]
    outs = [list(read_jsonl(ask_in(count, tmp_path, requests, served.model))) for count in (3, 1, 2, 5)]
    assert len(served.asked()) == 9
    assert outs[0] == outs[1] == outs[2] == outs[3]
    stores = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("tier*/*.jsonl"))
    assert [name for name in stores if "runs" not in name] == [f"tier/{n}.jsonl" for n in range(1, 6)]


def test_a_failure_in_one_shard_is_asked_again_by_whoever_has_it_next(served: Served, tmp_path: Path) -> None:
    requests = [request_of(f"r{n}", told=f"#fail={'503x3' if n == 0 else ''}") for n in range(4)]
    first = list(read_jsonl(ask_in(2, tmp_path, requests, served.model)))
    assert [row["status"] for row in first] == ["failed", "answered", "answered", "answered"]
    second = list(read_jsonl(ask_in(3, tmp_path, requests, served.model)))
    assert [row["status"] for row in second] == ["answered"] * 4
    assert len(served.asked()) == 4 + HASTY.attempts


HOLD = """
import sys
from pathlib import Path
from longtrek.answers.shards import Shard
from longtrek.answers.store import open_store
with open_store(Path(sys.argv[1]), print, Shard.parse(sys.argv[2])):
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_tier_is_never_asked_in_two_numbers_of_shards_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "tier.jsonl"
    pipe = subprocess.PIPE
    jobs = {
        name: subprocess.Popen([sys.executable, "-c", HOLD, str(path), name], stdin=pipe, stdout=pipe, text=True)
        for name in ("1of2", "2of2")
    }
    try:
        assert [job.stdout.readline() for job in jobs.values() if job.stdout] == ["open\n", "open\n"]
        said: list[str] = []
        jobs["1of2"].kill()

        def tell(line: str) -> None:
            said.append(line)
            jobs["2of2"].kill()

        for shard in (WHOLE, Shard(1, 3)):
            with open_store(path, tell, shard) as store:
                assert store.path == shard.file(path)
    finally:
        for job in jobs.values():
            job.kill()
            job.communicate()
    assert said == [f"{path}: waiting for jobs that ask this tier in 2 shards"]


@pytest.mark.parametrize(("places", "said"), [([[0, 3], [1]], "place 2.*missing"), ([[0, 1], [1]], "place 2.*twice")])
def test_shards_that_make_no_whole_are_refused(tmp_path: Path, places: list[list[int]], said: str) -> None:
    parts = [tmp_path / f"{number}of2.jsonl" for number in (1, 2)]
    for part, numbers in zip(parts, places, strict=True):
        write_jsonl(part, [{"id": str(n), "status": "answered", "text": "", "place": n} for n in numbers])
    with pytest.raises(LongtrekError, match=said):
        merge(parts, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


ANSWERED = '{"id": "x", "status": "answered", "text": ""'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (ANSWERED + "}", "answer 1: no `place`"),
        (ANSWERED + ', "place": "x"}', "line 1: place: found"),
        (ANSWERED + ', "place": null}', "line 1: place: found"),
        (ANSWERED + ', "place": 0, "timings": 5}', "line 1: timings: found 5"),
        (ANSWERED, "line 1: not JSON"),
        ("5", r"line 1: \(top level\): found 5"),
    ],
)
def test_a_file_that_is_none_of_a_shard_is_refused(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(LongtrekError, match=rf"a\.jsonl, {said}"):
        merge([tmp_path / "a.jsonl"], tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_shard_that_is_left_out_is_told_even_if_it_holds_the_last_answers(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "1of2.jsonl", [{"place": 0}, {"place": 1}])
    with pytest.raises(LongtrekError, match="without 2of2"):
        merge([tmp_path / "1of2.jsonl"], tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


# Whole runs


def test_one_job_and_three_shards_give_the_same_scores(run: Run) -> None:
    run.add_model("solver-b", kind="check", engine="reference", shards={"4096": 3})
    scores = [f"results/scores/solver-{name}/transduction.parquet" for name in "ab"]
    run.snakemake("--cores", "4", *scores)
    one, three = (pq.read_table(run.folder / path).to_pylist() for path in scores)
    assert one == three and len(one) > 12
    run.add_model("solver-b", kind="check", engine="reference", shards={"4096": 2})
    changed = run.planned()
    assert [line.rsplit(" ", 1)[-1] for line in changed["answers"]] == ["4096", "4096"]
    assert "documents" not in changed and "solver-a" not in " ".join(changed["answers"])


def test_a_run_of_which_one_shard_is_killed_asks_only_what_is_missing(tmp_path: Path) -> None:
    with serving(tmp_path, "--delay", "0.15") as server:
        run = Run(tmp_path)
        endpoint = {"engine": "endpoint", "repository": "local", "window": 99999, "endpoint": {"url": server.url}}
        run.add_model("hosted", **endpoint, max_concurrency=1, shards={"4096": 3})
        target = "results/answers/hosted/transduction/4096.jsonl"
        whole = subprocess.Popen(run.command("--cores", "4", target), cwd=tmp_path, env=run.environment())
        store = tmp_path / "results" / "store" / "hosted" / "transduction" / "4096"
        deadline = time.monotonic() + 120
        while _lines(store / "2.jsonl") < 1:
            assert whole.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(_process("answers", "hosted", "2of3"), signal.SIGKILL)
        assert whole.wait() != 0
        kept = [_lines(store / f"{number}.jsonl") for number in (1, 2, 3)]
        assert kept[0] == kept[2] == 4 and 1 <= kept[1] < 4
        assert not (tmp_path / target).exists()
        before = len(server.asked())
        run.snakemake("--cores", "4", target)
        prompts = server.asked()
    assert len(prompts) - before == 12 - sum(kept)
    assert len(set(prompts)) == 12
    assert len(list(read_jsonl(tmp_path / target))) == 12


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _process(*words: str) -> int:
    """The process of `longtrek` whose command line holds all these words."""
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if line[1:2] and line[1].endswith(b"/longtrek") and {word.encode() for word in words} <= set(line):
            return int(entry.name)
    raise AssertionError(f"no process with {words}")
