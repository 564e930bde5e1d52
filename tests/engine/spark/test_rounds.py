"""The later stages of a job, a partition at a time."""

from pathlib import Path

import pyarrow as pa
import pytest

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine.addresses import StageEntry
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.parcels import Parcel, decode, encode
from australis.engine.spark.rounds import run_round, unpack_outputs
from australis.engine.succession import planned
from australis.model.train import Train
from australis.testing import rows, train


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Counts by window, in one partition for all."""
    stream = au.stream("n", "at bigint")
    net = au.network(all=stream, out=stream.aggregate(on="at", size=10, n="count(*)"))
    sources = {"n": MemorySource((pa.record_batch({"at": pa.array([], pa.int64())}),))}
    return Job(net, planned(net, sources, 2), sources, str(tmp_path), 2)


def parcels(job: Job, *sent: tuple[str, Train]) -> pa.RecordBatch:
    """Trains sent to the stage, or to an output by its name."""
    places = {"stage" if isinstance(where, StageEntry) else where: at for at, where in enumerate(job.addresses)}
    return encode([Parcel(places[name], 0, [each]) for name, each in sent])


def test_a_round_takes_what_is_addressed_to_it_and_passes_on_the_rest(job: Job) -> None:
    came = parcels(job, ("stage", train("at bigint", at=[1, 2, 30])), ("all", train("at bigint", at=[7])))
    made = list(run_round(job, 0, Batch(1, 0, end=True), 0, iter([came])))
    found = unpack_outputs(job, pa.Table.from_batches(made))
    assert [row for each in found["all"] for row in rows(each)] == [(7,)]
    assert [row for each in found["out"] for row in rows(each)] == [(0, 2), (30, 1)]


def test_a_partition_that_the_stage_does_not_have_only_passes_on(job: Job) -> None:
    (stage,) = job.rounds[0]
    assert job.width(stage) == 1
    (passed,) = run_round(job, 0, Batch(1, 0), 1, iter([parcels(job, ("all", train("at bigint", at=[7])))]))
    (parcel,) = decode(passed, job.schema)
    assert rows(parcel.trains[0]) == [(7,)]


def test_trains_of_an_output_keep_their_order(job: Job) -> None:
    sent = [parcels(job, ("all", train("at bigint", at=[at]))) for at in (5, 3, 9)]
    found = unpack_outputs(job, pa.Table.from_batches(sent))
    assert list(found) == ["all"]
    assert [rows(each) for each in found["all"]] == [[(5,)], [(3,)], [(9,)]]
