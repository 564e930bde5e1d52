"""Boxes that leave out objects by a plan, in the tasks of a job: in any partitions, the same again, and counted."""

from pathlib import Path

import numpy as np
import pytest

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine.addresses import MEASURES
from australis.engine.job import Job
from australis.engine.measures import SCHEMA, part, progress, rows_of
from australis.engine.measures import output as output_row
from australis.engine.service import ServiceWindow
from australis.engine.spark.control import Control, Directive
from australis.engine.succession import planned
from australis.engine.totals import Totals
from australis.model.train import Train
from australis.qos.monitor import Monitor
from australis.qos.shedding import ShedPlan, shed_plan
from australis.testing import rows
from tests.boxes.moving.test_lightening import OBJECTS, city
from tests.engine.test_stamp import trains_of
from tests.oracles.moving import Ledger

COUNT, QUERIES, TICKS = 300, 40, 24
pytestmark = pytest.mark.slow
ACCURACIES = [0.0, 0.3, 0.5, 0.8]
SHIPS = au.stream("ships", OBJECTS)
ASKING = au.stream(
    "queries", "query int, kind string, x double, y double, width double, height double, accuracy double"
)
GRAPH = {0: 0.0, 0.5: 0.8, 1: 1.0}


def network(shed: str = "objects") -> au.Network:
    seen = SHIPS.moving.watch(ASKING, every="train", shed=shed, box="watch")
    return au.network(seen=seen.output(delivered=GRAPH), refused=seen.port("refused"))


class Found:
    """What a job gave: answers after each batch, its totals and its service."""

    def __init__(self, net: au.Network, plans: list[ShedPlan], partitions: int, folder: Path, twice: bool = False):
        folder.mkdir()
        ticks, wanted = city(COUNT, QUERIES, TICKS, ACCURACIES)
        sources = {
            "ships": MemorySource(tuple(each.tuples for each in ticks)),
            "queries": MemorySource((wanted.tuples,)),
        }
        job = Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)
        self.trains: list[list[list]] = []
        self.answers: list[dict[int, set[int]]] = []
        self.totals, self.window, self.monitor = Totals(), ServiceWindow(net), Monitor()
        ledger = Ledger()
        for place, (batch, trains) in enumerate(trains_of(job, COUNT, folder, twice, plans[0].render())):
            tables = [each.tuples.select(SCHEMA.names) for each in trains[MEASURES]]
            parts = rows_of([part("seen", "", trains.get("seen", []))])
            tables.append(output_row(batch.version, "seen", parts, batch.clock))
            self.totals.add(progress(net, batch.version, tables) | {"seconds": 0.0, "letters": 0}, tables)
            self.trains.append([sorted(rows(each)) for each in trains.get("seen", [])])
            if not twice:
                self.window.add(batch.version * 1_000_000, list(rows_of(tables)))
                self.monitor = self.monitor.add(rows_of(tables), 1.0)
                self.add(ledger, trains.get("seen", []))
            plan = plans[min(place + 1, len(plans) - 1)]
            Control(str(folder)).write(Directive(job.number, COUNT, shed=plan.render()))

    def add(self, ledger: Ledger, trains: list[Train]) -> None:
        for each in trains:
            ledger.add(each)
        self.answers.append({query: set(answer) for query, answer in ledger.sets.items()})


def truth() -> list[dict[int, set[int]]]:
    """The answers of all objects after each tick."""
    ticks, wanted = city(COUNT, QUERIES, TICKS)
    found = []
    for each in ticks:
        x, y = np.array(each["x"]), np.array(each["y"])
        middles = zip(wanted["x"].to_pylist(), wanted["y"].to_pylist(), strict=True)
        inside = [(abs(x - across) <= 0.1) & (abs(y - along) <= 0.1) for across, along in middles]
        found.append({query: set(np.flatnonzero(each).tolist()) for query, each in enumerate(inside)})
    return found


@pytest.mark.parametrize("shed", ["objects", "queries"])
@pytest.mark.parametrize("partitions", [1, 3])
def test_every_query_has_its_accuracy_after_every_batch_and_what_is_missed_is_told(
    partitions: int, shed: str, tmp_path: Path
) -> None:
    net = network(shed)
    found = Found(net, [shed_plan(net, {"seen": 0.4})], partitions, tmp_path / "shed")
    expected = truth()
    members = missed = 0
    assert len(found.answers) == TICKS
    for answers, full in zip(found.answers, expected, strict=True):
        for query, whole in full.items():
            answer = answers.get(query, set())
            assert answer <= whole
            assert len(answer) >= ACCURACIES[query % len(ACCURACIES)] * len(whole) - 1e-9
            members, missed = members + len(whole), missed + len(whole - answer)
    assert missed > 0.05 * members
    service = found.window.outputs()["seen"]
    assert service.loss == pytest.approx(missed / members)
    assert service.utility == pytest.approx(np.interp(1 - service.loss, list(GRAPH), list(GRAPH.values())))
    assert found.window.outputs()["refused"].utility == 1
    assert 0 < found.totals.shed["objects watch"] < COUNT * TICKS
    assert set(found.totals.shed) == {"objects watch"}


@pytest.mark.parametrize("shed", ["objects", "queries"])
def test_a_batch_that_is_run_again_leaves_out_the_same_objects(shed: str, tmp_path: Path) -> None:
    net = network(shed)
    plans = [shed_plan(net, {"seen": part}) for part in (0.7, 0.7, 0.4, 0.9, 0.3)]
    found = Found(net, plans, 2, tmp_path / "twice", twice=True)
    assert found.trains[::2] == found.trains[1::2]
    assert found.totals.shed["objects watch"] > 0


def test_with_no_plan_and_with_a_part_of_one_results_are_the_same(tmp_path: Path) -> None:
    net = network()
    none = Found(net, [ShedPlan()], 2, tmp_path / "none")
    one = Found(net, [ShedPlan(lighter={"watch": 1.0})], 2, tmp_path / "one")
    assert none.trains == one.trains
    for answers, full in zip(none.answers, truth(), strict=True):
        assert {query: answer for query, answer in answers.items() if answer} == {
            query: answer for query, answer in full.items() if answer
        }


def test_objects_come_back_when_a_plan_asks_for_all(tmp_path: Path) -> None:
    net = network()
    plans = [*[shed_plan(net, {"seen": 0.5})] * 12, ShedPlan(lighter={"watch": 1.0})]
    found = Found(net, plans, 2, tmp_path / "back")
    expected = truth()
    assert any(expected[10][query] - found.answers[10].get(query, set()) for query in range(QUERIES))
    for query in range(QUERIES):
        assert found.answers[-1].get(query, set()) == expected[-1][query]


def test_what_a_box_would_give_is_measured_not_what_it_gave(tmp_path: Path) -> None:
    """So that the model does not take what was shed for what there is."""
    net = network()
    whole = Found(net, [ShedPlan()], 1, tmp_path / "whole").monitor.costs(net)
    less = Found(net, [shed_plan(net, {"seen": 0.7})], 1, tmp_path / "less").monitor.costs(net)
    given = [costs.boxes["watch"].selectivity["out"] for costs in (whole, less)]
    assert given[1] == pytest.approx(given[0], rel=0.25)
