"""User functions: vectorised Python functions that expressions call by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from australis.arguments import check_arguments
from australis.arrow.compute import Array, pc
from australis.arrow.schema import Type, data_type, type_text
from australis.errors import ExpressionError, ExpressionPlace, RunError, listing, near, unknown
from australis.expressions.aggregates import AGGREGATES
from australis.expressions.functions import BUILTINS, REFUSED
from australis.expressions.render import KEYWORDS, OPERATORS

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_SYNTAX = frozenset([*OPERATORS, *KEYWORDS, "if", "iif", "extract", "interval", "distinct"])
_REGISTERED: dict[str, Function] = {}


@dataclass(frozen=True)
class Function:
    """A function that takes Arrow arrays and returns one of the same length, Arrow's or numpy's.

    A numpy result is null wherever an argument is null, since numpy has no nulls of its own. A pure one gives each
    row a value that follows from the row's arguments alone, whatever other rows it is called with.
    """

    name: str
    returns: Type
    call: Callable[..., Any]
    pure: bool = False

    def __call__(self, args: Sequence[Array], where: str) -> Array:
        """Call it for the expression `where`."""
        try:
            return self._array(self.call(*args), args).cast(self.returns)
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise RunError(
                f"the function `{self.name}` failed: {reason}{self._culprit(args)}", ExpressionPlace(where)
            ) from error

    def _culprit(self, args: Sequence[Array]) -> str:
        """The end of a sentence: the arguments of the first row at which it fails, if it fails for that row alone."""
        fine, bad = 0, len(args[0]) if args else 0
        while bad - fine > 1:
            middle = (fine + bad) // 2
            try:
                self.call(*(arg[:middle] for arg in args))
                fine = middle
            except Exception:
                bad = middle
        try:
            self.call(*(arg[fine:bad] for arg in args))
        except Exception:
            return f", for {', '.join(repr(arg[fine].as_py()) for arg in args)}" if bad else ""
        return ""

    def _array(self, result: Any, args: Sequence[Array]) -> Array:
        if isinstance(result, np.ndarray):
            nulls = [pc.is_null(arg).to_numpy(zero_copy_only=False) for arg in args if arg.null_count]
            masked = nulls and len(result) == len(args[0])
            result = pa.array(result, mask=reduce(np.logical_or, nulls) if masked else None)
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        if not isinstance(result, pa.Array):
            raise TypeError(f"it returned {type(result).__name__}; return a pyarrow or numpy array")
        if len(result) != len(args[0]):
            raise ValueError(f"it returned {len(result)} values for {len(args[0])} rows")
        return result


@check_arguments(ExpressionError)
def function(returns: str | Type, name: str | None = None, pure: bool = False) -> Callable[[Kernel], Kernel]:
    """Let expressions call a Python function by name; it stays as it is for Python.

    With `pure` you promise that each row's value follows from its own arguments alone. The optimizer moves, shares and
    combines only boxes whose functions are pure.

    >>> @function("double")
    ... def kph(mph):
    ...     return pc.multiply(mph, 1.609344)
    >>> function_named("kph").returns
    DataType(double)
    """
    type = data_type(returns) if isinstance(returns, str) else returns

    def decorate(call: Kernel) -> Kernel:
        register(Function((name or call.__name__).lower(), type, call, pure))
        return call

    return decorate


def register(function: Function) -> None:
    """Make a function callable in this process; one of the same name is replaced."""
    if not re.fullmatch(r"[a-z_]\w*", function.name, re.ASCII):
        raise ExpressionError(f"`{function.name}` cannot name a function; use lower-case letters, digits and `_`")
    if function.name in BUILTINS or function.name in AGGREGATES or function.name in REFUSED or function.name in _SYNTAX:
        raise ExpressionError(f"`{function.name}` is SQL's own; give the function another name, as in "
                              f'@function("{type_text(function.returns)}", name="my_{function.name}")')  # fmt: skip
    _REGISTERED[function.name] = function


def function_named(name: str) -> Function:
    """The user function of a name."""
    if name not in _REGISTERED:
        raise ExpressionError(f"there is no function `{name}`{near(name, [*BUILTINS, *_REGISTERED]) or '.'} "
                              f"The functions are {listing([*_REGISTERED, *BUILTINS], most=100)}; "
                              "add one with @function", unknown(name, [*BUILTINS, *_REGISTERED]))  # fmt: skip
    return _REGISTERED[name]


def registered(names: Sequence[str]) -> tuple[Function | None, ...]:
    """The user function of each name, or None where there is none."""
    return tuple(_REGISTERED.get(name) for name in names)
