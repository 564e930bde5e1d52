"""Intake: tuples in any form, checked against the schema of an input."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.connectors.intake import batch, fits
from australis.errors import RunError

SCHEMA = schema("a bigint, s string")
LEAST, MOST = -(2**63), 2**63 - 1
COLUMNS = {"a": [LEAST, None, MOST], "s": ["", None, "größer"]}


class Stream:
    """Something that speaks Arrow."""

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        return pa.table(COLUMNS).__arrow_c_stream__(requested)


@pytest.mark.parametrize(
    "given",
    [
        COLUMNS,
        {"other": [[], 1, object()], **COLUMNS},
        {"s": COLUMNS["s"], "a": pa.chunked_array([[LEAST], [], [None, MOST]], pa.int64())},
        [{"a": LEAST, "s": ""}, {"b": 7}, {"s": "größer", "a": MOST}],
        ({"a": LEAST, "s": ""}, {"a": None, "s": None}, {"s": "größer", "a": MOST}),
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        pa.table({"a": pa.array(COLUMNS["a"]).dictionary_encode(), "s": pa.array(COLUMNS["s"], pa.large_string())}),
        Stream(),
    ],
)
def test_every_form_gives_the_same(given: Any) -> None:
    made = batch("reports", SCHEMA, given)
    assert made.schema == SCHEMA
    assert made.to_pydict() == COLUMNS


def test_no_tuples() -> None:
    for given in ([], (), {"a": [], "s": []}, SCHEMA.empty_table()):
        assert batch("reports", SCHEMA, given).num_rows == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": [1]}, "input reports: no column s; given are a"),
        ({"a": [1], "S": ["x"]}, "no column s; given are a, S; did you mean `S`"),
        ({"a": [1, 2], "s": ["x"]}, "the columns are of different lengths: a 2, s 1"),
        ({"a": [MOST + 1], "s": ["x"]}, "column a is int64"),
        ({"a": [1.5], "s": ["x"]}, "column a is int64, given double"),
        ({"a": ["1"], "s": ["x"]}, "column a is int64, given string: there is no conversion without a loss"),
        ({"a": [True], "s": ["x"]}, "column a is int64, given bool"),
        ({"a": [1], "s": [b"x"]}, "column s is string, given binary"),
        ([1, 2], "a list of tuples is a list of mappings"),
        (7, "cannot read tuples from int; give a record batch"),
    ],
)
def test_what_does_not_fit_is_told(given: Any, message: str) -> None:
    with pytest.raises(RunError, match=message):
        batch("reports", SCHEMA, given)


def test_a_column_that_is_there_twice() -> None:
    twice = pa.table([pa.array([1]), pa.array([2]), pa.array(["x"])], names=["a", "a", "s"])
    with pytest.raises(RunError, match="there are 2 columns a; give each once"):
        batch("reports", SCHEMA, twice)


def test_whole_doubles_and_decimals_are_numbers() -> None:
    found = batch("reports", schema("a bigint"), {"a": pa.array([2.0, None])})
    assert found.to_pydict() == {"a": [2, None]}
    assert batch("reports", schema("a bigint"), {"a": [Decimal("3")]}).to_pydict() == {"a": [3]}


@pytest.mark.parametrize(
    ("given", "wanted", "whether"),
    [
        (pa.null(), pa.string(), True),
        (pa.int8(), pa.decimal128(5, 2), True),
        (pa.dictionary(pa.int32(), pa.string()), pa.large_string(), True),
        (pa.date32(), pa.timestamp("us"), True),
        (pa.bool_(), pa.int8(), False),
        (pa.string(), pa.binary(), False),
        (pa.int64(), pa.timestamp("us"), False),
    ],
)
def test_casts_that_keep_the_meaning(given: pa.DataType, wanted: pa.DataType, whether: bool) -> None:
    assert fits(given, wanted) == whether
