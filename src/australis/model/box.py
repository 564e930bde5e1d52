"""The contract of a box: a pure, vectorised function from trains and tables to trains."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from functools import partial, wraps
from typing import Any, ClassVar, TypeVar, cast

import pyarrow as pa

from australis.expressions.codegen.fused import Step
from australis.model.ascent import Ascent, Disorder
from australis.model.facts import NOTHING, Facts
from australis.model.labels import as_written, parameter
from australis.model.table import Keyed, Table
from australis.model.train import Train

Tables = dict[str, Table]
Trains = tuple[Train, ...]
Key = tuple[str, ...]

OUT = "out"
"""The one port of an input, and the main port of most boxes."""

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


class Box(ABC):
    """A frozen dataclass of a box's parameters, with all that others must know of it.

    Whoever draws, plans, runs or writes a network asks its boxes, and never which class they are of. What is said here
    holds of a box that keeps nothing, may run anywhere, and gives tuples of which nothing is known.

    Results do not depend on how the inputs are cut into trains, nor on how many partitions run the box.
    """

    kind: ClassVar[str]
    """The paper's word for it, as the fluent method and the network file spell it."""

    make: ClassVar[Any] = None
    """A class method that makes the box of what people write: its parameters are those of the method of streams and
    the keys of the network file (`model/form.py`). One named `arity` is told how many inputs there are. A box without
    it is made of its fields."""

    others: ClassVar[tuple[str, ...]] = ()
    """The inputs beside the first as the method of streams calls them; the last may stand for several: `*signals`."""

    composed: ClassVar[bool] = False
    """Whether it is drawn together with others, by a method of theirs, and has none made of its form."""

    forks: ClassVar[bool] = False
    """Whether the method of streams gives a stream for each port, rather than that of the main port."""

    merges: ClassVar[bool] = False
    """Whether each tuple that leaves comes from one of its inputs alone, with the columns that all inputs have."""

    stores: ClassVar[bool] = False
    """Whether what it makes of stored tables alone is a stored table."""

    copies_inputs: ClassVar[bool] = False
    """Whether every partition may have all of one of its inputs without a result coming twice."""

    immediate: ClassVar[bool] = False
    """Whether it holds no tuple back: when its inputs have ended, so has what it gives."""

    @property
    def arity(self) -> int:
        """How many inputs it takes."""
        return 1

    @property
    def reads(self) -> Keyed | None:
        """The keyed table that it reads."""
        return None

    @property
    def writes(self) -> Keyed | None:
        """The keyed table that it writes; no other box may."""
        return None

    @property
    def keyed(self) -> Keyed | None:
        """The keyed table that it reads or writes."""
        return self.reads or self.writes

    @property
    def waits_for_all(self) -> bool:
        """Whether it goes as far as its slowest input, and must be told which of them are done (`Moment.done`)."""
        return False

    @property
    def step_of_chain(self) -> Step | None:
        """What it does to each tuple alone, as a step of a compiled loop: a predicate, or columns."""
        return None

    def label(self) -> list[str]:
        """Its parameters as people read them, a line each."""
        return [line for field in fields(self) for line in parameter(field.name, getattr(self, field.name))]  # type: ignore[arg-type]

    def written(self) -> Mapping[str, object]:
        """The arguments of `make` that make it again, as a network file holds them."""
        return {field.name: as_written(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    def adapted(self, stored: Sequence[bool], streams: Sequence[pa.Schema]) -> Box:
        """The box for its inputs, where a parameter that is not given follows from which of them are stored tables."""
        return self

    @abstractmethod
    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        """Its output ports, first the main one, by name; raises where the inputs do not fit.

        Tuples that it can make no use of leave by ports named `late` or `refused`, or `late_left` and so on (`lost`).
        """

    @abstractmethod
    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        """One train from each input to one train for each output port."""

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        """For each input the columns to partition by; none if any partitioning does, `()` if it must be one."""
        return None

    def tables(self, *inputs: pa.Schema) -> Tables:
        """The state it keeps, empty."""
        return {}

    def holds(self, *inputs: pa.Schema) -> str:
        """How much that state can grow to, in words; empty for a box without state."""
        return ""

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        """The inputs beside whose tuples those of a port lie, each with its columns that pass, by their names there.

        A planner that does not know this exchanges tuples that lie well already. Tuples that are late or refused are
        those that came.
        """
        side = 1 if port.endswith("_right") else 0
        return {side: unchanged(inputs[side])} if lost(port) else {}

    def sorts(self, port: str) -> Key | None:
        """The columns by which tuples of one arrival number leave a port; none where they leave as they came."""
        return None

    def ordered_on(self, side: int) -> str:
        """The column whose order it goes by on an input, if any."""
        return ""

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        """Why a column of its main port may not ascend in each group of `by`, or none where it does if the inputs do.

        Only boxes of queries are asked; others are taken at their users' word.
        """
        return None

    def merged_by(self, column: str) -> Box | None:
        """The same box, taking its inputs by a column on which they ascend; none where it takes them otherwise."""
        return None

    def check_stored(self, stored: Sequence[bool], names: Sequence[str]) -> None:
        """Refuse stored tables as inputs, or streams; `names` are the arrows as people write them."""
        return

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        """What is known of the signals that it gives, by what is known of those it takes; raises if these misfit."""
        return NOTHING


def unchanged(stream: pa.Schema) -> dict[str, str]:
    """The columns of a stream that passes as it is."""
    return {name: name for name in stream.names}
