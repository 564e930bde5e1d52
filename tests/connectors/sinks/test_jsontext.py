"""Tuples as JSON lines."""

import datetime as dt
import json
import math
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis.connectors.sinks.jsontext import json_lines


def lines(**columns: pa.Array) -> list[dict[str, object]]:
    return [json.loads(line) for line in json_lines(pa.record_batch(columns)).decode().splitlines()]


@given(st.lists(st.none() | st.text(), min_size=1), st.text())
def test_any_text_comes_back(values: list[str | None], name: str) -> None:
    text = json_lines(pa.record_batch({name: pa.array(values, pa.string())})).decode()
    assert text.endswith("\n")
    assert [json.loads(line) for line in text.removesuffix("\n").split("\n")] == [{name: value} for value in values]


@given(st.lists(st.none() | st.floats(), min_size=1))
def test_numbers_come_back_and_those_that_json_has_not_are_null(values: list[float | None]) -> None:
    wanted = [value if value is not None and math.isfinite(value) else None for value in values]
    assert [line["a"] for line in lines(a=pa.array(values, pa.float64()))] == wanted


def test_every_kind_of_column() -> None:
    found = lines(
        n=pa.array([-(2**63), 2**63 - 1, None]),
        u=pa.array([0, 2**64 - 1, None], pa.uint64()),
        b=pa.array([True, False, None]),
        d=pa.array([dt.date(2026, 1, 2), dt.date(1, 1, 1), None]),
        t=pa.array([dt.datetime(1969, 12, 31, 23, 59, 59, 5), dt.datetime(2026, 1, 2), None]),
        m=pa.array([Decimal("0.10"), Decimal("-1.00"), None]),
        l=pa.array([[1, None], [], None], pa.list_(pa.int64())),
        z=pa.nulls(3),
    )
    assert [list(line.values()) for line in found] == [
        [-(2**63), 0, True, "2026-01-02", "1969-12-31 23:59:59.000005", "0.10", [1, None], None],
        [2**63 - 1, 2**64 - 1, False, "0001-01-01", "2026-01-02 00:00:00.000000", "-1.00", [], None],
        [None] * 8,
    ]


def test_no_tuples_and_parts_of_columns() -> None:
    batch = pa.record_batch({"a": ["x", "y", "z"]})
    assert json_lines(batch[:0]) == b""
    assert json_lines(batch[1:2]) == b'{"a": "y"}\n'
