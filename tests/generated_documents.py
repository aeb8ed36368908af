"""Long-Transduction's documents in tests: the grid's cells, one of them built, and what stands in a prompt."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from longtrek.transduction.documents import document
from longtrek.transduction.grid import DocumentSpec, grid
from longtrek.transduction.prompts import read_prompts

PROMPTS = read_prompts()
SEED = 7
CELLS = [(spec.family, spec.format, spec.difficulty) for spec in grid().specs(4096, 1)]
NUMBERED = ["arithmetic", "uuid_sort", "lookup"]
few = settings(max_examples=30, deadline=None)


# The lookup pool of 256 alone needs some 1,500 tokens, so it cannot go below a budget of about 2,000.
horizons = st.integers(4000, 7000)
seeds = st.integers(0, 2**40)
samples = st.integers(0, 9)


def input_of(built: dict[str, Any]) -> str:
    """What follows the last line `Input:` of a prompt."""
    return str(built["prompt"]).rpartition("\nInput:\n")[2]


def table_of(text: str) -> list[list[str]]:
    """A table's lines cut at commas."""
    return [line.split(",") for line in text.split("\n")]


def build_cell(family: str, form: str, difficulty: float, horizon: int = 4096, seed: int = SEED) -> dict[str, Any]:
    return document(DocumentSpec(family, form, difficulty, horizon, 0), seed, PROMPTS)
