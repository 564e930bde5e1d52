"""Kernels on dates, times, timestamps and intervals."""

import datetime as dt

import pyarrow as pa
import pytest

from australis.expressions import times
from australis.expressions.operand import MisfitError

DAY = dt.date(2026, 11, 15)  # a Sunday
MOMENT = dt.datetime(1969, 12, 31, 23, 59, 58, 500_000)


@pytest.mark.parametrize(
    ("value", "type_", "seconds"),
    [
        (dt.datetime(1970, 1, 1), pa.timestamp("ns"), 0.0),
        (MOMENT, pa.timestamp("us"), -1.5),
        (dt.date(1970, 1, 2), pa.date32(), 86400.0),
        (dt.time(0, 0, 1, 500_000), pa.time64("us"), 1.5),
        (dt.time(0, 1), pa.time32("s"), 60.0),
        (dt.timedelta(milliseconds=-1), pa.duration("ms"), -0.001),
        (None, pa.timestamp("s"), None),
    ],
)
def test_seconds(value: object, type_: pa.DataType, seconds: float | None) -> None:
    assert times.epoch(pa.array([value], type_)).to_pylist() == [seconds]


def test_a_moment_of_seconds() -> None:
    assert times.to_timestamp(pa.array([-1.5, 0.0, None])).to_pylist() == [MOMENT, dt.datetime(1970, 1, 1), None]
    assert times.to_timestamp(pa.array([86400, None])).to_pylist() == [dt.datetime(1970, 1, 2), None]
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        times.to_timestamp(pa.array([2**63 - 1]))


def test_times_are_cut_to_a_unit() -> None:
    column = pa.array([MOMENT, None], pa.timestamp("us"))
    assert times.date_trunc("HOUR", column).to_pylist() == [dt.datetime(1969, 12, 31, 23), None]
    assert times.date_trunc("quarter", column)[0].as_py() == dt.datetime(1969, 10, 1)
    with pytest.raises(MisfitError, match=r"there is no unit `hours` to cut to; did you mean `hour`"):
        times.date_trunc("hours", column)


def test_a_week_begins_on_monday() -> None:
    days = pa.array([DAY, DAY + dt.timedelta(days=1), None])
    assert times.day_of_week(days).to_pylist() == [7, 1, None]


def test_a_date_begins_at_midnight() -> None:
    assert times.clock(pa.array([DAY])).to_pylist() == [dt.datetime(2026, 11, 15)]
    stamps = pa.array([MOMENT])
    assert times.clock(stamps) is stamps
