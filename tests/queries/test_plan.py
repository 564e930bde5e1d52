"""Queries in SQL: what they give is what duckdb gives over the same tuples."""

import datetime as dt
import math
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.queries import sql, sql_network
from australis.testing import rows

SCHEMAS = {
    "reports": "time int, vid int, mph int, seg int, name string",
    "tolls": "time int, vid int, toll double",
    "cars": "vid int, plate string",
    "events": "clock timestamp, kind string, size double",
}
MORNING = dt.datetime(2026, 3, 1, 8)
REPORTS = pa.Table.from_pylist(
    [
        {"time": t, "vid": v, "mph": None if (t * v) % 11 == 3 else (37 * t + 11 * v) % 80, "seg": (t // 40 + v) % 4,
         "name": ("Ada", "Bob", None)[(t + v) % 3]}
        for t in range(0, 300, 7) for v in range(1, 5)
    ],
    schema(SCHEMAS["reports"]),
)  # fmt: skip
TOLLS = pa.Table.from_pylist(
    [{"time": t, "vid": 1 + t % 5, "toll": t / 4} for t in range(3, 300, 13)], schema(SCHEMAS["tolls"])
)
CARS = pa.table({"vid": [1, 2, 4], "plate": ["A1", "B2", "D4"]}, schema(SCHEMAS["cars"]))
EVENTS = pa.Table.from_pylist(
    [{"clock": MORNING + dt.timedelta(seconds=13 * i), "kind": "xyz"[i % 3], "size": i / 8} for i in range(90)],
    schema(SCHEMAS["events"]),
)
TABLES = {"reports": REPORTS, "tolls": TOLLS, "cars": CARS, "events": EVENTS}
DUCK = duckdb.connect(config={"threads": 1})
STREAMS: dict[str, Any] = {**SCHEMAS, "cars": au.static("cars", SCHEMAS["cars"])}


def ours(query: str, tables: dict[str, pa.Table] = TABLES, slack: int = 0) -> pa.Table:
    net = sql_network(query, STREAMS, slack=slack)
    return net.run_local({each.name: tables[each.name] for each in net.inputs}, train=50)["out"]


def theirs(query: str, tables: dict[str, pa.Table] = TABLES) -> list[tuple[Any, ...]]:
    for name, table in tables.items():
        DUCK.register(name, table)
    return DUCK.execute(query).fetchall()


def sorted_rows(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    def key(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
        return [(value is not None, round(value, 6) if isinstance(value, float) else value or 0) for value in row]

    return sorted(found, key=lambda row: str(key(row)))


def check(query: str, reference: str | None = None, tables: dict[str, pa.Table] = TABLES, slack: int = 0) -> pa.Table:
    found = ours(query, tables, slack)
    mine, other = sorted_rows(rows(found)), sorted_rows(theirs(reference or query, tables))
    assert len(mine) == len(other)
    for row, wanted in zip(mine, other, strict=True):
        assert len(row) == len(wanted)
        for value, expected in zip(row, wanted, strict=True):
            assert value == (pytest.approx(expected) if isinstance(expected, float) else expected)
    return found


PLAIN = [
    "SELECT * FROM reports",
    "SELECT time, mph FROM reports WHERE mph > 40",
    "SELECT r.time, r.mph * 2 AS twice, r.vid + 1 v FROM reports AS r WHERE r.seg IN (1, 2) AND name IS NOT NULL",
    "SELECT r.*, mph / 2 half FROM reports r WHERE mph IS DISTINCT FROM seg OR name = 'Ada'",
    "SELECT CASE WHEN mph > 40 THEN 'fast' ELSE 'slow' END AS pace, coalesce(name, 'nobody') FROM reports",
    'SELECT time AS "from", upper(name) AS "odd name" FROM reports',
    "SELECT CAST(mph AS DOUBLE) kph, mph::bigint AS m, 1 AS one, NULL IS NULL AS yes FROM reports",
    "SELECT extract(minute FROM clock) AS m, clock + INTERVAL '10' MINUTE later, kind FROM events WHERE kind LIKE 'x%'",
    "SELECT t, m FROM (SELECT time AS t, mph AS m FROM reports WHERE seg = 1) WHERE m > 10",
    "SELECT t.m FROM (SELECT mph AS m FROM (SELECT * FROM reports) x WHERE x.seg = 1) AS t",
    "WITH fast AS (SELECT * FROM reports WHERE mph > 40), named AS (SELECT * FROM fast WHERE name = 'Bob')"
    " SELECT time, vid FROM named",
    "SELECT time, vid FROM reports WHERE mph > 60 UNION ALL SELECT time, vid FROM tolls",
    "(SELECT time t FROM reports) UNION ALL (SELECT vid FROM tolls UNION ALL SELECT time FROM tolls)",
    "WITH a AS (SELECT time FROM tolls) SELECT * FROM a UNION ALL SELECT * FROM a",
    "SELECT vid, mph FROM reports UNION ALL SELECT mph + 1, 0.5 FROM reports UNION ALL SELECT time, toll FROM tolls",
    "SELECT /* a comment */ time -- another\nFROM reports;",
    "SELECT vid, plate FROM cars",
]


@pytest.mark.parametrize("query", PLAIN)
def test_plain_queries(query: str) -> None:
    check(query)


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


def named_apart(query: str) -> str:
    """The query with two columns of one name apart, which duckdb allows and we do not."""
    return query.replace("r.time, t.time,", "r.time, t.time u,")


@pytest.mark.parametrize("query", JOINS)
def test_joins(query: str) -> None:
    # The pairs of a join of streams come in no order of their own.
    assert check(named_apart(query), slack=100 if query.count("JOIN tolls") > 1 else 0).num_rows


START = "CAST(floor(time / 60.0) * 60 AS INT)"
GROUPED = [
    (
        "SELECT window_start, window_end, seg, count(*) AS cars, avg(mph) AS pace"
        " FROM TUMBLE(TABLE reports, DESCRIPTOR(time), INTERVAL '60' SECOND) GROUP BY window_start, window_end, seg",
        f"SELECT {START}, {START} + 60, seg, count(*), avg(mph) FROM reports GROUP BY ALL",
    ),
    (
        "SELECT window_start AS w, count(DISTINCT vid), max(mph) - min(mph), sum(mph)"
        " FROM TUMBLE(TABLE reports, time, SIZE 60)"
        " WHERE mph > 10 GROUP BY window_start",
        f"SELECT {START} AS w, count(DISTINCT vid), max(mph) - min(mph), sum(mph) FROM reports WHERE mph > 10"
        " GROUP BY w",
    ),
    (
        "SELECT window.start, window.end, vid % 2 AS odd, seg + count(*) AS x FROM reports"
        " GROUP BY window(time, '1 minute'), odd, seg HAVING count(mph) > 2 AND x > 3",
        f"SELECT {START}, {START} + 60, vid % 2, seg + count(*) FROM reports GROUP BY 1, 2, 3, seg"
        " HAVING count(mph) > 2 AND seg + count(*) > 3",
    ),
    (
        "SELECT window_start, name, first(vid), stddev(mph) FROM reports r GROUP BY 1, r.name, tumble(r.time, 60)",
        f"SELECT {START}, name, arg_min(vid, time * 10 + vid), stddev(mph) FROM reports GROUP BY 1, name",
    ),
    (
        "SELECT window_start, count(*) + 1 FROM (SELECT time t, mph FROM reports) s GROUP BY window(s.t, 60)",
        f"SELECT {START}, count(*) + 1 FROM reports GROUP BY 1",
    ),
    (
        "SELECT time, seg FROM"
        " (SELECT window_start AS time, seg FROM TUMBLE(reports, time, 60) GROUP BY window_start, seg)"
        " WHERE seg = 2",
        f"SELECT DISTINCT {START}, seg FROM reports WHERE seg = 2",
    ),
    (
        "WITH m AS (SELECT window_start AS minute, sum(mph) AS s FROM TUMBLE(TABLE reports, time, SIZE 60) GROUP BY"
        " window_start) SELECT window_start, max(s), count(*) AS n FROM TUMBLE(TABLE m, minute, SIZE => 120)"
        " GROUP BY window_start",
        f"SELECT minute // 120 * 120, max(s), count(*) FROM (SELECT {START} AS minute, sum(mph) AS s FROM reports"
        " GROUP BY minute) GROUP BY 1",
    ),
    (
        "SELECT window_start, window_end, kind, avg(size) AS mean"
        " FROM TUMBLE(DATA => TABLE events, TIMECOL => DESCRIPTOR(clock), SIZE => INTERVAL '5' MINUTE)"
        " GROUP BY window_start, window_end, kind",
        "SELECT time_bucket(INTERVAL '5 minutes', clock) w, w + INTERVAL '5 minutes', kind, avg(size) FROM events"
        " GROUP BY ALL",
    ),
    (
        "SELECT window_start, window_end, count(*) AS n FROM HOP(TABLE reports, DESCRIPTOR(time), INTERVAL '20' SECOND,"
        " INTERVAL '60' SECOND) GROUP BY window_start, window_end",
        "SELECT s, s + 60, count(*) FROM range(-60, 300, 20) w(s) JOIN reports ON time >= s AND time < s + 60"
        " GROUP BY s",
    ),
    (
        "SELECT window_start, seg, max(vid) AS v FROM reports GROUP BY window(time, '60 seconds', '20 seconds'), seg",
        "SELECT s, seg, max(vid) FROM range(-60, 300, 20) w(s) JOIN reports ON time >= s AND time < s + 60"
        " GROUP BY s, seg",
    ),
    (
        "SELECT a.window_start, a.seg, cars, paid FROM"
        " (SELECT window_start, seg, count(*) AS cars FROM TUMBLE(TABLE reports, time, 60)"
        " GROUP BY window_start, seg) a"
        " JOIN (SELECT window_start, sum(toll) AS paid FROM TUMBLE(TABLE tolls, time, 60) GROUP BY window_start) b"
        " ON a.window_start = b.window_start",
        f"SELECT * FROM (SELECT {START} w, seg, count(*) FROM reports GROUP BY ALL) JOIN"
        f" (SELECT {START} w, sum(toll) FROM tolls GROUP BY ALL) USING (w)",
    ),
    (
        "SELECT window_start, seg, max(cars) FROM (SELECT window_start AS t, seg, count(*) AS cars FROM reports"
        " GROUP BY window(time, 20), seg) GROUP BY seg, window(t, 60)",
        f"SELECT {START}, seg, max(n) FROM (SELECT time // 20 * 20 AS time, seg, count(*) n FROM reports GROUP BY ALL)"
        " GROUP BY ALL",
    ),
    (
        "WITH m AS (SELECT window_start, max(mph) AS top FROM TUMBLE(TABLE reports, time, 20) GROUP BY window_start)"
        " SELECT window_start, window_end, avg(top) FROM TUMBLE(TABLE m, window_start, 60)"
        " GROUP BY window_start, window_end",
        f"SELECT {START}, {START} + 60, avg(top) FROM (SELECT time // 20 * 20 AS time, max(mph) top FROM reports"
        " GROUP BY ALL) GROUP BY ALL",
    ),
    (
        "SELECT window_start, plate, sum(mph) AS s FROM reports r JOIN cars c ON r.vid = c.vid"
        " GROUP BY plate, window(r.time, 60)",
        f"SELECT {START}, plate, sum(mph) FROM reports JOIN cars USING (vid) GROUP BY ALL",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("query", "reference"), GROUPED)
def test_windows(query: str, reference: str) -> None:
    # Windows of joined subqueries come in order only within their groups.
    assert check(query, reference, slack=8 if " a JOIN (" in query else 0).num_rows


times = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.none() | st.integers(-9, 9)), max_size=30)


@given(times, st.integers(1, 15), st.integers(1, 15), st.sampled_from(["count(*)", "sum(mph)", "min(mph)", "avg(mph)"]))
def test_windows_of_every_size(found: list[tuple[int, int, int | None]], size: int, slide: int, call: str) -> None:
    tuples = [
        {"time": t, "vid": 0, "mph": mph, "seg": seg, "name": None} for t, seg, mph in sorted(found, key=lambda r: r[0])
    ]
    tables = {**TABLES, "reports": pa.Table.from_pylist(tuples, schema(SCHEMAS["reports"]))}
    check(
        f"SELECT window_start, window_end, seg, {call} FROM HOP(TABLE reports, time, SLIDE {slide}, SIZE {size})"
        " GROUP BY window_start, window_end, seg",
        f"SELECT s, s + {size}, seg, {call} FROM range({-size // slide * slide}, 60, {slide}) w(s)"
        f" JOIN reports ON time >= s AND time < s + {size} GROUP BY s, seg",
        tables,
    )


bands = st.tuples(st.integers(-9, 9), st.integers(0, 9))


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


numbers = st.sampled_from(["time", "mph", "seg", "3", "10"])
arithmetic = st.recursive(
    numbers, lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda p: f"({' '.join(p)})"),
    max_leaves=5,
)  # fmt: skip
comparisons = st.tuples(arithmetic, st.sampled_from(["<", "<=", "=", "<>", ">"]), arithmetic).map(" ".join)
conditions = st.recursive(
    comparisons | st.just("name IS NULL") | st.just("name LIKE 'A%'") | st.just("mph BETWEEN 10 AND 40"),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda p: f"({' '.join(p)})")
        | inner.map(lambda p: f"NOT ({p})")
    ),
    max_leaves=4,
)


