"""Functions: what the expressions of the network ask the history (3.2.3).

To import it makes the functions known as they are without a history, so that a file of the network can be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import australis as au
from australis.apps.linear_road.estimate import PastTraffic, estimates
from australis.model.train import Ints


@dataclass
class JourneyLookup:
    """Seconds and tolls of journeys. Both are asked for the same requests, one after the other, and computed once."""

    past: PastTraffic | None
    _last: tuple[tuple[Any, ...], tuple[Ints, Ints]] | None = field(default=None, repr=False)

    def __call__(self, *columns: Any) -> tuple[Ints, Ints]:
        last = self._last
        if last is None or not all(one.equals(other) for one, other in zip(columns, last[0], strict=True)):
            last = self._last = columns, estimates(self.past, *columns)
        return last[1]


def define_functions(past: PastTraffic | None = None) -> None:
    """Define the functions by which expressions look up a history; without one, as if it were empty."""
    journeys = JourneyLookup(past)

    @au.function("bigint", name="lr_spent", pure=True)
    def spent(vid: Any, day: Any, xway: Any) -> Ints:
        columns = (np.asarray(column, np.int64) for column in (vid, day, xway))
        return np.zeros(len(vid), np.int64) if past is None else past.tolls(*columns)

    @au.function("bigint", name="lr_seconds", pure=True)
    def seconds(*columns: Any) -> Ints:
        return journeys(*columns)[0]

    @au.function("bigint", name="lr_tolls", pure=True)
    def tolls(*columns: Any) -> Ints:
        return journeys(*columns)[1]


define_functions()
