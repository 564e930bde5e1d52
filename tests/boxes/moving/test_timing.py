"""The time of reports: which are believed, and how often answers are told."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.moving import Watch
from australis.errors import AustralisError
from australis.testing import Cut, cuts, train
from tests.boxes.moving.test_watch import OBJECTS, QUERIES, follow
from tests.oracles.moving import World
from tests.oracles.running import run
from tests.oracles.tuples import Tuple, stream_of

TIMES = st.sampled_from([0, 1, 2, 3, 4, 10**4, 10**9, 10**9 + 2, -(2**63), 2**63 - 1])


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), TIMES), max_size=24), cuts(), st.sampled_from([0, 3]), st.booleans())
@example([(0, 0), (1, 0), (2, 2**63 - 1), (0, 1)], Cut(()), 3, False)
@example([(0, 10**9 + 2), (0, 10**9), (0, 0), (1, 0)], Cut(()), 0, False)
def test_one_wrong_clock_leaves_all_others_as_they_are(said: Any, cut: Cut, timeout: int, restart: bool) -> None:
    rows = [{"id": who, "x": float(who), "y": 0.0, "time": time, "type": "car"} for who, time in said]
    reports = [Tuple(row, 0, number) for number, row in enumerate(rows, 2)]
    wanted = Tuple(
        {
            **dict.fromkeys(part.split()[0] for part in QUERIES.split(", ")),
            "query": 1,
            "kind": "circle",
            "x": 0.0,
            "y": 0.0,
            "radius": 9.0,
        },
        0,
        1,
    )
    objects = OBJECTS.replace("time int", "time bigint")
    streams = [stream_of(objects, reports), stream_of(QUERIES, [wanted])]
    follow(Watch(time="time", timeout=timeout), streams, cut, World(timeout=timeout), restart)


def test_one_report_from_the_far_future_empties_no_answer_in_any_partition() -> None:
    objects = au.stream("o", "id int, x double, y double, time bigint")
    seen = objects.moving.ask({"q": {"kind": "circle", "x": 0, "y": 0, "radius": 9}}, time="time", timeout=60)
    run_ = au.Local(au.network(seen=seen, refused=seen.port("refused")))
    found = run_.push(o=[{"id": each, "x": each, "y": 0, "time": 0} for each in range(3)])
    assert found["seen"]["sign"].to_pylist() == [1, 1, 1]
    found = run_.push(o=[{"id": 1, "x": 99, "y": 0, "time": 10**12}])
    assert (len(found["seen"]), len(found["refused"])) == (0, 1)
    found = run_.push(o=[{"id": 1, "x": 2, "y": 0, "time": 61}])
    assert sorted(tuple(row.values()) for row in found["seen"].to_pylist()) == [("q", -1, 0), ("q", -1, 2)]


def test_how_far_ahead_times_may_be_can_be_said() -> None:
    with pytest.raises(AustralisError, match=r"`ahead`.*give `timeout`"):
        Watch(ahead=5).outputs(schema(OBJECTS), schema(QUERIES))
    with pytest.raises(AustralisError, match=r"`ahead` is how far off"):
        Watch(ahead=0, time="time", timeout=5).outputs(schema(OBJECTS), schema(QUERIES))
    wanted = train(
        "query int, kind string, x double, y double, radius double",
        query=[1],
        kind=["circle"],
        x=[0],
        y=[0],
        radius=[5],
    )
    reports = train(OBJECTS, id=[1, 2], x=[0, 0], y=[0, 0], time=[0, 11], type=[None] * 2, first=2)
    out, _, refused = run(Watch(time="time", timeout=100, ahead=10), [reports, wanted])
    assert ([row for row, _, _ in out], len(refused)) == ([(1, 1, 1)], 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 5}, r"`every` 5 is a span.*`time`"),
        ({"every": 0, "time": "time"}, r"`every` is `report`, `train` or a span"),
        ({"every": "5 ms", "time": "time"}, r"5 ms is no whole number of seconds.*`time`"),
        ({"every": "report", "cache": 0.0}, r"with a `cache`.*`train`"),
        ({"every": "tuple"}, r"`tuple`"),
    ],
)
def test_other_choices_are_refused(options: Any, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        au.stream("o", OBJECTS).moving.watch(au.stream("q", QUERIES), **options)
    assert Watch(cache=0.0).each is False
    assert Watch(every="train").outputs(schema(OBJECTS), schema(QUERIES))
