"""CAST and TRY_CAST."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.errors import RunError
from australis.expressions import expr


def cast(values: list[Any], source: pa.DataType, target: str, function: str = "cast") -> list[Any]:
    batch = pa.RecordBatch.from_pydict({"x": pa.array(values).cast(source) if values else pa.array([], source)})
    return list(expr(f"{function}(x as {target})").bind(batch.schema).evaluate(batch).to_pylist())


@pytest.mark.parametrize(
    ("values", "source", "target", "expected"),
    [
        ([1.9, -1.9, None], pa.float64(), "int", [1, -1, None]),
        ([Decimal("1.90")], pa.decimal128(5, 2), "int", [1]),
        ([Decimal("1.25")], pa.decimal128(5, 2), "decimal(5, 1)", [Decimal("1.3")]),
        ([True, False], pa.bool_(), "int", [1, 0]),
        ([True], pa.bool_(), "decimal(3, 1)", [Decimal("1.0")]),
        ([0, 2], pa.int32(), "boolean", [False, True]),
        ([2**53 + 1], pa.int64(), "double", [2.0**53]),
        ([" 12 ", "+3", "-4"], pa.string(), "int", [12, 3, -4]),
        (["1e3", ".5"], pa.large_string(), "double", [1000.0, 0.5]),
        (["true", "0"], pa.string(), "boolean", [True, False]),
        (["2026-01-02"], pa.string(), "date", [dt.date(2026, 1, 2)]),
        (["10:11", "10:11:12.5"], pa.string(), "time", [dt.time(10, 11), dt.time(10, 11, 12, 500_000)]),
        (["2026-01-02", "2026-01-02T03:04"], pa.string(), "timestamp",
         [dt.datetime(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 4)]),
        (["2026-01-02 03:04:05", "2026-01-02 03:04:05+02:00", "2026-01-02"], pa.string(), "timestamptz",
         [dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC), dt.datetime(2026, 1, 2, 1, 4, 5, tzinfo=dt.UTC),
          dt.datetime(2026, 1, 2, tzinfo=dt.UTC)]),
        ([dt.datetime(2026, 1, 2, 23)], pa.timestamp("us"), "date", [dt.date(2026, 1, 2)]),
        ([dt.datetime(2026, 1, 2, 3, 4, 5, 678_000)], pa.timestamp("us"), "timestamp[s]",
         [dt.datetime(2026, 1, 2, 3, 4, 5)]),
        ([dt.datetime(2026, 1, 2, 3)], pa.timestamp("us"), "time", [dt.time(3)]),
        ([1, None], pa.int32(), "string", ["1", None]),
    ],
)  # fmt: skip
def test_cast(values: list[Any], source: pa.DataType, target: str, expected: list[Any]) -> None:
    assert cast(values, source, target) == expected
    assert cast(values, source, target, "try_cast") == expected


def test_a_local_time_and_its_zone() -> None:
    noon = dt.datetime(2026, 7, 1, 12)
    (zoned,) = cast([noon], pa.timestamp("us"), "timestamp[us, Europe/Paris]")
    assert zoned.utcoffset() == dt.timedelta(hours=2)
    assert zoned.replace(tzinfo=None) == noon
    assert cast([zoned], pa.timestamp("us", "Europe/Paris"), "timestamp") == [noon]


@pytest.mark.parametrize(
    ("values", "source", "target", "tried"),
    [
        (["1", "x", "3"], pa.string(), "int", [1, None, 3]),
        (["1", "99999999999"], pa.string(), "int", [1, None]),
        (["1.5", ""], pa.string(), "double", [1.5, None]),
        (["yes", "true"], pa.string(), "boolean", [None, True]),
        (["2026-02-30", "2026-02-28", None], pa.string(), "date", [None, dt.date(2026, 2, 28), None]),
        (["25:00", "10:00"], pa.string(), "time", [None, dt.time(10)]),
        (["soon", "2026-01-01 00:00"], pa.string(), "timestamp", [None, dt.datetime(2026, 1, 1)]),
        ([300, 3], pa.int32(), "tinyint", [None, 3]),
        ([float("nan"), 1e300, 2.5], pa.float64(), "bigint", [None, None, 2]),
        ([1000, 1], pa.int32(), "decimal(3, 1)", [None, Decimal("1.0")]),
    ],
)
def test_what_cannot_be_cast_fails_or_is_null(
    values: list[Any], source: pa.DataType, target: str, tried: list[Any]
) -> None:
    assert cast(values, source, target, "try_cast") == tried
    with pytest.raises(RunError, match=r"`cast\(x as "):
        cast(values, source, target)


@given(st.lists(st.none() | st.text("0123456789+-. x", max_size=12), max_size=20))
@example(["+-0"])
@example(["0x0"])
@example(["99999999999", "+1", " 7 ", "x"])
def test_try_cast_reads_what_python_reads(texts: list[str | None]) -> None:
    def oracle(text: str | None) -> int | None:
        try:
            value = int(text or "")
        except ValueError:
            return None
        return value if -(2**31) <= value < 2**31 else None

    assert cast(texts, pa.string(), "int", "try_cast") == [oracle(text) for text in texts]


def test_a_literal_text_is_an_interval() -> None:
    batch = pa.RecordBatch.from_pydict({"x": [1]})
    bound = expr("cast('90 seconds' as interval)").bind(batch.schema)
    assert bound.evaluate(batch).to_pylist() == [dt.timedelta(seconds=90)]
