"""The console as a sink."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis.connectors import sink
from tests.connectors.sinks.test_sound import BATCHES
from tests.connectors.sinks.test_sound import train as sounds

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


def test_the_console(capsys):
    writer = sink.open(sink.Console(2), SCHEMA)
    writer.write(7, [train(1, 2), train(3)])
    writer.write(8, [])
    out = capsys.readouterr().out
    assert "batch 7: 3 tuples" in out
    assert "and 1 more" in out
    assert "<2>" in out
    assert "<3>" not in out
    assert "batch 8" not in out


def test_the_console_shows_the_shape_of_a_segment(capsys: pytest.CaptureFixture[str]) -> None:
    sink.open("console", BATCHES[0][0].schema).write(0, [sounds(4, 1)])
    told = capsys.readouterr().out
    assert "<segment ▁" in told
    assert "samples" not in told
