"""Seeded draws that stay the same on every Python, every numpy and every machine.

The stream is SHAKE-128 (FIPS 202) of the draw's name: its bytes are fixed by a standard, not by a library's
version. Every purpose draws from a stream of its own, and the first n draws of a stream do not depend on how
many are taken, so a document can be rebuilt alone and records can be drawn until a budget is full.
"""

import hashlib

import numpy as np
import numpy.typing as npt

from longtrek.files import canonical_json

Draws = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Key = tuple[str | int, ...]

_HALF = np.uint64(32)


def draws(key: Key, count: int) -> Draws:
    """The first `count` 64-bit draws of the stream that `key` names."""
    name = canonical_json(list(key)).encode()
    return np.frombuffer(hashlib.shake_128(name).digest(8 * count), dtype="<u8").astype(np.uint64)


def bounded(raw: Draws, size: int) -> Numbers:
    """Map draws to 0 .. size-1 by the upper 32 bits; the bias is below size / 2³², too small to matter here."""
    return (((raw >> _HALF) * np.uint64(size)) >> _HALF).astype(np.int64)


def permutation(key: Key, size: int) -> list[int]:
    """A random order of 0 .. size-1: the order that sorts `size` draws."""
    order: list[int] = np.argsort(draws(key, size), kind="stable").tolist()
    return order


def moved(key: Key, size: int, count: int) -> list[int]:
    """A random order of 0 .. size-1 in which exactly `count` positions, drawn at random, do not hold their own.

    Args:
        key: names the stream.
        size: positions, at least `count`.
        count: positions to move, at least 2 (one alone cannot move).
    """
    chosen = sorted(permutation((*key, "positions"), size)[:count])
    order = list(range(size))
    attempt = 0
    while True:  # a shuffle moves all of two or more positions with a chance of at least 1/3, so this ends
        shuffle = permutation((*key, "values", attempt), count)
        if all(source != target for target, source in enumerate(shuffle)):
            break
        attempt += 1
    for target, source in enumerate(shuffle):
        order[chosen[target]] = chosen[source]
    return order
