"""A network: boxes and arrows, inputs, keyed tables, and outputs with their QoS, as an immutable value (Aurora 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from australis.expressions import AggregateCall, Expr, Function, function_named, register
from australis.expressions.window_function import WINDOW_FUNCTIONS, WindowFunction
from australis.model.box import OUT as OUT
from australis.model.box import Box
from australis.model.qos import QoS
from australis.model.table import Keyed
from australis.model.validation import checked

MAIN = ""
"""Stands for the first port of a producer. A network replaces it by the port's own name."""


@dataclass(frozen=True)
class Arrow:
    """Where tuples come from: an input or a box, and one of its ports."""

    source: str
    port: str = MAIN

    def __str__(self) -> str:
        return f"{self.source}.{self.port}" if self.port else self.source


@dataclass(frozen=True)
class Input:
    """Where tuples enter. A static input is a stored table, read whole before any stream starts."""

    name: str
    schema: pa.Schema
    static: bool = False


@dataclass(frozen=True)
class Node:
    """A box in its place: one arrow for each of its inputs, and the groups it lies in, outermost first."""

    name: str
    box: Box
    sources: tuple[Arrow, ...]
    group: tuple[str, ...] = ()


@dataclass(frozen=True)
class Output:
    """Where tuples leave, and what they are worth."""

    name: str
    arrow: Arrow
    qos: QoS = QoS()


@dataclass(frozen=True, eq=False)
class Network:
    """A valid network: making one checks it, and puts its boxes in an order in which they can run.

    The order of `nodes` is kept as far as arrows allow. A box that reads a keyed table comes after the box that
    writes it. Networks are equal by value, and pickle together with the user functions that they call.
    """

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    tables: tuple[Keyed, ...] = ()
    schemas: Mapping[str, Mapping[str, pa.Schema]] = field(init=False, compare=False, repr=False)
    """The schema of every port, by producer (an input or a box) and port."""
    functions: tuple[Function | WindowFunction, ...] = field(init=False, compare=False, repr=False)
    """The user functions that its expressions call."""

    def __post_init__(self) -> None:
        nodes, outputs, schemas = checked(self)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "schemas", schemas)
        object.__setattr__(self, "functions", tuple(_functions(nodes)))

    def __reduce__(self) -> tuple[Callable[..., Network], tuple[Any, ...]]:
        return _rebuild, (type(self), self.functions, self.inputs, self.nodes, self.outputs, self.tables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.inputs, self.nodes, self.outputs, self.tables

    @classmethod
    def of(cls, network: Network) -> Self:
        """The same network as an instance of this class. It is valid, so it is not checked again."""
        copy = object.__new__(cls)
        copy.__dict__.update(network.__dict__)
        return copy

    @cached_property
    def named(self) -> Mapping[str, Node]:
        """The boxes by name."""
        return {node.name: node for node in self.nodes}

    def schema(self, arrow: Arrow) -> pa.Schema:
        """The schema of the tuples on an arrow."""
        return self.schemas[arrow.source][arrow.port]

    def render_arrow(self, arrow: Arrow) -> str:
        """An arrow as people write it: `stats`, or `stats.late` for a port that is not the main one."""
        main = next(iter(self.schemas[arrow.source]))
        return arrow.source if arrow.port == main else str(arrow)


def _rebuild(kind: type[Network], functions: tuple[Function | WindowFunction, ...], *parts: Any) -> Network:
    for function in functions:
        if isinstance(function, WindowFunction):
            WINDOW_FUNCTIONS[function.name] = function
        else:
            register(function)
    return kind(*parts)


def _functions(nodes: Iterable[Node]) -> Iterator[Function | WindowFunction]:
    """The functions of users that boxes call, each once."""
    called: dict[str, Function | WindowFunction] = {}
    for node in nodes:
        for part in _calling(node.box):
            if isinstance(part, Expr):
                called.update((name, function_named(name)) for name in part.functions)
            elif part.name in WINDOW_FUNCTIONS:
                called[part.name] = WINDOW_FUNCTIONS[part.name]
    return iter(called.values())


def _calling(value: object) -> Iterator[Expr | AggregateCall]:
    """The expressions and aggregate calls among the parameters of a box, however deep."""
    if isinstance(value, tuple):
        for part in value:
            yield from _calling(part)
        return
    if isinstance(value, Expr | AggregateCall):
        yield value
    if is_dataclass(value) and not isinstance(value, Expr):
        for part in fields(value):
            yield from _calling(getattr(value, part.name))
