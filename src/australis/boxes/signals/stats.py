"""Stats: what a segment comes to, in numbers (XStream IV-A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.boxes.signals.column import chosen, segments
from australis.boxes.signals.families import Rowwise
from australis.boxes.signals.measures import MEASURES, Measure
from australis.boxes.signals.named import call, check
from australis.errors import NetworkError, SchemaError
from australis.model.box import Moment, Tables, Trains, bound
from australis.model.facts import Facts


@dataclass(frozen=True)
class Stats(Rowwise):
    """The tuple, and columns with what its segment comes to; null where there is none, or no sample to tell from.

    | statistic | of a segment |
    | --- | --- |
    | `mean`, `sum`, `std`, `var`, `rms`, `energy`, `min`, `max` | of its samples; `std` divides by their number |
    | `peak`, `peak_at` | the largest magnitude, and its index |
    | `extreme(n)` | the n-th of extremes that take turns: the least, the largest from there on, the least again |
    | `trimpeak(part)` | the largest magnitude but for that part of all, 0.01 if it is not given |
    | `band(low, high)` | the sum of the magnitudes of samples (bins) from the low-th to the high-th, counted from 0 |
    | `band(3, 5, 1, 2, 0.5)` | the same, with a weight for each bin from the low-th to the high-th |
    | `count`, `start`, `end`, `seconds`, `rate` | number, first and last index, when it starts, how many a second |

    Complex samples count with their magnitudes. Where a statistic is made of samples of which one is NaN, it is NaN,
    and `peak_at` tells the first, as numpy has it. A `band` may begin and end between bins: the next one beyond counts
    as much as the band is near to it, so that `band(2.5, 4)` has half of bin 2. It is null where it lies beyond all.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply, rows
    >>> train = signal("audio segment<int16>", audio=[segment([1, -3, 2], timebase(8), dtype="int16")])
    >>> rows(apply(Stats((("loud", "peak"), ("level", "mean"))), train)[0])[0][1:]
    (3.0, 0.0)
    """

    columns: tuple[tuple[str, str], ...]
    column: str = ""

    kind: ClassVar[str] = "stats"

    @classmethod
    def make(cls, *names: str, column: str = "", columns: Mapping[str, str] | None = None, **more: str) -> Stats:
        """Add columns with what a segment comes to: `stats("std", loud="peak")`."""
        return cls(tuple({**{name: name for name in names}, **(columns or {}), **more}.items()), column)

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.columns:
            raise NetworkError("stats makes at least one column, such as std")
        return {"out": self._schema(stream)}

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        """A band beyond the end of windows, where their length is known, cannot be meant."""
        column = chosen(streams[0], self.column)
        size = given[0].sizes.get(column)
        for text, least in self.needs():
            if size is not None and least >= size:
                raise NetworkError(
                    f"`{text}` lies beyond `{column}`, which has {size} samples (bins): 0 to {size - 1}; take"
                    " a band within, or longer windows"
                )
        return given[0]

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        signal = segments(train[chosen(train.schema, self.column)])
        if signal.samples.dtype.kind == "c":
            signal = replace(signal, samples=np.abs(signal.samples))
        absent = np.zeros(len(signal), np.bool_) if signal.valid is None else ~signal.valid
        columns: list[Any] = [train.part(name) for name in train.schema.names]
        for measure, arguments in self._measures():
            values = measure.of(signal, *arguments)
            mask = absent if measure.whole else signal.sizes <= measure.least(*arguments)
            columns.append(pa.array(values, measure.type, mask=mask if mask.any() else None))
        return (train.made(self._schema(train.schema), columns),)

    def needs(self) -> list[tuple[str, int]]:
        """Of each statistic the first place whose sample it needs."""
        measures = zip(self.columns, self._measures(), strict=True)
        return [(text, measure.least(*arguments)) for (_, text), (measure, arguments) in measures]

    def _measures(self) -> list[tuple[Measure, tuple[float, ...]]]:
        measures = []
        for _, text in self.columns:
            name, arguments = call(text, MEASURES, "statistic")
            check(text, arguments, *MEASURES[name].arguments)
            MEASURES[name].check(*arguments)
            measures.append((MEASURES[name], arguments))
        return measures

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        chosen(stream, self.column)
        for name, _ in self.columns:
            if name in stream.names:
                raise SchemaError(f"there is a column `{name}` already: give the statistic another name")
        types = [measure.type for measure, _ in self._measures()]
        fields = [pa.field(name, type_) for (name, _), type_ in zip(self.columns, types, strict=True)]
        return pa.schema([*stream, *fields])
