"""A job as a description: which stages run where and when, and where their parcels go."""

import pickle
from pathlib import Path

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine.addresses import StageEntry
from australis.engine.job import Job, Lineage
from australis.engine.succession import planned
from australis.testing import train

REPORTS = au.stream("reports", "time int, vid int, road int")


def job(folder: Path, partitions: int) -> Job:
    moving = REPORTS.filter("vid > 0")
    by_vehicle = moving.aggregate(on="time", size=10, by=("vid", "road"), n="count(*)", box="vehicles")
    by_road = by_vehicle.aggregate(on="time", size=10, by="road", n="count(*)", box="roads")
    net = au.network(roads=by_road, raw=REPORTS)
    sources = {"reports": MemorySource((train("time int, vid int, road int", time=[], vid=[], road=[]).tuples,))}
    return Job(net, planned(net, sources, partitions), sources, str(folder), partitions)


def test_a_stage_runs_at_the_source_or_in_the_round_after_those_it_takes_from(tmp_path: Path) -> None:
    several = job(tmp_path, 2)
    assert {"vehicles", "roads"}.isdisjoint(name for stage in several.at_source for name in stage.nodes)
    assert len(several.rounds) == len(several.later) >= 1
    for number, stages in enumerate(several.rounds):
        earlier = {None, *(s.index for s in several.at_source), *(s.index for r in several.rounds[:number] for s in r)}
        assert {entry.origin for stage in stages for entry in stage.entries} <= earlier
    one = job(tmp_path, 1)
    assert not one.later
    assert not one.rounds


def test_a_job_has_an_address_for_every_entry_after_an_exchange_and_for_every_output(tmp_path: Path) -> None:
    several = job(tmp_path, 2)
    entries = [address for address in several.addresses if isinstance(address, StageEntry)]
    assert entries == [(s.index, place, 0) for s in several.later for place in range(len(s.entries))]
    assert {"roads", "raw"} < set(several.addresses)
    schemas = {str(address): several.schema(number) for number, address in enumerate(several.addresses)}
    assert schemas["raw"].names == ["time", "vid", "road"]
    assert all(schema.names for schema in schemas.values())


def test_a_stage_without_a_past_has_state_of_its_own_and_a_job_pickles(tmp_path: Path) -> None:
    several = job(tmp_path, 2)
    assert several.lineages == tuple(Lineage(f"1.{stage.index}") for stage in several.plan.stages)
    again = pickle.loads(pickle.dumps(several))
    assert (again.network, again.addresses, again.rounds) == (several.network, several.addresses, several.rounds)
