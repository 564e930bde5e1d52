"""Sequence: whether a segment goes on with its signal, begins another run of it, or comes out of order.

The samples of a signal come in the order of their times. A segment goes on where the last one stopped, or overlaps with
it and goes further. A gap, or another timebase from a later time on, begins a new run. A segment that begins no later
than the last one, brings nothing new, or in another timebase begins before samples that came, is out of order: it came
again, it is late, or it is of another signal that nobody told apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow
from australis.boxes.signals.column import Segments, Sizes
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

PLACE = ("#next", "#begun", "#rate", "#per", "#phase")
"""How far a signal has come: the index after its last sample, the first of its last segment, and the timebase."""
FRESH, LATE = -1, -2
Slot = int | np.uint64


class Bases(NamedTuple):
    """Timebases: of segments by row, or of the signals of keys by slot."""

    rate: Ints
    per: Ints
    phase: Ints


class SegmentRows(NamedTuple):
    """The segments of a train, without their samples."""

    start: Ints
    size: Sizes
    bases: Bases


class SignalPlaces(NamedTuple):
    """The columns PLACE of a table of keys."""

    next: Ints
    begun: Ints
    bases: Bases


class Admitted(NamedTuple):
    """How many samples of each segment came before, whether any is new, and whether it begins a run."""

    skip: Ints
    new: Bools
    fresh: Bools


def place_fields() -> list[pa.Field[Any]]:
    """Columns of a table of keys for one signal each."""
    return [pa.field(name, pa.int64(), nullable=False) for name in PLACE]


def places(keys: Table) -> SignalPlaces:
    """How far the signals of keys have come, where each key has one."""
    next_, begun, *bases = (keys[name] for name in PLACE)
    return SignalPlaces(next_, begun, Bases(*bases))


def segment_rows(segments: Segments) -> SegmentRows:
    """Segments as kernels take them."""
    return SegmentRows(segments.start, segments.sizes, Bases(segments.rate, segments.per, segments.phase))


def admit(slots: Ints, segments: Segments, signals: SignalPlaces, late: Bools) -> Admitted:
    """Compare each segment with the signal of its key, and mark those that are `late`."""
    size = len(segments)
    admitted = Admitted(np.zeros(size, np.int64), np.zeros(size, np.bool_), np.zeros(size, np.bool_))
    _admit(slots, segment_rows(segments), signals, admitted, late)
    return admitted


def out_of_order(train: Train, late: Bools) -> Train:
    """The tuples of a train that are late, which is rarely any."""
    if not late.any():
        return train.slice(0, 0)
    mask: Any = arrow(late, None, pa.bool_())
    return train.where(mask)


@inner
def same_base(bases: Bases, row: int, others: Bases, key: Slot) -> bool:
    """Whether the segment of a row has the timebase of a key's signal."""
    rate, per, phase = bases.rate[row], bases.per[row], bases.phase[row]
    return bool((rate == others.rate[key]) & (per == others.per[key]) & (phase == others.phase[key]))


@inner
def set_base(bases: Bases, row: int, others: Bases, key: Slot) -> None:
    """Set the timebase of a key's signal to that of a segment."""
    others.rate[key], others.per[key], others.phase[key] = bases.rate[row], bases.per[row], bases.phase[row]


@inner
def follows(segments: SegmentRows, row: int, next_: int, begun: int, bases: Bases, key: Slot) -> int:
    """How many samples of a segment came before; FRESH if it begins a run, LATE if it is out of order.

    The key's signal has come to `next_`, and its last segment began at `begun`.
    """
    own, start = segments.bases, segments.start[row]
    if bases.rate[key] == 0:
        return FRESH
    if same_base(own, row, bases, key):
        if start > next_:
            return FRESH
        return LATE if start <= begun or start + segments.size[row] <= next_ else next_ - start
    begins = (own.phase[row] + np.float64(start) * own.per[row]) / own.rate[row]
    return FRESH if begins > (bases.phase[key] + np.float64(next_ - 1) * bases.per[key]) / bases.rate[key] else LATE


@inner
def _admit(keys: Ints, segments: SegmentRows, signals: SignalPlaces, admitted: Admitted, late: Bools) -> None:
    for row in range(len(keys)):
        key, size = keys[row], segments.size[row]
        if size == 0:
            continue
        before = follows(segments, row, signals.next[key], signals.begun[key], signals.bases, key)
        if before == LATE:
            late[row] = True
            continue
        if before == FRESH:
            admitted.fresh[row] = True
            set_base(segments.bases, row, signals.bases, key)
        admitted.skip[row], admitted.new[row] = max(before, 0), True
        signals.next[key], signals.begun[key] = segments.start[row] + size, segments.start[row]
