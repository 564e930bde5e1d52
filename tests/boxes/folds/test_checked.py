"""Window functions whose whole numbers would leave 64 bits."""

from collections.abc import Callable

import numpy as np
import pytest

from australis.errors import RunError
from australis.expressions.window_function import window_function
from australis.testing import drive, train
from tests.boxes.folds.test_compiled import box

pytestmark = pytest.mark.slow

MOST = 2**63 - 1


def test_a_state_that_leaves_64_bits_is_an_error() -> None:
    window_function("total", lambda: 0, lambda state, x: state + x, lambda state: state)
    stream = train("at int, x bigint", at=[0, 1, 2, 4, 5], x=[MOST, -1, 1, MOST, 1])
    assert drive(box("total(x)", "total"), [stream.slice(0, 3)])[0] == [(0, MOST)]
    with pytest.raises(RunError, match=r"`total`: overflow; a number of its state.*begin with 0\.0"):
        drive(box("total(x)", "total"), [stream])


@pytest.mark.parametrize(
    "grow",
    [
        lambda state, x: state - x * -1,
        lambda state, x: state * x if state else x,
        lambda state, x: (state + 3) ** 2 + x,
        lambda state, x: -(state - x) if state else -x - 1,
    ],
)
def test_no_operator_wraps(grow: Callable[[int, int], int]) -> None:
    def added(state: int, x: int) -> int:
        state += x
        return state

    window_function("grow", lambda: 0, grow, lambda state: state)
    window_function("added", lambda: 0, added, lambda state: state)
    stream = train("at int, x bigint", at=[0, 1], x=[MOST - 5, MOST])
    for name in ("grow", "added"):
        with pytest.raises(RunError, match="overflow"):
            drive(box(f"{name}(x)", name), [stream])


def test_what_final_makes_may_not_wrap_either() -> None:
    window_function("doubled", lambda: 0, lambda state, x: x, lambda state: state * 2)
    with pytest.raises(RunError, match=r"`doubled`: overflow; what `final` makes"):
        drive(box("doubled(x)", "doubled"), [train("at int, x bigint", at=[0], x=[MOST])])


def test_a_hash_may_wrap_where_it_is_unsigned() -> None:
    window_function(
        "hashed", lambda: np.uint64(7), lambda state, x: state * np.uint64(31) + np.uint64(x), lambda state: state
    )
    values = [MOST, MOST - 1, 5]
    expected = 7
    for value in values:
        expected = (expected * 31 + value) % 2**64
    stream = train("at int, x bigint", at=[0, 1, 2], x=values)
    assert drive(box("hashed(x)", "hashed"), [stream])[0] == [(0, expected)]
