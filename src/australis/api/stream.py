"""The fluent API: streams with one method a box, and networks made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import pyarrow as pa

from australis.api import moving as moving_methods
from australis.api import signal as signal_methods
from australis.arguments import check_arguments
from australis.arrow.schema import Spec, numeric, temporal
from australis.arrow.schema import schema as schema_of
from australis.arrow.schema import text as schema_text
from australis.boxes import Aggregate, BSort, Filter, Join, Map, Read, Resample, Route, Union, Write, parameters
from australis.boxes.parameters import By, Expression, Function, Length, On, order
from australis.errors import NetworkError, listing, near
from australis.expressions import Expr, Term, col
from australis.model.box import Box
from australis.model.network import OUT, Input
from australis.model.order import TUP, Order
from australis.model.qos import QoS, qos
from australis.model.qos.graph import Points
from australis.model.table import Keyed
from australis.model.validation import telling

_GROUP: ContextVar[tuple[str, ...]] = ContextVar("group", default=())


@dataclass(frozen=True, eq=False, repr=False)
class Made:
    """A box that a method made: it is one box however many streams lead from it, and may have no name yet."""

    box: Box
    sources: tuple[Stream, ...]
    name: str | None
    group: tuple[str, ...]
    ports: Mapping[str, pa.Schema]

    @property
    def static(self) -> bool:
        return self.box.stores and all(source.static for source in self.sources)


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """Tuples from one port of an input or a box. Immutable: every method gives another stream.

    Expressions are SQL text or `au.col("mph") > 60`. Columns whose names are taken by arguments go in a mapping as
    first argument. `box` names the box; without it, it is named after its kind, as in `filter_1`.
    """

    origin: Input | Made
    at: str = OUT
    beside: Stream | None = None
    """Where a method makes several boxes: a stream of the one whose other ports count as this one's."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of its tuples."""
        return self.origin.schema if isinstance(self.origin, Input) else self.origin.ports[self.at]

    @property
    def static(self) -> bool:
        """Whether it is a stored table, complete before any stream starts."""
        return self.origin.static

    def __repr__(self) -> str:
        return f"<stream {self._place}: {schema_text(self.schema)}>"

    @property
    def _place(self) -> str:
        if isinstance(self.origin, Input):
            return self.origin.name
        return f"{self.origin.name or self.origin.box.kind}.{self.at}"

    @check_arguments()
    def port(self, name: str) -> Stream:
        """Another output of the same box."""
        ports = [OUT] if isinstance(self.origin, Input) else list(self.origin.ports)
        if name not in ports and self.beside is not None:
            return self.beside.port(name)
        if name not in ports:
            raise NetworkError(f"{self._place}: there is no port {name}; there are {listing(ports)}{near(name, ports)}")
        return Stream(self.origin, name)

    @property
    def rest(self) -> Stream:
        """The tuples that satisfied no predicate."""
        return self.port("rest")

    @property
    def late(self) -> Stream:
        """The tuples that the box found out of order."""
        return self.port("late")

    @property
    def late_left(self) -> Stream:
        """The left tuples that the box found out of order."""
        return self.port("late_left")

    @property
    def late_right(self) -> Stream:
        """The right tuples that the box found out of order."""
        return self.port("late_right")

    @check_arguments()
    def filter(self, *predicates: Expression, box: str | None = None) -> Stream:
        """Let the tuples through that satisfy a predicate, or all of several; the others are the stream's `rest`."""
        with _telling(Filter, box):
            return self._main(Filter(parameters.conjunction(predicates)), box)

    @check_arguments()
    def route(self, *predicates: Expression, box: str | None = None) -> tuple[Stream, ...]:
        """Send each tuple to the first predicate that it satisfies: a stream each, and the last for those of none."""
        with _telling(Route, box):
            made = self._made(Route(tuple(map(parameters.expression, predicates))), box)
        return tuple(Stream(made, port) for port in made.ports)

    @check_arguments()
    def map(self, columns: Columns | None = None, /, *, box: str | None = None, **more: Expression) -> Stream:
        """Make each tuple anew of expressions over it."""
        return self._mapped("map", {**(columns or {}), **more}, box)

    @check_arguments()
    def select(self, *columns: str, box: str | None = None, **more: Expression) -> Stream:
        """Keep these columns, in this order, and make others of expressions: a map."""
        self._check_columns("select", columns)
        return self._mapped("select", {**{name: col(name) for name in columns}, **more}, box)

    @check_arguments()
    def with_columns(self, columns: Columns | None = None, /, *, box: str | None = None, **more: Expression) -> Stream:
        """Keep all columns, and make others of expressions, beside them or in their place: a map."""
        kept = {name: col(name) for name in self.schema.names}
        return self._mapped("with_columns", {**kept, **(columns or {}), **more}, box)

    @check_arguments()
    def rename(self, names: Mapping[str, str] | None = None, /, *, box: str | None = None, **more: str) -> Stream:
        """Call columns otherwise, `rename(mph="speed")`; the others keep their names: a map."""
        to = {**(names or {}), **more}
        self._check_columns("rename", to)
        made = [to.get(name, name) for name in self.schema.names]
        twice = [name for name, count in Counter(made).items() if count > 1]
        if twice:
            raise NetworkError(f"rename: two columns would be named {listing(twice)}")
        return self._mapped("rename", {new: col(old) for old, new in zip(self.schema.names, made, strict=True)}, box)

    @check_arguments()
    def drop(self, *columns: str, box: str | None = None) -> Stream:
        """Leave these columns behind: a map."""
        self._check_columns("drop", columns)
        kept = [name for name in self.schema.names if name not in columns]
        if not kept:
            raise NetworkError("drop: no column would be left")
        return self._mapped("drop", {name: col(name) for name in kept}, box)

    @check_arguments()
    def union(self, *others: Stream, on: str = "", box: str | None = None) -> Stream:
        """Merge with other streams of the same schema, in the order of arrival, or by a column on which they ascend.

        With `on` a tuple waits until every other stream has come as far, or has ended.
        """
        with _telling(Union, box):
            return self._main(Union(1 + len(others), on), box, *others)

    @check_arguments()
    def bsort(self, on: On, slack: int = 0, by: By = (), box: str | None = None) -> Stream:
        """Sort on a column as far as a buffer of `slack` + 1 tuples can."""
        with _telling(BSort, box):
            return self._main(BSort(order(on, slack, by)), box)

    @check_arguments()
    def aggregate(
        self,
        functions: Functions | None = None,
        /,
        *,
        on: On | None = None,
        size: Length | None = None,
        advance: Length | Expr | Term | None = None,
        by: By = (),
        slack: int = 0,
        timeout: Length | None = None,
        partial: bool = False,
        box: str | None = None,
        **more: Function,
    ) -> Stream:
        """Apply window functions to windows of `size` on the column `on`, which slide by `advance` (by their size).

        `advance` may be a predicate: the window moves on at the tuple that satisfies it. `timeout` is a time after
        which an open window is emitted as it is. At the end of the input, windows on a column are emitted as they are;
        windows of so many tuples (on `tup#`) that are short of them are not, unless `partial` is true.
        """
        with _telling(Aggregate, box):
            step = size if advance is None else advance
            if step is None:
                raise NetworkError("give `size`, or `advance` with a predicate, or both")
            if on is None:
                raise self._without_order()
            aggregate = Aggregate(
                parameters.functions({**(functions or {}), **more}),
                order(on, slack, by),
                None if size is None else parameters.span(size),
                parameters.advance(step),
                None if timeout is None else parameters.span(timeout),
                partial,
            )
            return self._main(aggregate, box)

    @check_arguments()
    def join(
        self,
        other: Stream,
        predicate: Expression | None = None,
        *,
        on: On | Sequence[On | None] | None = None,
        size: Length | None = None,
        box: str | None = None,
    ) -> Stream:
        """Pair tuples whose values of `on` differ by at most `size` and that satisfy a predicate.

        The predicate says `left.pos = right.pos`. `on` is one column or order for both sides, or a pair. A side that
        is a static table has none, and neither then has the join a `size`; the stream beside it may go without.
        """
        with _telling(Join, box):
            left, right = parameters.sides(on)
            left, right = left or _arrival(other), right or _arrival(self)
            for side, stream, assumed in (("left", self, left), ("right", other, right)):
                if assumed is None and not stream.static:
                    raise NetworkError(f"{side} side: {stream._without_order()}")
            join = Join(
                None if self.static else left,
                None if other.static else right,
                None if size is None else parameters.span(size),
                None if predicate is None else parameters.expression(predicate),
            )
            return self._main(join, box, other)

    @check_arguments()
    def resample(
        self,
        other: Stream,
        functions: Functions | None = None,
        /,
        *,
        on: On | Sequence[On | None] | None = None,
        size: Length,
        box: str | None = None,
        **more: Function,
    ) -> Stream:
        """For each tuple, apply window functions to the tuples of `other` that are at most `size` away from it."""
        with _telling(Resample, box):
            left, right = parameters.sides(on)
            if left is None or right is None:
                raise (self if left is None else other)._without_order()
            made = parameters.functions({**(functions or {}), **more})
            return self._main(Resample(made, left, right, parameters.span(size)), box, other)

    @check_arguments()
    def write(
        self,
        table: Keyed,
        columns: Columns | None = None,
        /,
        *,
        returning: Columns | None = None,
        box: str | None = None,
        **more: Expression,
    ) -> Stream:
        """Write the row of each tuple's key, and give the tuple with its new values; `old.x` reads the row before.

        With `returning`, the tuple is given with these values instead.
        """
        with _telling(Write, box):
            written = parameters.columns({**(columns or {}), **more})
            return self._main(Write(table, written, parameters.columns(returning or {})), box)

    @check_arguments()
    def read(self, table: Keyed, *columns: str, box: str | None = None) -> Stream:
        """Give each tuple with columns (all, if none is named) of the row of its key, null where there is none."""
        with _telling(Read, box):
            return self._main(Read(table, columns), box)

    rewindow = signal_methods.rewindow
    sync = signal_methods.sync
    stats = signal_methods.stats
    transform = signal_methods.transform
    wavelet = signal_methods.wavelet
    lfilter = signal_methods.lfilter
    cfar = signal_methods.cfar
    trigger = signal_methods.trigger
    window = signal_methods.window
    zip = signal_methods.zip
    apply = signal_methods.apply
    rerate = signal_methods.rerate
    correlate = signal_methods.correlate
    spectrogram = signal_methods.spectrogram

    watch = moving_methods.watch
    ask = moving_methods.ask
    tally = moving_methods.tally
    meet = moving_methods.meet
    distinct = moving_methods.distinct

    @check_arguments()
    def output(
        self, latency: Points | None = None, delivered: Points | None = None, value: Mapping[str, Points] | None = None
    ) -> Outlet:
        """Say what the stream is worth as an output: utilities by latency in seconds, part delivered, and value."""
        with telling("output"):
            return Outlet(self, qos(latency, delivered, value))

    def _mapped(self, verb: str, columns: Columns, name: str | None) -> Stream:
        with telling(f"{verb} {name}" if name else verb):
            return self._main(Map(parameters.columns(columns)), name)

    def _check_columns(self, verb: str, columns: Iterable[str]) -> None:
        for name in columns:
            if name not in self.schema.names:
                known = self.schema.names
                raise NetworkError(f"{verb}: there is no column {name}; there are {listing(known)}{near(name, known)}")

    def _without_order(self) -> NetworkError:
        columns = [field.name for field in self.schema if numeric(field.type) or temporal(field.type)]
        return NetworkError(f"it needs an order: give `on`, a column such as {listing(columns)}, or tup# for arrival")

    def _main(self, box: Box, name: str | None, *others: Stream) -> Stream:
        made = self._made(box, name, *others)
        return Stream(made, next(iter(made.ports)))

    def _made(self, box: Box, name: str | None, *others: Stream) -> Made:
        sources = (self, *others)
        return Made(box, sources, name, _GROUP.get(), box.outputs(*(source.schema for source in sources)))


