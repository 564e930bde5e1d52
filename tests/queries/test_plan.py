"""Queries in SQL: what they give is what duckdb gives over the same tuples."""

import datetime as dt
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


times = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.none() | st.integers(-9, 9)), max_size=30)


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


def test_names_are_as_written() -> None:
    made = sql(
        "SELECT r.vid, mph*2, count(*), window_start FROM reports r GROUP BY window(time, 60), vid, mph", SCHEMAS
    )
    assert made.schema.names == ["vid", "mph * 2", "count(*)", "window_start"]
    assert made.schema.field("window_start").type == pa.int32()
