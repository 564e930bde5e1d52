"""Tracks: the columns that files of samples have, and tuples of those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.boxes.signals.column import Segments, Sizes, starts
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.timebases import Timebase
from australis.errors import RunError
from australis.model.train import Ints

Names = npt.NDArray[np.str_]
Bases = npt.NDArray[np.int64]
"""Rate, per and phase of some segments: a row each."""


@dataclass(frozen=True)
class Tracks:
    """Segments of one type, a column a channel, and at most one other column, which tells files apart.

    That is a number, which counts the files from 0, or a text, their names.
    """

    schema: pa.Schema

    def __post_init__(self) -> None:
        others = [field for field in self.schema if samples_of(field.type) is None]
        channels = {field.type for field in self.schema if samples_of(field.type) is not None}
        if len(channels) != 1 or len(others) > 1:
            raise RunError(
                f"samples: the columns are segments of one type and at most one that tells files apart, not"
                f" {self.schema}"
            )
        for field in others:
            if not (pa.types.is_integer(field.type) or pa.types.is_string(field.type)):
                raise RunError(f"samples: {field.name} is {field.type}; files are told apart by a number or a text")

    def at(self, path: str, place: int) -> Tracks:
        """The same, unless they do not tell a file from those before it."""
        if place and not self.by:
            raise RunError(f"{path}: is not the first file; several need a column that tells them apart, such as"
                           " `file string` or `file int`")  # fmt: skip
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of segments."""
        return tuple(field.name for field in self.schema if samples_of(field.type) is not None)

    @cached_property
    def by(self) -> tuple[str, ...]:
        """The column that tells files apart, if there is one."""
        return tuple(name for name in self.schema.names if name not in self.names)

    @cached_property
    def dtype(self) -> str:
        """The type of the samples, as numpy names it."""
        return next(name for field in self.schema if (name := samples_of(field.type)) is not None)

    @property
    def width(self) -> int:
        """Bytes of a frame."""
        return len(self.names) * np.dtype(self.dtype).itemsize

    def tuples(
        self, channels: Sequence[Samples], sizes: Sizes, start: Ints, bases: Bases, file: Ints, names: Names,
        order: Ints | None = None,
    ) -> pa.RecordBatch:  # fmt: skip
        """A tuple for each segment, in an order: the samples of a channel lie one segment after the other.

        `file` and `names` are the number and the name of each one's file.
        """
        columns: list[pa.Array[Any]] = []
        parts = iter(channels)
        for field in self.schema:
            if samples_of(field.type) is None:
                told = names if pa.types.is_string(field.type) else file
                columns.append(pa.array(told if order is None else told[order]).cast(field.type))
                continue
            places = (np.ascontiguousarray(number) for number in bases.T)
            made = Segments(next(parts), starts(sizes), sizes, start, *places)
            columns.append((made if order is None else made.take(order)).arrow())
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def named(path: str, count: int) -> Names:
    """A file's name, for some segments."""
    return np.full(count, Path(path).name)


def based(base: Timebase, count: int) -> Bases:
    """A timebase for some segments."""
    return np.broadcast_to(np.array([base.rate, base.per, base.phase], np.int64), (count, 3))
