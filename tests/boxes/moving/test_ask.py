"""Ask: queries about moving objects that are part of the network."""

import math
from typing import Any

import pytest

import australis as au
from australis.boxes.moving import Ask, Question
from australis.errors import AustralisError
from australis.expressions import expr
from australis.model.box import Moment
from australis.netfile import netfile
from australis.testing import rows, train
from tests.boxes.moving.test_spread import ASKED
from tests.boxes.moving.test_watch import OBJECTS, QUERIES, TRUCKS
from tests.oracles.running import run


def test_ask_refuses_what_cannot_be_whether_it_is_looked_at_or_not() -> None:
    box = Ask(
        (("q", Question("circle", 0.0, 0.0, radius=9.0)),),
        only=TRUCKS[0][1],
    )
    reports = train(
        OBJECTS,
        id=[1, 1, 2, 3],
        x=[1, math.nan, 1, 2],
        y=[1, 1, math.inf, 2],
        time=[0] * 4,
        type=["truck", "truck", "car", "truck"],
    )
    out, refused = run(box, [reports])
    assert [row for row, _, _ in out] == [("q", 1, 1), ("q", 1, 3)]
    assert [number for _, _, number in refused] == [2, 3]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"kind": "circle", "x": 1, "y": 1}, "the query q does not read"),
        ({"kind": "circle", "x": 1, "y": 1, "radios": 2}, "the query q has no `radios`.*`radius`"),
        ({"x": 1, "y": 1}, "the query q has no `kind`"),
        ({"kind": "knn", "x": 1, "y": 1, "k": 1.5}, "`k` is a whole number, not 1.5"),
    ],
)
def test_a_query_that_does_not_read_is_refused_when_the_network_is_built(query: Any, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        au.stream("o", OBJECTS).moving.ask({"q": query})


def test_conditions_and_network_files() -> None:
    objects, queries = au.stream("o", OBJECTS), au.stream("q", QUERIES)
    with pytest.raises(AustralisError, match=r"the condition `time \+ 3` gives a int"):
        objects.moving.ask({"q": ASKED["near"]}, only="time + 3")
    with pytest.raises(AustralisError, match="two columns `away`"):
        au.stream("o", f"{OBJECTS}, away int").moving.watch(queries, carry="away", spread=2)
    with pytest.raises(AustralisError, match="`spread` is a number of partitions"):
        objects.moving.watch(queries, spread=0)
    asked = objects.moving.ask(
        ASKED, only="type = 'truck'", carry=["type", "time"], revise=True, time="time", timeout=4
    )
    tally = asked.moving.tally(by="type", n="count(*)", first="max(time) - min(time)")
    spread = objects.moving.watch(queries, where=dict(TRUCKS), time="time", timeout=4, spread=2)
    with pytest.raises(AustralisError, match="the query q does not read"):
        objects.moving.ask({"q": {**ASKED["near"], "condition": "cars"}}, where=dict(TRUCKS))
    own = objects.moving.ask({"q": {**ASKED["near"], "condition": TRUCKS[0][0]}}, where=dict(TRUCKS))
    net = au.network(tally=tally, seen=asked, spread=spread, own=own)
    assert netfile.loads(netfile.dumps(net)) == net


def test_reports_of_others_go_no_further() -> None:
    box = Ask((("q", Question("circle", 0.0, 0.0, radius=5.0)),), only=expr("type = 'truck'"))
    reports = train(OBJECTS, id=[1, 2, 1], x=[1, 1, 1], y=[1, 1, 1], time=[0, 0, 1], type=["truck", "car", "car"])
    tables = box.tables(reports.schema)
    first, _ = box.step(tables, (reports.slice(0, 2),), Moment(2))
    assert rows(first) == [("q", 1, 1)]
    assert tables["objects"]["id"][tables["objects"].slots].tolist() == [1]
    second, _ = box.step(tables, (reports.slice(2, 3),), Moment(3))
    assert rows(second) == [("q", -1, 1)]
    assert len(tables["objects"]) == 0
