"""Functions bound to a stream: one fold for each call, and results made of them."""

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.boxes.aggregate.results import Folded, folded
from australis.boxes.folds.fold import ALL, Contributions
from australis.errors import ExpressionError, RunError, SchemaError
from australis.expressions.aggregate import aggregation
from australis.model.table import Table

STREAM = schema("at int, x bigint, s string")
MOST = 2**63 - 1


def bound(*functions: str) -> Folded:
    named = tuple((f"f{at}", aggregation(text)) for at, text in enumerate(functions))
    return folded(named, STREAM, pa.int64(), ("at",))


def results(functions: Folded, slots: list[int], x: list[int | None]) -> list[list[object]]:
    """The results of two windows after rows went to these slots."""
    windows, tables = Table(pa.schema(functions.fields)), functions.tables()
    windows.insert(2)
    into = functions.accumulators(windows, tables)
    tuples = pa.record_batch([pa.array([0] * len(x), pa.int32()), pa.array(x, pa.int64()), pa.array(["a"] * len(x))],
                             schema=STREAM)  # fmt: skip
    functions.add(into, Contributions(np.array(slots), ALL, np.arange(len(x))), tuples)
    finished = functions.finish([each.at(np.arange(2)) for each in into])
    return [column.to_pylist() for column in finished]


def test_a_call_that_is_made_twice_has_one_fold() -> None:
    functions = bound("sum(x) + count(*)", "sum(x)", "max(x) - sum(x)")
    assert len(functions.folds) == 3
    assert functions.columns == {"x"}
    assert results(functions, [0, 0, 1, -1], [1, None, 4, 9]) == [[3, 5], [1, 4], [0, 0]]


def test_sets_of_values_have_a_table_beside_and_do_not_merge() -> None:
    assert bound("sum(x)").merges
    distinct = bound("sum(x)", "count(distinct s)")
    assert not distinct.merges
    assert list(distinct.tables()) == ["seen1"]
    assert results(distinct, [0, 0, 0], [None, MOST, 0]) == [[MOST, None], [1, 0]]


def test_what_overflows_is_named() -> None:
    with pytest.raises(RunError, match=r"`sum\(x\)`: overflow.*cast to double"):
        results(bound("count(*)", "sum(x) - 1"), [0, 0], [MOST, 1])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SchemaError, match="no function is given"):
        bound()
    with pytest.raises(SchemaError, match="`at` is a column of the output already"):
        folded((("at", aggregation("count(*)")),), STREAM, pa.int64(), ("at",))
    with pytest.raises(ExpressionError, match=r"`y`.*at, x, s"):
        bound("sum(y)")
