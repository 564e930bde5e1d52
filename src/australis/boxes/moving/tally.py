"""Tally: aggregates of what is there now, as positive and negative updates come in (SOLE 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.moving import check, sums
from australis.boxes.moving.families import Updating
from australis.boxes.moving.revising import Before
from australis.errors import ColumnPlace, NetworkError, SchemaError, placed
from australis.expressions import Aggregation
from australis.model import parameters
from australis.model.box import Key, Moment, Tables, Trains, bound
from australis.model.keys import hashable
from australis.model.parameters import By, Function
from australis.model.table import Table
from australis.model.train import Ints, Train, empty

_COUNT, _TOLD = "#count", "#told"


@dataclass(frozen=True)
class Tally(Updating):
    """Aggregates of the tuples of each group: those with sign 1 come in, those with sign -1 are taken out again.

    A train gives, for each group whose values it changes, those it had with sign -1 and those it has with sign 1. A
    group without tuples has none; but where all tuples are one group, it has values from its first tuple on. Nulls are
    left out, as elsewhere, and null is a group like any other.

    >>> from australis.expressions import aggregation
    >>> from australis.testing import apply, rows, train
    >>> updates = train("sign int, type string, tons int", sign=[1, 1, -1], type=["tug"] * 3, tons=[5, 3, 5])
    >>> rows(apply(Tally(("type",), (("tons", aggregation("sum(tons)")),)), updates)[0])
    [('tug', 1, 3)]
    """

    by: tuple[str, ...]
    functions: tuple[tuple[str, Aggregation], ...]
    sign: str = "sign"

    kind: ClassVar[str] = "tally"

    @classmethod
    def make(
        cls,
        functions: Mapping[str, Function] | None = None,
        /,
        *,
        by: By = (),
        sign: str = "sign",
        **more: Function,
    ) -> Tally:
        """Aggregate what is there now, by group, among updates: the old values (-1) and the new (1) of each change."""
        return cls(parameters.by(by), parameters.functions({**(functions or {}), **more}), sign)

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        check.updates(stream, self.by, self.sign)
        if not self.functions:
            raise NetworkError("name at least one aggregate, such as `count(*)`")
        for name in self.by:
            if not hashable(stream.field(name).type):
                raise SchemaError(f"cannot group by `{name}`: values of type {stream.field(name).type} make no key")
        schema = self._schema(stream)
        twice = [name for name in schema.names if schema.names.count(name) > 1]
        if twice:
            raise SchemaError(f"two columns would be named `{twice[0]}`; name the aggregate otherwise")
        return {"out": schema}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        by: list[Any] = [stream.field(name) for name in self.by]
        results = [field.with_name(f"= {field.name}") for field in list(self._schema(stream))[len(by) + 1 :]]
        hidden = [pa.field(_COUNT, pa.int64(), nullable=False), pa.field(_TOLD, pa.bool_(), nullable=False)]
        calls = [call for _, each in self._calls(stream) for call in each]
        fields = [field for number, call in enumerate(calls) for field in call.fields(number)]
        tables = {"groups": Table(pa.schema([*by, *hidden, *fields, *results]), self.by)}
        return tables | {f"values {number}": call.values() for number, call in enumerate(calls) if call.lists}

    def holds(self, *inputs: pa.Schema) -> str:
        (stream,) = inputs
        each = f"for each {', '.join(self.by)} " if self.by else ""
        listed = any(call.lists for _, calls in self._calls(stream) for call in calls)
        return f"{each}counts and sums{', and every value that it has' if listed else ''}"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {0: {name: name for name in self.by}}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        if not len(train):
            return (empty(self._schema(train.schema)),)
        groups = tables["groups"]
        slots = groups.find([train[name] for name in self.by], len(train))
        signs, valid = plain(train[self.sign].cast(pa.int64()))
        signs = signs if valid is None else np.where(valid, signs, 0)
        np.add.at(groups[_COUNT], slots, signs)
        changed = np.unique(slots)
        names = [name for name, _ in self.functions]
        was = Before(groups, [f"= {name}" for name in names], changed)
        self._count(tables, train, slots, signs, changed)
        told = groups[_TOLD].copy()
        live = np.zeros(len(told), np.bool_)
        live[changed] = (groups[_COUNT][changed] > 0) | (not self.by)
        same = ~was.revised(np.ones(len(told), np.bool_))
        lost = changed[(told & ~(live & same))[changed]]
        won = changed[(live & ~(told & same))[changed]]
        groups[_TOLD][changed] = live[changed]
        both = np.concatenate([lost, won])
        sign = np.repeat(np.array([-1, 1], np.int8), [len(lost), len(won)])
        columns = [groups.get(name, both) for name in self.by]
        columns += [pa.array(sign), *(was.column(f"= {name}", both, len(lost)) for name in names)]
        tuples = pa.RecordBatch.from_arrays(columns, schema=self._schema(train.schema))
        stamps = np.full(len(told), train.ts.max())
        np.minimum.at(stamps, slots, train.ts)
        number = np.full(len(both), max(moment.number, int(train.number[-1])))
        out = Train(tuples, stamps[both], number)
        groups.free(changed[~live[changed] & (groups[_COUNT][changed] == 0)])
        return (out,)

    def _count(self, tables: Tables, train: Train, slots: Ints, signs: Ints, changed: Ints) -> None:
        """Bring the calls of all functions up to date, and write what the functions of changed groups come to."""
        groups, number = tables["groups"], 0
        for (name, _), (outer, calls) in zip(self.functions, self._calls(train.schema), strict=True):
            results = []
            for call in calls:
                call.add(number, groups, tables.get(f"values {number}"), train, slots, signs)
                results.append(call.result(number, groups, tables.get(f"values {number}"), changed))
                number += 1
            fields = [pa.field(f"#{place}", call.type) for place, call in enumerate(calls)]
            batch = pa.RecordBatch.from_arrays(results, schema=pa.schema(fields))
            groups.put(f"= {name}", changed, outer.evaluate(batch))

    @bound
    def _calls(self, stream: pa.Schema) -> list[tuple[Any, list[sums.TallyCall]]]:
        results = []
        for name, function in self.functions:
            with placed(ColumnPlace(name)):
                calls = [sums.call(each, stream) for each in function.calls]
                types = pa.schema([pa.field(f"#{place}", call.type) for place, call in enumerate(calls)])
                results.append((function.outer.bind(types), calls))
        return results

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        results = [
            pa.field(name, outer.type)
            for (name, _), (outer, _) in zip(self.functions, self._calls(stream), strict=True)
        ]
        return pa.schema([*(stream.field(name) for name in self.by), pa.field(self.sign, pa.int8()), *results])
