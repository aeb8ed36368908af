"""What a line says, without its presentation: the first half of the rule `strict-1`.

Taken away: escapes, emphasis, inline code and maths delimiters, quotes round a block, typographic variants of ASCII
characters, and the special tokens that end a turn. Kept: every character that could be part of a record.
"""

import re

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SPACES = "\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
_NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0f"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u2032"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u2033\u00ab\u00bb"
_VARIANTS = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_SPACES, " ")
    | dict.fromkeys(_NOTHING)
    | dict.fromkeys(_SINGLE_QUOTES, "'")
    | dict.fromkeys(_DOUBLE_QUOTES, '"')
)

_BREAKS = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
_ADORNED = re.compile(r"[\\*_`$<>~]")
_FENCE = re.compile(r"\s*(?:>\s*)*(?:```+|~~~+)[\w+-]*\s*")
_TURN = re.compile(r"<\|[^|<>\n]*\|>|</s>|<eos>|<end_of_turn>")
_BOXED = re.compile(r"\\(?:boxed|text|mathrm|mathbf)\{([^{}]*)\}")
_MINUS = re.compile(r"\\(?:minus|textminus)(?![A-Za-z])")
_INLINE_MATHS = re.compile(r"\\\(([^\\]*)\\\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG = re.compile(r"</?(?:b|strong|i|em|u|code|mark|br|p|tt|kbd)\s*/?>", re.IGNORECASE)
_QUOTED_BLOCK = re.compile(r"^(?:\s*>)+\s?")
# The opening mark must not follow a letter or digit: `2**3` is a power, `1*1` a product. No pattern reads past
# a mark of its own kind, so that an endless line of them is read in linear time.
_EMPHASIS = (
    re.compile(r"(?<![\w*])\*\*\*?(?=\S)([^*]+)(?<=\S)\*\*\*?(?!\*)"),
    re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])"),
    re.compile(r"(?<!\w)__(?=\S)([^_]+)(?<=\S)__(?!\w)"),
    re.compile(r"(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)"),
    re.compile(r"(?<!`)`{1,3}([^`]+)`{1,3}"),
    re.compile(r"(?<!\$)\${1,2}([^$]+)\${1,2}"),
)


def split_lines(line: str) -> list[str]:
    """Split what stands between two line feeds at the other line breaks that a reader sees."""
    return [line] if line.isprintable() else _BREAKS.split(line)


def plain(line: str) -> str:
    """A line without its presentation and the spaces at its ends; empty for a fence."""
    if not line.isascii():
        line = line.translate(_VARIANTS)
    if _ADORNED.search(line) is None:
        return line.strip()
    if _FENCE.fullmatch(line):
        return ""
    line = _QUOTED_BLOCK.sub("", _TURN.sub("", line))
    if "\\" in line:
        line = _INLINE_MATHS.sub(r"\1", _BOXED.sub(r"\1", _MINUS.sub("-", line)))
        line = _ESCAPE.sub(r"\1", line)
    if "<" in line:
        line = _TAG.sub("", line)
    for pattern in _EMPHASIS:
        line = pattern.sub(r"\1", line)
    return line.strip("*` \t")  # emphasis or code that began on an earlier line
