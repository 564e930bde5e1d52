"""Joins of a query: bands of times, and equal columns."""

import datetime as dt
import math
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.errors import ExpressionError
from australis.queries import sql_network
from australis.testing import rows
from tests.queries.test_plan import REPORTS, SCHEMAS, STREAMS, TOLLS, check, sorted_rows, times

JOINS = [
    "SELECT r.vid, r.time, t.time, t.toll FROM reports r JOIN tolls t"
    " ON r.vid = t.vid AND t.time BETWEEN r.time - 10 AND r.time + 10",
    "SELECT r.vid, mph, toll FROM reports r INNER JOIN tolls t"
    " ON t.time >= r.time - 3 AND t.time <= 20 + r.time AND r.vid = t.vid WHERE mph > 20",
    "SELECT r.vid, mph, toll FROM reports r JOIN tolls t ON abs(r.time - t.time) <= 7 AND r.vid < t.vid",
    "SELECT r.vid, mph, toll FROM reports r JOIN tolls t ON abs(t.time - r.time) < 7 AND r.vid = t.vid",
    "SELECT r.vid, mph, toll FROM reports r JOIN tolls t ON r.time < t.time + 7 AND r.time > t.time - 30",
    "SELECT r.vid, mph, toll FROM reports r JOIN tolls t ON r.time = t.time",
    "SELECT vid, mph, toll FROM reports r JOIN tolls t USING (time, vid)",
    "SELECT * FROM reports r JOIN tolls t USING (time, vid)",
    "SELECT r.*, plate FROM reports r JOIN cars ON r.vid = cars.vid",
    "SELECT vid, plate, mph FROM cars JOIN reports USING (vid) WHERE mph > 10",
    "SELECT c.plate, r.mph FROM reports r JOIN cars c ON r.vid > c.vid",
    "SELECT a.time, b.vid FROM reports a, tolls b"
    " WHERE a.vid = b.vid AND b.time BETWEEN a.time AND a.time + 5 AND mph > 9",
    "SELECT a.time t, b.time u, plate FROM reports a JOIN reports b ON a.vid = b.vid AND b.time BETWEEN a.time - 7 AND"
    " a.time + 7 JOIN cars c ON c.vid = b.vid WHERE a.mph < b.mph",
    "SELECT a.time t, b.time u, c.time w FROM tolls a JOIN tolls b ON b.time BETWEEN a.time - 20 AND a.time + 20"
    " JOIN tolls c ON c.time BETWEEN b.time - 13 AND b.time + 13",
    "SELECT a.kind x, b.kind y FROM events a JOIN events b"
    " ON b.clock BETWEEN a.clock - INTERVAL '20 seconds' AND a.clock + INTERVAL '20 seconds' AND a.size < b.size",
    "SELECT a.kind, b.size FROM events a JOIN events b ON a.clock = b.clock",
]
bands = st.tuples(st.integers(-9, 9), st.integers(0, 9))


def named_apart(query: str) -> str:
    """The query with two columns of one name apart, which duckdb allows and we do not."""
    return query.replace("r.time, t.time,", "r.time, t.time u,")


@pytest.mark.parametrize("query", JOINS)
def test_joins(query: str) -> None:
    # The pairs of a join of streams come in no order of their own.
    assert check(named_apart(query), slack=100 if query.count("JOIN tolls") > 1 else 0).num_rows


@given(times, times, bands, st.booleans())
def test_joins_within_every_band(
    left: list[tuple[int, int, int | None]],
    right: list[tuple[int, int, int | None]],
    band: tuple[int, int],
    strict: bool,
) -> None:
    low, high = band[0], band[0] + band[1]
    tables = {
        "reports": pa.Table.from_pylist(
            [{"time": t, "vid": v, "mph": m, "seg": 0, "name": None} for t, v, m in sorted(left, key=lambda r: r[0])],
            schema(SCHEMAS["reports"]),
        ),
        "tolls": pa.Table.from_pylist(
            [{"time": t, "vid": v, "toll": m} for t, v, m in sorted(right, key=lambda r: r[0])],
            schema(SCHEMAS["tolls"]),
        ),
    }
    more, less = (">", "<") if strict else (">=", "<=")
    check(
        "SELECT a.time, b.time u, mph, toll FROM reports a JOIN tolls b ON a.vid = b.vid"
        f" AND b.time {more} a.time + ({low}) AND b.time - ({high}) {less} a.time",
        tables=tables,
    )


def test_a_band_that_says_no_more_leaves_the_condition() -> None:
    net = sql_network(JOINS[0].replace("t.time,", "t.time u,"), STREAMS)
    (join,) = (node.box for node in net.nodes if node.box.kind == "join")
    assert str(join.predicate) == "left.vid = right.vid"
    assert join.size == 10
    assert math.isclose(next(n.box.size for n in sql_network(JOINS[1], STREAMS).nodes if n.box.kind == "join"), 20)


def test_results_do_not_depend_on_trains() -> None:
    net = sql_network(JOINS[1], STREAMS)
    found = [
        sorted_rows(rows(net.run_local({"reports": REPORTS, "tolls": TOLLS}, train=size)["out"]))
        for size in (1, 7, 999)
    ]
    assert found[0] == found[1] == found[2]


EDGES = {
    "left": [{"time": t, "at": dt.datetime(2026, 3, 1) + dt.timedelta(seconds=t), "x": t} for t in (0, 10, 20)],
    "right": [{"time": t, "at": dt.datetime(2026, 3, 1) + dt.timedelta(seconds=t), "y": t} for t in (0, 3, 12, 20, 30)],
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("r.time BETWEEN l.time - 5 AND l.time + 5", lambda far: -5 <= far <= 5),
        ("r.time BETWEEN l.time + 5 AND l.time - 5", lambda far: False),
        ("abs(l.time - r.time) <= 10", lambda far: -10 <= far <= 10),
        ("abs(l.time - r.time) <= -3", lambda far: False),
        ("abs(l.time - r.time) <= 0", lambda far: far == 0),
        ("r.at BETWEEN l.at AND l.at + INTERVAL '10' SECOND", lambda far: 0 <= far <= 10),
        ("r.at > l.at - INTERVAL '10' SECOND AND r.at <= l.at", lambda far: -10 < far <= 0),
        ("r.at = l.at", lambda far: far == 0),
    ],
)
def test_bands_at_their_edges(condition: str, holds: Callable[[int], bool]) -> None:
    tables = {"l": "time int, at timestamp, x int", "r": "time int, at timestamp, y int"}
    net = sql_network(f"SELECT x, y FROM l JOIN r ON {condition}", tables)
    found = net.run_local(l=EDGES["left"], r=EDGES["right"])["out"]
    wanted = [
        (one["x"], two["y"]) for one in EDGES["left"] for two in EDGES["right"] if holds(two["time"] - one["time"])
    ]
    assert sorted(rows(found)) == wanted


def test_a_band_of_a_number_and_a_length_of_time_is_none() -> None:
    with pytest.raises(ExpressionError, match="needs a band of times"):
        sql_network(
            "SELECT x, y FROM l JOIN r ON r.time BETWEEN l.time - INTERVAL '10' SECOND AND l.time + 10",
            {"l": "time int, x int", "r": "time int, y int"},
        )
