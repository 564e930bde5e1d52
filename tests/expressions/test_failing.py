"""What is said not to fail does not, on every pair of extremes of all types, and what often fails is found."""

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.errors import RunError
from australis.expressions import expr
from australis.expressions.failing import may_fail
from tests.expressions.extremes import TYPES, expressions, over

PAIRS = [(one, one) for one in TYPES]
PAIRS += [("int", "bigint"), ("uint64", "bigint"), ("double", "bigint"), ("float", "tinyint"), ("date", "timestamp")]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_what_is_sure_not_to_fail_gives_a_value_for_every_extreme(one, two):
    batch = over(one, two)
    for bound in expressions(("a", "b"), batch):
        if not may_fail(bound.expr, batch.schema):
            bound.evaluate(batch)


STREAM = schema("t tinyint, i int, b bigint, u uint64, x double, s string, d date, n timestamp[ns], m decimal(9, 2)")
SURE = (
    "i + 1 > 2", "i * i + i < b", "-t > 3", "i // t = 1", "x / i > 0.5", "b / i > 1", "x * b > 1", "s like 'a%'",
    "upper(s) = 'A' or s is null", "case when i > 0 then i else b end > 2", "coalesce(i, b, 0) in (1, 2, 3)",
    "try_cast(s as int) > 1", "d > '2026-01-01'", "m is null", "abs(i + 1) > 0",
)  # fmt: skip
UNSURE = (
    "b + 1 > 2", "b * 2 > 1", "-b > 1", "abs(b) > 1", "abs(t) > 1", "b // t > 1", "i * i * i > 1", "cast(s as int) > 1",
    "cast(b as int) > 1", "u + 1 > 1", "d > n", "m + 1 > 2", "round(x, 2) > 1", "case when i > 0 then b + 1 end > 2",
    "s = 'a' and b + 1 > 0",
)  # fmt: skip


@pytest.mark.parametrize("text", SURE)
def test_sure(text):
    assert not may_fail(expr(text), STREAM)


@pytest.mark.parametrize("text", UNSURE)
def test_unsure(text):
    assert may_fail(expr(text), STREAM)


def test_a_sum_that_is_not_sure_does_fail():
    batch = pa.record_batch({"b": pa.array([2**63 - 1])})
    with pytest.raises(RunError, match="overflow"):
        expr("b + 1 > 2").bind(batch.schema).mask(batch)
