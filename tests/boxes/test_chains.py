"""Chains of held tuples: bands around values up to the extremes of their type, in Join and Resample."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.chains import limit, lowest, taken
from australis.boxes.join.join import Join
from australis.boxes.resample.resample import Resample
from australis.errors import SchemaError
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import Cut, cuts
from tests.oracles.join import join
from tests.oracles.order import Order as Arriving
from tests.oracles.resample import resample
from tests.oracles.running import SINGLY, in_any_order, run
from tests.oracles.tuples import Stream, Tuple, stream_of

LEAST, MOST = -(2**63), 2**63 - 1
INF, NAN = float("inf"), float("nan")
NEAR = st.sampled_from([LEAST, -(2**62), 0, 2**62, MOST])
WHOLE = st.tuples(NEAR, st.integers(-5, 5)).map(lambda pair: min(MOST, max(LEAST, sum(pair)))) | st.none()
WIDE = st.integers(0, 6) | st.sampled_from([2**62, 2**63 - 1])
DOUBLES = st.integers(-12, 12).map(lambda n: n / 10) | st.sampled_from(
    [1e300, -1e300, INF, -INF, NAN, None, -0.0, 5e-324]
)
BANDS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 1e-17, 1e300])
SLACKS = st.tuples(st.integers(0, 2), st.integers(0, 2))


def sides(values: Any) -> Any:
    """Two streams of these values, in some order of arrival."""
    return st.lists(st.tuples(st.booleans(), values), max_size=14).map(
        lambda given_: tuple(
            [Tuple({name: value}, n, n) for n, (left, value) in enumerate(given_, 1) if left == (name == "a")]
            for name in "ab"
        )
    )


def agree(type_: str, streams: tuple[Stream, Stream], size: Any, slacks: tuple[int, int], cut: Cut) -> None:
    trains = [stream_of(f"{name} {type_}", stream) for name, stream in zip("ab", streams, strict=True)]
    orders = [Order(name, slack) for name, slack in zip("ab", slacks, strict=True)]

    def arriving() -> tuple[Arriving, Arriving]:
        return Arriving("a", slacks[0]), Arriving("b", slacks[1])

    pairs = run(Join(orders[0], orders[1], size, None), trains, cut)
    assert pairs == join(*streams, arriving(), size, lambda t, u: True)
    near = Resample((("n", aggregation("count(*)")), ("most", aggregation("max(b)"))), orders[0], orders[1], size)
    functions = [lambda window, t: len(window), lambda window, t: max((place for place, _ in window), default=None)]
    got, expected = run(near, trains, cut), resample(*streams, arriving(), size, functions)
    assert [in_any_order(port) for port in got] == [in_any_order(port) for port in expected]


@given(sides(WHOLE), WIDE, SLACKS, cuts(3))
@example(([Tuple({"a": MOST}, 1, 1)], [Tuple({"b": MOST - 1}, 2, 2), Tuple({"b": MOST}, 3, 3)]), 5, (0, 0), SINGLY)
@example(([Tuple({"a": LEAST}, 1, 1)], [Tuple({"b": LEAST}, 2, 2), Tuple({"b": MOST}, 3, 3)]), MOST, (0, 0), SINGLY)
def test_whole_numbers_are_near_up_to_the_ends_of_64_bits(
    streams: tuple[Stream, Stream], size: int, slacks: tuple[int, int], cut: Cut
) -> None:
    agree("bigint", streams, size, slacks, cut)


@pytest.mark.slow
@given(sides(DOUBLES), BANDS, SLACKS, cuts(3))
@example(([Tuple({"a": 0.3}, 1, 1)], [Tuple({"b": 0.4}, 2, 2)]), 0.1, (0, 0), SINGLY)
@example(([Tuple({"a": 0.4}, 2, 2)], [Tuple({"b": 0.3}, 1, 1)]), 0.1, (0, 0), SINGLY)
def test_doubles_are_near_by_their_difference_whoever_comes_first(
    streams: tuple[Stream, Stream], size: float, slacks: tuple[int, int], cut: Cut
) -> None:
    agree("double", streams, size, slacks, cut)


@pytest.mark.parametrize(("type_", "size"), [("double", INF), ("double", NAN), ("bigint", 2**63)])
def test_bands_that_64_bits_cannot_say_are_refused(type_: str, size: Any) -> None:
    streams = [schema(f"{name} {type_}") for name in "ab"]
    with pytest.raises(SchemaError, match=r"band|span|reach"):
        Join(Order("a"), Order("b"), size, None).outputs(*streams)
    with pytest.raises(SchemaError, match=r"band|span|reach"):
        Resample((("n", aggregation("count(*)")),), Order("a"), Order("b"), size).outputs(*streams)


@pytest.mark.parametrize(("promised", "size", "low"), [
    (LEAST, 0, LEAST), (LEAST, MOST, LEAST), (-1, MOST, LEAST), (-2, MOST, LEAST), (0, MOST, LEAST + 1),
    (MOST, MOST, 0), (MOST, 1, MOST - 1), (LEAST + 5, 5, LEAST), (LEAST + 5, 6, LEAST),
])  # fmt: skip
def test_the_limit_of_whole_numbers_stays_in_64_bits(promised: int, size: int, low: int) -> None:
    assert limit(np.array([promised]), size).tolist() == [low]


@pytest.mark.parametrize("size", [0.0, 0.1, 5e-324, 1.0, 1e300])
@pytest.mark.parametrize("promised", [0.0, -0.0, 0.3, 0.4, -1e300, 1e300, 5e-324, 1e16])
def test_no_double_below_the_limit_is_near_what_was_promised(promised: float, size: float) -> None:
    (low,) = limit(np.array([promised]), size)
    below = math.nextafter(low, -INF)
    for _ in range(4):
        assert promised - below > size
        below = math.nextafter(below, -INF)


def test_nothing_lies_below_the_lowest_limit() -> None:
    assert lowest(np.dtype(np.int64)).tolist() == [LEAST]
    assert lowest(np.dtype(np.float64)).tolist() == [-INF]
    assert limit(np.array([-INF, INF]), 1.0).tolist() == [-INF, INF]


def test_rows_that_took_no_slot_are_left_out() -> None:
    for slots in ([], [0, 3], [-1], [4, -1, 0, -1]):
        assert taken(np.array(slots, np.int64)).tolist() == [slot for slot in slots if slot >= 0]
