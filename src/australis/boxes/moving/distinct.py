"""Distinct: tuples that have at least one supporter, as positive and negative updates come in (SOLE 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.moving import check
from australis.errors import NetworkError, SchemaError
from australis.model.box import Box, Key, Moment, Tables, Trains
from australis.model.keys import hashable
from australis.model.table import Table
from australis.model.train import Ints, Train

_COUNT = "#count"


@dataclass(frozen=True)
class Distinct(Box):
    """The columns `by`: with sign 1 when a first update supports their values, with -1 when the last one is taken back.

    A sign is a number of supporters that come or, below zero, go; none if it is null. Null is a value like any other.

    >>> from australis.testing import apply, rows, train
    >>> updates = train("query int, sign int, type string", query=[1, 2, 1, 2], sign=[1, 1, -1, -1], type=["tug"] * 4)
    >>> rows(apply(Distinct(("type",)), updates)[0])
    [('tug', 1), ('tug', -1)]
    """

    by: tuple[str, ...]
    sign: str = "sign"

    kind: ClassVar[str] = "distinct"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        check.updates(stream, self.by, self.sign)
        if not self.by or self.sign in self.by:
            raise NetworkError("name the columns to tell apart, beside the sign")
        for name in self.by:
            if not hashable(stream.field(name).type):
                raise SchemaError(f"values of `{name}`, a {stream.field(name).type}, cannot be told apart")
        return {"out": self._schema(stream)}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        count = pa.field(_COUNT, pa.int64(), nullable=False)
        return {"values": Table(pa.schema([*(stream.field(name) for name in self.by), count]), self.by)}

    def holds(self, *inputs: pa.Schema) -> str:
        return f"a count for each {', '.join(self.by)} with a supporter"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {0: {name: name for name in self.by}}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        values = tables["values"]
        slots = values.find([train[name] for name in self.by], len(train))
        before, after = _running(slots, self._signs(train), values[_COUNT])
        changed = np.flatnonzero((before > 0) != (after > 0))
        sign = np.where(after[changed] > 0, 1, -1).astype(np.int8)
        values.free(np.unique(slots[values[_COUNT][slots] == 0]))
        columns = [train[name].take(changed) for name in self.by]
        tuples = pa.RecordBatch.from_arrays([*columns, pa.array(sign)], schema=self._schema(train.schema))
        return (Train(tuples, train.ts[changed], train.number[changed]),)

    def _signs(self, train: Train) -> Ints:
        signs, valid = plain(train[self.sign].cast(pa.int64()))
        return signs if valid is None else np.where(valid, signs, 0)

    def _schema(self, stream: pa.Schema) -> pa.Schema:
        return pa.schema([*(stream.field(name) for name in self.by), pa.field(self.sign, pa.int8())])


def _running(slots: Ints, signs: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The count of each tuple's slot before and after it; those after the last are written."""
    order = np.argsort(slots, kind="stable")
    sums = np.cumsum(signs[order])
    first = np.searchsorted(slots[order], slots[order])
    earlier = np.concatenate([[0], sums])[first]
    after = np.empty(len(slots), np.int64)
    after[order] = counts[slots[order]] + sums - earlier
    before = after - signs
    counts[slots[order]] = after[order]  # the last of several in a slot stays
    return before, after