@given(arithmetic, conditions)
def test_expressions_and_conditions(value: str, condition: str) -> None:
    short = {**TABLES, "reports": REPORTS.slice(0, 40)}
    check(f"SELECT time, {value} AS x FROM reports WHERE {condition}", tables=short)


def test_results_do_not_depend_on_trains() -> None:
    net = sql_network(JOINS[1], STREAMS)
    found = [
        sorted_rows(rows(net.run_local({"reports": REPORTS, "tolls": TOLLS}, train=size)["out"]))
        for size in (1, 7, 999)
    ]
    assert found[0] == found[1] == found[2]


def test_streams_and_schemas_are_both_tables() -> None:
    fast = au.stream("reports", SCHEMAS["reports"]).filter("mph > 60")
    made = sql("SELECT vid FROM fast", {"fast": fast})
    assert made.schema.names == ["vid"]
    assert sql("SELECT * FROM fast", {"fast": fast}) is fast
    assert sql("CREATE VIEW v AS SELECT vid x FROM fast; SELECT x FROM v", {"fast": fast}).schema.names == ["x"]


def test_several_statements_are_one_network() -> None:
    net = sql_network(
        "CREATE VIEW fast AS SELECT * FROM reports WHERE mph > 60;"
        " INSERT INTO names SELECT name FROM fast; INSERT INTO times SELECT time FROM fast;",
        STREAMS,
    )
    assert [output.name for output in net.outputs] == ["names", "times"]
    assert [node.box.kind for node in net.nodes] == ["filter", "map", "map"]  # the view is one box for both


