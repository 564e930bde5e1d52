"""For tests: trains with columns of segments, from Python values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.arrow.schema import schema as schema_of
from australis.boxes.signals.column import column
from australis.model.train import Train


def signal(
    schema: str | pa.Schema, /, *, first: int = 1, number: Sequence[int] = (), ts: Sequence[int] = (), **columns: Any
) -> Train:
    """A train of plain values and of segments, numbered from `first` unless `number` has the arrival numbers."""
    fields = schema_of(schema)
    arrays = []
    for field in fields:
        samples = samples_of(field.type)
        values = columns[field.name]
        arrays.append(pa.array(values, field.type) if samples is None else column(values, samples))
    tuples = pa.RecordBatch.from_arrays(arrays, schema=fields)
    numbers = np.array(number, np.int64) if len(number) else np.arange(first, first + tuples.num_rows)
    return Train(tuples, np.array(ts, np.int64) if len(ts) else numbers, numbers)
