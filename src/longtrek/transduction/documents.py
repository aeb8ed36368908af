"""Documents: a pure function of the root seed, the prompts and the document's place in the grid (section 2)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from longtrek.transduction import numbered, resolve, tables
from longtrek.transduction.grid import DocumentSpec, grid, groups, json_number
from longtrek.transduction.prompts import Prompt, Prompts
from longtrek.transduction.stream import Key

Document = dict[str, Any]
Builder = Callable[[list[DocumentSpec], Key, dict[str, Prompt]], list[numbered.Rendered]]


def document(spec: DocumentSpec, seed: int, prompts: Prompts) -> Document:
    """Build one document alone; it equals, byte for byte, the same document of a whole tier.

    Args:
        spec: the document's place in the grid.
        seed: the root seed.
        prompts: the twelve templates; the budget depends on all formats of the family.

    Returns:
        id, family, format, difficulty, horizon, sample, prompt, expected, budget, cap, records (table: cells),
        prompt_tokens and expected_tokens (both `cl100k_base`), prompt_sha256 (of the template's file).

    Raises:
        LongtrekError: the grid has no such document, or its budget cannot hold one record.
    """
    return documents_of([grid().check(spec)], seed, prompts)[0]


def documents_of(specs: Sequence[DocumentSpec], seed: int, prompts: Prompts) -> list[Document]:
    """Build documents that hold the same records (equal `DocumentSpec.shared`), sizing them once."""
    first = specs[0]
    key: Key = (seed, *first.shared)
    heads = {name: prompts[first.family, name] for name in grid().families[first.family]}
    rendered = _builder(first)(list(specs), key, heads)
    return [_document(spec, text, heads[spec.format]) for spec, text in zip(specs, rendered, strict=True)]


def _builder(spec: DocumentSpec) -> Builder:
    if spec.family != "table":
        return numbered.render
    return resolve.resolve if spec.format == "resolve" else tables.permute


def _document(spec: DocumentSpec, text: numbered.Rendered, prompt: Prompt) -> Document:
    return {
        "id": spec.id,
        "family": spec.family,
        "format": spec.format,
        "difficulty": json_number(spec.difficulty),
        "horizon": spec.horizon,
        "sample": spec.sample,
        "prompt": text.prompt,
        "expected": text.expected,
        "budget": spec.budget,
        "cap": spec.cap,
        "records": text.records,
        "prompt_tokens": text.prompt_tokens,
        "expected_tokens": text.expected_tokens,
        "prompt_sha256": prompt.sha256,
    }


def table_1(seed: int, prompts: Prompts, horizons: Iterable[int] | None, samples: int | None) -> list[dict[str, Any]]:
    """Table 1: the adjectives (as many nouns) in use in the resolve tables, computed from the grids themselves.

    Args:
        seed: the root seed.
        prompts: the twelve templates.
        horizons: nominal tokens (the grid's where None).
        samples: grids a horizon (the grid's where None).

    Returns:
        a row a horizon × share: horizon, share, sizes (M of every sample), active (in use in every sample).
    """
    head = prompts["table", "resolve"].head
    rows = []
    for horizon in grid().horizons if horizons is None else horizons:
        tier = [spec for spec in grid().specs(horizon, samples) if spec.format == "resolve"]
        same = groups(tier)
        sizes = [resolve.table_size(group[0], (seed, *group[0].shared), head) for group in same]
        for share in (spec.difficulty for spec in same[0]):
            active = [tables.share_of(size, share) for size in sizes]
            rows.append({"horizon": horizon, "share": json_number(share), "sizes": sizes, "active": active})
    return rows
