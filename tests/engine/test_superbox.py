"""A superbox: boxes that one process runs."""

import pytest

import australis as au
from australis.engine.superbox import Event, steps, tables_of
from australis.errors import RunError
from australis.model.box import Moment
from australis.plan.stored import stateful
from australis.testing import rows, train

REPORTS = au.stream("reports", "time int, vid int")
TABLE = au.table("seen", "vid int, n bigint", key="vid")
WRITTEN = REPORTS.write(TABLE, n="coalesce(old.n, 0) + 1", box="count")
SEEN = au.network(WRITTEN, out=REPORTS.read(TABLE, box="look"))


def test_readers_share_the_state_of_the_writer() -> None:
    tables = tables_of(SEEN, SEEN.nodes)
    assert tables["look"] is tables["count"]
    assert {name: stateful(SEEN, node) for name, node in SEEN.named.items()} == {"count": True, "look": False}


def test_boxes_run_in_order_and_hand_trains_on() -> None:
    net = au.network(out=REPORTS.filter("vid > 1", box="few").map(twice="vid * 2", box="twice"))
    trains = {("reports", "out"): train("time int, vid int", time=[1, 2, 3], vid=[1, 2, None])}
    events = list(steps(net, net.nodes, tables_of(net, net.nodes), trains, Moment(3)))
    assert [event.node.name for event in events if isinstance(event, Event)] == ["few", "twice"]
    assert rows(trains["twice", "out"]) == [(4,)]
    assert rows(trains["few", "rest"]) == [(1, 1), (3, None)]


def test_what_enters_from_elsewhere_is_taken_first() -> None:
    net = au.network(out=REPORTS.filter("vid > 1", box="few"))
    inlets = {("few", 0): train("time int, vid int", time=[9], vid=[9])}
    trains = {("reports", "out"): train("time int, vid int", time=[1], vid=[1])}
    list(steps(net, net.nodes, tables_of(net, net.nodes), trains, Moment(1), inlets))
    assert rows(trains["few", "out"]) == [(9, 9)]


@pytest.mark.parametrize("at", [0, 3, 6])
def test_an_error_names_the_box_and_the_first_tuple_at_which_it_failed(at: int) -> None:
    net = au.network(out=REPORTS.map(n="cast(vid as bigint) * 4611686018427387904", box="large"))
    vids = [2 if row >= at else 1 for row in range(7)]
    trains = {("reports", "out"): train("time int, vid int", time=list(range(7)), vid=vids)}
    with pytest.raises(RunError, match=rf"map large: .*overflow.*, at the tuple .*time.*{at}.*vid.*2"):
        list(steps(net, net.nodes, tables_of(net, net.nodes), trains, Moment(7)))
