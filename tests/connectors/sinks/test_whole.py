"""Whole: a file that cannot grow, made of its batches when the run ends."""

from pathlib import Path

import pyarrow as pa
import pytest

from australis import RunError
from australis.connectors import sink
from australis.connectors.sinks.whole import Whole
from australis.connectors.sources.uri import read
from australis.testing import rows

SCHEMA = pa.schema({"i": pa.int32()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch({"i": pa.array(numbers, pa.int32())}, SCHEMA)


def written(path: Path) -> list[int]:
    return [i for part in read(path, SCHEMA) for (i,) in rows(part)]


@pytest.mark.parametrize("name", ["out.parquet", "out.arrow", "out.feather", "out.ipc"])
def test_batches_become_one_file_in_order_each_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert sink.sink(path) == Whole(str(path))
    for first in (0, 8):  # the second time from batches that are there already
        writer = sink.open(path, SCHEMA, "run")
        for batch in range(first, first + 12):
            writer.write(batch, [train(batch * 10), train(batch * 10 + 1), train()])
            writer.write(batch, [train(99)])
        assert path.exists() == (first > 0)
        writer.close()
        assert written(path) == [n for batch in range(first + 12) for n in (batch * 10, batch * 10 + 1)]


def test_batches_that_a_checkpoint_does_not_know_go(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    writer = sink.open(path, SCHEMA, "run")
    for batch in (1, 2, 3):
        writer.write(batch, [train(batch)])
    writer.close()
    writer = sink.open(path, SCHEMA, "run")
    assert "cut off 1 batch" in writer.agree(2, 2)
    writer.write(3, [train(30)])
    writer.close()
    assert written(path) == [1, 2, 30]


def test_without_a_checkpoint_nothing_is_left_beside_it(tmp_path: Path) -> None:
    writer = sink.open(tmp_path / "out.parquet", SCHEMA, "run", replace=True)
    writer.write(1, [train(1)])
    writer.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.parquet.journal", "out.parquet"]


def test_the_results_of_another_run_are_refused_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    sink.open(path, SCHEMA, "one").close()
    with pytest.raises(RunError, match=r"out\.parquet: is there already, and not of this run; move it away"):
        sink.open(path, SCHEMA, "other")
    sink.open(path, SCHEMA, "other", replace=True).close()
    assert written(path) == []


def test_it_has_one_writer(tmp_path: Path) -> None:
    writer = sink.open(tmp_path / "out.parquet", SCHEMA)
    with pytest.raises(RunError, match="another output or another run writes to it"):
        sink.open(tmp_path / "out.parquet", SCHEMA)
    writer.close()
