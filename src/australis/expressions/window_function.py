"""Window functions of users, given as (init, incr, final) and compiled (Aurora 5.2.2.2, footnote 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from australis.arguments import check_arguments
from australis.errors import ExpressionError


@dataclass(frozen=True)
class WindowFunction:
    """`init()` makes a window's state, `incr(state, value, ...)` takes a tuple, `final(state)` gives the result.

    The state is a number or a tuple of numbers, the arguments are numbers (times as integers in their unit). The three
    are compiled, so that no tuple goes through Python's interpreter; a whole number that leaves 64 bits is an error.
    Tuples with a null argument are left out; the result of a window without others is null.
    """

    name: str
    init: Callable[[], Any]
    incr: Callable[..., Any]
    final: Callable[[Any], Any]


WINDOW_FUNCTIONS: dict[str, WindowFunction] = {}
"""The window functions that expressions may call, by name."""


@check_arguments(ExpressionError)
def window_function(
    name: str, init: Callable[[], Any], incr: Callable[..., Any], final: Callable[[Any], Any]
) -> WindowFunction:
    """Make a window function known by name to the aggregate and resample boxes of this process.

    >>> spread = window_function(
    ...     "spread",
    ...     init=lambda: (1e300, -1e300),
    ...     incr=lambda state, x: (min(state[0], x), max(state[1], x)),
    ...     final=lambda state: state[1] - state[0],
    ... )
    """
    if not name.isidentifier():
        raise ExpressionError(f"`{name}` cannot name a window function: use letters, digits and _")
    function = WindowFunction(name, init, incr, final)
    WINDOW_FUNCTIONS[name] = function
    return function
