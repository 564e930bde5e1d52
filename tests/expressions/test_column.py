"""Expressions built with Python's operators."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.errors import ExpressionError
from australis.expressions import Term, call, col, expr, lit

mph, lane = col("mph"), col("lane")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (mph > 60, "mph > 60"),
        ((mph < 40) & (lane != 4), "mph < 40 and lane != 4"),
        ((mph <= 40) | ~(lane == 4), "mph <= 40 or not lane = 4"),
        ((mph >= 1) & True, "mph >= 1 and true"),
        ((mph + 1) * 2 - lane / 3, "(mph + 1) * 2 - lane / 3"),
        (1 + mph // 2 % 3, "1 + mph // 2 % 3"),
        (100 - mph, "100 - mph"),
        (2 * mph, "2 * mph"),
        (1 / mph, "1 / mph"),
        (7 // mph, "7 // mph"),
        (7 % mph, "7 % mph"),
        (-mph, "-mph"),
        (mph**2, "power(mph, 2)"),
        (mph.isin(1, 2), "mph in (1, 2)"),
        (~mph.between(1, 2), "mph not between 1 and 2"),
        (mph.is_null() | False, "mph is null or false"),
        (mph.cast("double"), "cast(mph as double)"),
        (mph.cast(pa.timestamp("ms")), "cast(mph as timestamp[ms])"),
        (col("name").like("a%"), "name like 'a%'"),
        (col("name").ilike("a%"), "name ilike 'a%'"),
        (col("name").rlike("a+"), "name rlike 'a+'"),
        (call("round", mph * 1.6, 1), "round(mph * 1.6, 1)"),
        (call("Coalesce", mph, lit(None)), "coalesce(mph, null)"),
        (call("avg", mph), "avg(mph)"),
        (col("odd name") == "it's", "\"odd name\" = 'it''s'"),
        (col("left.pos") - col("right.pos"), "left.pos - right.pos"),
        (mph + expr("lane * 2"), "mph + lane * 2"),
    ],
)
def test_operators_make_the_text(term: Term, text: str) -> None:
    assert str(term) == text
    assert expr(term) == expr(text)


def test_a_term_has_no_truth_and_is_no_key() -> None:
    with pytest.raises(ExpressionError, match="combine with &"):
        bool(mph > 60)
    with pytest.raises(TypeError):
        hash(mph)


LONGEST = dt.timedelta(microseconds=2**63 - 1)
CONSTANTS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.dates(),
    st.datetimes(min_value=dt.datetime(1, 1, 1)),
    st.times(),
    st.timedeltas(-LONGEST, LONGEST),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9),
)


@given(CONSTANTS)
@example(-0.0)
@example(float("inf"))
@example(Decimal("1E+5"))
@example(dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
def test_constants_keep_their_value(value: Any) -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1]})
    made = expr(lit(value))
    assert expr(str(made)) == made
    (result,) = made.bind(batch.schema).evaluate(batch).to_pylist()
    assert result == value
    assert str(result) == str(value) or not isinstance(value, float)


def test_what_python_has_as_constants() -> None:
    assert str(expr(40)) == "40"
    assert str(expr(None)) == "null"
    assert str(expr(np.float32(0.5))) == "0.5"
    assert str(expr(pa.scalar("a"))) == "'a'"
    assert str(expr(float("nan"))) == "cast('nan' as double)"
    assert str(lit("mph")) == "'mph'"
    assert str(expr("mph")) == "mph"


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, b"x", 2**64])
def test_what_is_no_constant_is_refused(value: object) -> None:
    with pytest.raises(ExpressionError, match=r"constant|64 bits"):
        expr(value)


def test_an_interval_fits_in_64_bits() -> None:
    with pytest.raises(ExpressionError, match="too large to fit in 64-bit"):
        expr(2 * LONGEST).bind(pa.schema({"a": pa.int32()}))


def test_isin_needs_values() -> None:
    with pytest.raises(ExpressionError, match="needs values"):
        mph.isin()


def test_what_people_of_data_frames_write() -> None:
    assert str(col("a").is_not_null()) == "a is not null"
    assert str(col("a").isin([1, 2])) == str(col("a").isin(1, 2)) == "a in (1, 2)"
    assert str(2 ** col("a")) == "power(2, a)"
    with pytest.raises(ExpressionError, match="needs values"):
        col("a").isin([])
