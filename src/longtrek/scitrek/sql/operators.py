"""Which SQL commands and operators queries use (Tables 3 and 14)."""

import re
from collections.abc import Iterable

# Each command or operator as a whole sign or word of a query: `<` is not counted in `<=`, OR not in ORDER.
_TOKENS = {
    "SELECT": r"\bSELECT\b",
    "WHERE": r"\bWHERE\b",
    "=": r"(?<![<>!])=",
    "IN": r"\bIN\b",
    "OR": r"\bOR\b",
    "ORDER BY": r"\bORDER BY\b",
    "<": r"<(?![=>])",
    ">": r"(?<!<)>(?!=)",
    "COUNT": r"\bCOUNT\b",
    "ASC": r"\bASC\b",
    "DESC": r"\bDESC\b",
    "DISTINCT": r"\bDISTINCT\b",
    "*": r"\*",
    "MAX": r"\bMAX\b",
    "AND": r"\bAND\b",
    "GROUP BY": r"\bGROUP BY\b",
    "<=": r"<=",
    "%": r"%",
    ">=": r">=",
    "NOT": r"\bNOT\b",
    "<>": r"<>",
    "AVG": r"\bAVG\b",
    "MIN": r"\bMIN\b",
    "BETWEEN": r"\bBETWEEN\b",
    "SUM": r"\bSUM\b",
    "/": r"/",
    "LIKE": r"\bLIKE\b",
    "+": r"\+",
    "-": r"-",
}
OPERATORS = tuple(_TOKENS)

_STRING = re.compile(r"'(?:[^']|'')*'")
_PLACEHOLDER = re.compile(r"\{[a-z-]+\}")


def operator_distribution(sqls: Iterable[str], counting: str = "tokens") -> dict[str, float]:
    """The percentage of queries that use each command and operator, as Table 14 gives it.

    Args:
        sqls: queries or templates; what stands in strings and placeholders is not counted.
        counting: `tokens` counts whole words and signs. `text` counts a sign wherever its characters stand (OR
            in ORDER BY, IN in MIN, `<` and `=` in `<=`): the published numbers are of this kind, as their sums
            show (OR 616 for ORDER BY 591; `<` 476 for `<=` 175 and `<>` 153).
    """
    bare = [_PLACEHOLDER.sub("x", _STRING.sub("''", sql)) for sql in sqls]
    patterns = {sign: re.escape(sign) if counting == "text" else token for sign, token in _TOKENS.items()}
    return {
        sign: 100 * sum(re.search(pattern, sql) is not None for sql in bare) / max(1, len(bare))
        for sign, pattern in patterns.items()
    }
