"""Recurrences: expressions over the values they made before, compiled to run down the rows one after another.

Parts that read no earlier value are evaluated for all rows at once; the rest becomes a loop, if it can be written. The
loop leaves out a row for which such a part fails, or a number is too big: that row is evaluated alone, which may fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.expressions.codegen.writer import LIMITS, CodeWriter, NotWrittenError, Written, read
from australis.expressions.expression import Bound, Expr, of
from australis.expressions.node import Literal, Name, Node, names
from australis.kernels.generated import GeneratedCode, block, comment, generate

Column = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]
"""Values, and which are valid."""

Alone = Callable[[int, list[Column], list[Column]], None]
"""Does one row without the loop, and puts its state and what it returns in the two lists of columns."""


@dataclass(frozen=True)
class Recurrence:
    """Columns of rows in slots, each set by an expression that may read all of them as they were before."""

    inputs: tuple[Bound, ...]
    """The parts to evaluate beforehand."""
    code: GeneratedCode
    loop: Callable[..., int]
    returned: tuple[npt.DTypeLike, ...] = ()

    def run(
        self,
        slots: npt.NDArray[np.int64],
        state: Sequence[Column],
        inputs: Sequence[Column],
        failed: npt.NDArray[np.bool_],
        alone: Alone,
    ) -> tuple[list[Column], list[Column]]:
        """Go down the rows. Returns the state after each row, and what each row returns.

        A row for which an input failed, or a number is too big, is done by `alone` before the loop goes on.
        """
        rows = len(slots)
        after = [_column(rows, values.dtype) for values, _ in state]
        returned = [_column(rows, kind) for kind in self.returned]
        kept = [array for column in state for array in column]
        by_row = [array for column in (*inputs, *after, *returned) for array in column]
        start = 0
        for stop in (*np.flatnonzero(failed).tolist(), rows):
            while start < stop:
                row = self.loop(slots[start:stop], *kept, *(array[start:stop] for array in by_row))
                if row < 0:
                    break
                alone(start + row, after, returned)
                start += row + 1
            if stop < rows:
                alone(stop, after, returned)
            start = stop + 1
        return after, returned


def _column(rows: int, kind: npt.DTypeLike) -> Column:
    return np.empty(rows, kind), np.empty(rows, np.bool_)


@lru_cache(maxsize=64)
def recurrence(
    columns: tuple[tuple[str, Expr | None], ...], schema: pa.Schema, returned: tuple[Expr, ...] = ()
) -> Recurrence | None:
    """The recurrence that sets named columns, or None if it cannot be compiled.

    A column without an expression stays as it is. What is `returned` of a row is evaluated before its columns are set.
    """
    writer = _RecurrenceWriter(schema, state={name: index for index, (name, _) in enumerate(columns)})
    try:
        for value in returned:
            writer.give(value)
        for name, new in columns:
            if schema.field(name).type not in LIMITS:
                raise NotWrittenError
            if new is not None:
                writer.store(name, new)
    except NotWrittenError:
        return None
    code = writer.code()
    return Recurrence(tuple(writer.inputs.values()), code, code.kernel(), tuple(writer.kinds))


@dataclass
class _RecurrenceWriter(CodeWriter):
    """Writes the loop: `old` values are those of the state before the row, `input` arrays are evaluated beforehand."""

    state: dict[str, int] = field(default_factory=dict)
    inputs: dict[Node, Bound] = field(default_factory=dict)
    stores: list[str] = field(default_factory=list)
    kinds: list[npt.DTypeLike] = field(default_factory=list)
    """The types of what is returned."""

    def leaf(self, node: Node) -> Written | None:
        if not self.state.keys() & set(names(node)):
            return self._input(node)
        if isinstance(node, Name):
            old = f"old{self.state[node.name]}"
            return read(old, self.type(node)), f"{old}_valid"
        return None

    def _input(self, node: Node) -> Written:
        if isinstance(node, Literal) and node.value is None:
            return "0", "False"
        bound = of(node).bind(self.schema)
        if bound.type not in LIMITS:
            raise NotWrittenError
        self.inputs[node] = bound
        index = list(self.inputs).index(node)
        return read(f"input{index}[row]", bound.type), f"input{index}_valid[row]"

    def store(self, name: str, expression: Expr) -> None:
        """Set a column of the state to an expression, once all expressions are evaluated."""
        type_, wanted = expression.bind(self.schema).type, self.schema.field(name).type
        type_ = wanted if pa.types.is_null(type_) else type_
        self.lines.append(comment(f"{name} = {expression}"))
        value, valid = self.write(expression.node)
        if (
            pa.types.is_floating(type_) or pa.types.is_boolean(type_) or pa.types.is_boolean(wanted)
        ) and type_ != wanted:
            raise NotWrittenError
        self.fits(value, valid, wanted)
        state = f"state{self.state[name]}"
        self.stores += [f"{state}[slot] = {value} if {valid} else 0", f"{state}_valid[slot] = {valid}"]

    def give(self, expression: Expr) -> None:
        """Return the value of an expression for the row."""
        self.lines.append(comment(f"returned: {expression}"))
        value, valid = self.write(expression.node)
        type_ = expression.bind(self.schema).type
        if type_ not in LIMITS:
            raise NotWrittenError
        self.fits(value, valid, type_)
        returned = f"returned{len(self.kinds)}"
        self.kinds.append(type_.to_pandas_dtype())
        self.stores += [f"{returned}[row] = {value} if {valid} else 0", f"{returned}_valid[row] = {valid}"]

    def code(self) -> GeneratedCode:
        """The whole loop, once all that is returned and stored is added."""
        state, inputs, returned = range(len(self.state)), range(len(self.inputs)), range(len(self.kinds))
        return generate(
            "loop",
            [
                "slots",
                *(f"{array}{index}{part}" for array, indices in (
                    ("state", state), ("input", inputs), ("after", state), ("returned", returned),
                ) for index in indices for part in ("", "_valid")),
            ],
            comment("A row in each slot, set one after another; returns -1, or the row of a number that does not fit."),
            *(comment(f"old{index} is {name}") for name, index in self.state.items()),
            *(comment(f"input{index} is {bound.expr}") for index, bound in enumerate(self.inputs.values())),
            *block(
                "for row in range(len(slots)):",
                "slot = slots[row]",
                *(f"old{i}{part} = state{i}{part}[slot]" for i in state for part in ("", "_valid")),
                *self.lines,
                *self.stores,
                *(f"after{i}{part}[row] = state{i}{part}[slot]" for i in state for part in ("", "_valid")),
            ),
            "return -1",
        )  # fmt: skip
