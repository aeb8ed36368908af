"""Documents of the table family whose cells are keys to resolve (appendix A, "CSV KV resolution", Table 1)."""

from dataclasses import dataclass

import numpy as np

from longtrek.errors import LongtrekError
from longtrek.transduction.grid import DocumentSpec
from longtrek.transduction.numbered import Rendered
from longtrek.transduction.prompts import Prompt
from longtrek.transduction.stream import Key, Numbers, bounded, draws, permutation
from longtrek.transduction.tables import alike_tokens, csv, laid_out, share_of, sized, square
from longtrek.transduction.tokens import count
from longtrek.transduction.words import words

Pairs = tuple[Numbers, Numbers]


@dataclass(frozen=True)
class Vocabulary:
    """The adjectives and nouns of the tables of one horizon and sample, in the order of their keys."""

    adjectives: list[str]
    nouns: list[str]

    def definitions(self, size: int) -> str:
        """The first `size` adjectives, then as many nouns, a line each, and an empty line."""
        adjectives = "".join(f"a{i}={word}\n" for i, word in enumerate(self.adjectives[:size]))
        nouns = "".join(f"v{i}={word}\n" for i, word in enumerate(self.nouns[:size]))
        return f"{adjectives}{nouns}\n"


def vocabulary(key: Key) -> Vocabulary:
    """Draw the order in which words are given to keys."""
    lists = words()
    adjectives = permutation((*key, "adjectives"), len(lists.adjectives))
    nouns = permutation((*key, "nouns"), len(lists.nouns))
    return Vocabulary([lists.adjectives[i] for i in adjectives], [lists.nouns[i] for i in nouns])


def table_size(spec: DocumentSpec, key: Key, head: str) -> int:
    """The largest M whose M×M grid with its whole vocabulary of M adjectives and M nouns fits the budget.

    A grid's tokens do not depend on which keys it holds: every cell is the same four pieces.
    """
    drawn = vocabulary(key)
    size = sized(spec, count(head), lambda n: count(drawn.definitions(n)) + alike_tokens(n, "a0+v0"))
    if size > min(len(drawn.adjectives), len(drawn.nouns)):
        raise LongtrekError(
            f"{spec.cell}: a {size}×{size} grid needs {size} adjectives and as many nouns, but the word list has "
            f"{len(drawn.adjectives)} and {len(drawn.nouns)}; use a smaller horizon"
        )
    return size


def resolve(specs: list[DocumentSpec], key: Key, heads: dict[str, Prompt]) -> list[Rendered]:
    """Build the documents of some of the four shares over the same grid size and word list."""
    head, drawn = heads["resolve"].head, vocabulary(key)
    size = table_size(specs[0], key, head)
    plain, table_tokens = list(range(size)), alike_tokens(size, "a0+v0")
    found = []
    for spec in specs:
        active = share_of(size, spec.difficulty)
        left = bounded(draws((*key, "left"), size**2), active)
        right = bounded(draws((*key, "right"), size**2), active)
        joined = list(zip(left.tolist(), right.tolist(), strict=True))
        keys = laid_out(size, [f"a{i}+v{j}" for i, j in joined])
        phrases = laid_out(size, [f"{drawn.adjectives[i]} {drawn.nouns[j]}" for i, j in joined])
        definitions = drawn.definitions(active)
        prompt = head + definitions + csv(keys, plain, plain)
        prompt_tokens = count(head) + count(definitions) + table_tokens
        expected_tokens = _expected_tokens(size, drawn, (left, right), active)
        found.append(Rendered(prompt, csv(phrases, plain, plain), size**2, prompt_tokens, expected_tokens))
    return found


def _expected_tokens(size: int, drawn: Vocabulary, pairs: Pairs, active: int) -> int:
    """The tokens of the expected table by its parts: `[R0],`, then `quick`, ` fox`, `,quiet`, ` harbor`, …"""
    left, right = (indices[square(size)] for indices in pairs)
    first = np.array([count(word) for word in drawn.adjectives[:active]])
    further = np.array([count("," + word) for word in drawn.adjectives[:active]])
    nouns = np.array([count(" " + word) for word in drawn.nouns[:active]])
    cells = int(first[left[:, 0]].sum() + further[left[:, 1:]].sum() + nouns[right].sum())
    header, label = csv([[""] * size], [0], list(range(size))).split("\n")[0], "[R0],"
    return count(header + "\n") + size * (count(label) + 1) - 1 + cells
