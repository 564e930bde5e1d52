"""Columns of segments as plain arrays: where each lies in the samples that they share, and its place in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import arrow, plain
from australis.arrow.schema import SAMPLES, samples_of
from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.segments import Samples, Segment
from australis.boxes.signals.timebases import Timebase
from australis.errors import SchemaError, listing, near
from australis.kernels.jit import inner, kernel
from australis.model.train import Bools, Ints

Sizes = npt.NDArray[np.int32]
_WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True)
class Segments:
    """Segments one beside the other: what boxes work on. A null has no samples, and is not `valid`."""

    samples: Samples
    offsets: Sizes
    sizes: Sizes
    start: Ints
    rate: Ints
    per: Ints
    phase: Ints
    valid: Bools | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def stop(self) -> Ints:
        """The index after the last of each."""
        return self.start + self.sizes

    def take(self, rows: Ints) -> Segments:
        """Some of them; the samples stay where they are."""
        return Segments(
            self.samples, self.offsets[rows], self.sizes[rows], self.start[rows], self.rate[rows], self.per[rows],
            self.phase[rows], None if self.valid is None else self.valid[rows],
        )  # fmt: skip

    def on(self, samples: Samples, offsets: Sizes, sizes: Sizes) -> Segments:
        """Other samples at the same places in time."""
        return replace(self, samples=samples, offsets=offsets, sizes=sizes)

    def blocks(self) -> Iterable[tuple[Ints, Samples]]:
        """The segments of each length, as rows of one array; a view of the samples where they lie evenly."""
        for size in np.unique(self.sizes).tolist():
            rows = np.flatnonzero(self.sizes == size)
            yield rows, self.block(rows, size)

    def block(self, rows: Ints, size: int) -> Samples:
        """Segments of one length as the rows of an array."""
        offsets = self.offsets[rows] if len(rows) < len(self) else self.offsets
        step = int(offsets[1] - offsets[0]) if len(offsets) > 1 else size
        if len(offsets) and step >= 0 and bool((np.diff(offsets) == step).all()):
            samples = self.samples[int(offsets[0]) :]
            width = samples.itemsize
            view: Samples = np.lib.stride_tricks.as_strided(
                samples, (len(offsets), size), (step * width, width), writeable=False
            )
            return view
        return np.asarray(self.samples[offsets[:, None].astype(np.int64) + np.arange(size)])

    def arrow(self) -> pa.Array[Any]:
        """The column, on the same samples."""
        type_ = segment_type(self.samples.dtype.name)
        views: Any = pa.ListViewArray
        lists = views.from_arrays(
            pa.array(self.offsets), pa.array(self.sizes), _items(self.samples), type=type_.field("samples").type
        )
        numbers = [pa.array(values) for values in (self.start, self.rate, self.per, self.phase)]
        mask = None if self.valid is None else pa.array(~self.valid)
        return pa.StructArray.from_arrays([*numbers, lists], fields=list(type_), mask=mask)

    def values(self) -> list[Segment | None]:
        """Each as a value of Python."""
        valid = [True] * len(self) if self.valid is None else self.valid.tolist()
        return [self._value(row) if there else None for row, there in enumerate(valid)]

    def _value(self, row: int) -> Segment:
        base = Timebase(int(self.rate[row]), int(self.per[row]), int(self.phase[row]))
        first, size = int(self.offsets[row]), int(self.sizes[row])
        return Segment(self.samples[first : first + size], size, base, int(self.start[row]), self.samples.dtype)


def segments(column: pa.Array[Any]) -> Segments:
    """A column's segments, without copying their samples."""
    name = samples_of(column.type)
    if name is None:
        raise SchemaError(f"a column of {column.type} holds no segments")
    valid = plain(column.is_valid())[0] if column.null_count else None
    start, rate, per, phase, lists = (_field(column, place) for place in range(5))
    offsets, sizes = (_buffer(lists, place) for place in (1, 2))
    if valid is not None:
        sizes = np.where(valid, sizes, np.int32(0))
        offsets = np.where(valid, offsets, np.int32(0))
    start, rate, per, phase = (plain(each)[0] for each in (start, rate, per, phase))
    return Segments(_samples(lists.values, name), offsets, sizes, start, rate, per, phase, valid)


def column(values: Sequence[Segment | None], samples: str) -> pa.Array[Any]:
    """A column of values of Python, whose samples are copied together."""
    kept = [each for each in values if each is not None]
    for each in kept:
        if each.dtype.name != samples:
            raise SchemaError(f"a segment of {each.dtype} is given for a column of segment<{samples}>")
    sizes = np.array([0 if each is None else len(each) for each in values], np.int32)
    parts = [part for each in kept for part in each.parts()]
    places = [
        (0, 0, 0, 0) if each is None else (each.start, each.timebase.rate, each.timebase.per, each.timebase.phase)
        for each in values
    ]
    start, rate, per, phase = np.array(places, np.int64).reshape(len(values), 4).T.copy()
    valid = None if len(kept) == len(values) else np.array([each is not None for each in values], np.bool_)
    together = np.concatenate(parts) if parts else np.empty(0, samples)
    return Segments(together, starts(sizes), sizes, start, rate, per, phase, valid).arrow()


