"""Recurrences: expressions over the values they made before, compiled to run down the rows one after another.

Parts that read no earlier value are evaluated for all rows at once; what is left becomes a loop, if it can be written.
A row for which a part fails, or a number is too big, is not for the loop: whether it fails is told by evaluating it.
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
from australis.kernels.jit import written

Column = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]
"""Values, and which are valid."""

Alone = Callable[[int, list[Column], list[Column]], None]
"""Does one row without the loop, and puts what it leaves and returns in those columns."""


@dataclass(frozen=True)
class Recurrence:
    """Columns of rows in slots, each set by an expression that may read all of them as they were before."""

    inputs: tuple[Bound, ...]
    """The parts to evaluate beforehand."""
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
        """Go down the rows: the columns of each row after it, and what is returned.

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
    """The recurrence of named columns (without an expression: as they were), if it can be compiled.

    What is `returned` of a row is evaluated before its columns are set.
    """
    writer = _RecurrenceWriter(schema, state={name: index for index, (name, _) in enumerate(columns)})
    try:
        for each in returned:
            writer.give(writer.write(each.node), each.bind(schema).type)
        for name, value in columns:
            if schema.field(name).type not in LIMITS:
                raise NotWrittenError
            if value is not None:
                writer.store(name, writer.write(value.node), value.bind(schema).type)
    except NotWrittenError:
        return None
    # The source is built below from an expression's tree; names and texts of it appear nowhere.
    return Recurrence(tuple(writer.inputs.values()), written(writer.source(), "loop"), tuple(writer.kinds))


@dataclass
class _RecurrenceWriter(CodeWriter):
    """Writes the loop: columns as they were are `a`, those evaluated beforehand are read from arrays."""

    state: dict[str, int] = field(default_factory=dict)
    inputs: dict[Node, Bound] = field(default_factory=dict)
    stores: list[str] = field(default_factory=list)
    kinds: list[npt.DTypeLike] = field(default_factory=list)
    """The types of what is returned."""

    def leaf(self, node: Node) -> Written | None:
        if not self.state.keys() & set(names(node)):
            return self._input(node)
        if isinstance(node, Name):
            at = self.state[node.name]
            return read(f"a{at}", self.type(node)), f"b{at}"
        return None

    def _input(self, node: Node) -> Written:
        if isinstance(node, Literal) and node.value is None:
            return "0", "False"
        bound = of(node).bind(self.schema)
        if bound.type not in LIMITS:
            raise NotWrittenError
        self.inputs[node] = bound
        index = list(self.inputs).index(node)
        return read(f"c{index}[i]", bound.type), f"v{index}[i]"

    def store(self, name: str, made: Written, type_: pa.DataType) -> None:
        """Set a column of the row, once all expressions are evaluated."""
        wanted, at = self.schema.field(name).type, self.state[name]
        type_ = wanted if pa.types.is_null(type_) else type_
        if (
            pa.types.is_floating(type_) or pa.types.is_boolean(type_) or pa.types.is_boolean(wanted)
        ) and type_ != wanted:
            raise NotWrittenError
        value, valid = made
        self.fits(value, valid, wanted)
        self.stores += [f"s{at}[slot] = {value} if {valid} else 0; o{at}[slot] = {valid}"]

    def give(self, made: Written, type_: pa.DataType) -> None:
        """Return a value of the row."""
        if type_ not in LIMITS:
            raise NotWrittenError
        value, valid = made
        self.fits(value, valid, type_)
        at = len(self.kinds)
        self.kinds.append(type_.to_pandas_dtype())
        self.stores.append(f"f{at}[i] = {value} if {valid} else 0; g{at}[i] = {valid}")

    def source(self) -> str:
        state, inputs = range(len(self.state)), range(len(self.inputs))
        arrays = [f"{letter}{i}" for i in state for letter in "so"] + [
            f"{letter}{i}" for i in inputs for letter in "cv"
        ]
        made = [f"{letter}{i}" for i in state for letter in "rw"]
        made += [f"{letter}{i}" for i in range(len(self.kinds)) for letter in "fg"]
        body = [
            "slot = slots[i]",
            *(f"a{i} = s{i}[slot]; b{i} = o{i}[slot]" for i in state),
            *self.lines,
            *self.stores,
            *(f"r{i}[i] = s{i}[slot]; w{i}[i] = o{i}[slot]" for i in state),
        ]
        lines = [
            f"def loop(slots, {', '.join([*arrays, *made])}):",
            "    for i in range(len(slots)):",
            *(" " * 8 + line for line in body),
            "    return -1",
        ]
        return "\n".join(lines)
