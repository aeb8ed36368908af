"""Numbers with the bounds between which they may lie: what rounding, or a sample, leaves open."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from longtrek.analysis.published import Published
from longtrek.analysis.statistics import Interval


@dataclass(frozen=True, slots=True)
class Span:
    """A number and the lowest and highest that it may stand for; computing with spans keeps the bounds."""

    value: float
    low: float
    high: float

    def __add__(self, other: "Span | float") -> "Span":
        added = exact(other)
        return Span(self.value + added.value, self.low + added.low, self.high + added.high)

    def __sub__(self, other: "Span | float") -> "Span":
        taken = exact(other)
        return Span(self.value - taken.value, self.low - taken.high, self.high - taken.low)

    def __mul__(self, other: "Span | float") -> "Span":
        factor = exact(other)
        ends = [one * two for one, two in product((self.low, self.high), (factor.low, factor.high))]
        return Span(self.value * factor.value, min(ends), max(ends))

    def __truediv__(self, other: "Span | float") -> "Span":
        """Divide by a span that is above zero throughout."""
        divisor = exact(other)
        ends = [one / two for one, two in product((self.low, self.high), (divisor.low, divisor.high))]
        return Span(self.value / divisor.value, min(ends), max(ends))


def exact(number: Span | float) -> Span:
    """A number that stands for itself alone."""
    return number if isinstance(number, Span) else Span(number, number, number)


def printed(value: Published, digits: int | None = None) -> Span:
    """A published number with what rounding to its printed places leaves open; whole numbers are taken as exact.

    Args:
        digits: the places to which its column is rounded, where the cell itself shows fewer (`0` beside `20.0`).
    """
    assert value.value is not None
    places = value.digits if digits is None else digits
    half = 0.5 * 10.0**-places if places else 0.0
    return Span(value.value, value.value - half, value.value + half)


def estimated(value: float, interval: Interval | None) -> Span:
    """An estimate with its interval; its bounds are itself where there is none."""
    return Span(value, interval.low, interval.high) if interval else exact(value)


def total(spans: Iterable[Span]) -> Span:
    """The sum of spans."""
    added = exact(0.0)
    for span in spans:
        added = added + span
    return added


def largest(spans: Iterable[Span]) -> Span:
    """The largest of some spans."""
    found = list(spans)
    return Span(max(one.value for one in found), max(one.low for one in found), max(one.high for one in found))


def smallest(spans: Iterable[Span]) -> Span:
    """The smallest of some spans."""
    found = list(spans)
    return Span(min(one.value for one in found), min(one.low for one in found), min(one.high for one in found))
