"""The source through which Spark drives a job, asked as Spark asks it."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine.job import Job
from australis.engine.parcels import COLUMNS, decode
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.shipping import ship
from australis.engine.spark.stream_source import NAME, JobSource, StreamReader, TaskInput
from australis.engine.succession import planned


@pytest.fixture
def control(tmp_path: Path) -> Control:
    """Of a job that counts five tuples by window, in two partitions."""
    net = au.network(out=au.stream("n", "at bigint").aggregate(on="at", size=9, n="count(*)"))
    sources = {"n": MemorySource((pa.record_batch({"at": [1, 2, 3, 4, 5]}),))}
    control = Control(str(tmp_path))
    control.write_job(1, ship(Job(net, planned(net, sources, 2), sources, str(tmp_path / "checkpoint"), 2)))
    control.write(Directive(1, 3))
    return control


def test_batches_end_where_the_limit_says_and_their_numbers_do_not_meet(control: Control) -> None:
    reader = StreamReader(control)
    start = reader.initialOffset()
    first = reader.latestOffset(start)
    second = reader.latestOffset(first)
    assert [each["inputs"]["n"] for each in (start, first, second)] == [{"tuples": 0}, {"tuples": 3}, {"tuples": 5}]
    assert [each["version"] for each in (start, first, second)] == [0, 1, 2]
    assert [each["end"] for each in (first, second)] == [False, True]
    for before, after in ((start, first), (first, second)):
        assert after["first"] == before["first"] + before["room"]
    assert reader.latestOffset(second) == second  # after the end there is nothing


def test_a_run_that_is_to_stop_plans_no_more(control: Control) -> None:
    reader = StreamReader(control)
    start = reader.initialOffset()
    control.write(Directive(1, 3, stop=True))
    assert reader.latestOffset(start) == start
    assert reader.partitions(start, start) == []


def test_a_batch_is_read_in_as_many_parts_as_there_are_partitions(control: Control) -> None:
    reader = StreamReader(control)
    start = reader.initialOffset()
    first = reader.latestOffset(start)

    def tuples() -> list[Any]:
        parts = reader.partitions(start, first)
        assert len(parts) == 2
        found = []
        for part in parts:
            assert isinstance(part, TaskInput)
            job = part.shipped.job
            for rows in reader.read(part):
                for parcel in decode(rows, job.schema):
                    if not isinstance(job.addresses[parcel.address], str):
                        found += [row["at"] for train in parcel.trains for row in train.tuples.to_pylist()]
        return sorted(found)

    assert tuples() == tuples() == [1, 2, 3]  # when Spark asks again it is the same


def test_spark_finds_it_by_name(control: Control) -> None:
    source = JobSource({"control": control.folder, "patience": "0.5"})
    assert (source.name(), source.schema()) == (NAME, COLUMNS)
    reader = source.streamReader(None)
    assert isinstance(reader, StreamReader)
    assert reader.control == control
