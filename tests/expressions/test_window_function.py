"""Window functions of users."""

import pytest

from australis.errors import ExpressionError
from australis.expressions.window_function import WINDOW_FUNCTIONS, WindowFunction, window_function


def test_a_function_is_known_by_its_name_and_the_last_of_a_name_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.expressions.window_function.WINDOW_FUNCTIONS", known := dict(WINDOW_FUNCTIONS))
    first = window_function("total", lambda: 0, lambda state, x: state + x, lambda state: state)
    assert isinstance(first, WindowFunction)
    assert known["total"] is first
    second = window_function("total", lambda: 1, lambda state, x: state * x, lambda state: state)
    assert known["total"] is second
    assert first != second


@pytest.mark.parametrize("name", ["", "two words", "1st", "a.b"])
def test_names_that_no_expression_can_call(name: str) -> None:
    with pytest.raises(ExpressionError, match=f"`{name}` cannot name a window function"):
        window_function(name, int, lambda state, x: state, lambda state: state)
