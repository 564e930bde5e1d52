"""Rate: tuples made of a counter, so many a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Array, pc
from australis.connectors.intake import fits
from australis.connectors.source import Clock, Offset, Part, Split
from australis.connectors.sources.load_curve import LoadCurve
from australis.connectors.sources.memory import even
from australis.errors import RunError, SchemaError
from australis.expressions import expr
from australis.model.train import Ints

COUNTER = pa.schema({"n": pa.int64(), "time": pa.timestamp("us", "UTC")})
_BATCH = 1 << 16


@dataclass(frozen=True)
class Rate:
    """So many tuples `a_second` of a counter `n` from 0, due at even times from the first batch on, or by a load curve.

    Columns are expressions over `n` and `time`, the moment at which the tuple is due. Those without one are made of
    `n`: itself, as a number or a text, whether it is odd, or `time`. The same offset gives the same tuples.
    """

    schema: pa.Schema
    a_second: float | LoadCurve
    columns: tuple[tuple[str, str], ...] = ()
    limit: int | None = None
    began: int | None = None
    """The wall-clock time in microseconds at which tuple 0 is due; if not given, when the run starts."""
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.a_second, LoadCurve) and not 0 < self.a_second < inf:
            raise RunError(f"rate: {self.a_second} tuples a second; give a rate above zero, such as rate:1000")
        for name, text in self.columns:
            if name not in self.schema.names:
                raise RunError(f"rate: there is no column {name}; there are {', '.join(self.schema.names)}")
            given, wanted = expr(text).bind(COUNTER).type, self.schema.field(name).type
            if given != wanted and not fits(given, wanted):
                raise SchemaError(f"rate: column {name} is {wanted}, but `{text}` is {given}")
        self._tuples(0, 0)

    def origin(self, checkpoint: Path) -> str:
        return "a rate"

    @property
    def finite(self) -> bool:
        return self.limit is not None

    @property
    def timed(self) -> bool:
        return True

    @property
    def urgent(self) -> bool:
        return True

    def start(self) -> Offset:
        return {"began": self._now() if self.began is None else self.began, "n": 0}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        return {**offset, "n": offset["n"] + min(self.backlog(offset), limit_rows)}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        return [Split(((start["began"], *part),)) for part in even(start["n"], end["n"], count)]

    def read(self, split: Split) -> Iterator[Part]:
        for began, begin, stop in split.pieces:
            for first in range(begin, stop, _BATCH):
                last = min(first + _BATCH, stop)
                yield Part(
                    self._tuples(first, last, began), np.arange(first + 1, last + 1), ts=self._due(first, last, began)
                )

    def position(self, offset: Offset) -> tuple[int, ...]:
        return (int(offset["n"]),)

    def cut(self, end: Offset, sooner: Offset) -> Offset:
        return sooner

    def arrived(self, offset: Offset) -> int | None:
        n = offset["n"]
        return int(self._due(n, n + 1, offset["began"])[0]) if self.backlog(offset) else None

    def finished(self, offset: Offset) -> bool:
        return self.limit is not None and int(offset["n"]) >= self.limit

    def backlog(self, offset: Offset) -> int:
        elapsed = self._now() - offset["began"]
        if isinstance(self.a_second, LoadCurve):
            due = self.a_second.count(elapsed / 1e6)
        else:
            due = int(elapsed * self.a_second / 1e6) + 1
        return max(0, (due if self.limit is None else min(due, self.limit)) - int(offset["n"]))

    def _now(self) -> int:
        return time.time_ns() // 1000 if self.clock is None else self.clock()

    def _due(self, first: int, last: int, began: int) -> Ints:
        """When tuples are due."""
        if isinstance(self.a_second, LoadCurve):
            return began + (self.a_second.due(first, last) * 1e6).astype(np.int64)
        return began + (np.arange(first, last) * (1e6 / self.a_second)).astype(np.int64)

    def _tuples(self, first: int, last: int, began: int = 0) -> pa.RecordBatch:
        moments = pa.array(self._due(first, last, began)).cast(COUNTER.field("time").type)
        counter = pa.RecordBatch.from_arrays([pa.array(np.arange(first, last)), moments], schema=COUNTER)
        made = dict(self.columns)
        arrays = []
        for column in self.schema:
            if column.name in made:
                array = expr(made[column.name]).bind(COUNTER).evaluate(counter)
            else:
                array = _made(column, counter)
            arrays.append(array if array.type == column.type else array.cast(column.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _made(column: pa.Field, counter: pa.RecordBatch) -> Array:  # type: ignore[type-arg]
    n, moments = counter.columns
    type_ = column.type
    if pa.types.is_boolean(type_):
        return pc.equal(pc.bit_wise_and(n, 1), 1)  # type: ignore[no-any-return]
    if pa.types.is_integer(type_) and type_.bit_width < 64:
        top = (1 << (type_.bit_width - pa.types.is_signed_integer(type_))) - 1
        return pc.bit_wise_and(n, top)  # type: ignore[no-any-return]
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return moments.cast(pa.timestamp("us")) if type_ != moments.type else moments
    if fits(n.type, type_) or pa.types.is_string(type_):
        return n
    raise RunError(f"rate: column {column.name} is {type_}, which is not made of a counter; give an expression for it")