def test_windows_say_how_late_tuples_may_be() -> None:
    tuples = {"time": [1, 70, 50, 130], "vid": [1] * 4, "mph": [1, 2, 4, 8], "seg": [0] * 4, "name": [None] * 4}
    tables = {"reports": pa.table(tuples, schema(SCHEMAS["reports"]))}
    query = "SELECT window_start, sum(mph) FROM TUMBLE(TABLE reports, time, SIZE 60{}) GROUP BY window_start"
    assert rows(ours(query.format(""), tables)) == [(0, 1), (60, 2), (120, 8)]
    assert rows(ours(query.format(", SLACK 1"), tables)) == [(0, 5), (60, 2), (120, 8)]
    assert rows(ours(query.format(""), tables, slack=1)) == [(0, 5), (60, 2), (120, 8)]


def test_names_are_as_written() -> None:
    made = sql(
        "SELECT r.vid, mph*2, count(*), window_start FROM reports r GROUP BY window(time, 60), vid, mph", SCHEMAS
    )
    assert made.schema.names == ["vid", "mph * 2", "count(*)", "window_start"]
    assert made.schema.field("window_start").type == pa.int32()


def test_a_band_that_says_no_more_leaves_the_condition() -> None:
    net = sql_network(JOINS[0].replace("t.time,", "t.time u,"), STREAMS)
    (join,) = (node.box for node in net.nodes if node.box.kind == "join")
    assert str(join.predicate) == "left.vid = right.vid"
    assert join.size == 10
    assert math.isclose(next(n.box.size for n in sql_network(JOINS[1], STREAMS).nodes if n.box.kind == "join"), 20)
