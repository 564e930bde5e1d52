"""Sequence: whether a segment goes on with its signal, begins another run of it, or comes out of order.

The samples of a signal come in the order of their times. A segment goes on where the last one stopped, or overlaps with
it and goes further. A gap, or another timebase from a later time on, begins a new run. A segment that begins no later
than the last one, brings nothing new, or in another timebase begins before samples that came, is out of order: it came
again, it is late, or it is of another signal that nobody told apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow
from australis.boxes.signals.column import Segments, Sizes
from australis.kernels.jit import inner, kernel
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

PLACE = ("#next", "#begun", "#rate", "#per", "#phase")
"""How far a signal has come: the index after its last sample, the first of its last segment, and the timebase."""
FRESH, LATE = -1, -2


def place_fields() -> list[pa.Field[Any]]:
    """Columns of a table of keys for one signal each."""
    return [pa.field(name, pa.int64(), nullable=False) for name in PLACE]


def places(keys: Table) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Those columns."""
    next_, last, rate, per, phase = (keys[name] for name in PLACE)
    return next_, last, rate, per, phase


def admit(
    slots: Ints, given: Segments, place: tuple[Ints, Ints, Ints, Ints, Ints], late: Bools
) -> tuple[Ints, Bools, Bools]:
    """How many samples of each segment came before, whether any is new, and whether it begins a run.

    Marks those that are `late`.
    """
    skip, new, fresh = np.zeros(len(given), np.int64), np.zeros(len(given), np.bool_), np.zeros(len(given), np.bool_)
    _admit(slots, given.start, given.sizes, given.rate, given.per, given.phase, *place, skip, new, fresh, late)
    return skip, new, fresh


def out_of_order(train: Train, late: Bools) -> Train:
    """The tuples of a train that are late; hardly ever are there any."""
    if not late.any():
        return train.slice(0, 0)
    mask: Any = arrow(late, None, pa.bool_())
    return train.where(mask)


@inner
def follows(
    start: int, size: int, rate: int, per: int, phase: int, next_: int, last: int, rates: int, pers: int, phases: int
) -> int:
    """How many samples of a segment came before; FRESH if it begins a run, LATE if it is out of order."""
    if rates == 0:
        return FRESH
    if rate == rates and per == pers and phase == phases:
        if start > next_:
            return FRESH
        return LATE if start <= last or start + size <= next_ else next_ - start
    begins = (phase + np.float64(start) * per) / rate
    return FRESH if begins > (phases + np.float64(next_ - 1) * pers) / rates else LATE


@kernel
def _admit(
    key: Ints, start: Ints, size: Sizes, rate: Ints, per: Ints, phase: Ints, next_: Ints, last: Ints, rates: Ints,
    pers: Ints, phases: Ints, skip: Ints, new: Bools, fresh: Bools, late: Bools,
) -> None:  # fmt: skip
    for row in range(len(key)):
        k = key[row]
        if size[row] == 0:
            continue
        here = follows(
            start[row], size[row], rate[row], per[row], phase[row], next_[k], last[k], rates[k], pers[k], phases[k]
        )
        if here == LATE:
            late[row] = True
            continue
        if here == FRESH:
            fresh[row] = True
            rates[k], pers[k], phases[k] = rate[row], per[row], phase[row]
        skip[row], new[row] = max(here, 0), True
        next_[k], last[k] = start[row] + size[row], start[row]
