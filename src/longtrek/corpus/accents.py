"""Letters that a PDF's text layer has in pieces: accents put back on their letters, ligatures spelt out.

Pure and free of dependencies, because it runs in the converter's environment.
"""

import unicodedata
from typing import Any

# TeX's T1 encoding keeps ligatures where Unicode has control characters, which a text layer without a map passes on.
LIGATURES = {"\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl"}
SPACING_ACCENTS = {"¨": "̈", "´": "́", "`": "̀", "ˆ": "̂", "˜": "̃", "¸": "̧", "ˇ": "̌", "˚": "̊"}


def mend(raw: dict[str, Any], lines: list[Any]) -> None:
    """Put accents back on their letters (`Gr¨un`, `Grun ¨` → `Grün`) and ligatures into their words (`modied`).

    TeX's older fonts print an accent over a letter; the text layer then has both, and only their boxes say whose
    accent it is. Changes the spans of `lines` in place.
    """
    raw_lines = [line for block in raw["blocks"] for line in block["lines"]]
    if len(raw_lines) != len(lines):
        return
    for text, line in zip(raw_lines, lines, strict=True):
        spans = [span for span in text["spans"] if span["text"]]
        for raw_span, span in zip(spans, line.spans, strict=False):
            _spell_ligatures(raw_span, span)
        if len(spans) == len(line.spans) and any(char["char"] in SPACING_ACCENTS for s in spans for char in s["chars"]):
            _join_line(spans, line.spans)


def _spell_ligatures(raw_span: dict[str, Any], span: Any) -> None:
    chars = [char["char"] for char in raw_span["chars"]]
    places = [place for place, char in enumerate(chars) if char in LIGATURES]
    for place in reversed(places):
        before = [char for char in chars[:place] if char.strip() and char not in LIGATURES]
        cut = _after(span.text, len(before))
        if span.text[:cut].replace(" ", "")[-2:] == "".join(before[-2:]):
            lead = " " if place and chars[place - 1] == " " and span.text[cut : cut + 1] == " " else ""
            span.text = span.text[:cut] + lead + LIGATURES[chars[place]] + span.text[cut + len(lead) :]


def _after(text: str, count: int) -> int:
    """The place in a text behind its first `count` characters that are no white space."""
    for place, char in enumerate(text):
        if not count:
            return place
        count -= not char.isspace()
    return len(text)


def _join_line(raw_spans: list[dict[str, Any]], spans: list[Any]) -> None:
    chars = [(number, char) for number, span in enumerate(raw_spans) for char in span["chars"]]
    for home, accent in chars:
        if accent["char"] not in SPACING_ACCENTS:
            continue
        letter = _letter_under(accent, chars)
        if letter is None:
            continue
        number, char = letter
        composed = unicodedata.normalize("NFC", char["char"].replace("ı", "i") + SPACING_ACCENTS[accent["char"]])
        nth = sum(c["char"] == char["char"] for c in raw_spans[number]["chars"] if c["char_idx"] < char["char_idx"])
        if len(composed) != 1 or not _replace_nth(spans[number], char["char"], nth, composed):
            continue
        char["char"] = composed
        _drop_accent(raw_spans, spans, home, accent, char)
        accent["char"] = " "


def _letter_under(accent: dict[str, Any], chars: list[Any]) -> Any:
    left, _, right, _ = accent["bbox"]
    for number, char in chars:
        x0, _, x1, _ = char["bbox"]
        if char["char"].isalpha() and min(right, x1) - max(left, x0) > 0.6 * min(right - left, x1 - x0) > 0:
            return number, char
    return None


def _replace_nth(span: Any, letter: str, nth: int, composed: str) -> bool:
    places = [place for place, char in enumerate(span.text) if char == letter]
    if nth >= len(places):
        return False
    span.text = span.text[: places[nth]] + composed + span.text[places[nth] + 1 :]
    return True


def _drop_accent(
    raw_spans: list[dict[str, Any]], spans: list[Any], home: int, accent: dict[str, Any], letter: Any
) -> None:
    alone = spans[home].text.strip() == accent["char"]
    leads = spans[home].text.startswith(accent["char"])
    spans[home].text = "" if alone else spans[home].text.replace(accent["char"], "", 1)
    if not home or spans[home - 1].text.strip(" "):
        return
    # The text layer puts a space before an accent that it meets out of order. It stays only where the page has one.
    before = [char for span in raw_spans[:home] for char in span["chars"] if char["char"].strip()]
    joined = before and letter["bbox"][0] - before[-1]["bbox"][2] < 0.15 * (letter["bbox"][3] - letter["bbox"][1])
    if alone or (leads and joined):
        spans[home - 1].text = ""
