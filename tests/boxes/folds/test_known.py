"""Which fold an aggregate function is."""

from typing import Any

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.boxes.folds.arithmetic import Count, Extreme, Sum, Variance
from australis.boxes.folds.choice import End, ExtremeOf
from australis.boxes.folds.decimals import DecimalSum, DecimalVariance
from australis.boxes.folds.distinct import CountDistinct
from australis.boxes.folds.known import fold
from australis.boxes.folds.whole import WholeSum, WholeVariance
from australis.errors import ExpressionError
from australis.expressions.aggregate import aggregation
from australis.model.order import Order


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("sum(s)", "sum takes a number, not string"),
        ("avg(s)", "avg takes a number, not string"),
        ("sum(distinct x)", "distinct is for count alone"),
        ("sum(y)", r"`y`.*at, x, s"),
        ("max(l)", r"`l`"),
    ],
)
def test_what_does_not_fit_is_refused(function: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        Aggregate((("made", aggregation(function)),), Order("at"), 1, 1).outputs(schema("at int, x int, s string"))


@pytest.mark.parametrize(
    ("function", "type_", "kind"),
    [
        ("sum(x)", pa.int8(), WholeSum),
        ("sum(x)", pa.bool_(), WholeSum),
        ("sum(x)", pa.duration("us"), WholeSum),
        ("avg(x)", pa.float32(), Sum),
        ("sum(x)", pa.decimal128(38, 2), DecimalSum),
        ("stddev(x)", pa.decimal128(6, 2), DecimalVariance),
        ("variance(x)", pa.uint64(), WholeVariance),
        ("var_pop(x)", pa.float64(), Variance),
        ("min(x)", pa.timestamp("us"), Extreme),
        ("max(x)", pa.string(), ExtremeOf),
        ("max(x)", pa.decimal128(38, 2), ExtremeOf),
        ("first(x)", pa.list_(pa.int64()), End),
        ("count(x)", pa.list_(pa.int64()), Count),
        ("count(distinct x)", pa.string(), CountDistinct),
    ],
)
def test_a_function_has_the_fold_of_its_type(function: str, type_: Any, kind: type) -> None:
    (call,) = aggregation(function).calls
    assert type(fold(call, (type_,), pa.int64())) is kind


@pytest.mark.parametrize(
    ("function", "type_", "message"),
    [
        ("sum(x)", pa.decimal256(50, 2), "up to 38 digits"),
        ("min(x)", pa.bool_(), "no order"),
        ("avg(x)", pa.timestamp("us"), "takes a number"),
    ],
)
def test_a_type_without_a_fold_is_refused(function: str, type_: Any, message: str) -> None:
    (call,) = aggregation(function).calls
    with pytest.raises(ExpressionError, match=message):
        fold(call, (type_,), pa.int64())
