"""The service of a run: what outputs are worth over the last minute, against what the exact run gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import australis as au
from australis.engine import measures
from australis.engine.addresses import MEASURES
from australis.engine.delays import ArrivalTimes, histogram
from australis.engine.job import Job
from australis.engine.measures import SCHEMA, rows_of
from australis.engine.service import SPAN, BranchWait, OutputService, Service, ServiceWindow
from australis.engine.succession import planned
from australis.qos.ranks import WindowPart
from australis.qos.shedding import ShedPlan, shed_plan
from tests.engine.test_shedding import EVERY, STATS, reports
from tests.engine.test_stamp import trains_of

NETWORK = au.network(
    stats=STATS.output(delivered={0: 0, 0.5: 0.9, 1: 1}),
    archive=EVERY.map(box="archive", x="mph").output(delivered={0: 0, 1: 1}),
    exact=EVERY.filter("mph > 100", box="exact").output(latency={1: 1, 3: 0}),
    plain=EVERY.filter("mph > 50", box="plain"),
)


def served(plan: ShedPlan | None, partitions: int, folder: Path) -> tuple[dict[str, int], dict[str, OutputService]]:
    """How many tuples outputs were given by tasks, and their service."""
    sources = {"reports": reports(3000)}
    folder.mkdir()
    job = Job(NETWORK, planned(NETWORK, sources, partitions), sources, str(folder / "checkpoint"), partitions)
    window, given = ServiceWindow(NETWORK), dict.fromkeys((output.name for output in NETWORK.outputs), 0)
    for batch, trains in trains_of(job, 500, folder, shed=None if plan is None else plan.render()):
        tables = [each.tuples.select(SCHEMA.names) for each in trains[MEASURES]]
        for output in NETWORK.outputs:
            parts = rows_of([measures.part(output.name, "", trains.get(output.name, []))])
            latency = output.qos.latency
            now, arrivals = batch.clock + 2_000_000, ArrivalTimes(batch.clock)
            tables.append(measures.output(batch.version, output.name, parts, now, arrivals, latency=latency))
            given[output.name] += sum(map(len, trains.get(output.name, [])))
        window.add(batch.version * 1_000_000, rows_of(tables))
    return given, window.outputs()


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_loss_of_outputs_is_what_the_exact_run_gives_more(partitions: int, tmp_path: Path) -> None:
    plan = shed_plan(NETWORK, {"archive": 0.25}, {"stats": WindowPart((-(2**63),), (0.5,))})
    exact, whole = served(None, partitions, tmp_path / "exact")
    found, service = served(plan, partitions, tmp_path / "shed")
    assert {name: each.loss for name, each in whole.items()} == dict.fromkeys(whole, 0.0)
    assert service["stats"].loss == pytest.approx(1 - found["stats"] / exact["stats"], abs=1e-12)
    assert service["archive"].loss == pytest.approx(1 - found["archive"] / exact["archive"], abs=1e-12)
    assert service["archive"].utility == pytest.approx(1 - service["archive"].loss)
    assert service["plain"] == whole["plain"]
    assert service["plain"].loss == 0.0
    assert service["plain"].utility == 1.0


def test_an_exact_output_is_worth_nothing_while_something_of_it_is_dropped(tmp_path: Path) -> None:
    _, whole = served(None, 2, tmp_path / "exact")
    _, service = served(shed_plan(NETWORK, {"exact": 0.9}), 2, tmp_path / "shed")
    assert whole["exact"].utility == pytest.approx(0.5)  # two seconds late
    assert service["exact"].utility == 0.0
    assert 0.02 < service["exact"].loss < 0.2


def output(name: str, tuples: int, delay: float, fresh: float | None = None) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    delays = histogram(np.full(tuples, delay), np.ones(tuples, np.int64)).tolist() if tuples else None
    return empty | {"kind": "output", "name": name, "given": tuples, "delays": delays, "fresh": fresh}


def shed(name: str, taken: int, given: int) -> list[dict[str, Any]]:
    empty: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    box = {"kind": "box", "name": name, "taken": given, "given": given}
    return [empty | box, empty | {"kind": "shed", "port": "box", "name": name, "taken": taken, "given": given}]


def test_what_is_older_than_the_window_is_forgotten() -> None:
    window = ServiceWindow(NETWORK)
    second = 1_000_000
    window.add(0, [output("exact", 10, 5.0, 0.0), *shed("archive", 100, 0)])
    window.add(10 * second, [output("exact", 30, 0.1, 1.0), *shed("archive", 100, 100)])
    both = window.outputs()
    assert both["exact"].utility == 0.75
    assert both["archive"].loss == 0.5
    assert both["exact"].p50 == pytest.approx(0.1, rel=0.34)
    assert both["exact"].p95 == pytest.approx(5.0, rel=0.34)
    window.add(int((SPAN + 1) * second), [])
    last = window.outputs()
    assert last["exact"].utility == 1.0
    assert last["archive"].loss == 0.0
    assert last["exact"].p99 == pytest.approx(0.1, rel=0.34)
    window.add(int((2 * SPAN + 11) * second), [])
    assert window.outputs() == {each.name: OutputService() for each in NETWORK.outputs}


def test_outputs_without_tuples_have_no_delays_and_are_worth_all() -> None:
    window = ServiceWindow(NETWORK)
    window.add(0, [output("exact", 0, 0.0)])
    assert window.outputs()["exact"] == OutputService(1.0, 0.0, None, None, None)


def test_a_network_that_follows_goes_on() -> None:
    window = ServiceWindow(NETWORK)
    window.add(0, [output("exact", 10, 5.0, 0.25), *shed("archive", 100, 50)])
    after = window.followed_by(au.network(exact=EVERY.filter("mph > 100", box="exact").output(latency={1: 1, 3: 0})))
    assert after.outputs() == {"exact": window.outputs()["exact"]}
    after.add(int((SPAN + 1) * 1e6), [])
    assert after.outputs()["exact"].utility == 1.0
    assert window.outputs()["archive"].loss == 0.5


def test_the_rows_of_measurements() -> None:
    outputs, behind = {"a": OutputService(0.5, 0.25, 0.1, 0.2, 0.3)}, {"a": BranchWait(7, 12.5)}
    service = Service(outputs, {"r": 9.0, "q": 0.0}, {"r": 7}, 1.5, "shed", behind)
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows_of([service.table(4)])]
    assert rows == [
        {"batch": 4, "kind": "service", "name": "a", "utility": 0.5, "loss": 0.25, "p50": 0.1, "p95": 0.2, "p99": 0.3},
        {"batch": 4, "kind": "input", "name": "r", "rate": 9.0, "backlog": 7},
        {"batch": 4, "kind": "input", "name": "q", "rate": 0.0},
        {"batch": 4, "kind": "branch", "name": "a", "backlog": 7, "oldest": 12.5},
        {"batch": 4, "kind": "load", "used": 1.5, "state": "shed"},
    ]
    assert Service().table(1).num_rows == 0
    told = {"utility": {"a": 0.5}, "loss": {"a": 0.25}, "used": 1.5, "state": "shed", "behind": {"a": 7}}
    assert service.progress() == told
