"""Notices: a line when shedding begins and ends, one when exact outputs alone are too much."""

import logging

import pytest

import australis as au
from australis.engine.notices import CALM, WAIT, Notices
from australis.engine.service import BranchWait, OutputService, Service

REPORTS = au.stream("reports", "n bigint")
NETWORK = au.network(
    alerts=REPORTS.filter("n > 5", box="alerts").output(latency={1: 1, 3: 0}, weight=3),
    archive=REPORTS.map(box="archive", n="n").output(delivered={0: 0, 1: 1}),
)
START = 1_700_000_000_000_000
SECOND = 1_000_000


def service(state: str, loss: float = 0.0, used: float | None = 1.5) -> Service:
    return Service({"alerts": OutputService(), "archive": OutputService(1 - loss, loss)}, used=used, state=state)


def test_shedding_begins_and_ends_once_however_batches_alternate(caplog: pytest.LogCaptureFixture) -> None:
    notices = Notices()
    with caplog.at_level(logging.WARNING, "australis"):
        notices.see(START, NETWORK, service(""), {})
        for second in range(10):
            state = "shed" if second % 3 == 0 else ""
            notices.see(START + second * SECOND, NETWORK, service(state, second / 20), {"alerts": 1.0, "archive": 0.42})
        for second in range(10, 20):
            notices.see(START + second * SECOND, NETWORK, service("", 0.1), {"alerts": 1.0, "archive": 1.0})
    (one, begins), (two, ends) = notices.lines
    assert (one, two) == (1, 2)
    assert begins.startswith("shedding since ")
    assert begins.endswith(": archive keeps 42%; the utility of all outputs was 1.00")
    assert (
        "after 9 s: up to 45% of archive was lost in a minute; the utility of all outputs was 1.00 before, 0.89" in ends
    )
    assert ends.endswith("and is 0.97")
    assert [record.message for record in caplog.records] == [begins, ends]


def test_exact_outputs_that_are_too_much_are_told_at_once_with_what_to_do() -> None:
    notices = Notices()
    notices.see(START, NETWORK, service("exact"), {})
    notices.see(START + SECOND, NETWORK, service("exact"), {})
    ((_, line),) = notices.lines
    assert (
        "the exact outputs alone (alerts) take more than the machine holds (all together 150% of the headroom)" in line
    )
    assert "send less, give the run more cores, or say by a `delivered` graph" in line
    notices.see(START + int((1 + CALM) * SECOND), NETWORK, service(""), {})
    assert notices.lines[-1][1].startswith("not too much any more since ")


def test_from_one_state_to_the_other() -> None:
    notices = Notices()
    for second, state in enumerate(("shed", "exact", *["shed", "exact"] * 3, *["shed"] * 6, "")):
        notices.see(START + second * SECOND, NETWORK, service(state), {"archive": 0.5})
    assert [line.split(" since ")[0] for _, line in notices.lines] == ["shedding", "too much", "shedding"]


def test_a_network_in_which_nothing_is_exact_but_nothing_may_be_shed() -> None:
    notices = Notices()
    free = au.network(archive=REPORTS.map(box="archive", n="n").output(delivered={0: 0, 1: 1}))
    notices.see(START, free, service("exact", used=None), {})
    assert ": what may not be shed takes more than the machine holds. Nothing is shed" in notices.lines[0][1]


def test_old_lines_are_forgotten_and_numbers_go_on() -> None:
    notices = Notices()
    for turn in range(150):
        now = START + turn * int(CALM * SECOND)
        notices.see(now, NETWORK, service("shed" if turn % 2 else "exact"), {"archive": 0.5})
    assert len(notices.lines) == 100
    assert notices.lines[-1][0] == 150


def test_a_branch_that_waits_is_told_of_and_that_it_has_caught_up() -> None:
    notices = Notices()
    for tenths in range(100):
        waits = {"archive": BranchWait(1000 * tenths, tenths / 10)} if tenths < 40 else {}
        moment = {"alerts": BranchWait(9, 0.2)} if tenths % 50 == 7 else {}
        at = START + tenths * SECOND // 10
        notices.see(at, NETWORK, Service(behind={**waits, **moment}), {})
    begins, ends = (line for _, line in notices.lines)
    assert WAIT == 2
    assert begins.startswith("archive waits since ")
    assert begins.endswith(": 20,000 tuples behind")
    assert ends.startswith("archive has caught up at ")
    assert ends.endswith(", after 4 s: it was up to 39,000 tuples and 4 s behind")
