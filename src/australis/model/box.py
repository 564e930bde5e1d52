"""The contract of a box: a pure, vectorised function from trains and tables to trains."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ClassVar, Protocol, TypeVar, cast

import pyarrow as pa

from australis.model.table import Table
from australis.model.train import Train

Tables = dict[str, Table]
Trains = tuple[Train, ...]
Key = tuple[str, ...]

EVERYWHERE: Key = ("*",)
"""The key of an input that every partition needs all of."""

LATE, REFUSED = "late", "refused"
"""What the names of ports begin with by which tuples leave that a box could make no use of: they came out of order, or
tell what cannot be. They are counted, and where nothing takes from such a port, people are told."""


def lost(port: str) -> str:
    """What has become of the tuples of a port that a box could make no use of; nothing for any other port.

    >>> lost("late_left"), lost("refused"), lost("latest")
    ('late', 'refused', '')
    """
    word = port.partition("_")[0]
    return word if word in (LATE, REFUSED) else ""


@dataclass(frozen=True)
class Moment:
    """What a step knows beside its trains: time reaches a box as a value, so that a replay does the same again.

    `number` is the latest arrival number; `clock` the local time in microseconds where the step may time windows out;
    `end` says that the inputs are finished, and what is open is to be emitted; `ended` names the inputs of the network
    that are, and `done` tells a box which of its own inputs will give nothing more because of that.
    """

    number: int = 0
    clock: int | None = None
    end: bool = False
    ended: frozenset[str] = frozenset()
    done: frozenset[int] = frozenset()


Method = Callable[..., Any]
F = TypeVar("F", bound=Method)


def bound(method: F) -> F:
    """Let a method of a box, asked about schemas at every step, remember its answer for the ones it was last asked.

    The box itself stays a value: the answers are kept beside it, as long as it lives.
    """
    answers: dict[int, tuple[weakref.ref[Any], tuple[pa.Schema, ...], Any]] = {}

    @wraps(method)
    def remembering(self: Any, *inputs: pa.Schema) -> Any:
        known = answers.get(id(self))
        if known is None or not all(map(pa.Schema.equals, known[1], inputs)):
            mine = weakref.ref(self, partial(_forget, answers, id(self)))
            known = answers[id(self)] = (mine, inputs, method(self, *inputs))
        return known[2]

    return cast(F, remembering)


def _forget(answers: dict[int, Any], key: int, _: object) -> None:
    answers.pop(key, None)


class Box(Protocol):
    """A frozen dataclass of a box's parameters, with what a network and a runner must know of it.

    Results do not depend on how the inputs are cut into trains, nor on how many partitions run the box.
    """

    kind: ClassVar[str]
    """The paper's word for it, as the fluent method and the network file spell it."""

    @property
    def arity(self) -> int:
        """How many inputs it takes."""

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        """Its output ports, first the main one, by name; raises where the inputs do not fit.

        Tuples that it can make no use of leave by ports named `late` or `refused`, or `late_left` and so on (`lost`).
        """

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        """For each input the columns to partition by; none if any partitioning does, `()` if it must be one."""

    def tables(self, *inputs: pa.Schema) -> Tables:
        """The state it keeps, empty."""

    def holds(self, *inputs: pa.Schema) -> str:
        """How much that state can grow to, in words; empty for a box without state."""

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        """One train from each input to one train for each output port."""


class Stateless:
    """What a box without state has to say of it: any partitioning will do, and it keeps nothing."""

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return None

    def tables(self, *inputs: pa.Schema) -> Tables:
        return {}

    def holds(self, *inputs: pa.Schema) -> str:
        return ""
