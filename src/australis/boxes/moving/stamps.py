"""Stamps: when the tuples entered that an update is made from."""

from __future__ import annotations

import numpy as np

from australis.boxes.moving.regions import LAST
from australis.boxes.moving.updates import Updates
from australis.model.box import Trains
from australis.model.train import Ints

Rows = tuple[Ints, Ints]
"""Slots, and the rows of a train that they were found for."""


class Stamps:
    """The `ts` of what was reported and registered in a step, by slot.

    An update has that of the object's report or of the query's row, or of its focal object's report: the oldest of them
    that is in the step. One that has none, such as that of an object that others made leave, has the latest of all.
    """

    def __init__(
        self, trains: Trains, reported: Rows, registered: Rows, leaders: Ints, focal: Ints | None = None
    ) -> None:
        reports, rows = trains[:2]
        self.objects = np.full(int(reported[0].max(initial=-1)) + 2, LAST)
        self.queries = np.full(len(leaders), LAST)
        self.objects[reported[0]] = reports.ts[reported[1]]
        self.queries[registered[0]] = rows.ts[registered[1]]
        self.latest = max(int(train.ts.max()) for train in trains if len(train))
        guides = self.objects if focal is None else focal
        led = np.flatnonzero((leaders >= 0) & (leaders < len(guides)))
        self.queries[led] = np.minimum(self.queries[led], guides[leaders[led]])

    def of(self, updates: Updates) -> Ints:
        objects = self.objects[np.minimum(updates.objects, len(self.objects) - 1)]  # the last one reported nothing
        stamps: Ints = np.minimum(objects, self.queries[updates.queries])
        stamps[stamps == LAST] = self.latest
        return stamps
