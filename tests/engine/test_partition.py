"""A partition of a stage at work on one batch."""

from pathlib import Path

import pyarrow as pa

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.partition import StagePartition
from australis.engine.succession import planned
from australis.model.box import Moment
from australis.model.network import Network
from australis.testing import rows, train

REPORTS = au.stream("reports", "time int, vid int")
CARS = au.static("cars", "vid int, plate string")
TUPLES = MemorySource((pa.record_batch({"time": [1], "vid": [2]}, REPORTS.schema),))
STORED = MemorySource(
    (pa.record_batch({"vid": list(range(9)), "plate": [f"P{vid}" for vid in range(9)]}, CARS.schema),)
)


def partition(network: Network, folder: Path, version: int, number: int = 0, partitions: int = 1) -> StagePartition:
    sources = {input.name: STORED if input.static else TUPLES for input in network.inputs}
    job = Job(network, planned(network, sources, partitions), sources, str(folder), partitions)
    return StagePartition(job, job.plan.stages[-1], Batch(version, 0, began=1), number, TaskMeasures(network))


def test_a_batch_goes_on_from_the_state_that_the_one_before_it_saved(tmp_path: Path) -> None:
    net = au.network(out=REPORTS.aggregate(on="time", size=10, n="count(*)", box="stats"))
    first = partition(net, tmp_path, 1)
    given = first.step({("stats", 0): train("time int, vid int", time=[1, 2], vid=[1, 1])}, Moment(2))
    assert len(given["stats", "out"]) == 0
    first.commit()
    again = partition(net, tmp_path, 2)
    given = again.step({("stats", 0): train("time int, vid int", time=[3, 11], vid=[1, 1])}, Moment(4))
    assert rows(given["stats", "out"]) == [(0, 3)]
    untouched = partition(net, tmp_path, 1)  # a batch that is run again
    given = untouched.step({("stats", 0): train("time int, vid int", time=[11], vid=[1])}, Moment(1))
    assert rows(given["stats", "out"]) == []


def test_an_input_that_brings_nothing_is_empty(tmp_path: Path) -> None:
    net = au.network(out=REPORTS.filter("vid > 1", box="few"))
    given = partition(net, tmp_path, 1).step({}, Moment(1))
    assert {place: len(train) for place, train in given.items()} == {("few", "out"): 0, ("few", "rest"): 0}


def test_partitions_share_a_stored_table_and_join_with_it(tmp_path: Path) -> None:
    net = au.network(out=REPORTS.join(CARS, "left.vid = right.vid", box="named"))
    reports = train("time int, vid int", time=[0] * 9, vid=list(range(9)))
    found = []
    for number in range(3):
        part = partition(net, tmp_path, 1, number, partitions=3)
        found += rows(part.step({("named", 0): reports}, Moment(9))["named", "out"])
    assert sorted(found) == [(0, vid, vid, f"P{vid}") for vid in range(9)]
