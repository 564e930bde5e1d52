"""The tree of an expression: names, literals, and functions or operators applied to trees."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from australis.arrow.schema import data_type

Value: TypeAlias = bool | int | float | str | dt.timedelta | None


@dataclass(frozen=True)
class Name:
    """A column; `left.pos` is the column named "left.pos"."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A constant; other types are casts of a text, as in `cast('2026-01-01' as date)`."""

    value: Value


@dataclass(frozen=True)
class FunctionCall:
    """A function or an operator, by its name in lower case, and what it is applied to."""

    function: str
    args: tuple[Node, ...]


Node: TypeAlias = Name | Literal | FunctionCall

NULL = Literal(None)
_FLAT = ("and", "or", "||")


def apply(function: str, *args: Node) -> Node:
    """Apply, in the one form that equal expressions share: flat `and`, `or` and `||`, negative literals."""
    if function in _FLAT:
        parts: list[Node] = []
        for arg in args:
            parts.extend(arg.args if isinstance(arg, FunctionCall) and arg.function == function else [arg])
        return FunctionCall(function, tuple(parts))
    if function == "neg" and isinstance(args[0], Literal):
        value = args[0].value
        # A zero keeps its sign apart: -0.0 is not 0.0, though Python calls them equal.
        if isinstance(value, int | float | dt.timedelta) and not isinstance(value, bool) and value:
            return Literal(-value)
    return FunctionCall(function, args)


def walk(node: Node) -> Iterator[Node]:
    """Every part of a tree, in the order in which it is written."""
    yield node
    if isinstance(node, FunctionCall):
        for arg in node.args:
            yield from walk(arg)


def names(node: Node) -> tuple[str, ...]:
    """The columns that a tree reads, in order of appearance, each once."""
    return tuple(dict.fromkeys(part.name for part in walk(node) if isinstance(part, Name)))


def replaced(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree with each topmost part for which `change` gives another one replaced."""
    other = change(node)
    if other is not None:
        return other
    if isinstance(node, FunctionCall):
        return apply(node.function, *(replaced(arg, change) for arg in node.args))
    return node


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The parts of a predicate that must all hold."""
    return node.args if isinstance(node, FunctionCall) and node.function == "and" else (node,)


def renamed(node: Node, changes: Mapping[str, str]) -> Node:
    """The tree with columns renamed."""
    return replaced(node, lambda part: Name(changes.get(part.name, part.name)) if isinstance(part, Name) else None)


def ascending(node: Node) -> str | None:
    """The column that an expression ascends with: itself, or with a constant added."""
    if isinstance(node, Name):
        return node.name
    if isinstance(node, FunctionCall) and node.function == "cast":
        type_ = node.args[1]
        # A time of day begins again at midnight.
        clock = isinstance(type_, Literal) and pa.types.is_time(data_type(str(type_.value)))
        return None if clock else ascending(node.args[0])
    if isinstance(node, FunctionCall) and node.function in ("+", "-") and isinstance(node.args[1], Literal):
        return ascending(node.args[0]) if node.args[1].value is not None else None
    return None
