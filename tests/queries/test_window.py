"""Windows of a query."""

import datetime as dt

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.errors import ExpressionError
from australis.expressions import expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall
from australis.model.parameters import Length
from australis.queries.parse import parse
from australis.queries.piece import Piece
from australis.queries.query import Select, Windowed
from australis.queries.window import WindowClause, from_group, from_table
from australis.testing import rows
from tests.queries.test_plan import SCHEMAS, ours


def test_windows_say_how_late_tuples_may_be() -> None:
    tuples = {"time": [1, 70, 50, 130], "vid": [1] * 4, "mph": [1, 2, 4, 8], "seg": [0] * 4, "name": [None] * 4}
    tables = {"reports": pa.table(tuples, schema(SCHEMAS["reports"]))}
    query = "SELECT window_start, sum(mph) FROM TUMBLE(TABLE reports, time, SIZE 60{}) GROUP BY window_start"
    assert rows(ours(query.format(""), tables)) == [(0, 1), (60, 2), (120, 8)]
    assert rows(ours(query.format(", SLACK 1"), tables)) == [(0, 5), (60, 2), (120, 8)]
    assert rows(ours(query.format(""), tables, slack=1)) == [(0, 5), (60, 2), (120, 8)]


TIMES = schema("time int, at timestamp, name string")
MINUTE = dt.timedelta(minutes=1)


def clause(window: str) -> WindowClause:
    """The windows of a table function, or of a call in GROUP BY."""
    if "TABLE" in window:
        (statement,) = parse(f"SELECT count(*) FROM {window} GROUP BY window_start")
        select = statement.query.selects[0]
        assert isinstance(select, Select)
        assert isinstance(select.first.source, Windowed)
        return from_table(select.first.source, TIMES)
    node = expr(window).node
    assert isinstance(node, FunctionCall)
    return from_group(node, TIMES, Piece(window, 0, len(window)))


@pytest.mark.parametrize(
    ("window", "on", "size", "advance", "slack"),
    [
        ("TUMBLE(TABLE reports, time, SIZE 60)", "time", 60, 60, None),
        ("TUMBLE(TABLE reports, DESCRIPTOR(at), INTERVAL '1' MINUTE)", "at", MINUTE, MINUTE, None),
        ("HOP(TABLE reports, time, 10, 60)", "time", 60, 10, None),
        ("HOP(TABLE reports, time, SIZE 60, ADVANCE 10)", "time", 60, 10, None),
        ("HOP(TABLE reports, time, SIZE 60, 10, SLACK 0)", "time", 60, 10, 0),
        ("window(time, '60 seconds')", "time", 60, 60, None),
        ("window(time, '60 seconds', '500 ms')", "time", 60, 0.5, None),
        ("window(at, '60 seconds')", "at", "60 seconds", "60 seconds", None),
        ("hop(time, 10, 60)", "time", 60, 10, None),
        ("tumble(r.time, INTERVAL '1' MINUTE)", "time", 60, 60, None),
    ],
)
def test_windows_as_people_write_them(window: str, on: str, size: Length, advance: Length, slack: int | None) -> None:
    found = clause(window)
    assert (found.on, found.size, found.advance, found.slack) == (on, size, advance, slack)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("TUMBLE(TABLE reports, time)", "write TUMBLE"),
        ("TUMBLE(TABLE reports, time, 60, 10)", "write TUMBLE"),
        ("HOP(TABLE reports, time, SIZE 60, SIZE 30)", "write HOP"),
        ("TUMBLE(TABLE reports, time, 60, SLACK 0.5)", "SLACK is a count of tuples"),
        ("TUMBLE(TABLE reports, tiem, 60)", "there is no column `tiem`"),
        ("window(time + 1, 60)", "a window is taken on a column"),
        ("window(time, mph)", "a window's length is a constant"),
        ("window(time, true)", "a window's length is a constant"),
        ("window(time)", "write window"),
        ("tumble(time, 60, 10)", r"write TUMBLE\(time"),
        ("hop(time, 60)", r"write HOP\(time"),
    ],
)
def test_what_is_no_window(window: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        clause(window)


@pytest.mark.parametrize(("window", "end"), [("window(time, 60)", 103), ("window(time, '2 minutes')", 163)])
def test_the_end_of_a_window(window: str, end: int) -> None:
    made = of(clause(window).end("start", pa.int32()))
    assert made.bind(schema("start int")).type == pa.int32()
    assert made.bind(schema("start int")).evaluate(
        pa.record_batch({"start": pa.array([43, None], pa.int32())})
    ).to_pylist() == [end, None]
