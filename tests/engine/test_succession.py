"""One network after another: boxes that stay go on as if nothing had happened, wherever the plan now puts them."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import australis as au
from australis.api.network import Network
from australis.connectors.source import Source
from australis.connectors.sources.memory import MemorySource
from australis.engine.checkpoint import Checkpoint
from australis.engine.job import Job
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.rounds import run_round, unpack_outputs
from australis.engine.spark.shipping import ship
from australis.engine.spark.stream_source import StreamReader
from australis.engine.state import state
from australis.engine.succession import losses, planned, successor
from australis.testing import rows

REPORTS = au.stream("reports", "time int, vid int, seg int, mph int")
OWNERS = au.static("owners", "vid int, owner string")
CARS = REPORTS.aggregate(on="time", size=50, by="vid", n="count(*)", box="cars")
SEGS = REPORTS.aggregate(on="time", size=50, by="seg", mph="max(mph)", box="segs")
BUSY = CARS.aggregate(on="time", size=200, by="n", cars="count(*)", box="busy")
OWNED = CARS.join(OWNERS, "left.vid = right.vid", box="owned")
COUNT = 600


def tuples() -> pa.RecordBatch:
    n = range(COUNT)
    columns = {"time": n, "vid": [i % 7 for i in n], "seg": [i * 5 % 11 for i in n], "mph": [i * 37 % 100 for i in n]}
    return pa.record_batch({name: pa.array(values, pa.int32()) for name, values in columns.items()})


def owners() -> pa.RecordBatch:
    return pa.record_batch({"vid": pa.array(range(7), pa.int32()), "owner": [f"owner {i}" for i in range(7)]})


def ran(networks: list[Network], partitions: int, warm: bool, folder: Path) -> dict[str, Counter[object]]:
    """What all outputs get when each network runs some batches and the last one to the end."""
    sources: dict[str, Source] = {"reports": MemorySource((tuples(),)), "owners": MemorySource((owners(),))}
    control = Control(str(folder))
    reader = StreamReader(control)
    found: dict[str, Counter[object]] = {}
    offset = None
    job: Job | None = None
    for place, net in enumerate(networks, 1):
        mine = {input.name: sources[input.name] for input in net.inputs}
        if job is None:
            job = Job(net, planned(net, mine, partitions), mine, str(folder / "checkpoint"), partitions)
        else:
            assert offset is not None
            job = successor(job, offset["began"], net, mine, place)
        control.write_job(job.number, ship(job))
        control.write(Directive(job.number, 60))
        offset = reader.initialOffset() if offset is None else offset
        for _ in range(3 if place < len(networks) else COUNT):
            after = reader.latestOffset(offset)
            if after == offset:
                break
            pieces = reader.partitions(offset, after)
            made = [batch for piece in pieces for batch in reader.read(piece)]
            for at in range(len(job.rounds)):
                there, made = pa.Table.from_batches(made), []
                for partition in range(partitions):
                    parts = there.filter(pa.compute.equal(there["bucket"], partition)).to_batches()
                    made += run_round(job, at, pieces[0].batch, partition, iter(parts))
            for name, trains in unpack_outputs(job, pa.Table.from_batches(made)).items():
                for train in trains if not name.startswith("#") else ():
                    found.setdefault(name, Counter()).update(rows(train))
            offset = after
            if not warm:
                state.warm.clear()
    return found


@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_boxes_that_stay_keep_their_state_while_others_come_and_go(partitions: int, warm: bool, tmp_path: Path) -> None:
    networks = [
        au.network(cars=CARS, segs=SEGS),
        au.network(cars=CARS, busy=BUSY, owned=OWNED),
        au.network(segs=SEGS, cars=CARS, owned=OWNED.filter("n > 0")),
    ]
    found = ran(networks, partitions, warm, tmp_path)
    whole = au.network(cars=CARS, owned=OWNED).run_local(reports=tuples(), owners=owners())
    assert found["cars"] == Counter(rows(whole["cars"]))
    # What joined the tables later has what cars gave from then on: those of its first three batches came before.
    assert found["owned"] <= Counter(rows(whole["owned"]))
    assert sum(found["owned"].values()) > sum(found["cars"].values()) // 2
    # The segments were gone for three batches, and started anew.
    late = au.network(segs=SEGS).run_local(reports=tuples().slice(360))["segs"]
    assert Counter(rows(late)) - found["segs"] == Counter()


BOTH = REPORTS.aggregate(on="time", size=50, by=["vid", "seg"], n="count(*)", box="both")


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_boxes_that_stay_are_divided_as_their_state_is_whatever_comes_beside_them(warm: bool, tmp_path: Path) -> None:
    """Beside a box by segments the cheapest plan divides the other by them too, where its state could not follow."""
    alone, beside = au.network(both=BOTH), au.network(both=BOTH, segs=SEGS)
    sources: dict[str, Source] = {"reports": MemorySource((tuples(),))}
    assert planned(alone, sources, 2).layouts["both"] != planned(beside, sources, 2).layouts["both"]
    for networks in ([alone, beside, alone], [beside, alone, beside, au.network(both=BOTH, cars=CARS, segs=SEGS)]):
        folder = tmp_path / str(len(networks))
        folder.mkdir()
        found = ran(networks, 2, warm, folder)
        assert found["both"] == Counter(rows(alone.run_local(reports=tuples())["both"]))


def test_how_boxes_are_divided_is_on_the_checkpoint(tmp_path: Path) -> None:
    sources: dict[str, Source] = {"reports": MemorySource((tuples(),))}
    alone, beside = au.network(both=BOTH), au.network(both=BOTH, segs=SEGS)
    first = Job(alone, planned(alone, sources, 2), sources, str(tmp_path), 2)
    second = successor(first, 1, beside, sources, 2)
    assert second.layouts == {"both": (0, 1)}
    folder = Checkpoint(tmp_path)
    folder.keep(second)
    kept = folder.network(2)
    assert planned(kept.network(), sources, 2, kept.layouts) == second.plan


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_a_box_of_the_same_name_and_other_parameters_starts_empty(warm: bool, tmp_path: Path) -> None:
    other = REPORTS.aggregate(on="time", size=50, by="vid", n="count(*)", mph="max(mph)", box="cars")
    found = ran([au.network(out=CARS), au.network(out=other)], 2, warm, tmp_path)
    later = au.network(out=other).run_local(reports=tuples().slice(180))["out"]
    assert Counter(rows(later)) - found["out"] == Counter()


def test_what_would_be_lost_is_told() -> None:
    net = au.network(cars=CARS, segs=SEGS)
    assert list(losses(net, au.network(cars=CARS.filter("n > 2"), segs=SEGS))) == []
    assert list(losses(net, au.network(cars=CARS))) == ["there was a box segs with state"]
    wider = REPORTS.aggregate(on="time", size=60, by="vid", n="count(*)", box="cars")
    assert list(losses(net, au.network(cars=wider, segs=SEGS))) == ["the box cars, which has state, was another"]
    other = au.network(out=au.stream("others", "a int").filter("a > 1"))
    assert "there was an input reports" in list(losses(net, other))


@pytest.mark.parametrize("partitions", [1, 2])
def test_what_stored_tables_alone_gave_does_not_come_again(partitions: int, tmp_path: Path) -> None:
    named, all_ = OWNERS.map(owner="owner", box="named"), OWNERS.filter("vid > 2", box="some")
    networks = [
        au.network(cars=CARS, named=named, as_is=OWNERS),
        au.network(cars=CARS, named=named, as_is=OWNERS, some=all_),
        au.network(cars=CARS, named=named, as_is=OWNERS, some=all_, busy=BUSY),
    ]
    found = ran(networks, partitions, True, tmp_path)
    whole = networks[2].run_local(reports=tuples(), owners=owners())
    for name in "cars", "named", "as_is", "some":
        assert found[name] == Counter(rows(whole[name])), name


def test_a_box_keeps_its_state_with_columns_that_it_does_not_hold_and_without_them() -> None:
    narrow = REPORTS.map(time="time", vid="vid", box="columns")
    before, after = (au.network(cars=stream.aggregate(on="time", size=50, by="vid", n="count(*)", box="cars"))
                     for stream in (REPORTS, narrow))  # fmt: skip
    assert list(losses(before, after)) == list(losses(after, before)) == []
    sorted_ = [au.network(out=stream.bsort(on="time", slack=5, box="sorted")) for stream in (REPORTS, narrow)]
    assert list(losses(*sorted_)) == ["the box sorted, which has state, was another"]
    wider = REPORTS.map(time="time", vid="cast(vid as bigint)", box="columns")
    other = au.network(cars=wider.aggregate(on="time", size=50, by="vid", n="count(*)", box="cars"))
    assert list(losses(before, other)) == ["the box cars, which has state, was another"]
