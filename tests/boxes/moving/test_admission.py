"""Admission: which reports a watch believes, and the clock that they set."""

import math

from australis.arrow.schema import schema
from australis.boxes.moving import Watch
from australis.boxes.moving.admission import believed, clock
from australis.boxes.moving.timing import latest
from australis.testing import train

OBJECTS, QUERIES = "id int, x double, y double, time bigint", "query int, kind string"
NONE = train(QUERIES, query=[], kind=[])


def test_places_and_times_that_cannot_be_are_refused() -> None:
    box = Watch(time="time", timeout=1)
    tables = box.tables(schema(OBJECTS), schema(QUERIES))
    reports = train(OBJECTS, id=[1, 2, 3, 4], x=[0, math.nan, 0, None], y=[0] * 4, time=[5, 5, 10**9, None])
    (fine, queries), refused = believed(box, tables, (reports, NONE))
    assert (fine["id"].to_pylist(), refused["id"].to_pylist()) == ([1, 4], [2, 3])
    assert queries is NONE
    assert latest(tables["clock"]) == 5


def test_without_a_timeout_all_times_are_believed() -> None:
    box = Watch(time="time")
    reports = train(OBJECTS, id=[1, 2], x=[0, 0], y=[0, 0], time=[-(2**63), 2**63 - 1])
    tables = box.tables(schema(OBJECTS), schema(QUERIES))
    (fine, _), refused = believed(box, tables, (reports, NONE))
    assert (len(fine), len(refused)) == (2, 0)
    assert clock(box, tables, (reports, NONE), None) is None


def test_the_clock_tells_the_latest_time_at_each_number() -> None:
    box = Watch(time="time", timeout=1)
    tables = box.tables(schema(OBJECTS), schema(QUERIES))
    reports = train(OBJECTS, id=[1, 2, 3], x=[0] * 3, y=[0] * 3, time=[5, 3, 7], number=[2, 4, 6])
    made = clock(box, tables, (reports, NONE), None)
    assert made is not None
    assert [int(made.at(number)) for number in range(1, 8)] == [-(2**63), 5, 5, 5, 5, 7, 7]
