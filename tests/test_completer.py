"""A model as a function: kept in its store, asked once, its engine's death and the server's faults told apart."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from longtrek.answers.client import Door
from longtrek.answers.completer import RequestFailed, completer
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared, judge
from longtrek.answers.request import Request
from longtrek.answers.retry import Patience
from longtrek.answers.server import LocalServer
from longtrek.errors import LongtrekError
from longtrek.scitrek.baseline import Extractor, answer, sandboxed
from longtrek.scitrek.prompts import FOLDER
from longtrek.scitrek.questions.model_writer import Job, ModelWriter
from longtrek.scitrek.questions.round_trip import Verdict, check
from longtrek.scitrek.sql.database import database_of
from longtrek.scitrek.sql.sandbox import Sandbox
from serving import HASTY, LOCAL_ENGINE, Served, serving

SCHEMA = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests that only ask; each asks prompts of its own."""
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


def said(prompt: str) -> list[dict[str, str]]:
    """A prompt as messages."""
    return [{"role": "user", "content": prompt}]


def complete(
    served: Served, store: Path, prompts: Sequence[str], seeds: Sequence[int] = (0,), **known: Any
) -> list[str | RequestFailed]:
    """Complete every prompt at once, each with every seed: texts, and failures where there is no text."""

    async def every(model: Any) -> list[Any]:
        asked = [model(said(prompt), SCHEMA, seed, 0.5) for prompt in prompts for seed in seeds]
        return await asyncio.gather(*asked, return_exceptions=True)

    entry = known.pop("model", served.model)
    settings: dict[str, Any] = {"weights": None, "max_tokens": 100, "tell": print, "patience": HASTY, **known}
    with completer(entry, store=store, **settings) as opened:
        found = asyncio.run(every(opened))
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, RequestFailed):
                raise one
    return found


def rows(store: Path) -> list[dict[str, Any]]:
    """The store's lines."""
    return [json.loads(line) for line in store.read_text().splitlines()]


def test_the_schema_the_seed_and_the_temperature_reach_the_server_and_the_row(served: Served, tmp_path: Path) -> None:
    prompt = "#tokens=2\nschema"
    assert complete(served, tmp_path / "store.jsonl", [prompt], seeds=[41]) == ["w0\nw1\n"]
    (body,) = [one["body"] for one in served.requests() if one["body"]["messages"] == said(prompt)]
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (body["seed"], body["temperature"], body["max_tokens"]) == (41, 0.5, 100)
    (row,) = rows(tmp_path / "store.jsonl")
    assert row["provenance"]["constrained"]["seed"] == 41


def test_what_was_said_once_is_never_asked_again_and_another_seed_is_another_request(
    served: Served, tmp_path: Path
) -> None:
    prompts = ["#tokens=2\nonce", "#tokens=3\nonce more"]
    first = complete(served, tmp_path / "store.jsonl", prompts)
    again = complete(served, tmp_path / "store.jsonl", prompts)
    assert first == again == ["w0\nw1\n", "w0\nw1\nw2\n"]
    assert [served.asked().count(prompt) for prompt in prompts] == [1, 1]
    complete(served, tmp_path / "store.jsonl", prompts[:1], seeds=[0, 1])
    assert served.asked().count(prompts[0]) == 2


def test_one_request_made_twice_at_once_is_asked_once(served: Served, tmp_path: Path) -> None:
    prompt = "#tokens=3 delay=0.02\ntwice at once"
    assert len(set(map(str, complete(served, tmp_path / "store.jsonl", [prompt] * 5)))) == 1
    assert served.asked().count(prompt) == 1
    assert len(rows(tmp_path / "store.jsonl")) == 1


