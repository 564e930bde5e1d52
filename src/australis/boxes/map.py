"""Map: a tuple of new attributes for each tuple (Aurora 5.2.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from australis.errors import NetworkError
from australis.expressions import Bound, Expr
from australis.model.box import Moment, Stateless, Tables, Trains, bound


@dataclass(frozen=True)
class Map(Stateless):
    """Each attribute is an expression over the tuple; what no expression names is left behind.

    >>> from australis.expressions import expr
    >>> from australis.testing import apply, train
    >>> (out,) = apply(Map((("kph", expr("mph * 1.6")),)), train("mph int", mph=[50, None]))
    >>> out["kph"].to_pylist()
    [80.0, None]
    """

    columns: tuple[tuple[str, Expr], ...]

    kind: ClassVar[str] = "map"
    arity: ClassVar[int] = 1

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.columns:
            raise NetworkError("a map makes at least one column")
        return {"out": self._schema(stream)}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        columns = [
            made.evaluate(train.view) if copied is None else train.part(copied)
            for made, copied in self._made(train.schema)
        ]
        return (train.made(self._schema(train.schema), columns),)

    @bound
    def _made(self, stream: pa.Schema) -> list[tuple[Bound, str | None]]:
        """The expressions, and the columns that are only copied."""
        return [(made.bind(stream), made.copies) for _, made in self.columns]

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        return pa.schema(
            [pa.field(name, made.type) for (name, _), (made, _) in zip(self.columns, self._made(stream), strict=True)]
        )
