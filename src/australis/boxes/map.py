"""Map: a tuple of new attributes for each tuple (Aurora 5.2.1.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import ClassVar

import pyarrow as pa

from australis.errors import NetworkError
from australis.expressions import Bound, Expr
from australis.expressions.codegen.fused import Step
from australis.expressions.expression import of
from australis.expressions.node import Name, Node, ascending, replaced, walk
from australis.model.ascent import Ascent, Disorder, computed
from australis.model.box import Box, Moment, Tables, Trains, bound
from australis.model.facts import Facts


@dataclass(frozen=True)
class Map(Box):
    """Each attribute is an expression over the tuple; what no expression names is left behind.

    >>> from australis.expressions import expr
    >>> from australis.testing import apply, train
    >>> (out,) = apply(Map((("kph", expr("mph * 1.6")),)), train("mph int", mph=[50, None]))
    >>> out["kph"].to_pylist()
    [80.0, None]
    """

    columns: tuple[tuple[str, Expr], ...]

    kind: ClassVar[str] = "map"
    stores: ClassVar[bool] = True
    immediate: ClassVar[bool] = True
    keeps_all: ClassVar[bool] = True

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.columns:
            raise NetworkError("a map makes at least one column")
        return {"out": self._schema(stream)}

    @property
    def step_of_chain(self) -> Step | None:
        return self.columns

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: {value.copies: name for name, value in reversed(self.columns) if value.copies is not None}}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        return (frozenset(name for _, value in self.columns for name in value.columns),)

    def computes(self, port: str, *inputs: pa.Schema) -> Mapping[str, Expr]:
        return dict(self.columns)

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """A predicate on columns that it copies: on others, what they are made of would be computed twice."""
        copied = {name: value.copies for name, value in self.columns if value.copies is not None}
        return {0: predicate.rename(copied)} if copied.keys() >= set(predicate.columns) else None

    def followed_by(self, box: Box, stream: pa.Schema) -> Box | None:
        """A map of expressions within expressions, if none is computed twice, and types and copies stay the same."""
        own = dict(self.columns)
        if not isinstance(box, Map) or len(own) < len(self.columns):
            return None
        reads = Counter(part.name for _, value in box.columns for part in walk(value.node) if isinstance(part, Name))
        inside = {name for _, value in box.columns if value.copies is None for name in value.columns}
        for name, value in self.columns:
            # Within an expression, a constant takes the types of columns around it, and a column does not.
            constant = value.bind(stream).operand.constant
            if (value.copies is None and reads[name] > 1) or (constant and name in inside):
                return None

        def source(part: Node) -> Node | None:
            return own[part.name].node if isinstance(part, Name) else None

        whole = Map(tuple((name, of(replaced(value.node, source))) for name, value in box.columns))
        first, second = self.passes("out", stream)[0], box.passes("out", self._schema(stream))[0]
        passes = {name: second[to] for name, to in first.items() if to in second}
        same = whole._schema(stream).equals(box._schema(self._schema(stream)), check_metadata=True)
        return whole if same and whole.passes("out", stream)[0] == passes else None

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        columns = dict(self.columns)
        before = ascending(columns[column].node) if column in columns else None
        if before is None:
            return computed(column)
        return inputs[0].disorder(before, {held for key in by if key in columns and (held := columns[key].copies)})

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        known = given[0]
        copied = [(name, value.copies) for name, value in self.columns if value.copies is not None]
        names = {source: name for name, source in reversed(copied)}
        groups = tuple(replace(each, column=names.get(each.column or "")) for each in known.groups)
        rates = {name: known.rates[source] for name, source in copied if source in known.rates}
        return Facts(groups, rates, {name: known.sizes[source] for name, source in copied if source in known.sizes})

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        columns = [
            value.evaluate(train.view) if copied is None else train.part(copied)
            for value, copied in self._made(train.schema)
        ]
        return (train.made(self._schema(train.schema), columns),)

    @bound
    def _made(self, stream: pa.Schema) -> list[tuple[Bound, str | None]]:
        """The expressions, and the columns that are only copied."""
        return [(value.bind(stream), value.copies) for _, value in self.columns]

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        return pa.schema(
            [pa.field(name, value.type) for (name, _), (value, _) in zip(self.columns, self._made(stream), strict=True)]
        )
