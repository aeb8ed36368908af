"""Local engines: started, asked, started again when they die, and never left behind. The last part is real vLLM."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longtrek.answers.ask import ask
from longtrek.answers.engines import engine_for, engine_python
from longtrek.answers.model import Model, find_model
from longtrek.answers.request import Request
from longtrek.answers.retry import Patience
from longtrek.answers.server import LocalServer
from longtrek.answers.supervisor import descendants
from longtrek.answers.weights import Weights, make_weights
from longtrek.errors import LongtrekError
from longtrek.paths import ROOT

LOCAL_ENGINE = Path(__file__).with_name("local_engine.py")
HASTY = Patience(attempts=3, connect_s=2, first_s=5, idle_s=5, backoff_s=0.01, backoff_max_s=0.05)
HOSTED = Model("local", "endpoint", repository="local", window=8192, max_concurrency=4)


def local_server(folder: Path, *arguments: str, limit_s: float = 20) -> LocalServer:
    """The local engine, started and watched as a real one is."""
    bare = [sys.executable, str(LOCAL_ENGINE), "--log", str(folder / "asked.jsonl"), *arguments]
    return LocalServer(lambda port: [*bare, "--port", str(port)], {}, folder / "engine.log", "local", limit_s)


def asked(folder: Path) -> list[str]:
    """The prompts that have arrived, in order."""
    lines = (folder / "asked.jsonl").read_text().splitlines()
    return [json.loads(line)["body"]["messages"][-1]["content"] for line in lines]


def request_of(name: str, told: str = "tokens=3") -> Request:
    """A request with instructions for the local engine."""
    return Request(name, [{"role": "user", "content": f"#{told}\n{name}"}], 100)


def running(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int], within_s: float) -> bool:
    """Whether all the processes end within a time."""
    deadline = time.monotonic() + within_s
    while any(running(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def where(tmp_path: Path) -> dict[str, Any]:
    """Where a run writes."""
    return {"store": tmp_path / "store.jsonl", "out": tmp_path / "out.jsonl", "patience": HASTY}


# Life and death


def test_an_engine_is_ready_only_behind_its_own_key(tmp_path: Path) -> None:
    server = local_server(tmp_path)
    door = server.start()
    try:
        assert server.alive() and door.headers["Authorization"].startswith("Bearer ")
    finally:
        server.stop()
    assert not server.alive()


@pytest.mark.parametrize("child", ["plain", "stubborn"])
def test_stopping_ends_the_engine_and_its_children(tmp_path: Path, child: str) -> None:
    server = local_server(tmp_path, "--child", child)
    server.start()
    pids = [int(pid) for pid in (tmp_path / "asked.pids").read_text().split()]
    assert all(map(running, pids))
    server.stop()
    assert gone(pids, 1)


ASKER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_engine import local_server
server = local_server(Path(sys.argv[1]), "--child", sys.argv[3])
server.start()
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("child", ["plain", "stubborn"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_engine_outlives_the_process_that_asked_for_it(tmp_path: Path, number: int, child: str) -> None:
    command = [sys.executable, "-c", ASKER, str(tmp_path), str(Path(__file__).parent), child]
    asker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert asker.stdout is not None and asker.stdout.readline() == "ready\n"
    pids = [int(pid) for pid in (tmp_path / "asked.pids").read_text().split()]
    assert all(map(running, pids))
    os.kill(asker.pid, number)
    asker.wait()
    assert gone(pids, 15)


def test_an_engine_that_ends_before_it_is_ready_shows_its_log(tmp_path: Path) -> None:
    server = local_server(tmp_path, "--no-such-option")
    with pytest.raises(LongtrekError, match="unrecognized arguments"):
        server.start()
    assert not server.alive()


def test_an_engine_that_is_never_ready_is_given_up(tmp_path: Path) -> None:
    server = local_server(tmp_path, "--name", "another", limit_s=1)
    with pytest.raises(LongtrekError, match="not ready within 1 s"):
        server.start()
    assert not server.alive()


def test_an_engine_that_dies_is_started_once_more_and_no_answer_is_lost(tmp_path: Path, where: dict[str, Any]) -> None:
    requests = [request_of(f"n{n}", "tokens=3 delay=0.05") for n in range(8)]
    server = DiesOnce(tmp_path)
    summary = ask(HOSTED, requests, engine=server, **where)
    assert (summary.answered, server.starts) == (8, 2)
    answered_first = server.answered_before
    assert 0 < answered_first < 8
    arrived = [one.split("\n")[1] for one in asked(tmp_path)]
    rows = [json.loads(line) for line in (tmp_path / "store.jsonl").read_text().splitlines()]
    kept = [one["id"] for one in rows[:answered_first]]
    assert len(rows) == 8 and all(arrived.count(name) == 1 for name in kept)


def test_after_an_engine_was_killed_in_mid_stream_the_next_run_asks_only_what_is_missing(
    tmp_path: Path, where: dict[str, Any]
) -> None:
    requests = [request_of(f"n{n}", "tokens=5 delay=0.08") for n in range(12)]
    with pytest.raises(LongtrekError, match=r"the engine ended 2 times(?s:.*)the same command asks for the rest"):
        ask(HOSTED, requests, engine=DiesOnce(tmp_path, 3, 6), **where)
    rows = [json.loads(line) for line in (tmp_path / "store.jsonl").read_text().splitlines()]
    kept = {row["id"] for row in rows if row["status"] == "answered"}
    cut = {row["id"] for row in rows if row["status"] == "failed"}
    assert 6 <= len(kept) < 12 and cut
    before = asked(tmp_path)
    summary = ask(HOSTED, requests, engine=local_server(tmp_path), **where)
    again = {one.split("\n")[1] for one in asked(tmp_path)[len(before) :]}
    assert again == {request.id for request in requests} - kept and cut <= again
    assert (summary.asked, summary.answered) == (12 - len(kept), 12)


class DiesOnce(LocalServer):
    """The local engine, killed from without once so many answers are stored (the first time, and if told again)."""

    def __init__(self, folder: Path, *deaths: int) -> None:
        bare = [sys.executable, str(LOCAL_ENGINE), "--log", str(folder / "asked.jsonl"), "--child", "plain"]
        super().__init__(lambda port: [*bare, "--port", str(port)], {}, folder / "engine.log", "local", 20)
        self._folder = folder
        self._deaths = list(deaths or (3,))
        self.starts = 0
        self.answered_before = 0

    def start(self) -> Any:
        self.starts += 1
        return super().start()

    def alive(self) -> bool:
        store = self._folder / "store.jsonl"
        stored = store.read_bytes().count(b"\n") if store.exists() else 0
        if self._deaths and stored >= self._deaths[0]:
            self._deaths.pop(0)
            os.kill(int((self._folder / "asked.pids").read_text().split()[0]), signal.SIGKILL)
            time.sleep(0.5)
            self.answered_before = store.read_bytes().count(b"\n")
        return super().alive()


def test_an_engine_that_dies_twice_ends_the_run_and_the_answers_stay(tmp_path: Path, where: dict[str, Any]) -> None:
    requests = [request_of("good", "tokens=9"), request_of("deadly", "die=1")]
    one_by_one = replace(HOSTED, max_concurrency=1)
    with pytest.raises(LongtrekError, match="the engine ended 2 times"):
        ask(one_by_one, requests, engine=local_server(tmp_path), **where)
    rows = [json.loads(line) for line in (tmp_path / "store.jsonl").read_text().splitlines()]
    assert [(one["id"], one["status"]) for one in rows] == [("good", "answered"), ("deadly", "failed")]
    assert rows[1]["error"]["kind"] == "engine_died"
    assert not (tmp_path / "out.jsonl").exists()
    assert asked(tmp_path).count(requests[0].messages[0]["content"]) == 1


def test_no_engine_is_started_when_nothing_is_missing(tmp_path: Path, where: dict[str, Any]) -> None:
    requests = [request_of("a"), request_of("b")]
    ask(HOSTED, requests, engine=local_server(tmp_path), **where)
    ask(HOSTED, requests, engine=local_server(tmp_path, "--no-such-option"), **where)
    runs = [json.loads(line) for line in (tmp_path / "store.runs.jsonl").read_text().splitlines()]
    assert [(one["asked"], one["answered"], one["engine_starts"]) for one in runs] == [(2, 2, 1)]


# Real vLLM on the CPU


@pytest.fixture(scope="module")
def small_model() -> Model:
    """The embedded model; the test is skipped where the engine environment is absent."""
    model = find_model("SmolLM2-135M-Instruct")
    try:
        engine_python(model)
    except LongtrekError as absent:
        pytest.skip(str(absent))
    return replace(model, kv_cache_gib=1, window=4096)


@pytest.fixture(scope="module")
def small_weights(small_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Weights:
    """Its weights: those that the kit's own run has made, else fetched and converted here."""
    made = ROOT / "results" / "weights" / small_model.name
    out = made if (made / "manifest.json").is_file() else tmp_path_factory.mktemp("weights") / small_model.name
    return make_weights(small_model, out, engine_python(small_model))


