"""Ranges: what cannot hold between the ends of columns holds for no row."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.expressions import expr
from australis.expressions.ranges import ColumnRange, decidable, may_hold

SCHEMA = schema(
    "i int, big bigint, u uint64, x double, f float, s string, at timestamp, day date, zoned timestamp[ms, Asia/Tokyo]"
)
NAN, INF = math.nan, math.inf
VALUES: dict[str, list[object]] = {
    "i": [0, 1, -1, 30, 31, 2**31 - 1, -(2**31)],
    "big": [0, 1, -1, 30, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)],
    "u": [0, 1, 30, 2**63, 2**64 - 1],
    "x": [0.0, -0.0, 0.5, 30.0, -1.5, 5e-324, 1e308, INF, -INF, NAN],
    "f": [0.0, -0.0, 0.5, 0.1, 30.0, INF, -INF, NAN],
    "s": ["", "a", "ab", "b", "é", "\x7f", "\U0010ffff"],
    "at": [0, 1, -1, 1_767_225_600_000_000, 2**62],
    "day": [0, 1, -1, 20454, 2**31 - 1],
    "zoned": [0, 1, -1, 1_767_222_000_000],
}
CONSTANTS: dict[str, list[str]] = {
    "i": ["0", "30", "-1", "30.5", "2147483648", "cast(null as int)", "1e300", "cast('nan' as double)"],
    "big": ["0", "9007199254740993", "9007199254740992.0", "0.5", "-9223372036854775807", "9223372036854775807"],
    "u": ["0", "30", "9223372036854775807"],
    "x": ["0", "0.5", "-0.0", "cast('inf' as double)", "cast('nan' as double)", "30"],
    "f": ["0", "0.5", "0.1", "16777217", "cast('nan' as double)"],
    "s": ["''", "'a'", "'aa'", "'é'", "'z'"],
    "at": ["'2026-01-01'", "timestamp '2026-01-01 00:00'", "date '2026-01-01'"],
    "day": ["'2026-01-01'", "date '1970-01-02'", "timestamp '2026-01-01 10:00'"],
    "zoned": ["'2026-01-01'", "'1970-01-01 01:00'"],
}


@st.composite
def comparisons(draw, names=tuple(SCHEMA.names)):
    name = draw(st.sampled_from(names))
    constant = st.sampled_from(CONSTANTS[name])
    operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "between", "in", "null", "not null", "not in"]))
    if operator == "between":
        return f"{name} between {draw(constant)} and {draw(constant)}"
    if operator.endswith("in"):
        return f"{name} {operator} ({draw(constant)}, {draw(constant)})"
    if operator.endswith("null"):
        return f"{name} is {operator}"
    return f"{name} {operator} {draw(constant)}" if draw(st.booleans()) else f"{draw(constant)} {operator} {name}"


OTHERS = st.sampled_from(["i % 2 = 0", "big * big > 5", "s like 'a%'", "isnan(x)", "i = big", "true", "not i > 3"])
PREDICATES = st.recursive(
    comparisons() | comparisons() | OTHERS,
    lambda parts: st.tuples(parts, st.sampled_from(("and", "or")), parts).map(lambda p: f"({p[0]}) {p[1]} ({p[2]})"),
    max_leaves=4,
)


def column(name, values):
    type_ = SCHEMA.field(name).type
    if pa.types.is_temporal(type_):
        return pa.array(values, pa.int32() if pa.types.is_date(type_) else pa.int64()).cast(type_)
    return pa.array(values, type_)


@st.composite
def rows(draw):
    count = draw(st.integers(0, 4))
    lists = {
        name: draw(st.lists(st.none() | st.sampled_from(some), min_size=count, max_size=count))
        for name, some in VALUES.items()
    }
    return pa.record_batch([column(name, lists[name]) for name in SCHEMA.names], schema=SCHEMA)


def only(**columns):
    """Rows in which one column has values."""
    ((only_name, values),) = columns.items()
    every = {name: values if name == only_name else [None] * len(values) for name in SCHEMA.names}
    return pa.record_batch([column(name, every[name]) for name in SCHEMA.names], schema=SCHEMA)


def ends(array):
    """The least and the greatest value, as a file's statistics have them, found one by one."""
    values = array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array
    values = values.cast(pa.int32()) if pa.types.is_date(array.type) else values
    plain = [value for value in values.to_pylist() if value is not None and value == value]
    key = (lambda value: value.encode()) if pa.types.is_string(array.type) else None
    return (min(plain, key=key), max(plain, key=key)) if plain else (None, None)


