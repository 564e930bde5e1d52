"""Load curves: how many tuples a second come, as it changes over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite

import numpy as np

from australis.arrow.columns import Floats
from australis.errors import RunError
from australis.model.train import Ints

MOST = 1e12
"""The most tuples a second."""


@dataclass(frozen=True)
class LoadCurve:
    """Steps of a second, from 0 on, and the tuples a second from then on. The last one has no end.

    Tuples are due by the integral of the curve: tuple `n`, counted from 0, as soon as `n` have come in all before it.

    >>> curve = LoadCurve(((0, 10), (2, 100)))
    >>> curve.count(1.0), curve.count(2.0), curve.count(2.5)
    (11, 21, 71)
    >>> curve.due(0, 40)[[0, 10, 20, 30]].tolist()
    [0.0, 1.0, 2.0, 2.1]
    """

    steps: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.steps or self.steps[0][0] != 0:
            raise RunError(f"a load curve begins at second 0, not as in {self}; give its first rate without a second")
        for second, rate in self.steps:
            if not (isfinite(second) and 0 <= rate <= MOST):  # nor is NaN
                raise RunError(f"a load curve has rates from 0 to {MOST:g} at finite seconds, not {rate:g}@{second:g}")
        if any(second >= after for (second, _), (after, _) in pairwise(self.steps)):
            raise RunError(f"the seconds of a load curve ascend; those of {self} do not")
        if not any(rate for _, rate in self.steps):
            raise RunError(f"no tuples come by {self}; give a rate above zero, such as rate:1000")

    def __str__(self) -> str:
        """
        >>> print(LoadCurve(((0, 10), (2.5, 100))))
        10,100@2.5
        """
        return ",".join(f"{rate:g}@{second:g}" if second else f"{rate:g}" for second, rate in self.steps)

    def at(self, second: float) -> float:
        """The tuples a second at a second."""
        return float(self._rates[max(int(np.searchsorted(self._seconds, second, side="right")) - 1, 0)])

    def count(self, second: float) -> int:
        """How many tuples are due by a second; none before the first one."""
        if second < 0:
            return 0
        place = int(np.searchsorted(self._seconds, second, side="right")) - 1
        return int(self._before[place] + (second - self._seconds[place]) * self._rates[place]) + 1

    def due(self, first: int, last: int) -> Floats:
        """The seconds at which tuples are due, from a first one up to before a last; infinite for those that never are.

        Where nothing comes for a while, the tuple that is due as this begins is due then.
        """
        numbers: Ints = np.arange(first, last)
        places = np.maximum(np.searchsorted(self._before, numbers, side="left") - 1, 0)
        more = numbers - self._before[places]
        rates = self._rates[places]
        with np.errstate(divide="ignore", invalid="ignore"):
            waited = np.where(more > 0, more / rates, 0.0)
        due: Floats = self._seconds[places] + waited
        return due

    @cached_property
    def _seconds(self) -> Floats:
        return np.array([second for second, _ in self.steps], np.float64)

    @cached_property
    def _rates(self) -> Floats:
        return np.array([rate for _, rate in self.steps], np.float64)

    @cached_property
    def _before(self) -> Floats:
        """How many tuples have come before each step begins."""
        whole: Floats = np.concatenate([[0.0], np.cumsum(np.diff(self._seconds) * self._rates[:-1])])
        return whole


def load_curve(text: str) -> LoadCurve:
    """The load curve in a text, as `500,5000@10,500@30`: 500 a second, from second 10 on 5,000, from second 30 on 500.

    >>> load_curve("500,5000@10").steps
    ((0.0, 500.0), (10.0, 5000.0))
    """
    steps = []
    for each in text.split(","):
        rate, at, second = each.partition("@")
        try:
            steps.append((float(second) if at else 0.0, float(rate)))
        except ValueError:
            raise RunError(
                f"`{each}` is no step of a load curve; write it as RATE@SECOND, such as rate:500,5000@10"
            ) from None
    return LoadCurve(tuple(steps))
