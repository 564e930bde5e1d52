"""Expressions written as lines of a loop over rows, for kernels that are made for a network.

Not everything can be written: numbers, booleans, arithmetic, comparisons, logic, `case`, `coalesce`, `greatest`,
`least`, `abs`. A line that finds too big a number leaves the loop with the row's index, but only where the number is
wanted: not in a branch of a `case` that the row does not take, nor after what decides an `and`, an `or` or a
`coalesce`. What such lines compute elsewhere nobody reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Literal, Node, names
from australis.expressions.ranks import beats

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
    held = [each for each in dict.fromkeys((one, two)) if each != "True"]
    return "False" if "False" in held else " and ".join(held) or "True"


def either(one: str, two: str) -> str:
    return "True" if "True" in (one, two) else f"({one} or {two})"


@dataclass
class CodeWriter:
    """Writes lines, each with names of its own for a value and its validity."""

    schema: pa.Schema
    lines: list[str] = field(default_factory=list)
    wanted: str = "True"
    """The code for whether the row needs the part that is being written."""

    def leaf(self, node: Node) -> Written | None:
        """The code for a part that is not to be taken apart."""
        raise NotImplementedError

    def write(self, node: Node) -> Written:
        """Lines for a part of a tree; gives where its value and its validity are."""
        found = self.leaf(node)
        if found is not None:
            return found
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
        return of(node).bind(self.schema).type

    def fits(self, value: str, valid: str, type_: pa.DataType) -> None:
        """Leave the loop where a value has no room in a type."""
        limits = LIMITS[type_]
        if limits is not None and type_ != pa.int64():
            self._leave(valid, f"not ({limits[0]} <= {value} <= {limits[1]})")

    def _leave(self, valid: str, wrong: str) -> None:
        # What is wrong comes first: it is seldom so, and a processor foresees that better than who wants what.
        self.lines.append(f"if {both(f'({wrong})', both(self.wanted, valid))}: return i")

    def _where(self, wanted: str, node: Node) -> Written:
        """Lines for a part that only some of the rows need."""
        outside, self.wanted = self.wanted, both(self.wanted, wanted)
        try:
            return self.write(node)
        finally:
            self.wanted = outside

    def _let(self, value: str, valid: str) -> Written:
        """A line that sets a value where it is valid, and else may set anything."""
        at = len(self.lines)
        if valid in ("True", "False"):
            self.lines.append(f"x{at} = {value.replace('OK', valid)}")
            return f"x{at}", valid
        self.lines.append(f"y{at} = {valid}; x{at} = {value.replace('OK', f'y{at}')}")
        return f"x{at}", f"y{at}"

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
            for other, there in others:
                better = beats(other, value, name == "greatest")
                taken = f"{other} if {there} and (not {valid} or {better}) else {value}"
                value, valid = self._let(taken, either(valid, there))
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
        """The first value that is there; those after it are not asked for."""
        value, valid = self.write(nodes[0])
        for node in nodes[1:]:
            other, there = self._where(f"not {valid}", node)
            value, valid = self._let(f"{value} if {valid} else {other}", either(valid, there))
        return value, valid

    def _logic(self, nodes: tuple[Node, ...], wanted: bool) -> Written:
        """Kleene's: what decides it is enough, whatever is unknown beside it or comes after."""
        value, valid = self.write(nodes[0])
        no = "" if wanted else "not "
        for node in nodes[1:]:
            decided = f"({both(valid, f'{no}{value}')})"
            other, there = self._where(f"not {decided}", node)
            if valid == there == "True":
                value, valid = self._let(f"{value} {'or' if wanted else 'and'} {other}", "True")
                continue
            either_decides = f"({decided} or ({both(there, f'{no}{other}')}))"
            value, valid = self._let(f"{either_decides} == {wanted}", f"({valid} and {there}) or {either_decides}")
        return value, valid

    def _case(self, nodes: tuple[Node, ...]) -> Written:
        arms: list[tuple[str, Written]] = []
        left = "True"
        for at in range(0, len(nodes) - 1, 2):
            test, known = self._where(left, nodes[at])
            held = f"({both(known, test)})"
            arms.append((held, self._where(both(left, held), nodes[at + 1])))
            left = both(left, f"not {held}")
        value, valid = self._where(left, nodes[-1]) if len(nodes) % 2 else ("0", "False")
        for held, (then, there) in reversed(arms):
            there = "True" if there == valid == "True" else f"{there} if {held} else {valid}"
            value, valid = self._let(f"{then} if {held} else {value}", there)
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
                return self._let(f"{left} / {right} if OK else 0.0", valid)
            # Cut toward zero: asked of the lengths, so that the least number of all has no place here.
            self._leave(valid, f"{left} < {-_MOST} or {right} < {-_MOST}")
            sign = f"{left} < 0" if name == "%" else f"({left} < 0) != ({right} < 0)"
            length, _ = self._let(f"abs({left}) {name} abs({right}) if OK else 0", valid)
            return self._let(f"-{length} if {sign} else {length}", valid)
        if whole:
            # Asked of the operands: a compiler may take it that a result has not overflowed.
            if name == "*":
                wrong = f"abs(float({left}) * float({right})) > {_SAFE} and (({left} < {-_MOST} and {right} != 1)"
                wrong += f" or ({right} < {-_MOST} and {left} != 1) or abs({left}) > {_MOST} // abs({right}))"
            else:
                back, up, down = ("-", ">", "<") if name == "+" else ("+", "<", ">")
                wrong = f"({right} {up} 0 and {left} > {_MOST} {back} {right}) or"
                wrong += f" ({right} {down} 0 and {left} < {-_MOST - 1} {back} {right})"
            self._leave(valid, wrong)
        return self._let(f"{left} {name} {right}", valid)
