"""Queues: what waits for the network and for each of its branches, by where these are in their inputs."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import australis as au
from australis.connectors.source import Offset
from australis.connectors.sources.rate import Rate
from australis.engine.batch import Apart
from australis.engine.positions import Positions
from australis.engine.queues import FULL, Queues, taken_by
from australis.engine.service import BranchWait
from australis.qos.priorities import Queue
from tests.engine.test_positions import COLUMNS, NET, REPORTS, job_of, positions_of

SECOND = 1_000_000


@dataclass(frozen=True)
class Counted(Rate):
    """Ten tuples a second, which counts how often it is asked how many wait."""

    full: float = 0.0

    def backlog(self, offset: Offset) -> int:
        ASKED.append(offset["n"])
        return super().backlog(offset)

    def filled(self) -> float:
        return self.full


ASKED: list[int] = []


def counted(full: float = 0.0) -> Counted:
    return Counted(REPORTS.schema, 10, COLUMNS, began=0, clock=lambda: 9 * SECOND + 50_000, full=full)


def test_what_waits_for_each_branch(tmp_path: Path) -> None:
    job = job_of(NET, counted(), tmp_path)
    queues = Queues(job, positions_of(job, 80, stats=20), 10 * SECOND)
    ASKED.clear()
    assert queues.backlog() == {"reports": 71}
    assert queues.oldest() == pytest.approx(8.0)
    waiting = queues.branches()
    assert waiting["stats"] == Queue({"reports": 71.0}, pytest.approx(8.0), True, True)
    assert waiting["fast"] == waiting["sums"] == waiting["all"] == Queue({"reports": 11.0}, pytest.approx(2.0))
    assert queues.behind() == {"stats": BranchWait(71, pytest.approx(8.0))}
    assert [n for n in (20, 80) if ASKED.count(n) > 4] == []  # by `arrived` too, but not once for each branch


def test_nobody_waits_on_in_a_source_that_is_nearly_full(tmp_path: Path) -> None:
    for full in (FULL, FULL + 0.01):
        job = job_of(NET, counted(full), tmp_path)
        waiting = Queues(job, Positions().of_job(job), 10 * SECOND).branches()
        assert all(queue.patient == (full <= FULL) for queue in waiting.values())


def test_a_network_in_one_piece_has_no_queues_of_branches(tmp_path: Path) -> None:
    job = job_of(au.network(all=REPORTS), counted(), tmp_path)
    assert job.patient == ()
    queues = Queues(job, Positions().of_job(job), 10 * SECOND)
    assert (queues.branches(), queues.behind()) == ({}, {})
    assert queues.backlog() == {"reports": 91}


def test_the_tuples_that_each_branch_took() -> None:
    branches = job_of(NET, counted(), Path()).branches
    rows = [
        {"kind": "source", "name": "reports", "port": "out", "given": 50},
        {"kind": "source", "name": "reports", "port": "stats", "given": 3},
        {"kind": "source", "name": "reports", "port": "stats", "given": 4},
        {"kind": "box", "name": "stats", "port": "out", "given": 9},
    ]
    apart = [Apart(("stats", "sums"), 0), Apart(("all",), 0)]
    assert taken_by(branches, {"reports": 50.0}, apart, rows) == {
        "fast": {"reports": 50.0}, "stats": {"reports": 7.0}, "sums": {"reports": 7.0}, "all": {},
    }  # fmt: skip
