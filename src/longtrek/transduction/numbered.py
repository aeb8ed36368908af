"""Documents of the numbered families: how many records fit, and the three formats of the same records."""

import functools
from dataclasses import dataclass

import numpy as np

from longtrek.transduction.budget import too_small
from longtrek.transduction.grid import DocumentSpec
from longtrek.transduction.prompts import Prompt
from longtrek.transduction.records import FAMILIES, Records
from longtrek.transduction.stream import Key, permutation
from longtrek.transduction.tokens import Counts, count

_FIRST_DRAW = 64


@dataclass(frozen=True)
class Rendered:
    """A document's texts and their `cl100k_base` tokens."""

    prompt: str
    expected: str
    records: int
    prompt_tokens: int
    expected_tokens: int


def fill(spec: DocumentSpec, key: Key, heads: dict[str, Prompt]) -> Records:
    """Draw as many records as fit the budget in the longest of the three formats' prompts.

    Args:
        spec: any of the documents that share these records.
        key: names their streams.
        heads: the prompt of each of the three formats.

    Raises:
        LongtrekError: the budget cannot hold one record.
    """
    draw = functools.partial(FAMILIES[spec.family], key, int(spec.difficulty))
    drawn = _FIRST_DRAW
    while True:
        records = draw(drawn)
        used = np.max([_prompt_tokens(records, name, prompt) for name, prompt in heads.items()], axis=0)
        size = int(np.searchsorted(used, spec.budget, side="right"))
        if size < drawn:
            break
        mean = (used[-1] - used[0]) / (drawn - 1)
        drawn = max(drawn + drawn // 4, int(1.02 * spec.budget / mean))
    if size == 0:
        raise too_small(spec, "one record", int(used[0]))
    return Records(records.preamble, records.inputs.first(size), records.outputs.first(size))


def _prompt_tokens(records: Records, format_: str, prompt: Prompt) -> Counts:
    """The tokens of a format's prompt with the first 1, 2, … records."""
    fixed = count(prompt.head) + (count(records.preamble) if records.preamble else 0)
    lines = records.inputs.bare if format_ == "no_ids" else records.inputs.numbered_tokens()
    return fixed + _joined_tokens(lines)


def _joined_tokens(lines: Counts) -> Counts:
    """The tokens of the first 1, 2, … lines joined by line feeds, each of which is a token after a letter or digit."""
    joined: Counts = np.cumsum(lines + 1) - 1
    return joined


def render(specs: list[DocumentSpec], key: Key, heads: dict[str, Prompt]) -> list[Rendered]:
    """Build the documents of some of the three formats over the same records."""
    records = fill(specs[0], key, heads)
    inputs, outputs = records.inputs, records.outputs
    size = len(inputs.texts)
    lines, gold, gold_tokens = inputs.numbered(), outputs.numbered(), outputs.numbered_tokens()
    expected = "\n".join(gold)
    found = []
    for spec in specs:
        shown, answer, answer_tokens = lines, expected, gold_tokens
        if spec.format == "shuffled":
            shown = [lines[i] for i in permutation((*key, "order"), size)]
        elif spec.format == "no_ids":
            shown, answer, answer_tokens = inputs.texts, "\n".join(outputs.texts), outputs.bare
        prompt = heads[spec.format]
        prompt_tokens = int(_prompt_tokens(records, spec.format, prompt)[-1])
        text = prompt.head + records.preamble + "\n".join(shown)
        found.append(Rendered(text, answer, size, prompt_tokens, int(_joined_tokens(answer_tokens)[-1])))
    return found
