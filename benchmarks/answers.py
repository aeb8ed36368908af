"""What the answers stage saves and what it costs, on the real engine with the small embedded model.

    python benchmarks/answers.py [--weights FOLDER] [grouping] [overhead] [early_stop]

- grouping: three collections of ten questions over a context of 6,000 tokens each. The same thirty requests in the
  kit's order, a collection's questions together, and question by question across collections. The engine's cache
  holds two contexts of the three, as a GPU holds a few of thousands: that is what grouping is for.
- overhead: the same chats through the kit (server, streams, store) and through the engine's own batch entry point, with
  the same settings and the same number of tokens written. All batches together count: one alone differs by a tenth
  from itself, and anything else that uses the cores doubles it.
- early_stop: documents small enough that this model reaches their last record, with early stop and without, in float32,
  where this engine repeats itself whatever the batch.

Skipped, with the reason, where the engine's environment or the model is absent.
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from longtrek.answers import supervisor
from longtrek.answers.ask import ask
from longtrek.answers.client import Door
from longtrek.answers.engines import Engine, engine_for, engine_python, serve_environment
from longtrek.answers.model import EndpointEntry, Model, find_model
from longtrek.answers.preflight import Tokenizer
from longtrek.answers.request import Request
from longtrek.answers.weights import Weights, make_weights
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.paths import ROOT
from longtrek.transduction.completion import completion_of
from longtrek.transduction.documents import document
from longtrek.transduction.grid import grid
from longtrek.transduction.prompts import read_prompts
from longtrek.transduction.scoring import score
from longtrek.transduction.words import words

MODEL = "SmolLM2-135M-Instruct"
COLLECTIONS, QUESTIONS, CONTEXT = 3, 10, 6000
BLOCK = 128  # tokens of a block of the CPU engine's cache
AT_ONCE, WRITTEN, BATCHES = 32, 128, 5
SMALL_HORIZON = 768


class Kept:
    """An engine that stays up while several runs are timed: each run's start is instant, and its time is noted."""

    ours = True

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._door = engine.start()
        self._began = 0.0
        self.seconds = 0.0

    def start(self) -> Door:
        """Where the engine is; the clock starts."""
        self._began = time.perf_counter()
        return self._door

    def alive(self) -> bool:
        """Whether it runs."""
        return self._engine.alive()

    def stop(self) -> None:
        """The clock stops; the engine stays."""
        self.seconds = time.perf_counter() - self._began

    def log_tail(self) -> str:
        """The end of its log."""
        return self._engine.log_tail()

    def end(self) -> None:
        """End it."""
        self._engine.stop()


def timed(model: Model, weights: Weights, requests: Sequence[Request], kept: Kept, store: Path) -> dict[str, Any]:
    """Ask requests through the kit: rows in order, seconds from a ready engine to the last stored answer, tokens."""
    out = store.with_suffix(".out.jsonl")
    ask(model, requests, store=store, out=out, weights=weights, engine=kept, say=lambda _: None)
    rows = list(read_jsonl(out))
    record = list(read_jsonl(store.with_suffix(".runs.jsonl")))[-1]
    tokens = sum(row["usage"]["completion_tokens"] for row in rows)
    return {"rows": rows, "seconds": kept.seconds, "tokens": tokens, "cache": record.get("prefix_cache")}


def warm_up(model: Model, weights: Weights, kept: Kept, store: Path) -> None:
    """One short answer, so that no run pays for the first."""
    timed(model, weights, [Request("warm-up", [{"role": "user", "content": "Say hello."}], 8)], kept, store)


