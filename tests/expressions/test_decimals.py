"""Arithmetic of decimals beside Python's, with the types of Spark's rule."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import data_type
from australis.errors import RunError
from australis.expressions import expr

SHAPES = st.integers(1, 38).flatmap(lambda precision: st.tuples(st.just(precision), st.integers(0, precision)))
PAIRS = st.tuples(SHAPES, SHAPES).flatmap(
    lambda shapes: st.tuples(
        st.just(shapes), *(st.one_of(st.just(0), st.integers(-(10**p) + 1, 10**p - 1)) for p, _ in shapes)
    )
)
KERNELS = {"+": Decimal.__add__, "-": Decimal.__sub__, "*": Decimal.__mul__}
ALL = int("9" * 38)


def spark(operator: str, one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    """DecimalPrecision and adjustPrecisionScale of Spark, as their authors state them."""
    if operator == "*":
        precision, scale = one[0] + two[0] + 1, one[1] + two[1]
    else:
        scale = max(one[1], two[1])
        precision = scale + max(one[0] - one[1], two[0] - two[1]) + 1
    if precision <= 38:
        return precision, scale
    return 38, max(38 - (precision - scale), min(scale, 6))


def agree(pair: Any, operator: str, columns: bool) -> None:
    (one, two), left, right = pair
    with localcontext(prec=100):
        a, b = Decimal(left).scaleb(-one[1]), Decimal(right).scaleb(-two[1])
        precision, scale = spark(operator, one, two)
        wanted = KERNELS[operator](a, b).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        fits = abs(wanted) < Decimal(10) ** (precision - scale)
    arrays = [pa.array([x, None], pa.decimal128(*shape)) for x, shape in ((a, one), (b, two))]
    batch = pa.RecordBatch.from_arrays(arrays, names=["a", "b"])
    text = f"a {operator} b" if columns else f"a {operator} cast('{b:f}' as decimal({two[0]}, {two[1]}))"
    bound = expr(text).bind(batch.schema)
    assert bound.type == pa.decimal128(precision, scale)
    if fits:
        made = bound.evaluate(batch)
        made.validate(full=True)
        assert made.to_pylist() == [wanted, None]
    else:
        with pytest.raises(RunError, match=r"overflow; the result has more than .* cast to double or to fewer digits"):
            bound.evaluate(batch)


@pytest.mark.parametrize("operator", KERNELS)
def test_it_agrees_with_python(operator: str) -> None:
    @given(PAIRS, st.booleans())
    @example((((38, 0), (38, 38)), ALL, ALL), True)
    @example((((38, 38), (38, 38)), ALL, -ALL), True)
    @example((((38, 0), (38, 0)), ALL, -ALL), True)
    @example((((38, 2), (38, 2)), 150, 150), False)
    def agrees(pair: Any, columns: bool) -> None:
        agree(pair, operator, columns)

    agrees()


@given(SHAPES, st.data())
def test_rounding_agrees_with_python(shape: tuple[int, int], data: st.DataObject) -> None:
    precision, scale = shape
    digits = data.draw(st.integers(0, scale))
    whole = st.integers(-(10**precision) + 1, 10**precision - 1) | st.sampled_from([10**precision - 1, 0])
    with localcontext(prec=100):
        value = Decimal(data.draw(whole)).scaleb(-scale)
        wanted = value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    batch = pa.RecordBatch.from_arrays([pa.array([value], pa.decimal128(*shape))], names=["m"])
    bound = expr(f"round(m, {digits})").bind(batch.schema)
    assert bound.type == pa.decimal128(min(precision - scale + 1 + digits, 38), digits)
    if len(wanted.as_tuple().digits) <= 38:
        assert bound.evaluate(batch).to_pylist() == [wanted]
    else:
        with pytest.raises(RunError, match="does not fit in precision 38"):
            bound.evaluate(batch)


@pytest.mark.parametrize(
    ("type_", "text", "made", "value"),
    [
        ("decimal(3, 2)", "round(m)", "decimal(2, 0)", Decimal(10)),
        ("decimal(3, 2)", "round(m, 1)", "decimal(3, 1)", Decimal("10.0")),
        ("decimal(3, 2)", "ceil(m)", "decimal(2, 0)", Decimal(10)),
        ("decimal(3, 2)", "floor(m)", "decimal(2, 0)", Decimal(9)),
        ("decimal(3, 2)", "trunc(-m)", "decimal(2, 0)", Decimal(-9)),
        ("decimal(3, 2)", "round(m, -1)", "decimal(2, 0)", Decimal(10)),
        ("decimal(3, 2)", "sign(-m)", "bigint", -1),
        ("decimal(38, 2)", "abs(-m)", "decimal(38, 2)", Decimal("9.99")),
        ("decimal(38, 2)", "m + 1", "decimal(38, 2)", Decimal("10.99")),
        ("decimal32(3, 2)", "m + m", "decimal(4, 2)", Decimal("19.98")),
        ("decimal(38, 2)", "m > 9.5 and m in (9.99, 1)", "boolean", True),
        ("decimal(38, 2)", "coalesce(m, 1)", "decimal(38, 2)", Decimal("9.99")),
        ("decimal(38, 2)", "m // 2", "double", 4.0),
    ],
)
def test_functions_of_decimals(type_: str, text: str, made: str, value: Any) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([Decimal("9.99")], data_type(type_))], names=["m"])
    bound = expr(text).bind(batch.schema)
    assert bound.type == data_type(made)
    assert bound.evaluate(batch).to_pylist() == [value]
