"""A text's tokens in a model's tokenizer: counted with the tokenizer where it is at hand, else estimated.

The estimate starts from the text's `cl100k_base` tokens, which are known, and changes its digits alone:
`cl100k_base` makes one token of up to three digits, and a tokenizer that splits digits one of each. Numbers are most
of these documents, and no tokenizer joins a digit with anything else, so that this is nearly all of the difference.
What is left is how a vocabulary cuts letters and marks. `MARGIN` bounds it; a test holds both against a tokenizer
that is very unlike `cl100k_base`: 49,152 tokens, digits split, and marks never joined with the letters after them,
which `cl100k_base` does in `a0+v0`. Nearly always the estimate is the smaller number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longtrek.answers.model import Model
from longtrek.answers.preflight import Tokenizer
from longtrek.answers.weights import MANIFEST, read_weights
from longtrek.errors import LongtrekError
from longtrek.transduction.grid import DocumentSpec

GROUPED, SPLIT = "grouped", "split"
MARGIN: Mapping[str, tuple[float, float]] = {
    "arithmetic": (0.01, 0.005),
    "uuid_sort": (0.06, 0.06),
    "lookup": (0.06, 0.06),
    "permute_homogeneous": (0.02, 0.02),
    "permute_heterogeneous": (0.07, 0.07),
    "resolve": (0.55, 0.20),
}
"""How far estimates may be off, as a share of them, for prompt and gold output; by family, of tables by format."""


def digit_tokens(text: str) -> tuple[int, int]:
    """The digits of a text, and the tokens that `cl100k_base` makes of them: one for up to three in a row."""
    codes = np.frombuffer(text.encode(), dtype=np.uint8)
    digits = np.concatenate(([False], (codes >= ord("0")) & (codes <= ord("9")), [False]))
    edges = np.flatnonzero(digits[1:] != digits[:-1])
    lengths = edges[1::2] - edges[::2]
    return int(lengths.sum()), int((-(-lengths // 3)).sum())


def estimates(text: str, cl100k: int) -> dict[str, int]:
    """A text's tokens by how a tokenizer cuts digits, from its `cl100k_base` tokens."""
    digits, grouped = digit_tokens(text)
    return {GROUPED: cl100k, SPLIT: cl100k - grouped + digits}


@dataclass(frozen=True)
class Counter:
    """How a model's tokens are counted: `name` is `grouped`, `split`, or that of a tokenizer at hand.

    `tokenizer` is None where the counts are estimates; `why` then says so in words.
    """

    name: str
    tokenizer: Tokenizer | None
    why: str

    @property
    def exact(self) -> bool:
        """Whether the model's own tokenizer counts."""
        return self.tokenizer is not None

    def margin(self, spec: DocumentSpec) -> tuple[float, float]:
        """How far the counts of a document's prompt and gold output may be off, as shares of them."""
        return (0.0, 0.0) if self.exact else margin(spec.family, spec.format)


def margin(family: str, form: str) -> tuple[float, float]:
    """`MARGIN` of a family and format."""
    return MARGIN[form if family == "table" else family]


def counter_of(model: Model, results: Path) -> Counter:
    """The counter of a model: its own tokenizer where that lies on this machine, else an estimate."""
    folder = tokenizer_folder(model, results / "weights" / model.name)
    rule = model.digits or GROUPED
    words = "each digit a token" if rule == SPLIT else "up to three digits a token"
    if not model.digits:
        words += ", as nothing else is said in its entry"
    if folder is None:
        return Counter(rule, None, f"estimate ({words})")
    try:
        return Counter(model.name, Tokenizer(model, folder), "its own tokenizer")
    except LongtrekError as error:
        return Counter(rule, None, f"estimate ({words}); {error}")


def tokenizer_folder(model: Model, made: Path) -> Path | None:
    """Where a model's tokenizer lies on this machine: as its weights' manifest says, in its folder, or in the cache."""
    if not model.is_asked:
        return None
    if (made / MANIFEST).is_file():
        return read_weights(made).folder
    if model.weights and "folder" in model.weights:
        folder = Path(model.weights["folder"]).expanduser()
        return folder if (folder / "tokenizer_config.json").is_file() else None
    if model.weights or not model.repository or model.engine == "endpoint":
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(model.repository, "tokenizer_config.json", revision=model.revision)
    return Path(found).parent if isinstance(found, str) else None
