"""User functions, by name."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from australis.errors import ExpressionError, RunError
from australis.expressions import Function, expr, function, function_named, register, user

BATCH = pa.RecordBatch.from_pydict({"mph": pa.array([50, None, 100], pa.int32()), "vid": pa.array([1, 2, 3])})


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "_REGISTERED", {})


def values(text: str) -> list[Any]:
    return list(expr(text).bind(BATCH.schema).evaluate(BATCH).to_pylist())


def test_a_function_is_called_by_name_and_stays_itself() -> None:
    @function("double")
    def kph(mph: Any) -> Any:
        return pc.multiply(mph, 1.6)

    assert values("kph(mph)") == [80.0, None, 160.0]
    assert values("KPH(mph) > 100 and vid > 0") == [False, None, True]
    assert kph(pa.array([10.0])).to_pylist() == [16.0]
    assert expr("kph(mph) > 100").functions == ("kph",)
    assert function_named("kph") == Function("kph", pa.float64(), kph)


def test_numpy_results_are_null_where_an_argument_is() -> None:
    @function("bigint", name="twice")
    def anything(mph: Any, vid: Any) -> Any:
        return np.add(mph, vid)

    assert values("twice(mph, vid)") == [51, None, 103]


def test_constants_reach_it_as_arrays() -> None:
    @function("int")
    def plus(one: Any, two: Any) -> Any:
        assert len(one) == len(two)
        return pc.add(one, two)

    assert values("plus(mph, 1)") == [51, None, 101]
    assert values("plus(1, 2)") == [3, 3, 3]


def test_a_function_that_is_written_again_replaces_the_first() -> None:
    register(Function("f", pa.int64(), lambda vid: vid))
    assert values("f(vid)") == [1, 2, 3]
    register(Function("f", pa.string(), lambda vid: vid))
    assert values("f(vid)") == ["1", "2", "3"]


def _fail(vid: Any) -> Any:
    raise ValueError("out of order")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (_fail, "out of order"),
        (lambda vid: vid[:1], "it returned 1 values for 3 rows"),
        (lambda vid: np.zeros(2), "it returned 2 values for 3 rows"),
        (lambda vid: [1, 2, 3], "it returned list"),
        (lambda vid: pa.array(["a", "b", "c"]), "Failed to parse string"),
        (lambda: None, "takes 0 positional arguments"),
    ],
)
def test_a_failure_names_the_function_and_the_expression(call: Any, message: str) -> None:
    register(Function("broken", pa.int64(), call))
    with pytest.raises(RunError, match=rf"`broken\(vid\) > 1`: the function `broken` failed: .*{message}") as error:
        values("broken(vid) > 1")
    assert error.value.__cause__ is not None


def test_a_failure_on_constants_shows_when_it_is_bound() -> None:
    register(Function("broken", pa.int64(), _fail))
    with pytest.raises(ExpressionError, match="out of order"):
        expr("broken(1) > vid").bind(BATCH.schema)


@pytest.mark.parametrize("name", ["abs", "avg", "first_value", "now", "cast", "if", "extract", "select", "between"])
def test_names_of_sql_are_refused(name: str) -> None:
    with pytest.raises(ExpressionError, match=f"`{name}` is SQL's own; give the function another name"):
        register(Function(name, pa.int64(), len))


def test_odd_names_are_refused() -> None:
    with pytest.raises(ExpressionError, match="cannot name a function"):
        function("int", name="my function")(len)


def test_an_unknown_function_is_named_with_those_there_are() -> None:
    register(Function("kph", pa.int64(), lambda vid: vid))
    with pytest.raises(ExpressionError, match=r"no function `kpg`; did you mean `kph`[?] The functions are kph, abs"):
        values("kpg(mph)")
    with pytest.raises(ExpressionError, match="there is no function `nothing`"):
        function_named("nothing")


def test_a_function_needs_an_argument() -> None:
    register(Function("one", pa.int64(), lambda: pa.array([1])))
    with pytest.raises(ExpressionError, match="`one` needs an argument"):
        values("one()")
