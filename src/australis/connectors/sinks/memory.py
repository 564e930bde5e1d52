"""Memory: results as a table in this process, for tests and notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from australis.connectors.sinks.past import cut_off


@dataclass
class MemorySink:
    """Results in memory, exactly once while the process lives: a batch that is there already is not taken again.

    >>> sink = MemorySink()
    >>> writer = sink.open(pa.schema({"vid": pa.int32()}))
    >>> train = pa.record_batch({"vid": pa.array([7], pa.int32())})
    >>> writer.write(0, [train]); writer.write(0, [train])
    >>> sink.table().to_pydict()
    {'vid': [7]}
    """

    batches: dict[int, list[pa.RecordBatch]] = field(default_factory=dict)
    schema: pa.Schema | None = None

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> MemorySink:
        if replace:
            self.batches.clear()
        self.schema = schema
        return self

    def agree(self, planned: int, committed: int) -> str:
        """Drop the batches after the last one that a checkpoint has planned; what went, in words."""
        beyond = [batch_id for batch_id in self.batches if batch_id > planned]
        for batch_id in beyond:
            del self.batches[batch_id]
        return cut_off("a table in memory", len(beyond))

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        if batch_id not in self.batches:
            self.batches[batch_id] = list(tuples)

    def table(self) -> pa.Table:
        """All results, in the order of their batches."""
        trains = [train for batch_id in sorted(self.batches) for train in self.batches[batch_id]]
        return pa.Table.from_batches(trains, self.schema)

    def close(self) -> None:
        """What is there stays."""
