"""Functions, and targets with transactions, as sinks."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors import sink
from australis.testing import rows

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


def test_a_callback_is_called_with_each_batch_again():
    calls = []
    writer = sink.open(lambda batch, table: calls.append((batch, table.num_rows)), SCHEMA)
    for batch in (0, 1, 1):
        writer.write(batch, [train(1), train(2)] if batch else [])
    assert calls == [(0, 0), (1, 2), (1, 2)]


class Target:
    """Keeps batches by run and id."""

    def __init__(self):
        self.kept = {}

    def last_batch(self, run):
        return max((batch for other, batch in self.kept if other == run), default=None)

    def write(self, run, batch, table):
        self.kept[run, batch] = [row[0] for row in rows(table)]


def test_a_target_with_transactions_has_each_batch_of_each_run_once():
    target = Target()
    for run in ("one", "other"):
        for batch in (0, 1, 1, 2, 0):
            sink.open(target, SCHEMA, run).write(batch, [train(batch)])
    assert target.kept == {(run, batch): [batch] for run in ("one", "other") for batch in range(3)}


def test_a_target_that_is_ahead_of_the_checkpoint_is_refused():
    target = Target()
    writer = sink.open(target, SCHEMA, "run")
    for batch in (1, 2, 3):
        writer.write(batch, [train(batch)])
    assert writer.agree(3, 2) == ""
    with pytest.raises(
        RunError, match=r"Target: has batches of run run up to 3, and the checkpoint knows none after 2;"
    ):
        writer.agree(2, 2)
