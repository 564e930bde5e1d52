"""Where windows begin and end, on values up to the extremes of their type."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.boxes.edges import begins, grid
from australis.errors import SchemaError
from australis.expressions import expr
from australis.expressions.aggregate import aggregation
from australis.model.box import Moment
from australis.model.order import Order
from australis.testing import Cut, cuts, train
from tests.oracles.edges import LEAST, MOST, beginnings
from tests.oracles.running import run
from tests.oracles.tuples import out

# The first shares panes, the second keeps windows one by one.
FUNCTIONS = (("count(*)",), ("count(*)", "count(distinct x)"))
INF, NAN = float("inf"), float("nan")


def counted(type_: Any, values: list[Any], size: Any, advance: Any, functions: tuple[str, ...], cut: Cut) -> Any:
    """How many tuples each window has, and what was late. Beginnings are rounded: windows may share one."""
    named = tuple((f"f{i}", aggregation(text)) for i, text in enumerate(functions))
    box = Aggregate(named, Order("a", slack=len(values)), size, advance)
    stream = train(schema({"a": type_, "x": "int"}), a=values, x=[0] * len(values))
    results, late = run(box, [stream], cut)
    counts = Counter[Any]()
    for row, _, _ in results:
        counts[row[0]] += row[1]
    return counts, [number for _, _, number in late]


def agrees(type_: Any, values: list[Any], size: Any, advance: Any, cut: Cut) -> None:
    held = [beginnings(value, size, advance) for value in values]
    counts = Counter(out([begin], 0, 0)[0][0] for begins_ in held if begins_ is not None for begin in begins_)
    late = [number for number, begins_ in enumerate(held, 1) if begins_ is None]
    for functions in FUNCTIONS:
        assert counted(type_, values, size, advance, functions, cut) == (counts, late), functions


NEAR = st.sampled_from([LEAST, -(2**62), 0, 2**62, MOST])
WHOLE = st.tuples(NEAR, st.integers(-30, 30)).map(lambda pair: min(MOST, max(LEAST, sum(pair)))) | st.none()


@given(st.lists(WHOLE, min_size=1, max_size=8), st.integers(1, 40), st.integers(1, 40), cuts(2))
@example([LEAST, LEAST + 7, LEAST + 8, MOST - 7, MOST], 10, 5, Cut(()))
@example([LEAST, LEAST + 1, MOST], 1, 1, Cut((1,)))
@example([MOST, MOST - 1], 7, 9, Cut(()))
def test_whole_numbers_have_their_windows_up_to_the_ends_of_64_bits(
    values: list[int | None], size: int, advance: int, cut: Cut
) -> None:
    agrees("bigint", values, size, advance, cut)


LONG = st.sampled_from([2**61, 2**62 - 1, 2**62, 2**63 - 2, 2**63 - 1])


@given(st.lists(WHOLE, min_size=1, max_size=6), LONG, LONG, cuts(2))
def test_so_they_have_with_windows_as_long_as_that(values: list[int | None], size: int, advance: int, cut: Cut) -> None:
    agrees("bigint", values, size, advance, cut)


SPANS = st.sampled_from([0.1, 0.15, 0.2, 0.25, 0.3, 0.45, 0.7, 1.0, 1.1, 2.5, 10, 60.0])
DECIMALS = st.integers(-4000, 4000).map(lambda n: n / 20) | st.integers(-(10**8), 10**8).map(lambda n: n / 100)
PLACELESS = st.sampled_from([1e300, -1e300, INF, -INF, NAN, None, 5e-324, -0.0, 1e17])


@given(st.lists(DECIMALS | PLACELESS, min_size=1, max_size=8), SPANS, SPANS, cuts(2))
@example([13.5], 0.3, 0.15, Cut(()))
@example([0.3, 0.6, 0.7, 0.1 * 3, 2.4 - 0.3], 0.3, 0.1, Cut(()))
def test_doubles_have_the_windows_of_the_decimals_that_people_write(
    values: list[float | None], size: float, advance: float, cut: Cut
) -> None:
    agrees("double", values, size, advance, cut)


@given(st.floats(-1e12, 1e12), SPANS, st.integers(1, 12))
def test_a_double_lies_in_as_many_windows_as_their_size_has_advances(value: float, advance: float, times: int) -> None:
    size = float(f"{times * advance:.6f}")
    for functions in FUNCTIONS:
        windows, late = counted("double", [value], size, advance, functions, Cut(()))
        assert len(windows) == times
        assert not late


@given(
    st.lists(st.floats(allow_nan=False, width=32), min_size=1, max_size=5), st.floats(1e-30, 1e30), st.floats(0.1, 9)
)
@example([100.0], 1 / 3, 3.0000000000000004)
@example([0.0], 5e-324, 1.0)
@example([0.0, -1.1754943508222875e-38], 1e-30, 2.0)
def test_any_spans_on_doubles_give_one_answer_whatever_the_functions(
    values: list[float], advance: float, times: float
) -> None:
    size = advance * times
    one, other = (counted("double", values, size, advance, functions, Cut(())) for functions in FUNCTIONS)
    assert one == other
    late = set(one[1])
    assert (sum(one[0].values()) >= len(values) - len(late)) or times < 1.001


def test_edges_are_the_doubles_nearest_to_decimals() -> None:
    windows = np.arange(-5000, 5000)
    assert begins(windows, grid(0.3, 0.15)).tolist() == [float(f"{k * 15}e-2") for k in windows.tolist()]


@pytest.mark.parametrize(("type_", "shown"), [("float", pa.float64()), ("double", pa.float64())])
def test_windows_on_floats_begin_at_doubles(type_: str, shown: pa.DataType) -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 0.3, 0.15)
    stream = train(f"a {type_}", a=[0.5])
    assert box.outputs(stream.schema)["out"].field("a").type == shown
    assert [row for row, _, _ in run(box, [stream])[0]] == [(0.3, 1), (0.45, 1)]


@pytest.mark.parametrize(("size", "advance"), [(INF, 1.0), (1.0, INF), (NAN, 1.0), (1e300, 1e-9)])
def test_spans_that_no_window_has_are_refused(size: float, advance: float) -> None:
    with pytest.raises(SchemaError, match=r"span|size|reach"):
        Aggregate((("n", aggregation("count(*)")),), Order("a"), size, advance).outputs(schema("a double"))
    with pytest.raises(SchemaError, match=r"span|size|reach"):
        Aggregate((("n", aggregation("count(*)")),), Order("a"), 2**63, expr("a = 1")).outputs(schema("a bigint"))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times_at_the_extremes(unit: str) -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), "10 s", "10 s")
    stream = train(
        pa.schema({"a": pa.timestamp(unit)}), a=pa.array([LEAST, 0, MOST], pa.int64()).cast(pa.timestamp(unit))
    )
    results, late = box.step(box.tables(stream.schema), (stream,), Moment(3, None, True))
    step = {"s": 10, "us": 10**7, "ns": 10**10}[unit]
    assert results["a"].cast(pa.int64()).to_pylist() == [0, MOST // step * step]
    assert late["a"].cast(pa.int64()).to_pylist() == [LEAST]
