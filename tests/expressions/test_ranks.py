"""The greatest and the least of several values."""

import math
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from australis.expressions.ranks import beats, greatest, least

NAN, INF = math.nan, math.inf
VALUES = [None, NAN, -INF, -1.5, -0.0, 0.0, 5e-324, INF]


def oracle(values: tuple[Any, ...], up: bool) -> Any:
    """One value after the other: NaN is above all numbers, and of equal ones the first stays."""
    best = None
    for value in values:
        rank = (math.isnan(value), value) if value is not None else None
        if rank is not None and (best is None or (rank > best[0] if up else rank < best[0])):
            best = (((True, 0.0) if math.isnan(value) else rank), value)
    return None if best is None else best[1]


@pytest.mark.parametrize("type_", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("up", [True, False])
def test_floats_of_every_kind(up: bool, type_: pa.DataType) -> None:
    values = VALUES if type_ == pa.float64() else [value for value in VALUES if value != 5e-324]
    triples = list(product(values, repeat=3))
    columns = [pa.array(column, type_) for column in zip(*triples, strict=True)]
    found = (greatest if up else least)(*columns).to_pylist()
    assert [repr(value) for value in found] == [repr(oracle(triple, up)) for triple in triples]


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("constant", VALUES)
def test_constants_are_columns_of_one_value(up: bool, constant: float | None) -> None:
    for values in (VALUES, VALUES[1:], []):
        column, value = pa.array(values, pa.float64()), pa.scalar(constant, pa.float64())
        for args, row in (((column, value), lambda v: (v, constant)), ((value, column), lambda v: (constant, v))):
            found = (greatest if up else least)(*args).to_pylist()
            assert [repr(one) for one in found] == [repr(oracle(row(v), up)) for v in values]


def test_whole_numbers_and_texts() -> None:
    one, two = pa.array([-(2**63), None, 2**63 - 1]), pa.array([0, None, None])
    assert greatest(one, two).to_pylist() == [0, None, 2**63 - 1]
    assert least(one, two).to_pylist() == [-(2**63), None, 2**63 - 1]
    assert greatest(pa.array(["", None, "b"]), pa.array(["a", "z", "B"])).to_pylist() == ["a", "z", "b"]


@pytest.mark.parametrize("up", [True, False])
def test_the_code_says_the_same(up: bool) -> None:
    for one, two in product(VALUES[1:], repeat=2):
        taken = two if eval(beats("two", "one", up), {"one": one, "two": two}) else one
        assert repr(taken) == repr(oracle((one, two), up))
