"""One file that grows as a sink."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors import sink

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


def test_a_csv_file_has_one_header_even_without_tuples(tmp_path):
    for _ in range(2):
        writer = sink.open(str(tmp_path / "out.csv"), SCHEMA)
        writer.write(0, [])
        writer.close()
    assert (tmp_path / "out.csv").read_text() == '"i","s"\n'


def test_a_file_that_was_there_before_is_refused(tmp_path):
    (tmp_path / "out.csv").write_text("mine\n")
    with pytest.raises(RunError, match=r"out.csv: is there already, and not of this run; move it away"):
        sink.open(str(tmp_path / "out.csv"), SCHEMA)
    assert (tmp_path / "out.csv").read_text() == "mine\n"


def test_a_file_that_shrank_is_told(tmp_path):
    writer = sink.open(str(tmp_path / "out.csv"), SCHEMA)
    writer.write(0, [train(1)])
    writer.close()
    (tmp_path / "out.csv").write_text("x")
    with pytest.raises(RunError, match=r"out.csv: has 1 bytes, fewer than the \d+ that were written; put it back, or"):
        sink.open(str(tmp_path / "out.csv"), SCHEMA)


def test_one_process_writes_a_file(tmp_path):
    writer = sink.open(str(tmp_path / "out.csv"), SCHEMA)
    with pytest.raises(
        RunError, match=r"out.csv: another output or another run writes to it; stop that one, or choose another path"
    ):
        sink.open(str(tmp_path / "out.csv"), SCHEMA)
    writer.close()
    sink.open(str(tmp_path / "out.csv"), SCHEMA).close()
