"""The contract of a box: a pure, vectorised function from trains and tables to trains."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from typing import Any, ClassVar, TypeVar, cast

import pyarrow as pa

from australis.expressions import AGGREGATES, AggregateCall, Expr, col, expr
from australis.expressions.codegen.fused import Step
from australis.model.ascent import Ascent, Disorder
from australis.model.facts import NOTHING, Facts
from australis.model.labels import as_written, parameter
from australis.model.lightened import Lightened
from australis.model.table import Keyed, Table
from australis.model.train import Bools, Ints, Train
from australis.model.windows import TupleWindows

Tables = dict[str, Table]
Trains = tuple[Train, ...]
Key = tuple[str, ...]

OUT = "out"
"""The one port of an input, and the main port of most boxes."""

EVERYWHERE: Key = ("*",)
"""The key of an input that every partition needs all of."""

LATE, REFUSED = "late", "refused"
"""The beginnings of the names of ports for tuples that a box cannot use: out of order, or with impossible values.

Such tuples are counted. Where no arrow leads from such a port, the run reports them."""


def lost(port: str) -> str:
    """Why a box could not use the tuples of a port: `late` or `refused`, and "" for any other port.

    >>> lost("late_left"), lost("refused"), lost("latest")
    ('late', 'refused', '')
    """
    word = port.partition("_")[0]
    return word if word in (LATE, REFUSED) else ""


@dataclass(frozen=True)
class Moment:
    """What a step knows beside its trains. Time reaches a box as a value, so that a replay gives the same results.

    `number` is the latest arrival number.
    `clock` is the local time in microseconds, where the step may time windows out.
    `end` says that all inputs are finished: the box emits what is open.
    `ended` names the inputs of the network that are finished, and `done` the inputs of the box that will therefore
    give nothing more.
    `part` is how much a box that can work with less (`Box.lightens`) is to leave of its results.
    """

    number: int = 0
    clock: int | None = None
    end: bool = False
    ended: frozenset[str] = frozenset()
    done: frozenset[int] = frozenset()
    part: float = 1.0


Method = Callable[..., Any]
F = TypeVar("F", bound=Method)


def bound(method: F) -> F:
    """Cache the last result of a box's method of schemas, which is called at every step.

    The box itself stays a value: the cache lies beside it, and goes when the box does.
    """
    answers: dict[int, tuple[weakref.ref[Any], tuple[pa.Schema, ...], Any]] = {}

    @wraps(method)
    def remembering(self: Any, *inputs: pa.Schema) -> Any:
        cached = answers.get(id(self))
        if cached is None or not all(map(pa.Schema.equals, cached[1], inputs)):
            owner = weakref.ref(self, partial(_forget, answers, id(self)))
            cached = answers[id(self)] = (owner, inputs, method(self, *inputs))
        return cached[2]

    return cast(F, remembering)


def _forget(answers: dict[int, Any], key: int, _: object) -> None:
    answers.pop(key, None)


class Box(ABC):
    """A frozen dataclass of a box's parameters, with all that others must know of it.

    Drawing, planning, running and writing a network ask its boxes; they never ask for a box's class. The defaults here
    are those of a box without state that may run in any partition, and of whose results nothing is known.

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
    """Whether each result is a tuple of one of its inputs, with the columns that all inputs share."""

    stores: ClassVar[bool] = False
    """Whether its result is a stored table if all of its inputs are."""

    copies_inputs: ClassVar[bool] = False
    """Whether every partition may have a whole copy of one of its inputs without duplicate results."""

    keeps_all: ClassVar[bool] = False
    """Whether each tuple that it takes gives one on its main port."""

    immediate: ClassVar[bool] = False
    """Whether it holds no tuple back: when its inputs end, its results end too."""

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
        """Whether it advances with its slowest input, and so must know which inputs are done (`Moment.done`)."""
        return False

    @property
    def step_of_chain(self) -> Step | None:
        """What it does to one tuple, as a step of a compiled loop: a predicate, or columns; None if it does more."""
        return None

    @property
    def selects(self) -> Expr | None:
        """The predicate, if all it does is to let the tuples through that satisfy one; the others leave by `rest`."""
        return None

    @property
    def pure(self) -> bool:
        """Whether what it makes of tuples follows from them, and not from what else is in their trains.

        So it is unless it calls a user function that is not declared pure.
        """
        return all(part.pure if isinstance(part, Expr) else part.name in AGGREGATES for part in expressions(self))

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
        """The schemas of its output ports by name, the main one first. Raises if the inputs do not fit.

        Tuples that it cannot use leave by ports named `late` or `refused`, or `late_left` and so on (`lost`).
        """

    @abstractmethod
    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        """Take one train from each input, and return one train for each output port."""

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        """The columns to partition each input by. None allows any partitioning; `()` requires a single partition."""
        return None

    def tables(self, *inputs: pa.Schema) -> Tables:
        """The tables of its state, empty."""
        return {}

    def holds(self, *inputs: pa.Schema) -> str:
        """How much its state can grow to, in words; empty for a box without state."""
        return ""

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        """The inputs in whose partitions the results of a port stay, each with the columns that pass unchanged.

        The columns are given as {name in the input: name in the result}. Without this the planner exchanges tuples
        that are in the right partition already. Late and refused tuples pass as they came.
        """
        side = 1 if port.endswith("_right") else 0
        return {side: unchanged(inputs[side])} if lost(port) else {}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        """The columns of each input that it must be given, so that these columns of a port are as they are.

        If it is given only those, it still works, and gives the columns under the same names. Ports of lost tuples
        (`lost`) are not asked about: those tuples are whole.
        """
        return tuple(frozenset(stream.names) for stream in inputs)

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """Predicates on inputs, by their places, that leave on a port what a predicate on the port would; None if none.

        Nothing else may change: neither the order of results, nor which tuples are late or refused. The predicates
        fail for no tuple that the one on the port does not fail for.
        """
        return None

    def followed_by(self, box: Box, stream: pa.Schema) -> Box | None:
        """One box that does to a stream what this one does, and then another; None if there is none.

        It fails for no tuple that the two do not fail for.
        """
        return None

    def divisible(self, *inputs: pa.Schema) -> bool:
        """Whether it gives a part of its results, and no others, if it is given a part of its tuples, whichever."""
        return self.writes is None and not self.tables(*inputs)

    def computes(self, port: str, *inputs: pa.Schema) -> Mapping[str, Expr]:
        """The columns of a port that are computed of one tuple of the first input each, and how.

        Only a box with one input, each of whose results is made of one of its tuples, is asked.
        """
        return {name: expr(col(source)) for source, name in self.passes(port, *inputs).get(0, {}).items()}

    def windows(self, train: Train) -> TupleWindows | None:
        """The one window that holds each tuple of its input, or that each of its results is of.

        The result of a window must not depend on tuples of others, but for which tuples are late and when windows end.
        None if it has no such windows.
        """
        return None

    @property
    def sampled_by(self) -> frozenset[str] | None:
        """The columns by which `thin` goes, if its results may be made of a sample of its tuples; None if not."""
        return None

    def thin(self, train: Train, sample: Bools, wanted: Bools) -> Ints:
        """The weights of its tuples (`Train.weights`), 0 for those that are left out, by which are in the sample.

        Those that are `wanted` by others go on, too. Only a box that says `sampled_by` is asked.
        """
        raise NotImplementedError

    def lightens(self, *inputs: pa.Schema) -> frozenset[str]:
        """The ports on which it gives less if it is told to work with less (`Moment.part`); none if it cannot.

        It takes all of its tuples, and chooses by itself what to leave out. It may leave out less than it is told to,
        and nothing any more once it is told to work with all.
        """
        return frozenset()

    def lightened(self, tables: Tables) -> Lightened:
        """What it leaves out after its last step, by its tables. Only a box that can work with less is asked."""
        return Lightened()

    def sorts(self, port: str) -> Key | None:
        """The columns that sort results of one arrival number on a port; None if they keep the order of the input."""
        return None

    def ordered_on(self, side: int) -> str:
        """The column of an input whose order it relies on, or ""."""
        return ""

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        """Why a column of its main port may not ascend in each group of `by`; None if it ascends when the inputs do.

        Only the boxes that SQL plans are asked.
        """
        return None

    @property
    def says_disorder(self) -> bool:
        """Whether `disorder` is its own word; else nothing is known of the order of its results."""
        return type(self).disorder is not Box.disorder

    def merged_by(self, column: str) -> Box | None:
        """The same box, merging its inputs by a column on which they ascend; None if it cannot merge so."""
        return None

    def check_stored(self, stored: Sequence[bool], names: Sequence[str]) -> None:
        """Raise if a stored table or a stream is on the wrong input; `names` are the arrows as people write them."""
        return

    def facts(self, title: str, inputs: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        """What is known of the signals of its results, from what is known of its inputs. Raises if these do not fit."""
        return NOTHING


def expressions(box: Box) -> Iterator[Expr | AggregateCall]:
    """The expressions and aggregate calls in the parameters of a box."""
    for field in fields(box):  # type: ignore[arg-type]
        yield from _calls(getattr(box, field.name))


def _calls(value: object) -> Iterator[Expr | AggregateCall]:
    """The expressions and aggregate calls in a parameter, however deep."""
    if isinstance(value, Expr | AggregateCall):
        yield value
    if isinstance(value, tuple):
        for part in value:
            yield from _calls(part)
    elif is_dataclass(value) and not isinstance(value, Expr):
        for field in fields(value):
            yield from _calls(getattr(value, field.name))


def unchanged(stream: pa.Schema) -> dict[str, str]:
    """All columns of a stream, each under its own name (for `Box.passes`)."""
    return {name: name for name in stream.names}
