"""A function as a sink of frames, as far as it needs no session."""

from typing import Any

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.engine.spark.frame_sink import FrameSink
from australis.errors import RunError

BATCH = pa.record_batch({"x": pa.array([1], pa.int64())})


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has no Spark."""
    monkeypatch.setattr("australis.engine.spark.frame_sink.active", lambda: None)


def test_without_a_session_a_batch_is_refused_and_it_says_why() -> None:
    writer = FrameSink(lambda frame, number: None).open(schema("x bigint"))
    with pytest.raises(RunError, match="no session is active; run the network on Spark"):
        writer.write(0, [BATCH])
    writer.close()


def test_a_batch_without_tuples_is_passed_over() -> None:
    called: list[Any] = []
    writer = FrameSink(lambda *batch: called.append(batch)).open(schema("x bigint"))
    writer.write(0, [])
    writer.write(1, [BATCH.slice(0, 0)])
    assert called == []
