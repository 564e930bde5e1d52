"""Window functions of users, compiled for arguments of given types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numba.core import types
from numba.core.errors import NumbaError
from numba.np.numpy_support import as_dtype, from_dtype

from australis.arrow.columns import Values, arrow, storage
from australis.boxes.folds.checked import checked
from australis.boxes.folds.fold import ALL_VALID, Accumulators, Contributions, numbers
from australis.errors import ExpressionError, RunError
from australis.expressions.window_function import WindowFunction
from australis.kernels.generated import GeneratedCode, block, comment, generate
from australis.model.table import Table
from australis.model.train import Bools, Ints


@dataclass(frozen=True)
class Compiled:
    """A window function for arguments of given types."""

    function: WindowFunction
    type: pa.DataType
    fields: tuple[pa.Field[Any], ...]
    add_kernel: Callable[..., None]
    finish_kernel: Callable[..., None]
    merges: bool = False

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        valid = ALL_VALID
        values: list[Values] = []
        for argument in arguments:
            value, value_valid = numbers(argument)
            if value.dtype == np.uint64:
                value = self._signed(value, value_valid)
            values.append(value)
            if len(value_valid):
                valid = valid & value_valid if len(valid) else value_valid
        state = (into.columns[field.name] for field in self.fields)
        try:
            self.add_kernel(feed.slots, feed.rows, valid, *state, *values)
        except OverflowError:
            raise self._overflow("a number of its state") from None

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        raise AssertionError("a window function's state belongs to one window")

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        n, *state = (windows.columns[field.name] for field in self.fields)
        out = np.zeros(len(n), storage(self.type))
        try:
            self.finish_kernel(n, *state, out)
        except OverflowError:
            raise self._overflow("what `final` makes") from None
        return arrow(out, n > 0, self.type)

    def _signed(self, values: Values, valid: Bools) -> Values:
        if ((values >> 63) & (valid if len(valid) else 1)).any():
            raise self._overflow("an argument")
        return values.view(np.int64)

    def _overflow(self, what: str) -> RunError:
        return RunError(
            f"window function `{self.function.name}`: overflow; {what} does not fit in 64 bits,"
            " cast to double, or begin with 0.0"
        )

    def seen(self) -> Table | None:
        return None

    def release(self, windows: Accumulators, slots: Ints) -> None:
        pass


@lru_cache(maxsize=256)
def compiled(function: WindowFunction, arguments: tuple[pa.DataType, ...]) -> Compiled:
    """Infer the types of state and result from those of the arguments, and build the kernels."""
    widened = [np.float64 if storage(type_).kind == "f" else np.int64 for type_ in arguments]
    inputs = tuple(from_dtype(np.dtype(type_)) for type_ in widened)
    init, incr, final = (checked(part) for part in (function.init, function.incr, function.final))
    state = _result(function, "init", init, ())
    state = _result(function, "incr", incr, (state, *inputs))
    again = _result(function, "incr", incr, (state, *inputs))
    if again != state:
        raise ExpressionError(
            f"window function `{function.name}`: `incr` turns a state {state} into {again}; let it return {state}"
        )
    result = _result(function, "final", final, (state,))
    if not isinstance(result, types.Number | types.Boolean):
        raise ExpressionError(
            f"window function `{function.name}`: `final` must give a number or a boolean, not {result}"
        )
    several: Any = state if isinstance(state, types.BaseTuple) else (state,)
    parts = [as_dtype(part) for part in several]
    fields = [pa.field(f"state{i}", pa.from_numpy_dtype(part), nullable=False) for i, part in enumerate(parts)]
    add, finish = loops(function.name, len(parts), isinstance(state, types.BaseTuple), len(inputs))
    add_kernel, finish_kernel = njit(add.function(init=init, incr=incr)), njit(finish.function(final=final))
    count = pa.field("n", pa.int64(), nullable=False)
    return Compiled(function, pa.from_numpy_dtype(as_dtype(result)), (count, *fields), add_kernel, finish_kernel)


def _result(function: WindowFunction, part: str, dispatcher: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        dispatcher.compile(arguments)
        result = dispatcher.overloads[arguments].signature.return_type
    except (NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        shown = ", ".join(map(str, arguments))
        raise ExpressionError(
            f"window function `{function.name}`: `{part}` does not compile for ({shown}): {reason}"
        ) from error
    while isinstance(result, types.Literal):
        result = result.literal_type
    if part == "init" and isinstance(result, types.BaseTuple):
        tuple_of: Any = types.Tuple
        several: Any = result
        return tuple_of([getattr(each, "literal_type", each) for each in several])
    if part != "final" and not isinstance(result, types.Number | types.Boolean | types.BaseTuple):
        raise ExpressionError(
            f"window function `{function.name}`: `{part}` must give a number or a tuple of numbers, not {result}"
        )
    return result


def loops(name: str, parts: int, is_tuple: bool, arguments: int) -> tuple[GeneratedCode, GeneratedCode]:
    """The code of the loops that add tuples to windows and finish them, for a state of some parts.

    numba has no loop over columns of different types, so that the columns are written out.
    """
    columns = [f"state{index}" for index in range(parts)]
    values = [f"argument{index}" for index in range(arguments)]
    state = ", ".join(f"{column}[slot]" for column in columns) + ("," if is_tuple else "")
    add = generate(
        "add",
        ["slots", "rows", "valid", "n", *columns, *values],
        comment(f"Adds tuples to windows with {name}, but for those in no slot or with a null argument."),
        *block(
            "for i in range(len(slots)):",
            "slot = slots[i]",
            "row = rows[i] if len(rows) else i",
            *block("if slot < 0 or (len(valid) and not valid[row]):", "continue"),
            *block("if n[slot] == 0:", f"{state} = init()"),
            f"{state} = incr(({state}), {', '.join(f'{value}[row]' for value in values)})",
            "n[slot] += 1",
        ),
    )
    finish = generate(
        "finish",
        ["n", *columns, "out"],
        comment(f"The results of {name} for windows that have tuples."),
        *block("for slot in range(len(n)):", *block("if n[slot]:", f"out[slot] = final(({state}))")),
    )
    return add, finish
