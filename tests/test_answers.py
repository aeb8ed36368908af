"""Answers: what a misbehaving server may do, and whole runs that are killed, resumed and asked again."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longtrek.answers.ask import Summary, ask
from longtrek.answers.client import Client, Door, Outcome
from longtrek.answers.model import find_model
from longtrek.answers.request import Request
from longtrek.answers.retry import retry_after_s
from longtrek.answers.stream import whole_text
from longtrek.errors import LongtrekError
from serving import HASTY, Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests that only ask."""
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


def request_of(name: str, content: str = "", **fields: Any) -> Request:
    """A request with a prompt of its own."""
    messages = [{"role": "user", "content": content or f"#tokens=3\n{name}"}]
    return Request(name, messages, fields.pop("max_tokens", 100), **fields)


def paths(folder: Path) -> dict[str, Path]:
    """A store and an output in a folder."""
    return {"store": folder / "store.jsonl", "out": folder / "out.jsonl"}


def read(path: Path) -> list[dict[str, Any]]:
    """A file's rows."""
    return [json.loads(line) for line in path.read_text().splitlines()]


# What a server may do


def test_an_answer_comes_with_its_usage_and_times(served: Served) -> None:
    outcome = served.ask_one("#tokens=3 think=hm\nx", counts_as_it_streams=True)
    assert (outcome.text, outcome.reasoning, outcome.finish_reason) == ("w0\nw1\nw2\n", "hm", "stop")
    assert outcome.usage is not None and outcome.usage["completion_tokens"] == 3
    assert outcome.first_token_s is not None and outcome.first_token_s <= outcome.total_s


def test_odd_characters_arrive_as_they_were_sent(served: Served) -> None:
    outcome = served.ask_one("#strange=1\nx")
    assert outcome.text == 'a"b c\u2028d e\u0085f\x1cg\r\nh \U0001f600'


def test_a_character_that_comes_in_two_halves_is_one_again_and_a_lone_half_is_kept_apart(served: Served) -> None:
    assert whole_text(["a\ud83d", "\ude00b", "\ude00"]) == "a\U0001f600b\ufffd"
    half = '{"choices":[{"delta":{"content":"\\ud83d"}}]}'
    assert served.ask_one(f"#event={half} tokens=1\nx").text == "\ufffdw0\n"


@pytest.mark.parametrize(
    ("told", "kind", "attempts"),
    [
        ("fail=429", "rate_limited", 3),
        ("fail=500", "server_error", 3),
        ("fail=503 body=html", "server_error", 3),
        ("fail=500 body=empty", "server_error", 3),
        ("fail=400", "bad_request", 1),
        ("fail=404 body=html", "bad_request", 1),
        ("fail=400 body=context", "context_length", 1),
        ("odd=1", "bad_response", 3),
        ("odd=1 body=empty", "bad_response", 3),
        ("body=empty", "bad_response", 3),
        ("finish=content_filter", "bad_response", 3),
        ("cut=3", "cut_stream", 3),
        ("finish=abort", "cut_stream", 3),
        ("close=1", "cut_stream", 3),
        ("poison=1", "server_error", 3),
        ("gzip=1", "bad_response", 3),
        ("event={", "bad_response", 3),
        ("event=[]", "bad_response", 3),
        ('event={"choices":7}', "bad_response", 3),
        ('event={"choices":[7]}', "bad_response", 3),
        ('event={"choices":[{"delta":"x"}]}', "bad_response", 3),
        ('event={"choices":[{"delta":{"content":5}}]}', "bad_response", 3),
        ('event={"choices":[{"delta":{"content":["x"]}}]}', "bad_response", 3),
        ('event={"choices":[{"delta":{},"finish_reason":{"why":1}}],"usage":7} tokens=0 finish=', "bad_response", 3),
        ("hang=30", "timeout", 3),
        ("tokens=3 delay=30", "timeout", 3),
    ],
)
def test_a_server_that_misbehaves_is_a_fault_and_never_an_answer(
    served: Served, told: str, kind: str, attempts: int
) -> None:
    outcome = served.ask_one(f"#{told}\nx", replace(HASTY, first_s=0.2, idle_s=0.2))
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.attempts, outcome.text, outcome.finish_reason) == (kind, attempts, "", None)


def test_nobody_at_the_address_is_unreachable() -> None:
    outcome = Served("http://127.0.0.1:9/v1", Path("none")).ask_one("x")
    assert outcome.fault is not None and outcome.fault.kind == "unreachable"


@pytest.mark.parametrize("told", ["fail=429x2", "fail=500x1", "fail=503x2 body=html"])
def test_faults_that_pass_end_in_an_answer(served: Served, told: str) -> None:
    outcome = served.ask_one(f"#{told} tokens=2\nthen well")
    assert (outcome.fault, outcome.text) == (None, "w0\nw1\n")


