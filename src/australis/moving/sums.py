"""Aggregate functions from which values can be taken out again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.columns import arrow, plain
from australis.errors import ExpressionError, listing
from australis.expr import Bound
from australis.expr.aggregate import Call as Written
from australis.keys import hashable
from australis.schema import numeric
from australis.table import Table
from australis.train import Ints, Train

FUNCTIONS = ("count", "sum", "avg", "min", "max")
_GROUP, _COUNT = "#group", "#count"


@dataclass(frozen=True)
class Call:
    """One call over the tuples of a group. A least or largest value needs all values to be kept, and so do different
    ones; the others need a sum and a count."""

    name: str
    distinct: bool
    arg: Bound | None
    type: pa.DataType

    @property
    def lists(self) -> bool:
        """Whether all values are kept, each once with its count."""
        return self.distinct or self.name in ("min", "max")

    def fields(self, number: int) -> list[pa.Field[Any]]:
        """What a group keeps."""
        if self.lists:
            return []
        sums = pa.int64() if self.arg is None or pa.types.is_integer(self.arg.type) else pa.float64()
        return [
            pa.field(f"#n {number}", pa.int64(), nullable=False), pa.field(f"#sum {number}", sums, nullable=False)
        ]  # fmt: skip

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
        given = self.arg.evaluate(train.view)
        there = np.flatnonzero(np.ones(len(train), np.bool_) if given.null_count == 0 else np.asarray(given.is_valid()))
        if values is not None:
            found = values.find([pa.array(slots[there]), given.take(there)], len(there))
            np.add.at(values[_COUNT], found, signs[there])
            values.free(np.unique(found[values[_COUNT][found] == 0]))
            return
        counts, total = groups[f"#n {number}"], groups[f"#sum {number}"]
        np.add.at(counts, slots[there], signs[there])
        if self.name != "count":
            np.add.at(total, slots[there], signs[there] * plain(given)[0][there].astype(total.dtype))
            total[slots[counts[slots] == 0]] = 0  # so that errors of rounding do not outlive what they came from

    def result(self, number: int, groups: Table, values: Table | None, those: Ints) -> pa.Array[Any]:
        """What it comes to in some groups."""
        if values is not None:
            return self._listed(values, those)
        count = groups[f"#n {number}"][those]
        if self.name == "count":
            return pa.array(count)
        total = groups[f"#sum {number}"][those]
        if self.name == "avg":
            total = np.divide(total, count, out=np.zeros(len(those)), where=count > 0)
        return arrow(total, count > 0, self.type)

    def _listed(self, values: Table, those: Ints) -> pa.Array[Any]:
        place = np.full(int(max(those.max(initial=0), values[_GROUP].max(initial=0))) + 1, -1, np.int64)
        place[those] = np.arange(len(those))
        rows = np.flatnonzero(values.alive & (values[_COUNT] > 0))
        rows = rows[place[values[_GROUP][rows]] >= 0]
        at = place[values[_GROUP][rows]]
        if self.name == "count":
            return pa.array(np.bincount(at, minlength=len(those)))
        table = pa.table({"at": at, "value": values.get("value", rows)})
        found = table.group_by("at").aggregate([("value", "min" if self.name == "min" else "max")])
        wanted = np.full(len(those), -1, np.int64)
        wanted[np.asarray(found["at"])] = np.arange(len(found))
        index: Any = pa.array(wanted, mask=wanted < 0)
        return found[f"value_{self.name}"].combine_chunks().take(index).cast(self.type)


def call(written: Written, stream: pa.Schema) -> Call:
    """A call bound to a stream's columns."""
    if written.name not in FUNCTIONS or len(written.args) > 1 or (written.distinct and written.name != "count"):
        raise ExpressionError(
            f"`{written}` cannot take values out again: of what is there now there are {listing(FUNCTIONS)}, and"
            " count(distinct x)"
        )
    if not written.args:
        return Call("count", False, None, pa.int64())
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
    return Call(written.name, written.distinct, arg, type_)
