"""Timebases: the rate and phase of a signal in whole numbers, with exact times (XStream III-A)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd

import numpy as np

from australis.arguments import shown
from australis.errors import SchemaError
from australis.model.train import Ints

Rational = int | float | str | Fraction
"""A number that is taken exactly: 44100, 0.5, "30000/1001"."""
_MOST = 1 << 31


@dataclass(frozen=True)
class Timebase:
    """Index i lies at (phase + i * per) / rate seconds; the three are in lowest terms.

    >>> sound = timebase(44100, phase="1/2")
    >>> sound.time(44100), sound.first("3/2"), sound.frequency
    (Fraction(3, 2), 44100, Fraction(44100, 1))
    """

    rate: int
    per: int
    phase: int

    @property
    def frequency(self) -> Fraction:
        """Samples a second."""
        return Fraction(self.rate, self.per)

    def time(self, index: int) -> Fraction:
        """When a sample lies, in seconds."""
        return Fraction(self.phase + index * self.per, self.rate)

    def first(self, time: Rational) -> int:
        """The first index at or after a time."""
        return ceil((Fraction(time) * self.rate - self.phase) / self.per)

    def last(self, time: Rational) -> int:
        """The last index at or before a time."""
        return floor((Fraction(time) * self.rate - self.phase) / self.per)

    def __str__(self) -> str:
        return f"{float(self.frequency):,.10g} Hz"


def timebase(rate: Rational, phase: Rational = 0) -> Timebase:
    """The timebase of so many samples a second, whose index 0 lies at `phase` seconds."""
    try:
        hertz, zero = Fraction(rate), Fraction(phase)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        message = f"rate {shown(rate)}, phase {shown(phase)}: give numbers, such as 44100 or `30000/1001`"
        raise SchemaError(message) from None
    if hertz <= 0:
        raise SchemaError(f"a rate is above zero, not {shown(rate)}")
    base = lowest(hertz.numerator * zero.denominator, hertz.denominator * zero.denominator,
                  zero.numerator * hertz.numerator)  # fmt: skip
    if max(base.rate, base.per) >= _MOST or abs(base.phase) >= 1 << 62:
        raise SchemaError(
            f"rate {shown(rate)}, phase {shown(phase)}: too fine; numerator and denominator go up to {_MOST - 1:,}"
        )
    return base


def lowest(rate: int, per: int, phase: int) -> Timebase:
    """A timebase from its three numbers, in lowest terms."""
    common = gcd(rate, per, phase)
    return Timebase(rate // common, per // common, phase // common)


def indices(times: Ints, unit: int, rate: Ints, per: Ints, phase: Ints, up: bool) -> Ints:
    """The first index at or after (`up`), or the last at or before times in whole units, so many a second.

    Seconds and the rest are taken apart so that no product overflows.
    """
    seconds, rest = np.divmod(times, unit)
    ticks = seconds * rate - phase
    if up:
        return -(-(ticks - (-(rest * rate) // unit)) // per)
    return (ticks + (rest * rate) // unit) // per


def nearest(times: Ints, unit: int, rate: int, per: int) -> Ints:
    """The index nearest to times in whole units, so many a second, at phase 0; of two the later."""
    seconds, rest = np.divmod(times, unit)
    indices: Ints = (2 * seconds * rate + (2 * rest * rate) // unit + per) // (2 * per)
    return indices