def test_retry_after_is_waited_for_but_not_for_ever(served: Served) -> None:
    waited = served.ask_one("#fail=429x1 retry_after=0.4\na")
    assert waited.fault is None and waited.total_s >= 0.4
    refused = served.ask_one("#fail=429x1 retry_after=9999\na")
    assert refused.fault is not None and (refused.fault.kind, refused.attempts) == ("rate_limited", 1)
    assert retry_after_s("Sun, 06 Nov 1994 08:49:37 GMT") == 0.0
    assert (retry_after_s("7"), retry_after_s("soon"), retry_after_s(None)) == (7.0, None, None)


class Lines:
    """A completion rule that is content with so many lines."""

    def __init__(self, lines: int) -> None:
        self._left = lines

    def feed(self, delta: str) -> bool:
        self._left -= delta.count("\n")
        return self._left <= 0


def test_a_settled_stream_is_ended_and_its_tokens_counted_by_the_engine(served: Served, tmp_path: Path) -> None:
    request = request_of("early", "#tokens=90 delay=0.01\nx", completion=lambda: Lines(4))

    async def one() -> Outcome:
        async with Client(Door(served.url, "local", counts_as_it_streams=True), HASTY) as client:
            return await client.ask({"messages": request.messages, "max_tokens": 100}, request.completion)

    outcome = asyncio.run(one())
    assert (outcome.finish_reason, outcome.text) == ("complete", "w0\nw1\nw2\nw3\n")
    assert outcome.usage is not None and outcome.usage["completion_tokens"] == 4
    assert outcome.total_s < 0.8


# Whole runs


def test_rows_come_in_the_requests_order_with_their_provenance(served: Served, tmp_path: Path) -> None:
    requests = [request_of(f"order-{n}", f"#tokens={9 - n}\norder {n} {tmp_path}") for n in range(6)]
    summary = ask(served.model, requests, **paths(tmp_path), patience=HASTY)
    assert summary == Summary(6, 6, 6, 0, 0, {})
    rows = read(tmp_path / "out.jsonl")
    assert [one["id"] for one in rows] == [request.id for request in requests]
    counts = {"prompt_tokens": 7, "completion_tokens": 9, "cached_tokens": 2, "reasoning_tokens": None}
    assert rows[0]["usage"] == counts | {"counted_by": "engine"}
    where = rows[0]["provenance"]
    assert where["engine"]["url"] == served.url and where["decoding"] == {"temperature": 0.0, "seed": 0}
    assert len(where["prompt_sha256"]) == 64 and where["machine"]["cores"] >= 1


def test_thoughts_where_thinking_is_off_are_told(served: Served, tmp_path: Path) -> None:
    said: list[str] = []
    requests = [request_of("t", f"#think=hm tokens=2\n{tmp_path}"), request_of("u", f"plain {tmp_path}")]
    ask(served.model, requests, **paths(tmp_path), patience=HASTY, say=said.append)
    assert "hosted: 1 answers hold reasoning although thinking is 'none'" in said
    assert [one["reasoning"] for one in read(tmp_path / "out.jsonl")] == ["hm", None]


def test_a_rerun_asks_nothing_and_renamed_requests_keep_their_answers(served: Served, tmp_path: Path) -> None:
    requests = [request_of(f"n{n}", f"rerun {n} {tmp_path}") for n in range(3)]
    ask(served.model, requests, **paths(tmp_path), patience=HASTY)
    before = len(served.asked())
    again = ask(served.model, [replace(one, id=f"new-{one.id}") for one in requests], **paths(tmp_path))
    assert (again.asked, len(served.asked())) == (0, before)
    assert [one["id"] for one in read(tmp_path / "out.jsonl")] == ["new-n0", "new-n1", "new-n2"]


def test_failures_stand_in_the_output_as_failures_and_are_asked_again(served: Served, tmp_path: Path) -> None:
    passing = f"#fail=429x3\n{tmp_path}"
    lasting = f"#fail=400 body=context\n{tmp_path}"
    requests = [request_of("good", f"fine {tmp_path}"), request_of("limited", passing), request_of("long", lasting)]
    summary = ask(served.model, requests, **paths(tmp_path), patience=HASTY)
    assert (summary.answered, summary.errors) == (1, {"rate_limited": 1, "context_length": 1})
    assert [one["status"] for one in read(tmp_path / "out.jsonl")] == ["answered", "failed", "failed"]
    again = ask(served.model, requests, **paths(tmp_path), patience=HASTY)
    assert (again.asked, again.answered, again.errors) == (1, 2, {"context_length": 1})
    once_more = ask(served.model, requests, **paths(tmp_path), patience=HASTY, retry_failed=True)
    assert once_more.asked == 1


