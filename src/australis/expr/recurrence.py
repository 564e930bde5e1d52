"""Recurrences: expressions over the values they made before, compiled to run down the rows one after another.

Parts that read no earlier value are evaluated for all rows at once; what is left becomes a loop. Not everything can be
left: numbers, booleans, arithmetic, comparisons, logic, `case`, `coalesce`, `greatest`, `least`, `abs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.expr.expression import Bound, Expr, of
from australis.expr.node import Apply, Literal, Name, Node, names
from australis.kernel import written

Column = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]
"""Values, and which are valid."""


class NotLeftError(Exception):
    """A part that reads earlier values is not among those that can be compiled."""


@dataclass(frozen=True)
class Recurrence:
    """Columns of rows in slots, each set by an expression that may read all of them as they were before."""

    inputs: tuple[Bound, ...]
    """The parts to evaluate beforehand."""
    loop: Callable[..., int]
    returned: tuple[npt.DTypeLike, ...] = ()

    def run(
        self, slots: npt.NDArray[np.int64], state: Sequence[Column], inputs: Sequence[Column]
    ) -> tuple[list[Column], list[Column]]:
        """Go down the rows: the columns of each row after it, and what is returned.

        OverflowError names the row of too big a number.
        """
        after = [_column(len(slots), values.dtype) for values, _ in state]
        returned = [_column(len(slots), kind) for kind in self.returned]
        row = self.loop(slots, *(array for column in (*state, *inputs, *after, *returned) for array in column))
        if row >= 0:
            raise OverflowError(row)
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
    writer = _Writer(schema, {name: index for index, (name, _) in enumerate(columns)})
    try:
        for each in returned:
            writer.give(writer.write(each.node), each.bind(schema).type)
        for name, value in columns:
            if schema.field(name).type not in _LIMITS:
                raise NotLeftError
            if value is not None:
                writer.store(name, writer.write(value.node), value.bind(schema).type)
    except NotLeftError:
        return None
    # The source is built below from an expression's tree; names and texts of it appear nowhere.
    return Recurrence(tuple(writer.inputs.values()), written(writer.source(), "loop"), tuple(writer.kinds))


_LIMITS: dict[pa.DataType, tuple[int, int] | None] = {
    **{type_: (np.iinfo(kind).min, np.iinfo(kind).max) for type_, kind in (
        (pa.int8(), np.int8), (pa.int16(), np.int16), (pa.int32(), np.int32), (pa.int64(), np.int64),
    )},
    pa.float32(): None,
    pa.float64(): None,
    pa.bool_(): None,
}  # fmt: skip

_MOST = 2**63 - 1
_COMPARISONS = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass
class _Writer:
    """Writes the loop, a value and its validity for each part of the trees."""

    schema: pa.Schema
    state: dict[str, int]
    inputs: dict[Node, Bound] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    kinds: list[npt.DTypeLike] = field(default_factory=list)
    """The types of what is returned."""

    def write(self, node: Node) -> tuple[str, str]:
        """Code for a part; gives the names of its value and of its validity."""
        if not self.state.keys() & set(names(node)):
            return self._input(node)
        if isinstance(node, Name):
            return f"a{self.state[node.name]}", f"b{self.state[node.name]}"
        assert isinstance(node, Apply)
        self._check(node)
        args = [self.write(arg) for arg in node.args]
        return self._applied(node, args)

    def _input(self, node: Node) -> tuple[str, str]:
        if isinstance(node, Literal) and node.value is None:
            return "0", "False"
        bound = of(node).bind(self.schema)
        if bound.type not in _LIMITS:
            raise NotLeftError
        self.inputs[node] = bound
        index = list(self.inputs).index(node)
        return f"c{index}[i]", f"v{index}[i]"

    def _check(self, node: Apply) -> None:
        for part in (node, *node.args):
            if part != Literal(None) and of(part).bind(self.schema).type not in _LIMITS:
                raise NotLeftError

    def _whole(self, node: Node) -> bool:
        return pa.types.is_integer(of(node).bind(self.schema).type)

    def _let(self, value: str, valid: str) -> tuple[str, str]:
        at = len(self.lines)
        self.lines.append(f"y{at} = {valid}; x{at} = {value.replace('OK', f'y{at}')}")
        return f"x{at}", f"y{at}"

    def _applied(self, node: Apply, args: list[tuple[str, str]]) -> tuple[str, str]:
        (value, valid), *others = args
        name = node.function
        if name in ("and", "or"):
            return self._logic(args, name == "or")
        if name == "not":
            return self._let(f"not {value}", valid)
        if name == "is null":
            return self._let(f"not {valid}", "True")
        if name in ("neg", "abs"):
            return self._let(f"-{value}" if name == "neg" else f"abs({value})", valid)
        if name in ("coalesce", "ifnull", "greatest", "least"):
            for other, there in others:
                better = {"greatest": f"{other} > {value}", "least": f"{other} < {value}"}.get(name, "False")
                taken = f"{other} if {there} and (not {valid} or {better}) else {value}"
                value, valid = self._let(taken, f"{valid} or {there}")
            return value, valid
        if name == "case":
            return self._case(args)
        if name in _COMPARISONS:
            return self._let(f"{value} {_COMPARISONS[name]} {others[0][0]}", f"{valid} and {others[0][1]}")
        if name in ("+", "-", "*", "/"):
            return self._arithmetic(node, value, others[0][0], f"{valid} and {others[0][1]}")
        raise NotLeftError

    def _logic(self, args: list[tuple[str, str]], either: bool) -> tuple[str, str]:
        """Kleene's: what decides it is enough, whatever is unknown beside it."""
        value, valid = args[0]
        for other, there in args[1:]:
            decided = " or ".join(
                f"({ok} and {'' if either else 'not '}{it})" for it, ok in ((value, valid), (other, there))
            )
            value, valid = self._let(f"({decided}) == {either}", f"({valid} and {there}) or {decided}")
        return value, valid

    def _case(self, args: list[tuple[str, str]]) -> tuple[str, str]:
        value, valid = args[-1] if len(args) % 2 else ("0", "False")
        for at in range(len(args) - len(args) % 2 - 2, -1, -2):
            (test, known), (then, there) = args[at], args[at + 1]
            value, valid = self._let(
                f"{then} if {known} and {test} else {value}", f"{there} if {known} and {test} else {valid}"
            )
        return value, valid

    def _arithmetic(self, node: Apply, left: str, right: str, valid: str) -> tuple[str, str]:
        if node.function == "/":
            return self._let(f"{left} / {right} if OK else 0.0", f"{valid} and {right} != 0")
        value, valid = self._let(f"{left} {node.function} {right}", valid)
        if self._whole(node):
            # Asked of the operands: a compiler may take it that a result has not overflowed.
            if node.function == "*":
                wrong = f"{right} != 0 and abs({left}) > {_MOST} // abs({right})"
            else:
                back, up, down = ("-", ">", "<") if node.function == "+" else ("+", "<", ">")
                wrong = f"({right} {up} 0 and {left} > {_MOST} {back} {right}) or"
                wrong += f" ({right} {down} 0 and {left} < {-_MOST - 1} {back} {right})"
            self.lines.append(f"if {valid} and ({wrong}): return i")
        return value, valid

    def store(self, name: str, made: tuple[str, str], type_: pa.DataType) -> None:
        """Set a column of the row, once all expressions are evaluated."""
        wanted, at = self.schema.field(name).type, self.state[name]
        type_ = wanted if pa.types.is_null(type_) else type_
        if (
            pa.types.is_floating(type_) or pa.types.is_boolean(type_) or pa.types.is_boolean(wanted)
        ) and type_ != wanted:
            raise NotLeftError
        value, valid = made
        self._fits(value, valid, wanted)
        self.stores += [f"s{at}[slot] = {value} if {valid} else 0; o{at}[slot] = {valid}"]

    def give(self, made: tuple[str, str], type_: pa.DataType) -> None:
        """Return a value of the row."""
        if type_ not in _LIMITS:
            raise NotLeftError
        value, valid = made
        self._fits(value, valid, type_)
        at = len(self.kinds)
        self.kinds.append(type_.to_pandas_dtype())
        self.stores.append(f"f{at}[i] = {value} if {valid} else 0; g{at}[i] = {valid}")

    def _fits(self, value: str, valid: str, type_: pa.DataType) -> None:
        limits = _LIMITS[type_]
        if limits is not None and type_ != pa.int64():
            self.lines.append(f"if {valid} and not ({limits[0]} <= {value} <= {limits[1]}): return i")

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
