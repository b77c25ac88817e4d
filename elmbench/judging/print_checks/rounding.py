"""The numbers that a printed number may stand for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

#: The ways in which authors shorten a number: to the nearest one, by cutting digits off, or, as
#: for a number of rows, not at all.
Rounding = Literal["nearest", "cut", "not"]
ROUNDINGS: tuple[Rounding, ...] = ("nearest", "cut")
#: The rounding of numbers of rows that are no means.
NOT_ROUNDED: tuple[Rounding, ...] = ("not",)


class NumberRange(NamedTuple):
    """The numbers from `low` to `high`, with both."""

    low: Fraction
    high: Fraction

    def meets(self, other: NumberRange) -> bool:
        """Return True if two ranges share a number."""
        return self.low <= other.high and other.low <= self.high

    def holds(self, number: Fraction) -> bool:
        """Return True if a number is in the range or at one of its ends."""
        return self.low <= number <= self.high

    def multiples(self, step: Fraction) -> range:
        """Return the whole numbers whose products with `step` are in the range.

        `step`: above 0.
        """
        return range(math.ceil(self.low / step), math.floor(self.high / step) + 1)

    def clipped(self, least: Fraction, greatest: Fraction) -> NumberRange:
        """Return the part of the range from `least` to `greatest`.

        If there is none, both ends are the nearer one of these two numbers.
        """
        low = min(max(self.low, least), greatest)
        high = max(min(self.high, greatest), least)
        return NumberRange(low, high)


def interval_of(number: Decimal, rounding: Rounding) -> NumberRange:
    """Return the numbers that are printed as `number`.

    `rounding`: how they were shortened: "nearest", "cut", or "not" at all. Both ends count: a half
    may have been rounded up or down, and a program may hold a decimal number as one a little below
    it before it cuts digits off.
    """
    value = Fraction(number)
    if rounding == "not":
        return NumberRange(value, value)
    last_place = int(number.as_tuple().exponent)
    unit = Fraction(Decimal(1).scaleb(last_place))
    if rounding == "nearest":
        half = unit / 2
        return NumberRange(value - half, value + half)
    # Digits that are cut off bring a number nearer to 0, from either side.
    low = value if value > 0 else value - unit
    high = value if value < 0 else value + unit
    return NumberRange(low, high)


def may_be_equal(one: Decimal, other: Decimal) -> bool:
    """Return True if one number may be printed in both ways, each rounded or cut off."""
    return any(
        interval_of(one, rounding).meets(interval_of(other, other_rounding))
        for rounding in ROUNDINGS
        for other_rounding in ROUNDINGS
    )


def may_be_in(
    number: Decimal, ranges: Iterable[tuple[float | Fraction, float | Fraction]]
) -> bool:
    """Return True if a printed number, rounded or cut off, may stand for one in some ranges.

    `ranges`: pairs (low, high), such as `NumberRange`. Without any, it is False.
    """
    intervals = [interval_of(number, rounding) for rounding in ROUNDINGS]
    return any(
        low <= interval.high and interval.low <= high
        for low, high in ranges
        for interval in intervals
    )


def n_digits(number: Decimal) -> int:
    """Return the number of significant digits of a printed number; 0 for the number 0."""
    return len(number.as_tuple().digits) if number else 0
