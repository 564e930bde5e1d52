"""Expressions written as lines of a loop over rows, for kernels that are made for a network.

Only some can be written: numbers, booleans, arithmetic, comparisons, logic, `case`, `coalesce`, `greatest`, `least`,
`abs`. A number that does not fit leaves the loop with the row's index, but only where the row needs the number: not in
a branch of a `case` that the row does not take, nor after the part that decides an `and`, an `or` or a `coalesce`. In
rows that do not need them, lines may compute anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Literal, Node, names
from australis.expressions.ranks import beats
from australis.kernels.generated import block

Written = tuple[str, str]
"""Code for a value, and for whether it is valid."""

LIMITS: dict[pa.DataType, tuple[int, int] | None] = {
    **{type_: (np.iinfo(kind).min, np.iinfo(kind).max) for type_, kind in (
        (pa.int8(), np.int8), (pa.int16(), np.int16), (pa.int32(), np.int32), (pa.int64(), np.int64),
    )},
    pa.float32(): None,
    pa.float64(): None,
    pa.bool_(): None,
}  # fmt: skip
"""The types that can be written, with the least and the greatest whole number of each."""

_MOST = 2**63 - 1
_COMPARISONS = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_SAFE = "9.2e18"
"""A product of doubles below this is one of whole numbers that fits."""


class NotWrittenError(Exception):
    """A part is not among those that can be written."""


def read(place: str, type_: pa.DataType) -> str:
    """The code for a value as expressions take it: they are on whole numbers of 64 bits, and on doubles."""
    if type_ == pa.float32():
        return f"({place} * 1.0)"  # a double, which `float` would not make of it; a sum with 0.0 would lose -0.0
    return f"({place} + 0)" if pa.types.is_integer(type_) and type_ != pa.int64() else place


def both(one: str, two: str) -> str:
    """The code for two conditions that hold together."""
    conditions = [condition for condition in dict.fromkeys((one, two)) if condition != "True"]
    return "False" if "False" in conditions else " and ".join(conditions) or "True"


def either(one: str, two: str) -> str:
    """The code for two conditions of which one holds."""
    return "True" if "True" in (one, two) else f"({one} or {two})"


@dataclass
class CodeWriter:
    """Writes lines that set `value0`, `value1` and so on, and `valid0` where the value may be null."""

    schema: pa.Schema
    lines: list[str] = field(default_factory=list)
    needed: str = "True"
    """The code for whether the row needs the part that is being written."""
    values: int = 0
    """How many values are set so far."""

    def leaf(self, node: Node) -> Written | None:
        """The code for a part that is read and not computed, None for any other."""
        raise NotImplementedError

    def write(self, node: Node) -> Written:
        """Write the lines that compute a part of a tree. Returns the code for its value and for its validity."""
        leaf = self.leaf(node)
        if leaf is not None:
            return leaf
        if not isinstance(node, FunctionCall):
            raise NotWrittenError
        for part in (node, *node.args):
            if part != Literal(None) and self.type(part) not in LIMITS:
                raise NotWrittenError
        match node.function:
            case "case":
                return self._case(node.args)
            case "and" | "or":
                return self._logic(node.args, node.function == "or")
            case "coalesce" | "ifnull" | "nvl":
                return self._first(node.args)
        return self._applied(node, [self.write(arg) for arg in node.args])

    def type(self, node: Node) -> pa.DataType:
        """The type of a part of a tree."""
        return of(node).bind(self.schema).type

    def fits(self, value: str, valid: str, type_: pa.DataType) -> None:
        """Leave the loop at a row whose value does not fit in a type."""
        limits = LIMITS[type_]
        if limits is not None and type_ != pa.int64():
            self._leave(valid, f"not ({limits[0]} <= {value} <= {limits[1]})")

    def _leave(self, valid: str, overflows: str) -> None:
        """Leave the loop at a row that needs a value which overflows."""
        # The overflow is asked first: it is rare, and a processor predicts that better than which rows need what.
        self.lines += block(f"if {both(f'({overflows})', both(self.needed, valid))}:", "return row")

    def _where(self, needed: str, node: Node) -> Written:
        """Write a part that only some of the rows need."""
        outside, self.needed = self.needed, both(self.needed, needed)
        try:
            return self.write(node)
        finally:
            self.needed = outside

    def _let(self, value: str, valid: str, default: str | None = None) -> Written:
        """Set a value. Where it is not valid it is the default, or may be anything if there is none."""
        name, known = f"value{self.values}", f"valid{self.values}"
        self.values += 1
        if valid in ("True", "False"):
            known = valid
        else:
            self.lines.append(f"{known} = {valid}")
        guarded = default is not None and known != "True"
        self.lines.append(f"{name} = {value} if {known} else {default}" if guarded else f"{name} = {value}")
        return name, known

    def _applied(self, node: FunctionCall, args: list[Written]) -> Written:
        (value, valid), *others = args
        name = node.function
        if name == "not":
            return self._let(f"not {value}", valid)
        if name == "is null":
            return self._let("False" if valid == "True" else f"not {valid}", "True")
        if name in ("neg", "abs"):
            limits = LIMITS[self.type(node)]
            if limits is not None:
                self._leave(valid, f"{value} < {-limits[1]}")
            return self._let(f"-{value}" if name == "neg" else f"abs({value})", valid)
        if name in ("greatest", "least"):
            for other, other_valid in others:
                better = beats(other, value, name == "greatest")
                better = better if valid == "True" else f"(not {valid} or {better})"
                best = f"{other} if {both(other_valid, better)} else {value}"
                value, valid = self._let(best, either(valid, other_valid))
            return value, valid
        if name in _COMPARISONS:
            (one, _), (two, _) = self._alike(node.args, args)
            return self._let(f"{one} {_COMPARISONS[name]} {two}", both(valid, others[0][1]))
        if name in ("+", "-", "*", "/", "//", "%"):
            return self._arithmetic(node, value, others[0][0], both(valid, others[0][1]))
        raise NotWrittenError

    def _alike(self, nodes: tuple[Node, ...], args: list[Written]) -> list[Written]:
        """A constant double beside whole numbers is one of them where it can be, as Arrow's kernels take it."""
        if not any(self._whole(node) for node in nodes):
            return args
        alike = []
        for node, arg in zip(nodes, args, strict=True):
            constant = None if names(node) else of(node).bind(self.schema).operand.value
            value = None if constant is None else constant.as_py()
            if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**63:
                alike.append((repr(int(value)), "True"))
            else:
                alike.append(arg)
        return alike

    def _first(self, nodes: tuple[Node, ...]) -> Written:
        """The first value that is not null; those after it are not needed."""
        value, valid = self.write(nodes[0])
        for node in nodes[1:]:
            other, other_valid = self._where(f"not {valid}", node)
            value, valid = self._let(f"{value} if {valid} else {other}", either(valid, other_valid))
        return value, valid

    def _logic(self, nodes: tuple[Node, ...], decisive: bool) -> Written:
        """Kleene's logic: a decisive value is enough, whatever is null beside it or comes after."""
        value, valid = self.write(nodes[0])
        no = "" if decisive else "not "
        for node in nodes[1:]:
            decided = f"({both(valid, f'{no}{value}')})"
            other, other_valid = self._where(f"not {decided}", node)
            if valid == other_valid == "True":
                value, valid = self._let(f"{value} {'or' if decisive else 'and'} {other}", "True")
                continue
            either_decides = f"({decided} or ({both(other_valid, f'{no}{other}')}))"
            known = f"({both(valid, other_valid)}) or {either_decides}"
            value, valid = self._let(either_decides if decisive else f"not {either_decides}", known)
        return value, valid

    def _case(self, nodes: tuple[Node, ...]) -> Written:
        """The value of the first branch whose condition holds; the others are not needed."""
        branches: list[tuple[str, Written]] = []
        no_earlier = "True"
        for index in range(0, len(nodes) - 1, 2):
            test, known = self._where(no_earlier, nodes[index])
            holds = f"({both(known, test)})"
            branches.append((holds, self._where(both(no_earlier, holds), nodes[index + 1])))
            no_earlier = both(no_earlier, f"not {holds}")
        value, valid = self._where(no_earlier, nodes[-1]) if len(nodes) % 2 else ("0", "False")
        for holds, (then, then_valid) in reversed(branches):
            known = "True" if then_valid == valid == "True" else f"{then_valid} if {holds} else {valid}"
            value, valid = self._let(f"{then} if {holds} else {value}", known)
        return value, valid

    def _whole(self, node: Node) -> bool:
        return pa.types.is_integer(self.type(node))

    def _arithmetic(self, node: FunctionCall, left: str, right: str, valid: str) -> Written:
        name, whole = node.function, self._whole(node)
        if name in ("/", "//", "%"):
            valid = both(valid, "True" if right.isdecimal() and int(right) else f"{right} != 0")
            if not whole:
                if name != "/":
                    raise NotWrittenError
                return self._let(f"{left} / {right}", valid, default="0.0")
            # Cut toward zero by dividing the magnitudes, which the least number of all does not have.
            signed = [side for side in (left, right) if not side.isdecimal()]
            if signed:
                self._leave(valid, " or ".join(f"{side} < {-_MOST}" for side in signed))
            sign = f"{left} < 0" if name == "%" or right not in signed else f"({left} < 0) != ({right} < 0)"
            magnitude, _ = self._let(f"abs({left}) {name} abs({right})", valid, default="0")
            return self._let(f"-{magnitude} if {sign} else {magnitude}", valid)
        if whole:
            # Asked of the operands: a compiler may assume that a result has not overflowed.
            if name == "*":
                overflows = f"abs(float({left}) * float({right})) > {_SAFE} and (({left} < {-_MOST} and {right} != 1)"
                overflows += f" or ({right} < {-_MOST} and {left} != 1) or abs({left}) > {_MOST} // abs({right}))"
            else:
                back, up, down = ("-", ">", "<") if name == "+" else ("+", "<", ">")
                overflows = f"({right} {up} 0 and {left} > {_MOST} {back} {right}) or"
                overflows += f" ({right} {down} 0 and {left} < {-_MOST - 1} {back} {right})"
            self._leave(valid, overflows)
        return self._let(f"{left} {name} {right}", valid)