@contextlib.contextmanager
def full_at(size: int) -> Iterator[None]:
    """No file can grow beyond `size` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_ends_the_run_and_keeps_every_answer_that_was_stored(served: Served, tmp_path: Path) -> None:
    requests = [request_of(f"full {number}", prefix="one by one") for number in range(12)]
    with full_at(5000), pytest.raises(LongtrekError, match="could not be stored"):
        ask(served.model, requests, **paths(tmp_path))
    kept = (tmp_path / "store.jsonl").read_bytes()
    assert 0 < kept.count(b"\n") < 12 and kept.endswith(b"\n")
    assert not (tmp_path / "out.jsonl").exists()
    summary = ask(served.model, requests, **paths(tmp_path))
    assert (summary.asked, summary.answered) == (12 - kept.count(b"\n"), 12)
    assert (tmp_path / "store.jsonl").read_bytes().startswith(kept)


def test_a_runs_record_that_cannot_be_written_hides_nothing(served: Served, tmp_path: Path) -> None:
    (tmp_path / "store.runs.jsonl").mkdir()
    told: list[str] = []
    assert ask(served.model, [request_of("unrecorded")], say=told.append, **paths(tmp_path)).answered == 1
    assert any("record could not be written" in line for line in told)


def test_a_run_in_which_nothing_is_answered_is_an_error(served: Served, tmp_path: Path) -> None:
    requests = [request_of(f"f{n}", f"#fail=400\n{n} {tmp_path}") for n in range(3)]
    with pytest.raises(LongtrekError, match="nothing was answered, 3 requests failed"):
        ask(served.model, requests, **paths(tmp_path), patience=HASTY)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_server_that_is_not_there_ends_the_run_soon(tmp_path: Path) -> None:
    model = replace(Served("http://127.0.0.1:9/v1", Path()).model, max_concurrency=1)
    began = time.monotonic()
    with pytest.raises(LongtrekError, match="nobody answers at"):
        ask(model, [request_of(f"n{n}") for n in range(50)], **paths(tmp_path), patience=HASTY)
    assert time.monotonic() - began < 10


def test_concurrency_of_a_whole_run_is_the_entrys(tmp_path: Path) -> None:
    requests = [request_of(f"c{n}", f"#tokens=4 delay=0.02\nmany {n}") for n in range(12)]
    with serving(tmp_path) as server:
        ask(replace(server.model, max_concurrency=3), requests, **paths(tmp_path), patience=HASTY)
        arrived = server.requests()
    assert len(arrived) == 12 and max(one["in_flight"] for one in arrived) == 3


RUN = """
import sys
from pathlib import Path
from longtrek.answers.ask import ask
from longtrek.answers.model import EndpointEntry, Model
from longtrek.answers.request import Request
folder = Path(sys.argv[2])
model = Model("h", "endpoint", repository="local", window=8192, endpoint=EndpointEntry(sys.argv[1]), max_concurrency=4)
requests = [Request(f"r{n}", [{"role": "user", "content": f"#tokens={2 + n % 5}\\nr{n}"}], 50) for n in range(40)]
ask(model, requests, store=folder / "store.jsonl", out=folder / "out.jsonl")
"""


def test_a_killed_run_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    with serving(tmp_path, "--delay", "0.03") as server:
        command = [sys.executable, "-c", RUN, server.url, str(tmp_path)]
        run = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        store = tmp_path / "store.jsonl"
        while not store.exists() or store.read_bytes().count(b"\n") < 12:
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        kept = read(store)
        asked_before = len(server.asked())
        assert not (tmp_path / "out.jsonl").exists()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        rows = read(tmp_path / "out.jsonl")
        asked_again = server.asked()[asked_before:]
    assert read(store)[: len(kept)] == kept
    assert len(asked_again) == 40 - len(kept)
    assert not {one.split("\n")[1] for one in asked_again} & {one["id"] for one in kept}
    assert [one["text"].count("\n") for one in rows] == [2 + n % 5 for n in range(40)]


def test_the_reference_solver_answers_with_the_gold(tmp_path: Path) -> None:
    solver = find_model("reference-solver")
    requests = [request_of("a", expected="[1]1+1=2"), request_of("b")]
    summary = ask(solver, requests, **paths(tmp_path))
    rows = read(tmp_path / "out.jsonl")
    assert (solver.kind, summary.answered, rows[0]["text"]) == ("check", 1, "[1]1+1=2")
    assert (rows[1]["status"], rows[1]["error"]["kind"]) == ("failed", "bad_request")


def test_requests_must_differ(tmp_path: Path) -> None:
    with pytest.raises(LongtrekError, match="found more than once: a"):
        ask(find_model("reference-solver"), [request_of("a"), request_of("a")], **paths(tmp_path))