Columns = Mapping[str, Expression]
Functions = Mapping[str, Function]


@dataclass(frozen=True, eq=False)
class Outlet:
    """A stream as an output of a network, with its QoS."""

    stream: Stream
    qos: QoS


@check_arguments()
def stream(name: str, schema: Spec) -> Stream:
    """An input: `au.stream("reports", "time int, vid int, mph int")`."""
    with telling(f"input {name}"):
        return Stream(Input(name, schema_of(schema)))


@check_arguments()
def static(name: str, schema: Spec) -> Stream:
    """A stored table as an input, read whole before any stream starts."""
    with telling(f"input {name}"):
        return Stream(Input(name, schema_of(schema), static=True))


@check_arguments()
def table(name: str, schema: Spec, key: By) -> Keyed:
    """A table of rows under a key, which one `write` of a network fills and others may `read`."""
    with telling(f"table {name}"):
        return parameters.keyed(name, schema, key)


@check_arguments()
@contextmanager
def group(name: str) -> Iterator[None]:
    """Put the boxes made inside in a named group, which may lie in another."""
    token = _GROUP.set((*_GROUP.get(), name))
    try:
        yield
    finally:
        _GROUP.reset(token)


def _arrival(other: Stream) -> Order | None:
    """The order that is assumed of a stream beside a static table: that of arrival, where nothing is late."""
    return Order(TUP) if other.static else None


def _telling(kind: type[Box], name: str | None) -> AbstractContextManager[None]:
    return telling(f"{kind.kind} {name}" if name else kind.kind)
