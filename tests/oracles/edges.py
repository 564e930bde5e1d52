"""Which windows hold a value, in exact arithmetic."""

import math
from fractions import Fraction
from typing import Any

from tests.oracles.order import missing

LEAST, MOST = -(2**63), 2**63 - 1


def beginnings(value: Any, size: Any, advance: Any) -> list[Any] | None:
    """Where the windows begin that hold a value, in their order; nothing for a value without a place.

    On doubles, edges are the doubles nearest to multiples of the spans as decimals.
    """
    if missing(value):
        return None
    exact = not isinstance(value, float)
    decimals = [Fraction(span) if exact else Fraction(repr(float(span))) for span in (size, advance)]
    length, step = decimals
    common = step / (length / step).denominator
    if not exact and abs(Fraction(value)) > Fraction(float(common * 2**52)):
        return None

    def shown(edge: Fraction) -> Any:
        return int(edge) if exact else float(edge)

    window = math.floor(Fraction(value) / step) + 1
    found = []
    while shown(window * step + length) > value:
        if shown(window * step) <= value:
            found.append(shown(window * step))
        window -= 1
    return None if exact and found and found[-1] < LEAST else found[::-1]
