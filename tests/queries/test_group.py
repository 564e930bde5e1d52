"""Groups of a query, against DuckDB."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from tests.queries.test_plan import SCHEMAS, TABLES, check, times

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
