"""Segments: a run of samples at even times, array-like, divided and appended without copying (XStream III-A, III-B)."""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import accumulate
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from australis.arguments import LARGEST, shown
from australis.arrow.schema import SAMPLES
from australis.boxes.signals.timebases import Timebase
from australis.errors import RunError, SchemaError, listing

Samples = npt.NDArray[Any]
Tree = Samples | tuple["Tree", "Tree"]
_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 32


@dataclass(frozen=True, eq=False, repr=False)
class Segment:
    """Samples from index `start` on in a timebase. A value: nothing changes it, and its parts are shared, not copied.

    >>> from australis.boxes.signals.timebases import timebase
    >>> whole = segment([1, 2, 3, 4], timebase(8), dtype="int16")
    >>> left, right = whole[:3], whole[3:]
    >>> right.start, left.append(right) == whole, np.asarray(left.append(right)).tolist()
    (3, True, [1, 2, 3, 4])
    """

    tree: Tree
    length: int
    timebase: Timebase
    start: int
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.length

    @property
    def stop(self) -> int:
        """The index after the last."""
        return self.start + self.length

    @property
    def duration(self) -> Fraction:
        """Seconds."""
        return self.length / self.timebase.frequency

    @property
    def time(self) -> Fraction:
        """When its first sample lies, in seconds."""
        return self.timebase.time(self.start)

    def parts(self) -> list[Samples]:
        """The pieces that it is made of, in order."""
        found, stack = [], [self.tree]
        while stack:
            tree = stack.pop()
            if isinstance(tree, tuple):
                stack += (tree[1], tree[0])
            else:
                found.append(tree)
        if len(found) > 1:  # the next look needs no walk
            object.__setattr__(self, "tree", _balanced(found))
        return found

    def contiguous(self) -> Samples:
        """The samples in one piece; they are copied together the first time, if they are in several."""
        if isinstance(self.tree, tuple):
            object.__setattr__(self, "tree", _sealed(np.concatenate(self.parts())))
        assert isinstance(self.tree, np.ndarray)
        return self.tree

    def subseg(self, start: int, length: int) -> Segment:
        """So many samples from an index of the signal on."""
        if length < 0 or start < self.start or start + length > self.stop:
            raise RunError(f"{length} samples from {start} on are not in a segment of {self.start} to {self.stop}")
        return self[start - self.start : start - self.start + length]

    def append(self, other: Segment) -> Segment:
        """The union with the segment that follows, in constant time; after a gap, or at another rate, it is refused."""
        if not self.followed_by(other):
            why = "has another timebase" if other.timebase != self.timebase else f"starts at {other.start}"
            if other.timebase == self.timebase and other.start == self.stop:
                why = f"has {other.dtype} samples, not {self.dtype}"
            raise RunError(f"the segment up to {self.stop} is not followed by one that {why}; see `runs` for both")
        if not self.length or not other.length:
            return self if self.length else other
        return Segment((self.tree, other.tree), self.length + other.length, self.timebase, self.start, self.dtype)

    def followed_by(self, other: Segment) -> bool:
        """Whether another goes on where this one stops."""
        return (self.timebase, self.stop, self.dtype) == (other.timebase, other.start, other.dtype)

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> Segment: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            first, last, step = place.indices(self.length)
            if step != 1:
                raise RunError("a segment is sliced without a step: resample it to another rate")
            return self._between(first, max(first, last))
        at = place + self.length if place < 0 else place
        if not 0 <= at < self.length:
            raise IndexError(f"there is no sample {place} in a segment of {self.length}")
        return self._between(at, at + 1).contiguous()[0]

    def _between(self, first: int, last: int) -> Segment:
        parts = self.parts()
        begins = list(accumulate(map(len, parts), initial=0))
        low, high = bisect_right(begins, first) - 1, bisect_left(begins, last)
        some = zip(parts[low:high], begins[low:high], strict=True)
        cut = [part[max(first - begin, 0) : last - begin] for part, begin in some]
        tree = _balanced(cut) if first < last else parts[0][:0]
        return Segment(tree, last - first, self.timebase, self.start + first, self.dtype)

    def __iter__(self) -> Iterator[Any]:
        for part in self.parts():
            yield from part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Samples:
        samples = self.contiguous()
        if dtype is not None and np.dtype(dtype) != samples.dtype:
            return samples.astype(dtype)
        return samples.copy() if copy else samples

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Segment):
            return NotImplemented
        same = (self.start, self.length, self.timebase, self.dtype) == (
            other.start, other.length, other.timebase, other.dtype,
        )  # fmt: skip
        return same and bool(np.array_equal(self.contiguous(), other.contiguous(), equal_nan=self.dtype.kind in "fc"))

    def __hash__(self) -> int:
        return hash((self.start, self.length, self.timebase))

    def __repr__(self) -> str:
        where = f"{self.length:,} {self.dtype} from {self.start:,}, {self.timebase}, {float(self.duration):.4g} s"
        return f"<segment {sparkline(self)} {where}>"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


def segment(samples: npt.ArrayLike, timebase: Timebase, start: int = 0, dtype: npt.DTypeLike | None = None) -> Segment:
    """A segment of samples. They are copied, unless nobody can change them: an array that is read-only is shared."""
    try:
        given = np.asarray(samples, dtype)
        start = operator.index(start)
    except (TypeError, ValueError, OverflowError) as error:
        raise SchemaError(
            f"segment: samples are numbers, `start` is a whole one, and `dtype` a type: {error}"
        ) from error
    if not isinstance(timebase, Timebase):
        raise SchemaError(f"segment: `timebase` is an au.timebase(...), not {shown(timebase)}")
    if abs(start) > LARGEST:
        raise SchemaError(f"segment: `start` is a whole number of 64 bits, not {shown(start)}")
    if given.ndim != 1 or given.dtype.name not in SAMPLES:
        raise SchemaError(f"samples are one array of {listing(SAMPLES)}, not {given.ndim} of {given.dtype}; give dtype")
    own = given.view() if _fixed(given) else given.copy()
    return Segment(_sealed(own), len(own), timebase, start, own.dtype)


def runs(segments: Iterable[Segment]) -> list[Segment]:
    """Segments in order with those appended that follow one another: one for each run without a gap."""
    joined: list[Segment] = []
    for each in segments:
        if joined and joined[-1].followed_by(each):
            joined[-1] = joined[-1].append(each)
        else:
            joined.append(each)
    return joined


def sparkline(segment: Segment) -> str:
    """Its shape in a few characters: the largest magnitude of each stretch.

    >>> from australis.boxes.signals.timebases import timebase
    >>> sparkline(segment([0, 1, 2, 4], timebase(1), dtype="int16"))
    '▁▂▄█'
    """
    if not len(segment):
        return ""
    size = np.nan_to_num(np.abs(segment.contiguous().astype(np.complex128)), posinf=0.0)
    edges = np.linspace(0, len(size), min(_WIDTH, len(size)), endpoint=False).astype(np.int64)
    heights = np.maximum.reduceat(size, edges)
    return "".join(_BARS[int(height)] for height in heights / max(heights.max(), 1e-300) * (len(_BARS) - 1))


def _fixed(samples: Samples) -> bool:
    """Whether nobody can change an array: neither it nor what it is a view of can be written."""
    part: Any = samples
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return False
        part = part.base
    return part is None or memoryview(part).readonly


def _sealed(samples: Samples) -> Samples:
    samples.flags.writeable = False
    return samples


def _balanced(parts: Sequence[Samples]) -> Tree:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return _balanced(parts[:half]), _balanced(parts[half:])
