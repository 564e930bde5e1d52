"""Edges: where the windows of a box begin and end, told in one way to all kernels.

Window k begins at k times the advance and ends, without it, the size further on. Whole numbers and times are exact up
to the ends of 64 bits. On doubles the spans are taken as the decimals that people write, and an edge is the double
nearest to the decimal: of 0.15 the edges are 0, 0.15, 0.3, 0.45, ..., and of two windows that meet one ends where the
other begins. Both spans are multiples of a step, their greatest common measure. Where that is less than a millionth of
the advance (1 and 1/3, which is no short decimal), a window ends at its beginning plus the size, in doubles.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import floor, gcd, isfinite
from typing import Any, NamedTuple

import numpy as np

from australis.arrow.columns import Values
from australis.errors import SchemaError
from australis.kernels.jit import inner
from australis.model.train import Ints

LEAST, MOST = -(2**63), 2**63 - 1
_FINEST = 1 << 20
_TELLING = 1 << 52
"""Steps from zero that doubles tell apart."""


class WindowGrid(NamedTuple):
    """How windows lie on the values of an order."""

    origin: Any
    """Where window 0 begins."""
    step: Any
    """Between edges; on doubles the numerator, over `parts`."""
    parts: Any
    """None on whole numbers, which the kernels are compiled for."""
    size: Any
    per_window: int
    """Steps of a window; 0 where its end is its beginning plus the size, in doubles."""
    per_advance: int
    least: Any
    """Values below have no place: a window that holds them begins beyond what 64 bits can say."""
    most: Any


def grid(size: float, advance: float, origin: int = 0) -> WindowGrid:
    """The grid of a size and an advance, on whole numbers or on doubles by their type.

    >>> [place(k, grid(0.3, 0.15)) for k in (1, 2, 3, 89)]
    [0.15, 0.3, 0.45, 13.35]
    """
    if isinstance(size, int) and isinstance(advance, int):
        if max(size, advance) > MOST:
            raise SchemaError(f"a window's size ({size}) and advance ({advance}) fit in 64 bits")
        step = gcd(size, advance)
        first = -(-LEAST // advance) * advance  # of the windows that begin within 64 bits
        least = max(LEAST, first - advance + size)
        return WindowGrid(origin, step, None, size, size // step, advance // step, least, MOST)
    if not isfinite(size) or not isfinite(advance):
        raise SchemaError(f"a window's size ({size}) and advance ({advance}) are finite numbers")
    ratio = Fraction(repr(float(size))) / Fraction(repr(float(advance)))
    if ratio > _TELLING:
        raise SchemaError(f"a size of {size} has too many advances of {advance}: no double tells them apart")
    measured = ratio.denominator <= _FINEST
    per_window, per_advance = (ratio.numerator, ratio.denominator) if measured else (0, 1)
    exact = Fraction(repr(float(advance))) / per_advance
    most = float(min(exact * _TELLING, Fraction(sys.float_info.max)))
    if max(exact.numerator, exact.denominator) < sys.float_info.max:
        return _on_doubles(exact.numerator, exact.denominator, size, per_window, per_advance, most)
    if float(exact):
        return _on_doubles(exact, 1, size, per_window, per_advance, most)
    return _on_doubles(advance, 1, size, 0, 1, float(advance) * _TELLING)


def _on_doubles(step: Any, parts: Any, size: float, per_window: int, per_advance: int, most: float) -> WindowGrid:
    return WindowGrid(0.0, float(step), float(parts), float(size), per_window, per_advance, -most, most)


def without(size: float, whole: bool) -> WindowGrid:
    """The grid of windows that a predicate opens, which may begin anywhere."""
    if not isfinite(size) or (whole and size > MOST):
        raise SchemaError(f"a window's size ({size}) fits in 64 bits")
    if whole:
        return WindowGrid(0, 1, None, int(size), 0, 1, LEAST, MOST)
    return WindowGrid(0.0, 1.0, 1.0, float(size), 0, 1, -sys.float_info.max, sys.float_info.max)


def begins(windows: Ints, on: WindowGrid) -> Values:
    """Where windows begin."""
    steps = windows * np.int64(on.per_advance)
    edges: Values = on.origin + steps * np.int64(on.step) if on.parts is None else steps * on.step / on.parts
    return edges


def place(window: int, on: WindowGrid) -> float:
    """Where a window begins."""
    start: float = begins(np.array([window]), on)[0].item()
    return start


@inner
def edge(at: int, origin: Any, step: Any, parts: Any) -> Any:
    """Where a step begins."""
    if parts is None:
        return origin + at * step
    return at * step / parts


@inner
def index(here: Any, origin: Any, step: Any, parts: Any) -> int:
    """The step that holds a value."""
    if parts is None:
        return int((here - origin) // step)
    at: int = floor(here / step * parts)
    while edge(at, origin, step, parts) > here:  # the quotient was rounded
        at -= 1
    while edge(at + 1, origin, step, parts) <= here:
        at += 1
    return at


@inner
def earliest(at: int, per_window: int, per_advance: int) -> int:
    """The first window that has a step which some window has."""
    if per_advance == 1:
        return at + (1 - per_window)
    if per_window <= per_advance:
        return at // per_advance
    return (at + (per_advance - per_window)) // per_advance


@inner
def between(at: int, per_window: int, per_advance: int) -> bool:
    """Whether a step lies between windows."""
    return bool(per_window < per_advance and at % per_advance >= per_window)


@inner
def holding(here: Any, on: WindowGrid) -> tuple[int, int]:
    """The first and the last window that hold a value; the last comes before the first where none does."""
    at = index(here, on.origin, on.step, on.parts)
    last = at // on.per_advance if on.per_advance > 1 else at
    if on.per_window:
        if between(at, on.per_window, on.per_advance):
            return last + 1, last
        return earliest(at, on.per_window, on.per_advance), last
    first = index(here - on.size, on.origin, on.step, on.parts)
    while edge(first - 1, on.origin, on.step, on.parts) + on.size > here:
        first -= 1
    while edge(first, on.origin, on.step, on.parts) + on.size <= here:
        first += 1
    return first, last


@inner
def ended(bound: Any, begin: Any, window: int, on: WindowGrid) -> bool:
    """Whether a window lies below a bound."""
    return _ended(bound, begin, window, on, on.parts)


@inner
def _ended(bound: Any, begin: Any, window: int, on: WindowGrid, parts: Any) -> bool:
    if parts is None:
        return bool(bound >= begin and apart(bound, begin) >= np.uint64(on.size))
    if on.per_window:
        return bool(edge(window * on.per_advance + on.per_window, on.origin, on.step, on.parts) <= bound)
    return bool(begin + on.size <= bound)


@inner
def apart(high: int, low: int) -> np.uint64:
    """How far apart two whole numbers lie, of which the second is no larger: it may take all 64 bits."""
    return np.uint64(high) - np.uint64(low)


@inner
def until(window: int, on: WindowGrid, parts: Any) -> Any:
    """The last value of a window of whole numbers, as far as 64 bits go; on doubles where it ends."""
    if parts is None:
        begin = on.origin + window * on.per_advance * on.step
        return begin + (on.size - 1) if begin <= MOST - (on.size - 1) else MOST
    return edge(window * on.per_advance + on.per_window, on.origin, on.step, on.parts)


@inner
def over(bound: Any, last: Any, parts: Any) -> bool:
    """Whether a bound is beyond a window, by what `until` says of it."""
    if parts is None:
        return bool(bound > last)
    return bool(bound >= last)
