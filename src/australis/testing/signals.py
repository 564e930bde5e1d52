"""For tests: trains with columns of segments, from values of Python."""

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
    """A train of plain values and of segments, numbered from `first` unless the arrival numbers are given."""
    wanted = schema_of(schema)
    arrays = []
    for field in wanted:
        samples = samples_of(field.type)
        given = columns[field.name]
        arrays.append(pa.array(given, field.type) if samples is None else column(given, samples))
    tuples = pa.RecordBatch.from_arrays(arrays, schema=wanted)
    numbers = np.array(number, np.int64) if len(number) else np.arange(first, first + tuples.num_rows)
    return Train(tuples, np.array(ts, np.int64) if len(ts) else numbers, numbers)
