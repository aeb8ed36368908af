"""Grids of the table family, and the documents that ask for a new order of rows and columns (appendix A)."""

import functools
import uuid
from collections.abc import Callable
from operator import itemgetter

import numpy as np

from longtrek.errors import LongtrekError
from longtrek.transduction.budget import SMALLEST_TABLE, largest_table, too_small
from longtrek.transduction.grid import DocumentSpec
from longtrek.transduction.numbered import Rendered
from longtrek.transduction.prompts import Prompt
from longtrek.transduction.stream import Key, Numbers, bounded, draws, moved
from longtrek.transduction.tokens import count

Cells = list[list[str]]
GAP = "\n\n"  # between a table and the orders asked for; a cell that ends in a hyphen shares a token with it
MOST_ALIKE = 1000  # labels 0 to 999 are one token each


def share_of(size: int, share: float) -> int:
    """How many of `size` rows, columns or words a share is: `max(2, round(size·share))` (appendix A, Table 1)."""
    return max(2, round(size * share))


def square(size: int) -> Numbers:
    """Where in a stream of cells each cell of a square stands: a smaller square is the corner of a larger one."""
    rows, columns = np.indices((size, size))
    edge = np.maximum(rows, columns)
    index: Numbers = edge * edge + np.where(rows < edge, rows, edge + columns)
    return index


def laid_out(size: int, flat: list[str]) -> Cells:
    """Lay a stream of cells out as a square."""
    return [[flat[i] for i in row] for row in square(size).tolist()]


def homogeneous(key: Key, size: int) -> Cells:
    """Draw a square of integers from 1000 to 9999."""
    return laid_out(size, [str(1000 + value) for value in bounded(draws((*key, "cells"), size**2), 9000).tolist()])


def heterogeneous(key: Key, size: int) -> Cells:
    """Draw a square of the first 1 to 36 characters (length uniform) of random UUIDs."""
    lengths = (1 + bounded(draws((*key, "lengths"), size**2), 36)).tolist()
    raw = draws((*key, "uuids"), 2 * size**2).astype(">u8").tobytes()
    uuids = (str(uuid.UUID(bytes=raw[i : i + 16], version=4)) for i in range(0, len(raw), 16))
    return laid_out(size, [text[:length] for text, length in zip(uuids, lengths, strict=True)])


PERMUTED: dict[str, Callable[[Key, int], Cells]] = {
    "permute_homogeneous": homogeneous,
    "permute_heterogeneous": heterogeneous,
}


def csv(cells: Cells, rows: list[int], columns: list[int]) -> str:
    """Write a table with labels `[R0]` and `[C0]`, its rows and columns in the given orders."""
    pick = itemgetter(*columns)
    lines = ["," + ",".join(f"[C{j}]" for j in columns)]
    lines += [f"[R{i}]," + ",".join(pick(cells[i])) for i in rows]
    return "\n".join(lines)


def alike_tokens(size: int, cell: str) -> int:
    """The tokens of a square table whose cells all have as many tokens as `cell`, whatever they hold.

    So all rows are alike too: labels 0 to 999 are one token each, and a row ends in a letter or digit, after which
    the line feed is a token.
    """
    if size > MOST_ALIKE:
        raise LongtrekError(f"a table of {size} rows is too large to count by rows; use a smaller horizon")
    header, row = csv([[cell] * size], [0], list(range(size))).split("\n")
    return count(header + "\n") + size * count(row + "\n") - 1


def _orders(rows: list[int], columns: list[int]) -> str:
    row_order = ",".join(f"[R{i}]" for i in rows)
    column_order = ",".join(f"[C{j}]" for j in columns)
    return f"New row order: {row_order}\nNew column order: {column_order}"


def sized(spec: DocumentSpec, head_tokens: int, cost: Callable[[int], int]) -> int:
    """The size of the largest table that fits the budget; an error where not even 2×2 does."""
    size = largest_table(cost, spec.budget - head_tokens)
    if size is None:
        raise too_small(spec, "the smallest table (2×2)", head_tokens + cost(SMALLEST_TABLE))
    return size


def permute(specs: list[DocumentSpec], key: Key, heads: dict[str, Prompt]) -> list[Rendered]:
    """Build the documents of some of the four shares over the same grid, the largest that fits.

    The table comes first, so that the four prompts share it as their beginning and an engine reads it once. A
    prompt's tokens do not depend on the orders asked for: each list holds the same labels, and every label is the
    same three pieces. So one count serves the four shares.
    """
    head, draw = heads[specs[0].format].head, functools.partial(PERMUTED[specs[0].format], key)
    alike = specs[0].format == "permute_homogeneous"

    @functools.cache
    def table_tokens(size: int, after: str) -> int:
        plain = list(range(size))
        return alike_tokens(size, "1000") + count(after) if alike else count(csv(draw(size), plain, plain) + after)

    def cost(size: int) -> int:
        return table_tokens(size, GAP) + count(_orders(list(range(size)), list(range(size))))

    size = sized(specs[0], count(head), cost)
    cells, plain = draw(size), list(range(size))
    table, prompt_tokens = csv(cells, plain, plain), count(head) + cost(size)
    found = []
    for spec in specs:
        positions, share = share_of(size, spec.difficulty), f"{spec.difficulty:g}"
        rows = moved((*key, share, "rows"), size, positions)
        columns = moved((*key, share, "columns"), size, positions)
        expected = csv(cells, rows, columns)
        expected_tokens = table_tokens(size, "") if alike else count(expected)
        prompt = head + table + GAP + _orders(rows, columns)
        found.append(Rendered(prompt, expected, size**2, prompt_tokens, expected_tokens))
    return found
