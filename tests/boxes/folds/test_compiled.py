"""Window functions of users (Aurora 5.2.2.2, footnote 6), and the loops that are generated for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from australis.arrow.schema import schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.boxes.folds.compiled import loops
from australis.errors import ExpressionError, RunError
from australis.expressions.aggregate import aggregation
from australis.expressions.window_function import window_function
from australis.model.order import Order
from australis.testing import Cut, drive, train
from tests.golden_code import check, check_names

FOLDER = Path(__file__).parent / "golden"
STATES = {"number": (1, False, 1), "tuple_of_one": (1, True, 1), "tuple_of_three": (3, True, 2)}


@pytest.mark.parametrize("state", STATES)
def test_the_loops_of_a_window_function(state: str) -> None:
    for code in loops("weighted", *STATES[state]):
        check(code, FOLDER / f"{code.name}_{state}.py")


def test_every_golden_file_has_a_test() -> None:
    check_names(FOLDER, {f"{name}_{state}.py" for name in ("add", "finish") for state in STATES})


def box(text: str, name: str, size: int = 4, advance: int = 4, slack: int = 0) -> Aggregate:
    return Aggregate((("made", aggregation(text, [name])),), Order("at", slack), size, advance)


def test_it_takes_tuples_as_they_arrive_and_passes_nulls_over() -> None:
    window_function("digits", lambda: 0, lambda state, x: state * 10 + x, lambda state: state)
    stream = train("at int, x int", at=[0, 2, 1, 5, 6], x=[1, 2, 3, None, 4])
    assert drive(box("digits(x)", "digits", slack=1), Cut((2,))(stream))[0] == [(0, 123), (4, 4)]


def test_a_window_with_nulls_alone_results_in_null() -> None:
    window_function("tally", lambda: 0, lambda state, x: state + 1, lambda state: state)
    stream = train("at int, x int", at=[0, 1], x=[None, None])
    assert drive(box("tally(x)", "tally"), [stream])[0] == [(0, None)]


def test_it_takes_several_arguments_and_a_state_of_several_types() -> None:
    window_function(
        "weighted",
        lambda: (0.0, 0),
        lambda state, x, w: (state[0] + x * w, state[1] + w),
        lambda state: state[0] / state[1],
    )
    stream = train("at int, x double, w int", at=[0, 1, 2, 5], x=[1.0, 4.0, None, 8.0], w=[1, 2, 7, 3])
    assert drive(box("weighted(x, w)", "weighted"), [stream])[0] == [(0, 3.0), (4, 8.0)]


def test_overlapping_windows_have_a_state_each() -> None:
    window_function("hundreds", lambda: 0, lambda state, x: state * 100 + x, lambda state: state)
    stream = train("at int, x int", at=[0, 2, 4], x=[1, 2, 3])
    assert drive(box("hundreds(x)", "hundreds", 4, 2), [stream])[0] == [(-2, 1), (0, 102), (2, 203), (4, 3)]


def test_it_may_stand_in_an_expression_and_beside_other_functions() -> None:
    window_function("total", lambda: 0, lambda state, x: state + x, lambda state: state)
    stream = train("at int, x int", at=[0, 1], x=[3, 4])
    assert drive(box("total(x) * 2 + count(*)", "total"), [stream])[0] == [(0, 16)]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((lambda: 0, lambda state, x: (state, x), lambda state: state), r"`odd`.*`incr`"),
        ((lambda: "a", lambda state, x: state, lambda state: state), r"`odd`.*`init`"),
        ((lambda: 0, lambda state: state, lambda state: state), r"`odd`.*`incr`"),
        ((lambda: 0, lambda state, x: state + x, lambda state: (state, state)), r"`odd`.*`final`"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(parts: tuple[Callable[..., Any], ...], message: str) -> None:
    window_function("odd", *parts)
    with pytest.raises(ExpressionError, match=message):
        box("odd(x)", "odd").outputs(train("at int, x int", at=[], x=[]).schema)


def test_it_takes_numbers_only() -> None:
    window_function("plain", lambda: 0, lambda state, x: state + x, lambda state: state)
    with pytest.raises(ExpressionError, match=r"plain.*numbers.*string"):
        box("plain(s)", "plain").outputs(train("at int, s string", at=[], s=[]).schema)


def test_its_name_is_an_identifier() -> None:
    with pytest.raises(ExpressionError, match="`a b`"):
        window_function("a b", lambda: 0, lambda state, x: state, lambda state: state)


def test_unsigned_arguments_are_whole_numbers_as_far_as_they_fit() -> None:
    window_function("total", lambda: 0, lambda state, x: state + x, lambda state: state)
    stream = train(schema({"at": "int", "x": "uint64"}), at=[0, 1, 4], x=[2**62 + 1, None, 2**63])
    assert drive(box("total(x)", "total"), [stream.slice(0, 2)])[0] == [(0, 2**62 + 1)]
    with pytest.raises(RunError, match=r"`total`: overflow; an argument"):
        drive(box("total(x)", "total"), [stream])
