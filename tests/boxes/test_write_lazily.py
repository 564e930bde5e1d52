"""Writes of many tuples under one key, which run as a loop, beside the same tuples one by one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.write import Write
from australis.errors import RunError
from australis.expressions import expr
from australis.model.table import Keyed
from australis.testing import drive, train

NAN, INF = float("nan"), float("inf")


def write(text: str, column: str, stream: str, values: list[Any], step: int) -> list[Any] | str:
    """What the column is after each tuple, with so many tuples a train; or how the error begins."""
    table = Keyed("t", schema(f"k int, m {column}"), ("k",))
    box = Write(table, (("m", expr(text)),))
    whole = train(f"k int, x {stream}", k=[1] * len(values), x=values)
    try:
        (rows,) = drive(box, [whole.slice(at, at + step) for at in range(0, len(values), step)])
    except RunError as error:
        return str(error)
    return [m for _, _, m in rows]


def agreed(text: str, column: str, stream: str, values: list[Any]) -> list[Any] | str:
    """What a write gives, however the tuples are cut."""
    found = {repr(write(text, column, stream, values, step)): step for step in (1, 3, len(values))}
    assert len(found) == 1, found
    return write(text, column, stream, values, len(values))


@pytest.mark.parametrize(("function", "ends"), [("greatest", NAN), ("least", 0.0)])
def test_nan_ranks_highest_however_the_tuples_are_cut(function: str, ends: float) -> None:
    values = agreed(f"{function}(old.m, x)", "double", "double", [NAN, *map(float, range(9))])
    assert repr(values[-1]) == repr(ends)
    assert repr(values[0]) == "nan"


def test_a_zero_stays_that_is_there_already() -> None:
    assert repr(agreed("greatest(old.m, x)", "double", "double", [-0.0] + [0.0] * 12)) == repr([-0.0] * 13)
    assert repr(agreed("least(old.m, x)", "double", "double", [0.0] + [-0.0] * 12)) == repr([0.0] * 13)


LAZY = (
    "case when old.m0 < 1000 then old.m0 * old.m0 else x end",
    "if(old.m0 < 1000 or old.m0 is null, x, x - 1)",
    "case when old.m0 >= 1000 then x when old.m0 * old.m0 >= 0 then 1 else x end",
    "coalesce(x, old.m0 * old.m0)",
    "case when old.m0 < 1000 and old.m0 * old.m0 > 0 or old.m0 is null or old.m0 > 0 or old.m0 * x < 0 then x end",
    "case when old.m0 is null then x else case when x < 5 then -9223372036854775807 - old.m0 else x end end",
)


def test_what_is_not_needed_does_not_fail() -> None:
    """Here the product of two numbers fits in no column."""
    names = [f"m{at}" for at in range(len(LAZY))]
    table = Keyed("t", schema({"k": "int", **dict.fromkeys(names, "bigint")}), ("k",))
    box = Write(table, tuple(zip(names, map(expr, LAZY), strict=True)))
    whole = train("k int, x bigint", k=[1] * 10, x=[10**12] * 10)
    for step in (1, 3, 10):
        (rows,) = drive(box, [whole.slice(at, at + step) for at in range(0, 10, step)])
        first, *others = ([*row[2:]] for row in rows)
        assert first == [10**12] * len(LAZY)
        assert others == [[10**12, 10**12 - 1, *[10**12] * 4]] * 9


def test_what_is_needed_fails_in_one_way() -> None:
    wrong = agreed("coalesce(old.m * x, x)", "bigint", "bigint", [10**6] * 12)
    assert "overflow" in wrong
    narrow = agreed("coalesce(old.m * x, x)", "int", "bigint", [10**6] * 12)
    assert "`m` of the table `t`, which is int32, does not fit" in narrow
    assert agreed("coalesce(old.m // x, -9223372036854775808)", "bigint", "bigint", [1] * 12) == [-(2**63)] * 12
    assert "overflow" in agreed("coalesce(old.m // x, -9223372036854775808)", "bigint", "bigint", [-1] * 12)


def test_a_cast_is_guarded_by_the_row_that_was_there() -> None:
    text = "case when x rlike '^[0-9]+$' and length(x) < 10 then coalesce(old.m, 0) + cast(x as int) else old.m end"
    assert agreed(text, "bigint", "string", ["1", "two", "3", None, "4"] * 3)[-1] == 24
    text = "case when old.m is null then 7 when old.m < 0 then cast(x as int) else old.m end"
    assert agreed(text, "bigint", "string", ["1", "two", "3", None] * 3) == [7] * 12
    text = "case when old.m is null then -7 when old.m < 0 then cast(x as int) else old.m end"
    assert "'two'" in str(agreed(text, "bigint", "string", ["1", "two", "3", None] * 3))


def test_whole_numbers_become_doubles_however_large() -> None:
    assert agreed("greatest(old.m, x)", "double", "bigint", [2**53 + 1] * 12) == [float(2**53)] * 12
    assert agreed("x", "double", "bigint", [2**53 + 1] * 12) == [float(2**53)] * 12


@pytest.mark.parametrize("type_", ["timestamp", "timestamptz", "timestamp[ns, Europe/Paris]", "timestamp[s]"])
def test_the_latest_time_is_kept(type_: str) -> None:
    zone = UTC if "," in type_ or type_ == "timestamptz" else None
    times = [datetime(2026, 1, 1, tzinfo=zone) + timedelta(hours=n * 7 % 10) for n in range(12)]
    latest = [max(times[: n + 1]) for n in range(12)]
    assert agreed("greatest(x, old.m)", type_, type_, times) == latest
    assert agreed("greatest(old.m, x)", type_, type_, times) == latest


WHOLE = st.sampled_from([-(2**63), -(2**63) + 1, -(2**31), -1, 0, 1, 2, 7, 2**31, 3_037_000_500, 2**62, 2**63 - 1])


EXACT = ("coalesce(old.m, x) // x", "coalesce(old.m, x) % x", "case when old.m < x then old.m + x else x end",
         "case when x > 0 then abs(coalesce(old.m, x)) * x else -coalesce(old.m, x) - x end")  # fmt: skip


@pytest.mark.parametrize("text", EXACT)
def test_whole_numbers_at_their_limits_agree(text: str) -> None:
    @given(st.lists(WHOLE, min_size=10, max_size=14))
    def agree(values: list[int]) -> None:
        agreed(text, "bigint", "bigint", values)

    agree()
