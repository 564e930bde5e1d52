"""The monitor: quotients of sums in which older batches count less."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.errors import RunError
from australis.model.qos import BoxCost, JointPasses
from australis.qos.monitor import WINDOW, Monitor


def network() -> au.Network:
    reports = au.stream("reports", "mph int")
    fast = reports.filter("mph > 60", box="fast")
    return au.network(out=fast, slow=fast.rest)


def row(kind: str, name: str | None = None, port: str | None = None, **values: float | None) -> dict[str, object]:
    return {
        "kind": kind,
        "name": name,
        "port": port,
        "seconds": None,
        "taken": None,
        "given": None,
        "fixed": None,
    } | values


def batch(tuples: int, seconds: float, passed: int) -> list[dict[str, object]]:
    return [
        row("source", "reports", "out", seconds=seconds / 10, given=tuples),
        row("box", "fast", "out", seconds=seconds, taken=tuples, given=passed),
        row("arrow", "fast", "out", taken=tuples, given=passed),
        row("arrow", "fast", "rest", taken=tuples, given=tuples - passed),
        row("exchange", "fast", "rest", seconds=0.5, taken=tuples - passed),
        row("sink", "out", seconds=0.25, taken=None),
        row("sink", "out", seconds=0.25, taken=passed),
        row("batch", seconds=seconds + 1, fixed=0.06),
        row("output", "out", given=passed),
    ]


def test_costs_are_those_of_a_batch():
    costs = Monitor().add(batch(1000, 2.0, 250), 1.0).costs(network())
    assert costs.boxes == {"fast": BoxCost(0.002, {"out": 0.25, "rest": 0.75})}
    assert costs.sources == {"reports": 0.0002}
    assert costs.exchanges == {"fast.rest": 0.5 / 750}
    assert costs.sinks == {"out": 0.5 / 250}
    assert costs.batch == 0.06


def test_partitions_are_added_up():
    one, two = batch(1000, 2.0, 250), batch(3000, 2.0, 250)
    assert Monitor().add([*one, *two], 1.0).costs(network()).boxes["fast"].seconds == 4.0 / 4000


def test_older_batches_count_less():
    monitor = Monitor().add(batch(1000, 1.0, 0), 1.0).add(batch(1000, 3.0, 1000), WINDOW)
    old = exp(-1)
    assert monitor.costs(network()).boxes["fast"].seconds == pytest.approx((old * 1 + 3) / (old * 1000 + 1000))
    assert monitor.costs(network()).boxes["fast"].selectivity["out"] == pytest.approx(1 / (1 + old))


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.01, 10)), min_size=1, max_size=50))
def test_a_steady_rate_is_found_however_batches_are_cut(batches):
    monitor = Monitor()
    for _, elapsed in batches:
        monitor = monitor.add(batch(round(1000 * elapsed), elapsed, 0), elapsed)
    assert monitor.rates(network())["reports"] == pytest.approx(1000, rel=0.1)


def test_what_has_had_no_tuple_is_not_named():
    assert Monitor().costs(network()).boxes == {}
    idle = Monitor().add(batch(0, 0.0, 0), 1.0)
    assert idle.costs(network()).boxes == {}
    assert idle.rates(network()) == {"reports": 0}


def test_boxes_that_have_gone_are_left_out():
    other = au.network(out=au.stream("reports", "mph int").filter("mph > 1", box="other"))
    costs = Monitor().add(batch(1000, 2.0, 250), 1.0).costs(other)
    assert costs.boxes == {}
    assert costs.exchanges == {}


def test_it_is_kept_as_text():
    monitor = Monitor().add(batch(1000, 2.0, 250), 1.0)
    assert Monitor.parse(monitor.render()) == monitor
    for text in ("", "{}", '{"time": 1, "sums": [[1]]}', "[]"):
        with pytest.raises(RunError, match="no monitor's state"):
            Monitor.parse(text)


def counted(name: str, *passes: int) -> dict[str, object]:
    return row("filters", name) | {"passes": list(passes)}


def filters(*names: str) -> au.Network:
    stream = au.stream("reports", "mph int")
    for name in names:
        stream = stream.filter(f"mph > {ord(name)}", box=name)
    return au.network(out=stream)


def test_what_filters_pass_is_added_up_and_fades():
    one = Monitor().add([counted("a, b", 1, 2, 3, 4), counted("a, b", 10, 0, 0, 0)], 1.0)
    assert one.costs(filters("b", "a")).passes == (JointPasses(("a", "b"), (11, 2, 3, 4)),)
    two = one.add([counted("a, b", 0, 0, 0, 1)], WINDOW)
    (passes,) = two.costs(filters("a", "b")).passes
    assert passes.counts == pytest.approx([11 * exp(-1), 2 * exp(-1), 3 * exp(-1), 4 * exp(-1) + 1])
    assert Monitor.parse(two.render()) == two


def test_of_filters_that_are_no_longer_a_row_nothing_counts():
    monitor = Monitor().add([counted("a, b", 1, 2, 3, 4)], 1.0)
    assert monitor.costs(filters("a", "b", "c")).passes == ()
    assert monitor.costs(filters("a")).passes == ()
