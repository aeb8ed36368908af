"""The adjectives and nouns that keys stand for, frozen in `words.txt` and pinned by hash."""

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

from longtrek.errors import LongtrekError

WORDS_FILE = Path(__file__).with_name("words.txt")
WORDS_SHA256 = "e0701600c1fe6a57a4c99ca9e69cbe6ba705ea5ca1877c21a9fa16036d74c82a"


@dataclass(frozen=True)
class Words:
    """Single lowercase words, sorted, no word in both lists."""

    adjectives: tuple[str, ...]
    nouns: tuple[str, ...]


@functools.cache
def words() -> Words:
    """Read the pinned word list.

    Raises:
        LongtrekError: the file is not the one that the frozen documents were made from.
    """
    raw = WORDS_FILE.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != WORDS_SHA256:
        raise LongtrekError(
            f"{WORDS_FILE}: SHA-256 is {found}, expected {WORDS_SHA256}; "
            "restore the file, since another word list makes other documents"
        )
    _, _, entries = raw.decode().partition("\nadjectives\n")
    adjectives, _, nouns = entries.partition("\nnouns\n")
    return Words(tuple(adjectives.split()), tuple(nouns.split()))
