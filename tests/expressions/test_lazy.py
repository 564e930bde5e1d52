"""Lazy evaluation: a part of an expression fails only for rows that need it."""

from typing import Any

import pyarrow as pa
import pytest

from australis.arrow.compute import Array
from australis.errors import RunError
from australis.expressions import lazy
from tests.expressions.test_expression import ROW, evaluate


def test_a_branch_that_is_not_taken_does_not_fail() -> None:
    rows = [ROW, {**ROW, "s": "no"}, {**ROW, "s": None}]
    assert evaluate("case when s rlike '^[0-9]+$' then cast(s as int) else -1 end", rows) == [12, -1, -1]
    assert evaluate("case when s = 'no' then 0 when p then cast(s as int) end", rows) == [12, 0, None]
    with pytest.raises(RunError, match="Failed to parse string: 'no'"):
        evaluate("case when p then cast(s as int) else -1 end", rows)


def test_what_decides_a_result_lets_what_comes_after_it_fail() -> None:
    rows = [ROW, {**ROW, "s": "no", "i": 0}, {**ROW, "s": None, "i": None}]
    assert evaluate("i = 0 or cast(s as int) > 5", rows) == [True, True, None]
    assert evaluate("i = 1 and cast(s as int) > 5 and p", rows) == [True, False, None]
    assert evaluate("coalesce(nullif(i, 1), cast(s as int), j * 2 - j * 2)", rows[:2]) == [12, 0]
    assert evaluate("if(i = 1, cast(s as int), coalesce(i, j * 4))", rows[:2]) == [12, 0]
    for text in ("cast(s as int) > 5 or i = 0", "i = 0 and cast(s as int) > 5", "nullif(i, cast(s as int))"):
        with pytest.raises(RunError, match="Failed to parse string: 'no'"):
            evaluate(text, rows)
    with pytest.raises(RunError, match="overflow"):
        evaluate("coalesce(i, j * 4)", rows)


BATCH = pa.record_batch({"a": pa.array([1, 2, None, 4])})


def values(*of: int | bool | None) -> lazy.Run:
    """A part with these values for the values 1, 2, null and 4 of a column."""
    known = dict(zip([1, 2, None, 4], of, strict=True))
    return lambda batch: pa.array([known[value] for value in batch["a"].to_pylist()], type_of(of))


def type_of(found: tuple[int | bool | None, ...]) -> pa.DataType:
    return pa.bool_() if any(isinstance(value, bool) for value in found) else pa.int64()


def only(*allowed: int | None) -> lazy.Run:
    """A part that fails on rows other than these, and copies the column."""

    def run(batch: pa.RecordBatch) -> Array:
        found = batch["a"].to_pylist()
        if not found or not set(found) <= set(allowed):
            raise RunError(f"asked for {found}")
        return batch["a"]

    return run


def test_the_first_value_that_is_not_null() -> None:
    run = lazy.first([values(None, 7, None, None), values(8, 8, None, None), only(None, 4)], pa.int64())
    assert run(BATCH).to_pylist() == [8, 7, None, 4]
    assert lazy.first([values(1, 2, 3, 4), only()], pa.int64())(BATCH).to_pylist() == [1, 2, 3, 4]
    assert lazy.first([only(), only()], pa.int64())(BATCH.slice(0, 0)).to_pylist() == []


def test_the_result_of_the_first_test_that_holds() -> None:
    tests = [values(True, None, False, False), values(True, True, False, None)]
    run = lazy.choice(tests, [only(1), only(2), only(None, 4)], pa.int64())
    assert run(BATCH).to_pylist() == [1, 2, None, 4]


@pytest.mark.parametrize(("combine", "decides"), [(lazy.every, False), (lazy.some, True)])
def test_rows_that_are_decided_are_not_asked_again(combine: Any, decides: bool) -> None:
    def second(batch: pa.RecordBatch) -> Array:
        assert batch["a"].to_pylist() == [2, None, 4]
        return pa.array([decides, not decides, None])

    run = combine([values(decides, not decides, None, None), second], pa.bool_())
    assert run(BATCH).to_pylist() == [decides, decides, None, None]


def test_the_careful_way_is_taken_when_the_fast_one_fails() -> None:
    assert lazy.careful(only(), values(1, 2, 3, 4))(BATCH).to_pylist() == [1, 2, 3, 4]
    assert lazy.careful(values(5, 6, 7, 8), only())(BATCH).to_pylist() == [5, 6, 7, 8]
