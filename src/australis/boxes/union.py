"""Union: streams of one schema as one stream (Aurora 5.2.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis import schema as schemas
from australis.box import Moment, Stateless, Tables, Trains
from australis.errors import NetworkError, SchemaError
from australis.train import concat


@dataclass(frozen=True)
class Union(Stateless):
    """Tuples leave in the order of their arrival numbers, those with the same number in the order of the inputs.

    >>> from australis.testing import apply, train
    >>> odd, even = train("x int", x=[1, 3], number=[1, 3]), train("x int", x=[2, 4], number=[2, 4])
    >>> apply(Union(2), odd, even)[0]["x"].to_pylist()
    [1, 2, 3, 4]
    """

    arity: int

    kind: ClassVar[str] = "union"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        if self.arity < 2:
            raise NetworkError("a union takes two streams or more")
        first, *others = inputs
        for position, other in enumerate(others, start=2):
            if not other.equals(first):
                raise SchemaError(
                    f"the streams of a union have one schema, but the first is ({schemas.text(first)})"
                    f" and number {position} ({schemas.text(other)}): make them the same with a map"
                )
        return {"out": first}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        merged = concat(trains[0].schema, trains)
        if sum(1 for train in trains if len(train)) > 1:
            merged = merged.take(np.argsort(merged.number, kind="stable"))
        return (merged,)