def known(batch, blind=()):
    ranges = {}
    for name in SCHEMA.names:
        if name not in blind:
            least, greatest = ends(batch[name])
            nulls = batch[name].null_count
            some = np.array([nulls > 0]), np.array([nulls < batch.num_rows])
            ranges[name] = ColumnRange(column(name, [least]), column(name, [greatest]), *some)
    return ranges


@given(PREDICATES, rows(), st.sets(st.sampled_from(SCHEMA.names), max_size=2))
@example("x != 0", only(x=[0.0, NAN]), set())
@example("big between 9007199254740993 and 1e300", only(big=[2**53]), set())
def test_what_holds_for_a_row_may_hold(text, batch, blind):
    predicate = expr(text)
    part = decidable(predicate, SCHEMA)
    note(str(part))
    try:
        holds = predicate.bind(SCHEMA).mask(batch).true_count > 0
    except Exception:  # it fails for a row: whatever is left out, fewer do
        return
    (possible,) = may_hold(predicate, SCHEMA, known(batch, blind), 1)
    assert possible or not holds
    if part is None:
        assert possible
    else:
        assert not holds or part.bind(SCHEMA).mask(batch).true_count > 0
        assert may_hold(part, SCHEMA, known(batch, blind), 1).tolist() == [possible]


@given(comparisons(("i",)), st.lists(st.sampled_from(range(9)), min_size=1, max_size=3))
def test_a_comparison_that_holds_for_no_value_between_the_ends_is_left_out(text, places):
    """The constants are multiples of a half."""
    predicate = expr(text)
    if decidable(predicate, SCHEMA) is None or "between" in text:
        return
    low, high = min(places) + 27, max(places) + 27
    every = pa.record_batch({"i": np.arange(low, high + 0.5, 0.5)})
    holds = predicate.bind(every.schema).mask(every).true_count > 0
    sure = ColumnRange(column("i", [low]), column("i", [high]), np.array([False]), np.array([True]))
    assert may_hold(predicate, SCHEMA, {"i": sure}, 1).tolist() == [holds]


GROUPS = {
    "i": ColumnRange(
        column("i", [0, 10, None, None]), column("i", [9, 19, None, None]),
        np.array([False, True, True, True]), np.array([True, True, True, False]),
    ),
    "x": ColumnRange(column("x", [0.0] * 4), column("x", [0.0] * 4), np.zeros(4, bool), np.ones(4, bool)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i > 9", [0, 1, 1, 0]),
        ("i < 10", [1, 0, 1, 0]),
        ("10 > i", [1, 0, 1, 0]),
        ("i = 9", [1, 0, 1, 0]),
        ("i in (9, 30)", [1, 0, 1, 0]),
        ("i between 12 and 30", [0, 1, 1, 0]),
        ("i is null", [0, 1, 1, 1]),
        ("i is not null", [1, 1, 1, 0]),
        ("x != 0", [1, 1, 1, 1]),  # it may be NaN
        ("x = 1 or i > 9", [0, 1, 1, 0]),
        ("x = 0 and i > 9", [0, 1, 1, 0]),
        ("x = 0 and i % 2 = 0 and i > 9", [0, 1, 1, 0]),
        ("x = 1 or i % 2 = 0", [1, 1, 1, 1]),
        ("big > 9", [1, 1, 1, 1]),  # nothing is known of it
        ("not i > 9", [1, 1, 1, 1]),
        ("false", [1, 1, 1, 1]),
        ("i > null", [0, 0, 1, 0]),
    ],
)
def test_several_stretches(text, expected):
    assert may_hold(expr(text), SCHEMA, GROUPS, 4).tolist() == [bool(each) for each in expected]


@pytest.mark.parametrize(
    "text",
    [
        "i % 2 = 0", "i > 3 or s like 'a%'", "i = big", "not i > 3", "i between 1 and 2.5",
        "u > 5.5", "cast(s as int) > 3", "true", "i + 1 > 3",
    ],
)  # fmt: skip
def test_of_others_nothing_is_known(text):
    assert decidable(expr(text), SCHEMA) is None
