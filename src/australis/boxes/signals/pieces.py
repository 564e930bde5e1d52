"""Pieces: the parts of signals that have come, by key and in order, some held since earlier (XStream III-B).

A signal goes on where its last segment stopped. What overlaps with samples that have come is passed over; a gap, or
another timebase, begins a new run; what is out of order is no piece (see `sequence`). Samples that a box holds lie in a
table as they came, a row a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.boxes.signals.column import Segments, bounds, copied, words
from australis.boxes.signals.sequence import PLACE, Bases, SignalPlaces, admit
from australis.errors import SchemaError, listing, near
from australis.kernels.jit import kernel
from australis.model.keys import hashable
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

_NUMBERS = (*PLACE, "#count")
_PIECE = ("#key", "#place", "#start", "#rate", "#per", "#phase", "#ts", "#number")


@dataclass(frozen=True)
class Pieces:
    """Sorted by key and place; `slot` is where a piece is held, -1 for one of the train, which then has a `row`.

    Offsets count from the samples of held pieces, one after the other, on to those of the train.
    """

    key: Ints
    place: Ints
    start: Ints
    size: Ints
    rate: Ints
    per: Ints
    phase: Ints
    ts: Ints
    number: Ints
    slot: Ints
    row: Ints
    offset: Ints
    fresh: Bools
    """Whether it begins a run, as far as the step can tell: what is held goes on."""

    @property
    def stop(self) -> Ints:
        return self.start + self.size

    def __len__(self) -> int:
        return len(self.key)


def check_by(stream: pa.Schema, by: tuple[str, ...]) -> None:
    """Refuse a key whose columns are not there, or cannot be hashed."""
    for name in by:
        if name not in stream.names:
            raise SchemaError(f"`{name}` is no column; there are {listing(stream.names)}{near(name, stream.names)}")
        if not hashable(stream.field(name).type):
            raise SchemaError(f"`{name}` is {stream.field(name).type}, which is no key")


def check_same(streams: Sequence[pa.Schema], by: tuple[str, ...]) -> None:
    """Refuse streams that do not have the key, with the same types."""
    for stream in streams:
        check_by(stream, by)
        for name in by:
            if stream.field(name).type != streams[0].field(name).type:
                raise SchemaError(f"the key `{name}` is {streams[0].field(name).type} and {stream.field(name).type}")


def channels(streams: Sequence[pa.Schema]) -> list[tuple[int, str]]:
    """The columns of segments of streams, by the place of the stream, counted from 1, and the name."""
    columns = []
    for side, stream in enumerate(streams, 1):
        own = [(side, field.name) for field in stream if samples_of(field.type) is not None]
        if not own:
            raise SchemaError(f"signal {side} has no column of segments; it has {listing(stream.names)}")
        columns += own
    return columns


def keys_table(stream: pa.Schema, by: tuple[str, ...], channels: int, *more: pa.Field[Any]) -> Table:
    """For each key how far each channel has come, and in which timebase."""
    each: Any = pa.list_(pa.int64(), channels)
    numbers = [pa.field(name, each, nullable=False) for name in _NUMBERS]
    key: list[pa.Field[Any]] = [stream.field(name) for name in by]
    fields: list[pa.Field[Any]] = [*key, *numbers, *more]
    return Table(pa.schema(fields), by)


def held_table() -> Table:
    """Pieces that are held, of one channel."""
    fields: list[pa.Field[Any]] = [pa.field(name, pa.int64(), nullable=False) for name in _PIECE]
    return Table(pa.schema([*fields, pa.field("#samples", pa.large_binary())]))


def waiting(keys: Table, held: Table, wanted: Ints) -> Ints:
    """The slots of pieces that are held of the keys wanted."""
    if not len(held):
        return held.slots
    of = np.zeros(len(keys.alive), np.bool_)
    of[wanted] = True
    every = held.slots
    return every[of[held["#key"][every]]]


def arrive(
    keys: Table, held: Table, old: Ints, channel: int, slots: Ints, train: Train, signal: Segments, late: Bools
) -> Pieces:
    """Pieces of a channel: some that are held, and what the segments of a train bring that is new.

    Marks the tuples that are `late`.
    """
    next_, last, rate, per, phase, count = (keys[name][:, channel] for name in _NUMBERS)
    skip, new_, fresh = admit(slots, signal, SignalPlaces(next_, last, Bases(rate, per, phase)), late)
    place = np.empty(len(train), np.int64)
    _numbered(slots, new_, count, place)
    rows = np.flatnonzero(place >= 0)
    new: Any = (
        slots[rows], place[rows], signal.start[rows] + skip[rows], signal.sizes[rows] - skip[rows], signal.rate[rows],
        signal.per[rows], signal.phase[rows], train.ts[rows], train.number[rows], np.full(len(rows), -1), rows,
        signal.offsets[rows] + skip[rows], fresh[rows],
    )  # fmt: skip
    if not len(old):
        order = np.argsort(new[0], kind="stable")
        return Pieces(*(new if (np.diff(order) == 1).all() else tuple(values[order] for values in new)))
    key, places, start, rate, per, phase, ts, number = (held[name][old] for name in _PIECE)
    sizes = lengths(held["#samples"][old]) // signal.samples.itemsize
    before = np.cumsum(sizes) - sizes
    kept = (key, places, start, sizes, rate, per, phase, ts, number, old, np.full(len(old), -1), before,
            np.zeros(len(old), np.bool_))  # fmt: skip
    total = int(sizes.sum())
    both = [np.concatenate(pair) for pair in zip(kept, (*new[:11], new[11] + total, new[12]), strict=True)]
    order = np.lexsort((both[1], both[0]))
    return Pieces(*(values[order] for values in both))


def samples(held: Table, old: Ints, signal: Segments) -> npt.NDArray[Any]:
    """The samples that the offsets of pieces count in: of those held, then of the train."""
    if not len(old):
        return signal.samples
    before = np.frombuffer(b"".join(held["#samples"][old].tolist()), signal.samples.dtype)
    return np.concatenate([before, signal.samples])


def laid(pieces: Pieces, all_: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Ints]:
    """Samples with the pieces of a run one after the other, and their offsets; copied only if they are apart."""
    follow = (pieces.key[1:] == pieces.key[:-1]) & ~pieces.fresh[1:]
    if bool((pieces.offset[:-1] + pieces.size[:-1] == pieces.offset[1:])[follow].all()):
        return all_, pieces.offset
    places = np.cumsum(pieces.size) - pieces.size
    return moved(all_, pieces.offset, pieces.size), places


def moved(all_: npt.NDArray[Any], offsets: Ints, sizes: Ints) -> npt.NDArray[Any]:
    """Stretches of samples, copied one after the other."""
    copies = np.empty(int(sizes.sum()), all_.dtype)
    _move(words(all_), offsets, sizes, words(copies))
    return copies


def hold(held: Table, pieces: Pieces, all_: npt.NDArray[Any], limit: Ints) -> None:
    """Hold the part of each piece from its limit on; a piece that is held already stays whole, or is freed."""
    needed = pieces.stop > limit
    gone = pieces.slot[~needed & (pieces.slot >= 0)]
    if len(gone):
        held.free(gone)
    new = np.flatnonzero(needed & (pieces.slot < 0))
    if not len(new):
        return
    first = np.maximum(pieces.start[new], limit[new])
    skip = first - pieces.start[new]
    sizes = pieces.size[new] - skip
    slots = held.insert(len(new))
    values = (pieces.key, pieces.place, first, pieces.rate, pieces.per, pieces.phase, pieces.ts, pieces.number)
    for name, column in zip(_PIECE, values, strict=True):
        held[name][slots] = first if column is first else column[new]
    held.put("#samples", slots, blobs(all_, pieces.offset[new] + skip, sizes))


def blobs(all_: npt.NDArray[Any], offsets: Ints, sizes: Ints) -> pa.Array[Any]:
    """Stretches of samples as bytes, a value each, for a table."""
    data = moved(all_, offsets, sizes)
    ends = np.concatenate([[0], np.cumsum(sizes)]) * data.itemsize
    buffer: Any = pa.py_buffer
    return pa.Array.from_buffers(
        pa.large_binary(), len(sizes), [None, buffer(ends.astype(np.int64)), buffer(data.view(np.uint8))]
    )


def lengths(blobs: Any) -> Ints:
    """How many bytes each value of a table is, 0 where there is none."""
    return np.fromiter((0 if each is None else len(each) for each in blobs), np.int64, len(blobs))


@kernel
def _numbered(key: Ints, new: Bools, count: Ints, place: Ints) -> None:
    """The place of each segment among the pieces of its key, -1 where it is none."""
    for row in range(len(key)):
        k = key[row]
        place[row] = -1
        if new[row]:
            place[row] = count[k]
            count[k] += 1


@kernel
def _move(source: npt.NDArray[Any], offsets: Ints, sizes: Ints, target: npt.NDArray[Any]) -> None:
    to = np.uint64(0)
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        copied(source, first, last, target, to)
        to += last - first
