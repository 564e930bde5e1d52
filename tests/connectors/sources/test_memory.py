"""Tuples in memory as a source."""

import pickle

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors.sources.memory import MemorySource
from australis.testing import rows


def test_memory():
    batches = tuple(pa.record_batch({"i": list(range(low, low + 5))}) for low in (0, 5, 10))
    memory = pickle.loads(pickle.dumps(MemorySource(batches)))
    assert memory.schema.names == ["i"]
    for limit in (1, 4, 100):
        for count in (1, 2, 5):
            offset, found, numbers = memory.start(), [], []
            while not memory.finished(offset):
                end = memory.latest(offset, limit)
                for split in memory.splits(offset, end, count):
                    for part in memory.read(split):
                        found += rows(part.tuples)
                        numbers += part.number.tolist()
                offset = end
            assert found == [(i,) for i in range(15)]
            assert numbers == list(range(1, 16))
    assert memory.splits(offset, offset, 3) == []
    with pytest.raises(RunError, match="at least one batch, and all of them have the same schema"):
        MemorySource(())