def shown(tuples: pa.RecordBatch) -> dict[str, Any]:
    """The first tuple, for a message: segments in short."""
    names, columns = tuples.schema.names, tuples.columns
    return {
        name: column[0].as_py() if samples_of(column.type) is None else segments(column.slice(0, 1)).values()[0]
        for name, column in zip(names, columns, strict=True)
    }


def compact(column: pa.Array[Any]) -> pa.Array[Any]:
    """The same segments without samples that none of them has, to be sent; overlaps stay shared."""
    view = segments(column)
    if not len(view):
        return column.slice(0, 0) if not len(view.samples) else Segments(
            view.samples[:0].copy(), view.offsets, view.sizes, view.start, view.rate, view.per, view.phase
        ).arrow()  # fmt: skip
    low, used, places = _used(view.offsets, view.sizes)
    if used == len(view.samples):
        return column
    if int((view.offsets + view.sizes).max()) - low == used:
        return view.on(view.samples[low : low + used], view.offsets - np.int32(low), view.sizes).arrow()
    copies = np.empty(used, view.samples.dtype)
    _copy(words(view.samples), view.offsets, view.sizes, places, words(copies))
    return view.on(copies, places, view.sizes).arrow()


def gathered(view: Segments) -> Samples:
    """The samples of all segments, one after the other."""
    offsets = starts(view.sizes)
    if bool((view.offsets == offsets).all()):
        return view.samples[: int(view.sizes.sum())]
    copies = np.empty(int(view.sizes.sum()), view.samples.dtype)
    _copy(words(view.samples), view.offsets, view.sizes, offsets, words(copies))
    return copies


def chosen(stream: pa.Schema, name: str) -> str:
    """The column of segments that is meant: the one of a name, or the only one."""
    there = [field.name for field in stream if samples_of(field.type) is not None]
    if name in there or (not name and len(there) == 1):
        return name or there[0]
    if not there:
        raise SchemaError(f"there is no column of segments, such as `audio segment<int16>`, in {listing(stream.names)}")
    what = f"`{name}` is no column of segments{near(name, there)}" if name else "say which `column` of segments"
    raise SchemaError(f"{what}; there are {listing(there)}")


def dtype_of(stream: pa.Schema, name: str) -> np.dtype[Any]:
    """The numpy type of the samples of a column."""
    samples = samples_of(stream.field(name).type)
    assert samples is not None
    return np.dtype(samples)


def starts(sizes: Sizes) -> Sizes:
    """Where each of some segments lies that follow one another."""
    return (np.cumsum(sizes, dtype=np.int64) - sizes).astype(np.int32)


def words(samples: Samples) -> npt.NDArray[Any]:
    """Samples as unsigned words of their width, so that one kernel moves all types."""
    return samples.view(_WORDS[samples.itemsize])


def _items(samples: Samples) -> pa.Array[Any]:
    type_ = SAMPLES[samples.dtype.name]
    if samples.dtype.kind != "c":
        return arrow(samples, None, type_)
    pairs: Any = pa.FixedSizeListArray
    items: pa.Array[Any] = pairs.from_arrays(arrow(samples.view(np.float32), None, pa.float32()), type=type_)
    return items


def _samples(items: pa.Array[Any], name: str) -> Samples:
    if not isinstance(items, pa.FixedSizeListArray):
        return plain(items)[0]
    return plain(items.flatten())[0].view(name)


def _field(column: Any, place: int) -> Any:
    return column.field(place)


def _buffer(lists: Any, place: int) -> Sizes:
    buffer = lists.buffers()[place]
    return np.frombuffer(buffer, np.int32, len(lists), 4 * lists.offset) if buffer else np.zeros(len(lists), np.int32)


@kernel
def _used(offsets: Sizes, sizes: Sizes) -> tuple[int, int, Sizes]:
    """The first sample used, how many are, and where each segment lies once those that nobody uses are gone."""
    order = np.argsort(offsets, kind="mergesort")
    places = np.empty(len(offsets), np.int32)
    low, used, end = -1, 0, 0
    for row in order:
        offset, size = int(offsets[row]), int(sizes[row])
        if size == 0:
            places[row] = used
            continue
        if low < 0:
            low, end = offset, offset
        if offset > end:
            end = offset
        places[row] = used - (end - offset)
        if offset + size > end:
            used += offset + size - end
            end = offset + size
    return max(low, 0), used, places


@inner
def bounds(row: int, offsets: Sizes | Ints, sizes: Sizes | Ints) -> tuple[np.uint64, np.uint64]:
    """Where the samples of a segment lie, as numbers that cannot be negative.

    numba looks whether others count from an array's end, for every sample; without that, loops take many at once.
    """
    first = np.uint64(offsets[row])
    return first, first + np.uint64(sizes[row])


@inner
def copied(
    source: npt.NDArray[Any], first: np.uint64, last: np.uint64, target: npt.NDArray[Any], to: np.uint64
) -> None:
    """Copy samples."""
    for at in range(first, last):
        target[to + (at - first)] = source[at]


@kernel
def _copy(source: npt.NDArray[Any], offsets: Sizes, sizes: Sizes, places: Sizes, target: npt.NDArray[Any]) -> None:
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        copied(source, first, last, target, np.uint64(places[row]))