def test_no_more_requests_are_in_flight_than_the_model_allows(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        complete(server, tmp_path / "store.jsonl", [f"#tokens=2 delay=0.03\n{n}" for n in range(16)])
        assert max(one["in_flight"] for one in server.requests()) == server.model.max_concurrency == 4


@pytest.mark.parametrize(
    ("told", "kind", "asked"),
    [
        ("fail=400", "bad_request", 1),
        ("fail=400 body=context", "context_length", 1),
        ("fail=500", "server_error", 3),
        ("body=empty", "bad_response", 3),
        ("odd=1", "bad_response", 3),
        ("cut=2", "cut_stream", 3),
        ("close=1", "cut_stream", 3),
        ("finish=content_filter", "bad_response", 3),
    ],
)
def test_a_request_without_an_answer_is_recorded_as_failed_and_raised(
    served: Served, tmp_path: Path, told: str, kind: str, asked: int
) -> None:
    prompt, store = f"#{told}\nfailing", tmp_path / "store.jsonl"
    (found,) = complete(served, store, [prompt])
    assert isinstance(found, RequestFailed) and str(found).startswith(kind)
    assert [(row["status"], row["error"]["kind"], row["text"]) for row in rows(store)] == [("failed", kind, "")]
    assert served.asked().count(prompt) == asked
    complete(served, store, [prompt])
    lasting = kind in ("bad_request", "context_length")
    assert served.asked().count(prompt) == (asked if lasting else 2 * asked)


def test_a_fault_that_passes_costs_no_answer(served: Served, tmp_path: Path) -> None:
    assert complete(served, tmp_path / "store.jsonl", ["#fail=429x2 tokens=1\npasses"]) == ["w0\n"]
    assert [row["status"] for row in rows(tmp_path / "store.jsonl")] == ["answered"]


def test_a_text_cut_at_the_cap_and_a_text_that_is_no_json_are_answers_for_the_caller_to_judge(
    served: Served, tmp_path: Path
) -> None:
    prompt = "#tokens=50\ncut at the cap"
    assert complete(served, tmp_path / "store.jsonl", [prompt], max_tokens=3) == ["w0\nw1\nw2\n"]
    assert [row["finish_reason"] for row in rows(tmp_path / "store.jsonl")] == ["length"]


# A process that is killed


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from serving import HASTY, Served
from longtrek.answers.completer import completer
served, store = Served(sys.argv[2], Path(sys.argv[3])), Path(sys.argv[4])
async def every(model):
    await asyncio.gather(*(model([{"role": "user", "content": f"#tokens=2 delay=0.05\\n{n}"}], {}, 0, 0.5)
                           for n in range(12)))
with completer(served.model, store=store, weights=None, max_tokens=100, tell=print, patience=HASTY) as model:
    asyncio.run(every(model))
"""


def test_after_a_kill_only_what_has_no_row_is_asked(tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    with serving(tmp_path) as server:
        command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), server.url, str(server.log), str(store)]
        process = subprocess.Popen(command)
        while process.poll() is None and (not store.exists() or store.read_bytes().count(b"\n") < 5):
            os.sched_yield()
        process.kill()
        process.wait()
        kept = {row["key"] for row in rows(store)}
        before = len(server.asked())
        subprocess.run(command, check=True, capture_output=True)
        assert 5 <= len(kept) < 12
        assert len(server.asked()) - before == 12 - len(kept)
        found = rows(store)
    assert len(found) == len({row["key"] for row in found}) == 12


# An engine that dies


class Counted(LocalServer):
    """The local engine, started and watched as a real one is, and its starts counted."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        bare = [sys.executable, str(LOCAL_ENGINE), "--log", str(folder / "asked.jsonl"), *arguments]
        super().__init__(lambda port: [*bare, "--port", str(port)], {}, folder / "engine.log", "local", 20)
        self.folder = folder
        self.starts = 0

    def start(self) -> Door:
        self.starts += 1
        return super().start()

    @property
    def served(self) -> Served:
        """What it was asked, over all its lives."""
        return Served("http://127.0.0.1:1/v1", self.folder / "asked.jsonl")


PATIENT = Patience(attempts=2, connect_s=2, first_s=5, idle_s=5, backoff_s=0.01, backoff_max_s=0.02)


def test_an_engine_is_started_by_the_first_request_that_has_no_answer_and_ended_with_the_block(tmp_path: Path) -> None:
    engine = Counted(tmp_path)
    store = tmp_path / "store.jsonl"
    with completer(engine.served.model, store=store, weights=None, max_tokens=9, tell=print, engine=engine):
        assert engine.starts == 0
    complete(engine.served, store, ["#tokens=1\na"], engine=engine, patience=PATIENT)
    assert engine.starts == 1 and not engine.alive()
    complete(engine.served, store, ["#tokens=1\na"], engine=engine, patience=PATIENT)
    assert engine.starts == 1


def test_an_engine_that_dies_once_is_started_again_and_nothing_answered_is_asked_again(tmp_path: Path) -> None:
    engine = Counted(tmp_path)
    store = tmp_path / "store.jsonl"
    prompts = [f"#tokens=2 die_at={tmp_path / 'died'}\n{n}" if n == 5 else f"#tokens=2\n{n}" for n in range(10)]
    found = complete(engine.served, store, prompts, engine=engine, patience=PATIENT)
    assert found == ["w0\nw1\n"] * 10
    assert engine.starts == 2
    kept = rows(store)
    assert len(kept) == len({row["key"] for row in kept}) == 10
    assert {row["status"] for row in kept} == {"answered"}


def test_an_engine_that_dies_twice_ends_the_run_and_the_answers_stay(tmp_path: Path) -> None:
    engine = Counted(tmp_path)
    store = tmp_path / "store.jsonl"
    complete(engine.served, store, ["#tokens=2\ngood"], engine=engine, patience=PATIENT)
    with pytest.raises(LongtrekError, match="the engine ended 2 times; what it answered is kept"):
        complete(engine.served, store, ["#tokens=2\ngood", "#die=1\ndeadly"], engine=engine, patience=PATIENT)
    assert engine.starts == 3 and not engine.alive()
    assert [row["text"] for row in rows(store)] == ["w0\nw1\n"]
    assert engine.served.asked().count("#tokens=2\ngood") == 1


# What preflight refuses, and what cannot write


def test_a_prompt_that_cannot_fit_the_window_is_recorded_as_not_asked(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(model: Model, requests: list[Request], tokenizer: Any) -> list[Prepared]:
        return [judge(model, request, 9_000, None, "") for request in requests]

    monkeypatch.setattr("longtrek.answers.completer.preflight", too_long)
    store = tmp_path / "store.jsonl"
    (found,) = complete(served, store, ["#tokens=1\nmuch too long"])
    assert isinstance(found, RequestFailed) and "do not fit the window of 8192" in str(found)
    assert [(row["status"], row["error"]["kind"]) for row in rows(store)] == [("not_asked", "window")]
    assert "#tokens=1\nmuch too long" not in served.asked()


def test_a_check_cannot_write(tmp_path: Path) -> None:
    solver = Model("solver", "reference", kind="check")
    opened = completer(solver, store=tmp_path / "store.jsonl", weights=None, max_tokens=9, tell=print)
    with pytest.raises(LongtrekError, match="answers with gold outputs, so it cannot write"), opened:
        pass


# The work that talks to a model so, when the model talks nonsense


class Talker:
    """A completer's completions, with what a reply holds replaced by a script."""

    def __init__(self, replies: Sequence[str | Exception]) -> None:
        self.replies = replies
        self.asked = 0

    async def __call__(self, messages: Any, schema: Any, seed: int, temperature: float) -> str:
        reply = self.replies[self.asked % len(self.replies)]
        self.asked += 1
        if isinstance(reply, Exception):
            raise reply
        return reply


NONSENSE = [
    "",
    " ",
    "no JSON",
    "I'm sorry, but I cannot help with that.",
    '{"question": "How many art',
    '{"question": 5, "sql": 5}',
    '{"question": null, "sql": null}',
    "null",
    "[]",
    "NaN",
    "9" * 5_000,
    "[" * 100_000,
    '{"question": "\\ud800", "sql": "\\ud800"}',
    '{"title": "\\ud800", "authors": ["\\udfff"], "reference_count": 1e400, "cited": 1}',
    '{"title": 7, "authors": "Ann Lee", "reference_count": 99999999999999999999, "cited": "yes"}',
    '{"question": "   ", "sql": "   "}',
    "\ufeff{}",
]
DATABASE = database_of([{"id": "a", "title": "On Bears", "authors": ["Ann O'Hagan"], "reference_count": 3}], [])


@pytest.mark.parametrize("reply", [*NONSENSE, RequestFailed("bad_request: no")])
def test_a_question_writer_keeps_nonsense_as_failed_tries(reply: str | Exception) -> None:
    with Sandbox() as sandbox:

        def judged(sql: str) -> Verdict:
            return check("SELECT COUNT(*) FROM articles", sql, DATABASE, [], sandbox.run)

        job = Job("SELECT COUNT(*) FROM articles", judged)
        for replies in ([reply], ['{"question": "How many articles are there?"}', reply]):
            (written,) = asyncio.run(ModelWriter(Talker(replies), 1, FOLDER, questions=2, readings=2).write([job]))
            assert written.text is None and written.verdict.reason
            assert all(one.reason for one in written.tries if one.reading or replies[0] == reply)
            json.dumps([one.text + one.reason for one in written.tries], ensure_ascii=False).encode()


@pytest.mark.parametrize("reply", NONSENSE)
def test_the_baseline_answers_nonsense_with_no_query(reply: str) -> None:
    with Sandbox() as sandbox:
        found = asyncio.run(
            answer({"id": "q", "text": "How many?"}, DATABASE, Talker([reply]), sandboxed(sandbox), FOLDER, tries=2)
        )
    assert (found.status, found.text, len(found.problems)) == ("no_query", "", 2)
    json.dumps(found.row(), ensure_ascii=False).encode()


@pytest.mark.parametrize("reply", NONSENSE)
def test_the_baselines_extraction_takes_nonsense_for_nothing_found(reply: str) -> None:
    extractor = Extractor(Talker([reply]), lambda text: len(text.split()), FOLDER)
    found = asyncio.run(extractor.database([{"id": "a", "markdown": "# On Bears\nAnn Lee\n"}]))
    assert found.articles == (("a", "", 0, 0, 0),)
    assert len(extractor.problems) == 9
    json.dumps([one.reason for one in extractor.problems], ensure_ascii=False).encode()
