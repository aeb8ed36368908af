"""The build of whole tiers: every document written, hashed, summed up and compared with the frozen ones."""

import concurrent.futures
import contextlib
import functools
import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from longtrek.errors import LongtrekError
from longtrek.files import atomic
from longtrek.transduction.documents import Document, documents_of
from longtrek.transduction.frozen import Built, line_digest
from longtrek.transduction.grid import DocumentSpec, grid, groups
from longtrek.transduction.prompts import Prompts
from longtrek.transduction.tokens import count, encoding

SUMMARY = (
    "horizon",
    "documents",
    "prompt_mean",
    "prompt_max",
    "longest_mean",
    "output_mean",
    "fill",
    "verdict",
    "sha256",
)
"""The columns of `documents/summary.csv`."""


@dataclass(frozen=True)
class Line:
    """A document's line and its tokens; `longest` is the longest prompt of the formats that hold its records."""

    id: str
    prompt_tokens: int
    longest: int
    expected_tokens: int
    text: bytes


@dataclass(frozen=True)
class Tier:
    """What the build says of a tier; tokens are `cl100k_base`.

    `longest_mean` counts for each document the longest prompt of the three formats that hold its records (a
    table's own): it is what the budget is set on. `fill` is this mean by the input budget.
    """

    horizon: int
    documents: int
    prompt_mean: float
    prompt_max: int
    longest_mean: float
    output_mean: float
    fill: float
    built: Built
    verdict: str


def line_of(document: Document) -> bytes:
    """A document as a line of its tier's file: JSON with its fields in their order, UTF-8, a line feed."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _lines_of(seed: int, prompts: Prompts, recount: bool, specs: Sequence[DocumentSpec]) -> list[Line]:
    documents = documents_of(specs, seed, prompts)
    if recount:
        for document in documents:
            _recount(document)
    longest = max(document["prompt_tokens"] for document in documents)
    return [
        Line(
            document["id"],
            document["prompt_tokens"],
            document["prompt_tokens"] if document["family"] == "table" else longest,
            document["expected_tokens"],
            line_of(document),
        )
        for document in documents
    ]


def _recount(document: Document) -> None:
    for text, tokens in (("prompt", "prompt_tokens"), ("expected", "expected_tokens")):
        whole = count(document[text])
        if whole != document[tokens]:
            raise LongtrekError(
                f"{document['id']}: {tokens} is {document[tokens]}, but the whole text has {whole} cl100k_base "
                "tokens; the counting by parts is wrong for this prompt or word list"
            )


def check_budget(horizon: int, seed: int, prompts: Prompts) -> None:
    """Build one sample of a tier and throw it away, so that a budget that is too small is known before a run starts.

    Raises:
        LongtrekError: the budget cannot hold one record, or the smallest table, of some cell.
    """
    for specs in groups(grid().specs(horizon, 1)):
        documents_of(specs, seed, prompts)


@contextlib.contextmanager
def _mapper(cores: int) -> Iterator[Callable[..., Iterable[Any]]]:
    if cores == 1:
        yield map
        return
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(cores, mp_context=context) as pool:
        try:
            yield pool.map
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def build(
    out: Path,
    tiers: Sequence[Sequence[DocumentSpec]],
    seed: int,
    prompts: Prompts,
    cores: int = 1,
    recount: bool = False,
    check: Callable[[Built], str] = lambda built: "not compared",
) -> Iterator[Tier]:
    """Write each tier's documents to `out/<horizon>.jsonl.zst` and yield what there is to say of it.

    The bytes depend on the seed, the prompts and the specs alone, not on the number of cores.

    Args:
        out: the folder of the tiers' files.
        tiers: the documents of each tier, in file order, one horizon a tier.
        seed: the root seed.
        prompts: the twelve templates.
        cores: processes.
        recount: also count every text whole and fail where the counting by parts was wrong.
        check: looks at a tier's hashes before its file gets its name, and says in a few words how they stand; where
            it raises, the tier is not written.

    Raises:
        LongtrekError: a budget cannot hold one record (the smallest horizon is built first, so that nothing is
            written then), or `check` raised.
    """
    encoding()  # read once here: forked processes share it
    work = functools.partial(_lines_of, seed, prompts, recount)
    with _mapper(cores) as mapped:
        ascending = sorted(tiers, key=lambda specs: specs[0].horizon)
        waiting = [(specs, mapped(work, groups(specs))) for specs in ascending]
        for specs, results in waiting:
            horizon = specs[0].horizon
            lines = (line for group in results for line in group)
            with atomic(out / f"{horizon}.jsonl.zst") as stream:
                tier = write_tier(stream, lines, specs[0], check)
            yield tier


def write_tier(stream: BinaryIO, lines: Iterator[Line], spec: DocumentSpec, check: Callable[[Built], str]) -> Tier:
    """Write a tier's lines, zstd-compressed, and say what they come to; `spec` is any of the tier's documents'."""
    whole, digests = hashlib.sha256(), dict[str, str]()
    prompt_tokens, longest, output_tokens = list[int](), 0, 0
    with zstandard.ZstdCompressor(level=3).stream_writer(stream, closefd=False) as sink:
        for line in lines:
            whole.update(line.text)
            digests[line.id] = line_digest(line.text)
            prompt_tokens.append(line.prompt_tokens)
            longest += line.longest
            output_tokens += line.expected_tokens
            sink.write(line.text)
    documents = len(digests)
    built = Built(spec.horizon, whole.hexdigest(), digests)
    return Tier(
        spec.horizon,
        documents,
        sum(prompt_tokens) / documents,
        max(prompt_tokens),
        longest / documents,
        output_tokens / documents,
        longest / documents / spec.budget,
        built,
        check(built),
    )


def summary(tiers: Iterable[Tier]) -> str:
    """The tiers as CSV: one line a tier."""
    lines = [",".join(SUMMARY)]
    for tier in tiers:
        said = (getattr(tier, name) for name in SUMMARY[:-1])
        shown = [f"{value:.4f}" if isinstance(value, float) else value for value in said]
        lines.append(",".join(str(value) for value in (*shown, tier.built.sha256)))
    return "\n".join(lines) + "\n"