def grouping(model: Model, weights: Weights, folder: Path) -> None:
    """Print how long the questions take together and apart, and what the prefix cache served."""
    blocks = 2 * (CONTEXT // BLOCK + 8)
    small = replace(
        model,
        resource_args=("--num-gpu-blocks-override", str(blocks), "--block-size", str(BLOCK)),
        in_flight_tokens=blocks * BLOCK,
        kv_cache_gib=1,
    )
    tokenizer = Tokenizer(model, weights.folder)
    kept = Kept(engine_for(small, weights, folder / "engine.log"))
    taken = []
    try:
        warm_up(small, weights, kept, folder / "warm-up.jsonl")
        for number, (name, together) in enumerate((("grouped", True), ("not grouped", False))):
            requests = collection_questions(tokenizer, number, together)
            done = timed(small, weights, requests, kept, folder / f"{number}.jsonl")
            taken.append(done["seconds"])
            cache = done["cache"]
            print(
                f"grouping: {name:12} {len(requests)} questions on {COLLECTIONS} contexts of {CONTEXT:,} tokens "
                f"{done['seconds']:7.1f} s, cache served {cache['hit_tokens']:,} of {cache['queried_tokens']:,} tokens"
            )
    finally:
        kept.end()
    print(f"grouping: ratio {taken[1] / taken[0]:.1f} (4 or more wanted)")


def collection_questions(tokenizer: Tokenizer, seed: int, together: bool) -> list[Request]:
    """Ten questions on each of three contexts, question by question.

    All are equally long, since the kit sends the longest first: so without a prefix they go out as they stand here.
    """
    dice = random.Random(seed)
    known = [*words().adjectives, *words().nouns]
    sizes = tokenizer.count([f" {word}" for word in known])
    single = [word for word, size in zip(known, sizes, strict=True) if size == 1]
    contexts = ["Words: " + " ".join(dice.choices(single, k=CONTEXT)) for _ in range(COLLECTIONS)]
    asked = [
        Request(
            f"c{place}-q{question}",
            [{"role": "user", "content": f"{context}\n\nWhich word is number {question + 10}? Answer with the word."}],
            16,
            prefix=f"c{place}" if together else "",
        )
        for question in range(QUESTIONS)
        for place, context in enumerate(contexts)
    ]
    if len(set(tokenizer.count([one.messages[0]["content"] for one in asked]))) > 1:
        raise LongtrekError("the questions differ in length, so their order would not be kept; mend this benchmark")
    return asked


def overhead(model: Model, weights: Weights, folder: Path) -> None:
    """Print the kit's time beside the engine's own for the same chats."""
    # An endpoint's entry may carry fields of its own; the engine behind it is ours, started as a run starts it.
    body = {"ignore_eos": True}
    limits = ("--max-num-seqs", str(AT_ONCE), "--max-num-batched-tokens", "2048")
    ours = replace(model, max_concurrency=AT_ONCE, resource_args=limits)
    asked = replace(ours, endpoint=EndpointEntry("http://127.0.0.1", body=body))
    batches = [
        list(dict.fromkeys(one["prompt"] for one in documents(1024, sample)))[:AT_ONCE] for sample in range(BATCHES)
    ]
    kept = Kept(engine_for(ours, weights, folder / "engine.log"))
    kit = []
    try:
        warm_up(ours, weights, kept, folder / "warm-up.jsonl")
        for number, prompts in enumerate(batches):
            requests = [
                Request(f"d{place}", [{"role": "user", "content": prompt}], WRITTEN)
                for place, prompt in enumerate(prompts)
            ]
            kit.append(timed(asked, weights, requests, kept, folder / f"{number}.jsonl"))
    finally:
        kept.end()
    alone = engine_alone(ours, weights, folder, batches)
    for number, (one, other) in enumerate(zip(kit, alone, strict=True), 1):
        print(
            f"overhead: batch {number}, {len(batches[number - 1])} chats: the kit {one['seconds']:.1f} s for "
            f"{one['tokens']:,} tokens, the engine alone {other['seconds']:.1f} s for {other['tokens']:,}"
        )
    ours_s, alone_s = (sum(one["seconds"] for one in side) for side in (kit, alone))
    print(f"overhead: {ours_s:.1f} s and {alone_s:.1f} s, ratio {ours_s / alone_s:.2f} (at most 1.1 wanted)")


def engine_alone(
    model: Model, weights: Weights, folder: Path, batches: Sequence[Sequence[str]]
) -> list[dict[str, float]]:
    """The same chats in a process of the engine's own, through `LLM.chat`."""
    settings = {
        "arguments": {
            "model": str(weights.folder),
            "dtype": model.dtype,
            "max_model_len": model.window,
            "seed": model.sampling.seed,
            "enforce_eager": True,
            "generation_config": "vllm",
            "max_num_seqs": AT_ONCE,
            "max_num_batched_tokens": 2048,
        },
        "warm_up": [{"role": "user", "content": "Say hello."}],
        "max_tokens": WRITTEN,
        "batches": [[[{"role": "user", "content": prompt}] for prompt in prompts] for prompts in batches],
    }
    file = folder / "settings.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    script = Path(__file__).parent / "engine" / "alone.py"
    # Under the supervisor, whose end of standard input stays open until it is done: nothing of it outlives us.
    command = [sys.executable, "-I", supervisor.__file__, str(engine_python(model)), str(script), str(file)]
    pipe = subprocess.PIPE
    with (
        (folder / "alone.log").open("w") as log,
        subprocess.Popen(command, env=environment(model), stdin=pipe, stdout=pipe, stderr=log, text=True) as run,
    ):
        assert run.stdout is not None
        told = [line for line in run.stdout if line.startswith("taken:")]
    if not told:
        raise LongtrekError(f"the engine alone gave no times; the end of its log:\n{_tail(folder / 'alone.log')}")
    taken: list[dict[str, float]] = json.loads(told[0].removeprefix("taken:"))
    return taken


def environment(model: Model) -> dict[str, str]:
    """The environment in which the kit starts this engine."""
    return {**os.environ, **serve_environment(model)}


def early_stop(model: Model, weights: Weights, folder: Path) -> None:
    """Print the tokens written with early stop and without, and whether all scores are equal."""
    exact = replace(model, dtype="float32", kv_cache_gib=1, in_flight_tokens=40_000)
    found = documents(SMALL_HORIZON, 0)
    kept = Kept(engine_for(exact, weights, folder / "engine.log"))
    runs = {}
    try:
        warm_up(exact, weights, kept, folder / "warm-up.jsonl")
        for name, stops in (("without", False), ("with", True)):
            requests = [
                Request(
                    one["id"],
                    [{"role": "user", "content": one["prompt"]}],
                    one["cap"],
                    expected=one["expected"],
                    completion=watcher(one) if stops else None,
                )
                for one in found
            ]
            runs[name] = timed(exact, weights, requests, kept, folder / f"{name}.jsonl")
    finally:
        kept.end()
    whole, stopped = runs["without"]["rows"], runs["with"]["rows"]
    ended = sum(row["finish_reason"] == "complete" for row in stopped)
    begins = sum(one["text"].startswith(other["text"]) for one, other in zip(whole, stopped, strict=True))
    equal = sum(
        marks(one, before["text"]) == marks(one, after["text"])
        for one, before, after in zip(found, whole, stopped, strict=True)
    )
    saved = runs["without"]["tokens"] - runs["with"]["tokens"]
    print(
        f"early stop: {len(found)} documents, {ended} ended early: {runs['without']['tokens']:,} tokens without, "
        f"{runs['with']['tokens']:,} with, {saved:,} saved ({100 * saved / runs['without']['tokens']:.1f} %); "
        f"{runs['without']['seconds']:.1f} s and {runs['with']['seconds']:.1f} s"
    )
    print(
        f"early stop: {begins} of {len(found)} texts are the beginnings of the whole ones; "
        f"all marks of both rules equal in {equal} of {len(found)}"
    )


def documents(horizon: int, sample: int) -> list[dict[str, Any]]:
    """The documents of one sample of a small tier, of those cells whose smallest document fits it."""
    texts = read_prompts()
    found = []
    for spec in grid().specs(horizon, sample + 1):
        if spec.sample == sample:
            with contextlib.suppress(LongtrekError):
                found.append(document(spec, 0, texts))
    return found


def watcher(one: dict[str, Any]) -> Callable[[], Any]:
    """What makes a fresh watcher over an answer to a document."""
    return lambda: completion_of(one)


def marks(one: dict[str, Any], text: str) -> tuple[Any, Any]:
    """Both rules' scores of a text, record by record."""
    scored = score(one, text)
    return scored.paper, scored.strict


def _tail(path: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])


MEASURES = {"grouping": grouping, "overhead": overhead, "early_stop": early_stop}


@click.command()
@click.argument("measures", nargs=-1, type=click.Choice(list(MEASURES)))
@click.option("--weights", "made", type=click.Path(path_type=Path), default=ROOT / "results" / "weights" / MODEL)
def main(measures: tuple[str, ...], made: Path) -> None:
    """Run the named measurements, or all, with the weights that a run has made, or that are made now."""
    model = find_model(MODEL)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            python = engine_python(model)
            weights = make_weights(model, made if (made / "manifest.json").is_file() else folder / "weights", python)
        except LongtrekError as absent:
            print(f"answers: skipped, {absent}")
            return
        for measure in measures or MEASURES:
            (folder / measure).mkdir()
            MEASURES[measure](model, weights, folder / measure)


if __name__ == "__main__":
    main()
