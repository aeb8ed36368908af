"""The authors' prepared documents as the documents of a run, in place of generated ones.

They keep their own prompts, records and caps; only their names are the kit's, so that everything downstream finds
them. Answers that the authors' environment made to them (its rollouts) can then be imported.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longtrek.errors import LongtrekError
from longtrek.files import atomic
from longtrek.transduction.authors import read_documents
from longtrek.transduction.build import Line, Tier, line_of, write_tier
from longtrek.transduction.grid import DocumentSpec, grid, json_number
from longtrek.transduction.tokens import count


def write_released(source: Path, out: Path, horizons: Sequence[int]) -> Iterator[Tier]:
    """Write the authors' documents of each horizon to `out/<horizon>.jsonl.zst`, in the order of their file.

    Args:
        source: the authors' prepared JSON lines (`.jsonl` or `.jsonl.zst`).
        out: the folder of the tiers' files.
        horizons: nominal tokens, twice the input budget that a row states; rows of other horizons are left out.

    Yields what there is to say of each tier, ascending. A row's sample is its place among those of its cell, from 0.

    Raises:
        LongtrekError: a row is not of the authors' shape or not of the paper's grid, or a horizon has no rows.
    """
    tiers: dict[int, list[tuple[DocumentSpec, Line]]] = defaultdict(list)
    for number, document in enumerate(read_documents(source)):
        if document["horizon"] in horizons:
            tiers[document["horizon"]].append(_named(document, f"{source}, row {number} (from 0)"))
    absent = [str(horizon) for horizon in horizons if horizon not in tiers]
    if absent:
        raise LongtrekError(
            f"{source}: holds no documents of {', '.join(absent)} tokens (twice their target_tokens); take those "
            "horizons out of transduction.horizons and transduction.ask.horizons, or give the file that holds them"
        )
    for horizon in sorted(tiers):
        with atomic(out / f"{horizon}.jsonl.zst") as stream:
            lines = (line for _, line in tiers[horizon])
            tier = write_tier(stream, lines, tiers[horizon][0][0], lambda _: "the authors' own")
        yield tier


def _named(document: Mapping[str, Any], where: str) -> tuple[DocumentSpec, Line]:
    """A document under the kit's name, as a line of its tier."""
    try:
        spec, made = named(document)
    except LongtrekError as error:
        raise LongtrekError(f"{where}: {error}") from None
    tokens = made["prompt_tokens"]
    return spec, Line(spec.id, tokens, tokens, made["expected_tokens"], line_of(made))


def named(document: Mapping[str, Any]) -> tuple[DocumentSpec, dict[str, Any]]:
    """A document under the kit's name, with its tokens counted.

    Raises:
        LongtrekError: it is not of the paper's grid.
    """
    spec = grid().check(
        DocumentSpec(*(document[name] for name in ("family", "format", "difficulty", "horizon", "sample")))
    )
    tokens = {"prompt_tokens": count(document["prompt"]), "expected_tokens": count(document["expected"])}
    return spec, {**document, "id": spec.id, "difficulty": json_number(spec.difficulty), **tokens}
