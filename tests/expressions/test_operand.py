"""Operands, and the types that they have in common."""

import pyarrow as pa
import pytest

from australis.arrow.compute import nulls, scalar
from australis.arrow.schema import data_type
from australis.expressions.operand import MisfitError, Operand, common, computed, constant, finest, int_range, widest

MIXED = [
    ("tinyint", "bigint", "bigint"),
    ("tinyint", "uint8", "smallint"),
    ("uint32", "int", "bigint"),
    ("uint64", "tinyint", "decimal(20, 0)"),
    ("int", "float", "double"),
    ("float16", "float", "double"),
    ("decimal(5, 2)", "int", "decimal(12, 2)"),
    ("decimal(38, 0)", "decimal(38, 10)", None),
    ("string", "large_string", "large_string"),
    ("date", "timestamp", "timestamp"),
    ("date", "date64", "date"),
    ("date", "timestamptz", "none"),
    ("timestamp", "timestamptz", "none"),
    ("time32[s]", "time", "time"),
    ("duration[s]", "interval", "interval"),
    ("null", "boolean", "boolean"),
    ("int", "string", "none"),
    ("boolean", "int", "none"),
]


@pytest.mark.parametrize(("one", "two", "both"), MIXED)
def test_the_smallest_type_that_holds_both(one: str, two: str, both: str | None) -> None:
    wanted = {None: pa.decimal256(48, 10), "none": None}.get(both, None if both == "none" else data_type(both or "int"))
    assert widest(data_type(one), data_type(two)) == wanted
    assert widest(data_type(two), data_type(one)) == wanted


def column(type_: pa.DataType) -> Operand:
    return Operand(type_, lambda batch: nulls(0, type_), "c")


@pytest.mark.parametrize(
    ("type_", "value", "plain", "lossless"),
    [
        (pa.int8(), 127, pa.int8(), pa.int8()),
        (pa.int8(), 128, pa.int64(), pa.int64()),
        (pa.uint8(), -1, pa.int64(), pa.int64()),
        (pa.int32(), 2.0, pa.float64(), pa.int32()),
        (pa.int32(), 2.5, pa.float64(), pa.float64()),
        (pa.int32(), float("nan"), pa.float64(), pa.float64()),
        (pa.float32(), 0.5, pa.float64(), pa.float32()),
        (pa.float32(), 0.1, pa.float64(), pa.float64()),
        (pa.float32(), 2**24 + 1, pa.float64(), pa.float64()),
        (pa.date32(), "2026-01-01", pa.date32(), pa.date32()),
        (pa.int32(), None, pa.int32(), pa.int32()),
    ],
)
def test_a_literal_takes_the_type_of_a_column_that_holds_it(
    type_: pa.DataType, value: object, plain: pa.DataType, lossless: pa.DataType
) -> None:
    args = [column(type_), constant(scalar(value), "v")]
    assert common(args) == common(args[::-1]) == plain
    assert common(args, lossless=True) == lossless


def test_what_has_no_common_type_is_told() -> None:
    with pytest.raises(MisfitError, match="`c` is int and `v` is string; cast one to the type of the other"):
        common([column(pa.int32()), constant(scalar("x"), "v")])
    assert common([]) == pa.null()


def test_types_to_compute_in() -> None:
    assert computed(pa.float16()) == pa.float32()
    assert computed(pa.decimal32(5, 2)) == pa.decimal128(5, 2)
    assert computed(pa.string()) == pa.string()
    assert finest(pa.duration("s"), pa.timestamp("ns")) == "ns"
    assert [int_range(type_) for type_ in (pa.int64(), pa.uint64(), pa.int8())] == [
        (-(2**63), 2**63 - 1), (0, 2**64 - 1), (-128, 127),
    ]  # fmt: skip
