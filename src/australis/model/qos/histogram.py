"""How the worth of an output's tuples is spread: what is kept of it if the tuples worth least are shed (Aurora 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from australis.errors import RunError
from australis.model.qos.graph import Graph


@dataclass(frozen=True)
class WorthHistogram:
    """How many tuples an output was offered, and what they are worth in all, by bins of worth, the least first.

    >>> print(WorthHistogram((3, 1), (1.0, 1.0)).curve)
    {0: 0, 0.25: 0.5, 1: 1}
    """

    counts: tuple[float, ...]
    worths: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.worths):
            raise RunError(f"{len(self.counts)} counts of tuples have {len(self.worths)} sums of what they are worth")
        numbers: tuple[Any, ...] = (*self.counts, *self.worths)
        for value in numbers:
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise RunError(f"counts of tuples and what they are worth are finite numbers from 0 on, not {value!r}")

    @cached_property
    def curve(self) -> Graph:
        """The part of the worth by the part of the tuples that are kept, those worth most first.

        It is all of it if nothing is worth anything.
        """
        tuples, worth = sum(self.counts), sum(self.worths)
        if not tuples or not worth:
            return Graph(((0.0, 1.0), (1.0, 1.0)))
        points, kept, kept_worth = [(0.0, 0.0)], 0.0, 0.0
        for count, value in zip(reversed(self.counts), reversed(self.worths), strict=True):
            kept, kept_worth = kept + count, kept_worth + value
            if points[-1][0] < kept / tuples < 1:
                points.append((kept / tuples, min(kept_worth / worth, 1.0)))
        return Graph((*points, (1.0, 1.0)))
