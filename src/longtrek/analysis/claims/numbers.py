"""Numbers of claims as text: in full for `claims.csv`, rounded for readers of a page."""

FEWEST_PLACES = 2
"""Places after the point that a recomputed number has on a page at least, where it needs them."""
PLAIN = ("fraction", "share")
"""Units that say nothing beside their number."""


def shown(number: float | None) -> str:
    """A number with at most six places, and without zeros at its end."""
    return "" if number is None else _trimmed(f"{number:.6f}")


def readable(text: str, beside: str = "") -> str:
    """A number of `claims.csv` as a page shows it: thousands parted, rounded; what is no number stays as it is.

    Args:
        text: the number in full, as `shown` writes it.
        beside: the claimed number; the rounded one has a place more, and `FEWEST_PLACES` at least.
    """
    try:
        number = float(text)
    except ValueError:
        return text
    places = max(FEWEST_PLACES, len(beside.partition(".")[2]) + 1) if beside else len(text.partition(".")[2])
    return _trimmed(f"{number:,.{places}f}")


def unit_beside(number: str, unit: str) -> str:
    """A unit as it is said beside a number: nothing for a fraction, and 1 record."""
    if unit in PLAIN or not number:
        return ""
    if number == "1" and unit.isalpha() and unit.endswith("s"):
        return f"{unit[:-3]}y" if unit.endswith("ies") else unit[:-1]
    return unit


def with_unit(number: str, unit: str) -> str:
    """A number and its unit, parted by a comma where the unit is a scale (`1 to 100`)."""
    said = unit_beside(number, unit)
    return f"{number}{',' if said[:1].isdigit() else ''} {said}".strip()


def _trimmed(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
