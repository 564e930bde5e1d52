"""Aggregate functions from which values can be taken out again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import arrow, plain
from australis.arrow.compute import pc
from australis.arrow.schema import numeric
from australis.errors import ExpressionError, RunError, listing
from australis.expressions import Bound
from australis.expressions.aggregate import AggregateCall as Written
from australis.model.keys import hashable
from australis.model.table import Table
from australis.model.train import Ints, Train

FUNCTIONS = ("count", "sum", "avg", "min", "max")
_GROUP, _COUNT = "#group", "#count"
_WHOLE = ("low", "high")
"""A sum of whole numbers: that of their lower halves, of 32 bits, and that of their upper ones."""
_REAL = ("finite", "nan", "up", "down")
"""A sum of doubles: that of the finite ones, and how many others there are, which no sum would let go again."""
_HALF = 32
_ASCENDING = [("at", "ascending"), ("value", "ascending")]


@dataclass(frozen=True)
class TallyCall:
    """One call over the tuples of a group. A least or largest value needs all values to be kept, and so do different
    ones; the others need a sum and a count."""

    name: str
    distinct: bool
    arg: Bound | None
    type: pa.DataType
    text: str = ""

    @property
    def lists(self) -> bool:
        """Whether all values are kept, each once with its count."""
        return self.distinct or self.name in ("min", "max")

    def fields(self, number: int) -> list[pa.Field[Any]]:
        """What a group keeps."""
        if self.lists:
            return []
        sums = () if self.name == "count" else _WHOLE if self._whole else _REAL
        types = {"finite": pa.float64()}
        return [pa.field(f"#{part} {number}", types.get(part, pa.int64()), nullable=False) for part in ("n", *sums)]

    def values(self) -> Table:
        """The table of values, by group."""
        assert self.arg is not None
        group, count = (pa.field(name, pa.int64(), nullable=False) for name in (_GROUP, _COUNT))
        return Table(pa.schema([group, pa.field("value", self.arg.type), count]), (_GROUP, "value"))

    def add(self, number: int, groups: Table, values: Table | None, train: Train, slots: Ints, signs: Ints) -> None:
        """Count tuples in, or out."""
        if self.arg is None:
            np.add.at(groups[f"#n {number}"], slots, signs)
            return
        column = self.arg.evaluate(train.view)
        there = np.flatnonzero(
            np.ones(len(train), np.bool_) if column.null_count == 0 else np.asarray(column.is_valid())
        )
        if values is not None:
            found_slots = values.find([pa.array(slots[there]), column.take(there)], len(there))
            np.add.at(values[_COUNT], found_slots, signs[there])
            values.free(np.unique(found_slots[values[_COUNT][found_slots] == 0]))
            return
        slots, signs = slots[there], signs[there]
        np.add.at(groups[f"#n {number}"], slots, signs)
        if self.name == "count":
            return
        numbers = plain(column)[0][there]
        for part, addends in (_halves(numbers) if self._whole else _sorted_out(numbers.astype(np.float64))).items():
            np.add.at(groups[f"#{part} {number}"], slots, signs * addends)
        if not self._whole:  # so that errors of rounding do not outlive what they came from
            groups[f"#finite {number}"][slots[groups[f"#n {number}"][slots] == 0]] = 0

    def result(self, number: int, groups: Table, values: Table | None, slots: Ints) -> pa.Array[Any]:
        """Its results in some groups."""
        if values is not None:
            return self._listed(values, slots)
        count = groups[f"#n {number}"][slots]
        if self.name == "count":
            return pa.array(count)
        parts = [groups[f"#{part} {number}"][slots] for part in (_WHOLE if self._whole else _REAL)]
        if self.name == "sum" and self._whole:
            return arrow(self._fitting(*parts), count > 0, self.type)
        total = parts[0] + parts[1] * 2.0**_HALF if self._whole else _real(*parts)
        if self.name == "avg":
            total = np.divide(total, count, out=np.zeros(len(slots)), where=count > 0)
        return arrow(total, count > 0, self.type)

    @property
    def _whole(self) -> bool:
        return self.arg is not None and pa.types.is_integer(self.arg.type)

    def _fitting(self, low: Ints, high: Ints) -> Ints:
        """Sums of whole numbers, in 64 bits."""
        high = high + (low >> _HALF)
        if len(high) and (high.min() < -(1 << 31) or high.max() >= 1 << 31):
            raise RunError(f"`{self.text}`: overflow; the result does not fit in 64 bits, cast to double")
        return (high << _HALF) + (low & ((1 << _HALF) - 1))

    def _listed(self, values: Table, slots: Ints) -> pa.Array[Any]:
        place = np.full(int(max(slots.max(initial=0), values[_GROUP].max(initial=0))) + 1, -1, np.int64)
        place[slots] = np.arange(len(slots))
        rows = np.flatnonzero(values.alive & (values[_COUNT] > 0))
        rows = rows[place[values[_GROUP][rows]] >= 0]
        at = place[values[_GROUP][rows]]
        if self.name == "count":
            return pa.array(np.bincount(at, minlength=len(slots)))
        listed = values.get("value", rows)
        # Sorted: of doubles NaN ranks highest, as everywhere.
        order = np.asarray(pc.sort_indices(pa.table({"at": at, "value": listed}), sort_keys=_ASCENDING))
        edges = np.searchsorted(at[order], np.arange(len(slots) + 1))
        chosen = np.minimum(edges[:-1], len(order) - 1) if self.name == "min" else edges[1:] - 1
        index: Any = pa.array(order[chosen] if len(order) else chosen, mask=edges[1:] == edges[:-1])
        return listed.take(index).cast(self.type)


def _halves(numbers: npt.NDArray[Any]) -> dict[str, Ints]:
    wide = numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64)
    halves = (wide & wide.dtype.type((1 << _HALF) - 1), wide >> wide.dtype.type(_HALF))
    return {part: half.astype(np.int64) for part, half in zip(_WHOLE, halves, strict=True)}


def _sorted_out(numbers: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[Any]]:
    kinds = (np.isnan(numbers), numbers == np.inf, numbers == -np.inf)
    parts = (np.where(np.isfinite(numbers), numbers, 0.0), *(each.astype(np.int64) for each in kinds))
    return dict(zip(_REAL, parts, strict=True))


def _real(finite: npt.NDArray[np.float64], nan: Ints, up: Ints, down: Ints) -> npt.NDArray[np.float64]:
    total = np.where(up > 0, np.inf, np.where(down > 0, -np.inf, finite))
    return np.where((nan > 0) | ((up > 0) & (down > 0)), np.nan, total)


def call(written: Written, stream: pa.Schema) -> TallyCall:
    """A call bound to a stream's columns."""
    if written.name not in FUNCTIONS or len(written.args) > 1 or (written.distinct and written.name != "count"):
        raise ExpressionError(
            f"`{written}` cannot take values out again: of what is there now there are {listing(FUNCTIONS)}, and"
            " count(distinct x)"
        )
    if not written.args:
        return TallyCall("count", False, None, pa.int64())
    arg = written.args[0].bind(stream)
    if written.name in ("count", "avg", "sum"):
        whole = written.name == "count" or (written.name == "sum" and pa.types.is_integer(arg.type))
        if written.name != "count" and (not numeric(arg.type) or pa.types.is_decimal(arg.type)):
            raise ExpressionError(f"`{written}`: `{written.args[0]}` is a {arg.type}, not a number")
        type_: pa.DataType = pa.int64() if whole else pa.float64()
    else:
        type_ = arg.type
    if (written.distinct or written.name in ("min", "max")) and not hashable(arg.type):
        raise ExpressionError(f"`{written}`: values of type {arg.type} cannot be told apart")
    return TallyCall(written.name, written.distinct, arg, type_, str(written))
