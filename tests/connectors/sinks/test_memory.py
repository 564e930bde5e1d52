"""Results in memory."""

import pyarrow as pa

from australis.connectors.sinks.memory import MemorySink

SCHEMA = pa.schema({"i": pa.int32()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch([pa.array(numbers, pa.int32())], SCHEMA)


def test_each_batch_once_in_the_order_of_batches() -> None:
    sink = MemorySink()
    writer = sink.open(SCHEMA)
    for batch, trains in ((2, [train(3)]), (1, [train(1), train(2)]), (1, [train(9)]), (3, [])):
        writer.write(batch, trains)
    assert sink.table().to_pydict() == {"i": [1, 2, 3]}
    assert MemorySink().open(SCHEMA).table().schema == SCHEMA


def test_batches_that_a_checkpoint_does_not_know_are_dropped() -> None:
    sink = MemorySink().open(SCHEMA)
    for batch in (0, 1, 2):
        sink.write(batch, [train(batch)])
    assert sink.agree(2, 2) == ""
    assert sink.agree(0, 0).startswith("a table in memory: cut off 2 batches that the checkpoint does not know of")
    assert sink.table().to_pydict() == {"i": [0]}


def test_what_is_there_stays_unless_it_is_replaced() -> None:
    sink = MemorySink().open(SCHEMA)
    sink.write(0, [train(1)])
    assert sink.open(SCHEMA).table().num_rows == 1
    assert sink.open(SCHEMA, replace=True).table().num_rows == 0