class Until:
    """A completion rule that is content with so many characters, and tells of every piece."""

    def __init__(self, characters: int, tell: Callable[[], None]) -> None:
        self._left = characters
        self._tell = tell

    def feed(self, delta: str) -> bool:
        self._tell()
        self._left -= len(delta)
        return self._left <= 0


@pytest.mark.engine
@pytest.mark.slow
def test_a_real_engine_answers_ends_early_and_starts_again(
    small_model: Model, small_weights: Weights, tmp_path: Path
) -> None:
    where: dict[str, Any] = {"store": tmp_path / "store.jsonl", "out": tmp_path / "out.jsonl"}
    said: list[str] = []
    story = [{"role": "user", "content": "Tell me a long story about a dragon, a village and a river."}]
    server = KilledOnce(small_model, small_weights, tmp_path)
    requests = [
        Request("whole", story, 40, expected="1\n2\n3"),
        Request("early", story, 400, completion=lambda: Until(60, server.kill_once)),
        Request("long", [{"role": "user", "content": "word " * 5000}], 50),
    ]
    summary = ask(small_model, requests, engine=server, weights=small_weights, say=said.append, **where)
    assert (summary.answered, summary.not_asked, server.starts) == (2, 1, 2)
    rows = {row["id"]: row for row in map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())}
    whole, early = rows["whole"], rows["early"]
    assert (whole["finish_reason"], whole["usage"]["completion_tokens"], whole["fits"]) == ("length", 40, True)
    assert whole["usage"]["prompt_tokens"] == whole["provenance"]["prompt_tokens"]
    assert early["finish_reason"] == "complete" and early["usage"]["counted_by"] == "engine"
    assert 60 <= len(early["text"]) < 120 and early["usage"]["completion_tokens"] < 80
    assert rows["long"]["error"]["kind"] == "window"
    assert whole["provenance"]["engine"]["prefix_caching"] is True
    assert whole["provenance"]["engine"]["version"]
    assert any("prefix cache served" in line for line in said)
    assert gone(server.pids, 15)


class KilledOnce:
    """The real engine, whose server is killed in mid-stream the first time."""

    ours = True

    def __init__(self, model: Model, weights: Weights, folder: Path) -> None:
        self._engine = engine_for(model, weights, folder / "engine.log")
        self.starts = 0
        self.pids: list[int] = []
        self._server = 0

    def start(self) -> Any:
        door = self._engine.start()
        self.starts += 1
        supervisor = self._engine._process.pid  # type: ignore[attr-defined]
        below = descendants(supervisor)
        self.pids += [supervisor, *below]
        self._server = below[0]
        return door

    def kill_once(self) -> None:
        """Kill the server at the first piece of an answer that it streams."""
        if self.starts == 1 and running(self._server):
            os.kill(self._server, signal.SIGKILL)

    def alive(self) -> bool:
        return self._engine.alive()

    def stop(self) -> None:
        self._engine.stop()

    def log_tail(self) -> str:
        return self._engine.log_tail()
