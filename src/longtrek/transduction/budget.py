"""Input budgets: the largest that fits, and the error for one that holds nothing."""

import math
from collections.abc import Callable

from longtrek.errors import LongtrekError
from longtrek.transduction.grid import DocumentSpec

SMALLEST_TABLE = 2


def too_small(spec: DocumentSpec, what: str, needed: int) -> LongtrekError:
    """The error for a budget that cannot hold one record or the smallest table: cell, needed and available tokens."""
    return LongtrekError(
        f"{spec.cell}: the prompt with {what} needs {needed} cl100k_base tokens, but the input budget is "
        f"{spec.budget} (half the horizon {spec.horizon}); "
        f"use a horizon of at least {2 * needed} or a shorter prompt file"
    )


def largest_table(cost: Callable[[int], int], room: int) -> int | None:
    """The largest n ≥ 2 whose n×n table costs at most `room` tokens; None where not even 2×2 does.

    `cost` must grow with n. It is asked a few times only: its root is nearly a line in n, which gives the guesses.
    """
    fits, bound = SMALLEST_TABLE, math.inf
    smallest = cost(fits)
    if smallest > room:
        return None
    root = math.sqrt(smallest)
    slope = root / fits
    while bound - fits > 1:
        guess = math.floor(fits + (math.sqrt(room) - root) / slope)
        guess = int(min(max(guess, fits + 1), bound - 1))
        tried = cost(guess)
        if tried > room:
            bound = guess
            continue
        slope = (math.sqrt(tried) - root) / (guess - fits)
        fits, root = guess, math.sqrt(tried)
    return fits
