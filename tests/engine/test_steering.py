"""Steering: from what batches measured and what waits to when the next one begins and what it leaves out."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import australis as au
from australis.connectors.source import Offset
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.uri import source
from australis.engine import steering as module
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.learned import read_learned
from australis.engine.measures import SCHEMA
from australis.engine.positions import Positions
from australis.engine.service import BranchWait
from australis.engine.steering import WARM, Steering, steered
from australis.engine.succession import planned
from australis.model.network import Network
from australis.qos.control import EXACT, NOTHING_SHED, SHED
from australis.qos.load import Machine
from australis.qos.priorities import FEEDBACK, STATE, Ranking
from australis.qos.ranks import WindowPart
from australis.qos.shedder import Shedder
from australis.qos.shedding import ShedPlan, shed_plan

REPORTS = au.stream("reports", "n bigint, seg bigint")
STATS = REPORTS.aggregate(on="n", size=10, by="seg", c="count(*)", box="stats")
NOW = 1_000_000_000


def network(delivered: dict[float, float] | None) -> Network:
    return au.network(
        alerts=REPORTS.filter("n > 5", box="alerts").output(latency={1: 1, 3: 0}),
        stats=STATS.output(latency={1: 1, 3: 0}, delivered=delivered),
    )


@dataclass(frozen=True)
class Waits(Rate):
    """A source in which so many tuples wait, the first for so many seconds."""

    tuples: int = 0
    age: float | None = 0.0
    """None if they came at no time."""

    def backlog(self, offset: Offset) -> int:
        return self.tuples

    def arrived(self, offset: Offset) -> int | None:
        return None if self.age is None else NOW - int(self.age * 1e6)


def job_of(net: Network, folder: Path, tuples: int = 0, age: float | None = 0.0) -> Job:
    source = Waits(REPORTS.schema, 1000.0, (("n", "n"), ("seg", "n % 3")), tuples=tuples, age=age)
    sources = {"reports": source}
    return Job(net, planned(net, sources, 1), sources, str(folder), 1)


def rows(tuples: int, window: int | None = None) -> list[dict[str, Any]]:
    """A batch in which a tuple takes 1 µs before the alerts and 9 µs before windows."""
    empty = dict.fromkeys(("port", "seconds", "taken", "given", "fixed", "window", "results"))
    return [
        empty | {"kind": "box", "name": "alerts", "seconds": tuples * 1e-6, "taken": tuples, "given": 0},
        empty | {"kind": "box", "name": "stats", "seconds": tuples * 9e-6, "taken": tuples, "given": 0},
        empty | {"kind": "source", "name": "reports", "seconds": 0.0, "given": tuples},
        empty | {"kind": "batch", "name": None, "fixed": 0.02},
        empty | {"kind": "shed", "name": "stats", "port": "box", "taken": 0, "given": 0, "window": window},
    ]


def steering_of(job: Job, monkeypatch: pytest.MonkeyPatch) -> Steering:
    """Steering that has seen some batches of 10,000 tuples, four a second."""
    monkeypatch.setattr(module, "REFRESH", -1.0)
    made = Steering(job, Machine(headroom=1.0), Shedder(job.network))
    for _ in range(WARM + 5):
        made.note(rows(10_000), {"reports": 10_000}, 0.25, 0.12)
    return made


DELIVERED = {0: 0.0, 0.5: 0.9, 1: 1.0}


def test_a_batch_that_fits_sheds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interval, plan, _ = steering_of(job_of(network(DELIVERED), tmp_path, 10_000, 0.2), monkeypatch).next(
        Positions(), NOW
    )
    assert plan is None
    assert 0 < interval <= 0.5


def test_what_is_too_much_is_left_out_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steering = steering_of(job_of(network(DELIVERED), tmp_path, 200_000, 2.5), monkeypatch)
    interval, plan, waiting = steering.next(Positions(), NOW)
    assert steering.state == SHED
    assert plan is not None
    assert set(plan.results) == {"stats"}
    assert waiting == 200_000
    assert interval == pytest.approx(0.5)
    (part,) = plan.results["stats"].parts
    # Half a second less a batch of 20 ms holds 0.48 s: 0.2 for the alerts, and the rest of 1.8 s for windows.
    assert part == pytest.approx((0.48 - 0.2) / 1.8, abs=0.02)


def test_windows_come_back_beyond_the_greatest_that_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steering = steering_of(job_of(network(DELIVERED), tmp_path, 200_000, 2.5), monkeypatch)
    steering.next(Positions(), NOW)
    steering.job = replace(steering.job, sources=job_of(network(DELIVERED), tmp_path, 100, 0.1).sources)
    for _ in range(60):
        steering.note(rows(100, window=41), {"reports": 100}, 0.5, 0.03)
    _, plan, _ = steering.next(Positions(), NOW)
    assert steering.state == NOTHING_SHED
    assert plan is not None
    assert plan.results["stats"].numbers[-1] == 42
    assert plan.results["stats"].parts[-1] == 1.0


def test_when_all_is_exact_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steering = steering_of(job_of(network(None), tmp_path, 200_000, 2.5), monkeypatch)
    _, plan, _ = steering.next(Positions(), NOW)
    assert steering.state == EXACT
    assert plan is None


def test_what_came_at_no_time_can_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steering = steering_of(job_of(network(DELIVERED), tmp_path, 200_000, None), monkeypatch)
    assert steering.next(Positions(), NOW) == (0.0, None, 0)
    assert steering.state == NOTHING_SHED
    before = steering._controller
    steering.note(rows(10_000), {"reports": 10_000}, 0.01, 9.0)
    assert steering._controller is not None
    assert before is not None
    assert steering._controller.rates == before.rates  # how fast such tuples were taken tells nothing of a rate
    steering.job = replace(steering.job, sources=job_of(network(DELIVERED), tmp_path, 200_000, 2.5).sources)
    steering.next(Positions(), NOW)
    assert steering.state == SHED


def test_windows_that_lost_tuples_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(network(DELIVERED), tmp_path)
    lost = {"stats": WindowPart((-(2**63),), (0.3,))}
    begun = Steering(job, Machine(), Shedder(job.network, lost), sheds=False)
    plan = begun.without_shedding()
    assert plan is not None
    assert plan.results == lost
    following = begun.followed_by(job_of(network(None), tmp_path))
    assert following.shedder.windows == lost
    other = au.network(stats=REPORTS.aggregate(on="n", size=20, by="seg", c="count(*)", box="stats"))
    assert begun.followed_by(job_of(other, tmp_path)).shedder == Shedder(other)


def test_only_what_cannot_wait_is_steered(tmp_path: Path) -> None:
    job = job_of(network(DELIVERED), tmp_path)
    assert steered(job)
    assert not steered(job_of(au.network(stats=STATS), tmp_path))
    (tmp_path / "reports.csv").write_text("n,seg\n1,2\n")
    for text, urgent in (("reports.csv", False), ("reports.csv?follow=true", False), ("replay:reports.csv?on=n", True),
                         ("replay:reports.csv?on=n&speed=1e12", False)):  # fmt: skip
        there = source(text.replace("reports.csv", f"{tmp_path}/reports.csv"), REPORTS.schema)
        assert steered(replace(job, sources={"reports": there}, starts={})) == urgent, text


def test_a_run_that_is_started_again_knows_its_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steering = steering_of(job_of(network(DELIVERED), tmp_path), monkeypatch)
    steering.checkpoint = tmp_path
    steering.save()
    job = job_of(network(DELIVERED), tmp_path, 10_000_000, 0.9)
    blind, again = (Steering.of(job, None, 1, True, 1.0, folder) for folder in (None, tmp_path))
    assert blind.beginning(Positions()) == {"interval": 0.0, "shed": None, "takes": {}}
    assert again.monitor == steering.monitor
    begins = again.beginning(Positions())
    assert again.state == SHED
    assert set(begins["shed"]["results"]) == {"stats"}
    other = au.network(new=REPORTS.map(box="new", n="n").output(latency={1: 1, 3: 0}, delivered=DELIVERED))
    costs = Steering.of(job_of(other, tmp_path), None, 1, True, 1.0, tmp_path).monitor.costs(other)
    assert costs.boxes == {}  # boxes that are no longer there are not named


def test_what_is_learned_is_kept_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steering = Steering.of(job_of(network(DELIVERED), tmp_path), None, 1, True, 1.0, tmp_path)
    empty = dict.fromkeys(SCHEMA.names)
    tables = [pa.RecordBatch.from_pylist([empty | row | {"batch": 1} for row in rows(1000)], SCHEMA)]
    for version in range(1, WARM + 3):
        monkeypatch.setattr(module, "SAVING", -1.0 if version == WARM + 2 else 1e9)
        batch = Batch(version, NOW + version)
        assert steering.serve(batch, tables) is steering.serve(batch, tables) is steering.service
        steering.after(batch, {"reports": 1000}, tables, Positions())
        assert (read_learned(tmp_path).monitor == steering.monitor) == (version <= WARM or version == WARM + 2)
    assert steering.service.rates["reports"] > 0
    assert steering.service.outputs["stats"].loss == 0.0


def test_what_outputs_are_worth_is_known_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFRESH", -1.0)
    archive = REPORTS.filter("n > 5", box="stats")
    net = au.network(archive=archive.output(latency={1: 1, 3: 0}, delivered=DELIVERED, value={"n": {0: 0, 9: 1}}))
    steering = Steering.of(job_of(net, tmp_path), None, 1, True, 1.0, tmp_path)
    counts = {"came": [9] * 16 + [1] * 16, "worths": [9 * place / 32 for place in range(16)] + [0.9] * 16}
    empty = dict.fromkeys(SCHEMA.names)
    measured = [*rows(1000), {"kind": "worth", "name": "archive", **counts}]
    tables = [pa.RecordBatch.from_pylist([empty | row | {"batch": 1} for row in measured], SCHEMA)]
    for version in range(1, WARM + 3):
        steering.serve(Batch(version, NOW + version), tables)
        steering.after(Batch(version, NOW + version), {"reports": 1000}, tables, {})
    steering.save()
    again = Steering.of(job_of(net, tmp_path, 200_000, 2.5), None, 1, True, 1.0, tmp_path)
    assert again.worths.counts() == steering.worths.counts()
    assert again._controller is not None
    worth = again._controller.model.costs.worth["archive"]
    assert worth.curve.utility(0.1) == pytest.approx(16 * 0.9 / (16 * 0.9 + 9 * 120 / 32))
    begins = again.beginning({})
    assert [keep[0] for place in begins["shed"]["places"] for keep in place[2]] == ["value"]


def plan_of(net: Network, part: float) -> ShedPlan:
    return shed_plan(net, {}, {"stats": WindowPart((-(2**63),), (part,))})


def test_a_plan_by_hand_holds_until_another_and_its_windows_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(network(DELIVERED), tmp_path, 200_000, 2.5)
    steering = steering_of(job, monkeypatch)
    given = plan_of(job.network, 0.3)
    assert steering.leave_out(given) == given
    _, plan, _ = steering.next(Positions(), NOW)
    assert plan == given  # though more would have to be shed
    following = steering.followed_by(job)
    left = following.without_shedding()
    assert left is not None
    assert left.results == given.results
    steering.note(rows(100, window=41), {"reports": 100}, 0.5, 0.03)
    after = steering.leave_out(None)
    assert after is not None
    assert after.results == {"stats": WindowPart((-(2**63), 42), (0.3, 1.0))}
    more = steering.leave_out(plan_of(job.network, 0.6))
    assert more is not None
    assert more.results == {"stats": WindowPart((-(2**63), 42), (0.3, 0.6))}


def test_shedding_goes_on_when_rules_change_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def net(*order: str) -> Network:
        alerts = REPORTS
        for name in order:
            alerts = alerts.filter(f"{name} > 5", box=name)
        stats = STATS.output(latency={1: 1, 3: 0}, delivered=DELIVERED)
        return au.network(alerts=alerts.filter("n > 5", box="alerts").output(latency={1: 1, 3: 0}), stats=stats)

    steering = steering_of(job_of(net("n", "seg"), tmp_path, 200_000, 2.5), monkeypatch)
    _, before, _ = steering.next(Positions(), NOW)
    following = steering.rearranged(job_of(net("seg", "n"), tmp_path, 200_000, 2.5))
    assert following.job.network != steering.job.network
    assert following.state == SHED
    interval, after, waiting = following.next(Positions(), NOW)
    assert before is not None
    assert after is not None
    after.check(following.job.network)
    assert after.results == before.results
    assert following.state == SHED
    assert (interval, waiting) == (pytest.approx(0.5), 200_000)


def test_a_branch_that_can_wait_does_so_before_anything_is_shed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = au.network(
        alerts=REPORTS.filter("n > 5", box="alerts").output(latency={1: 1, 3: 0}),
        stats=STATS.output(latency={60: 1, 600: 0}, delivered=DELIVERED),
    )
    steering = steering_of(job_of(net, tmp_path, 200_000, 0.9), monkeypatch)
    interval, plan, least = steering.next(Positions(), NOW)
    assert (steering.state, plan, least) == (NOTHING_SHED, None, 200_000)
    assert interval == pytest.approx(0.5)
    # Half a second less a batch of 20 ms holds 0.48 s: 0.2 for the alerts, and 9 µs for each of the others.
    assert steering.takes == {"stats": {"reports": pytest.approx((0.48 - 0.2) / 9e-6, rel=0.02)}}
    assert steering.beginning(Positions())["takes"] == steering.takes
    behind = Positions({}, {"stats": {"reports": {"began": 0, "n": 0}}})
    steering.next(behind, NOW)
    assert steering.service.behind == {"stats": BranchWait(200_000, 0.9)}
    steering.leave_out(shed_plan(net, {"stats": 0.5}))
    assert steering.takes == {}  # by hand nothing waits
    following = steering.followed_by(steering.job)
    assert (following.takes, following.ranking) == ({}, steering.ranking)


def test_the_way_of_ranking_is_kept(tmp_path: Path) -> None:
    job = job_of(network(DELIVERED), tmp_path)
    made = Steering.of(job, None, 1, True, 1.0, ranking=Ranking(FEEDBACK))
    assert made.followed_by(job).ranking == Ranking(FEEDBACK)
    assert Steering.of(job, None, 1, True, 1.0).ranking == Ranking(STATE)
