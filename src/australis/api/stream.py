"""The fluent API: streams with one method a box, and networks made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from australis.api.methods.squal import SqualMethods
from australis.arguments import check_arguments
from australis.arrow.schema import Spec
from australis.arrow.schema import schema as schema_of
from australis.arrow.schema import text as schema_text
from australis.boxes import Map
from australis.errors import NetworkError, Subject, listing, near, placed
from australis.expressions import col
from australis.model import parameters
from australis.model.box import Box
from australis.model.network import OUT, Input
from australis.model.parameters import By, Columns, Expression
from australis.model.qos import QoS, qos
from australis.model.qos.graph import Points
from australis.model.table import Keyed

if TYPE_CHECKING:
    from australis.api.moving import MovingObjects
    from australis.api.signal import Signals

_GROUP: ContextVar[tuple[str, ...]] = ContextVar("group", default=())


@dataclass(frozen=True, eq=False, repr=False)
class DrawnBox:
    """A box that a method drew: it is one box however many streams lead from it, and may have no name yet."""

    box: Box
    sources: tuple[Stream, ...]
    name: str | None
    group: tuple[str, ...]
    ports: Mapping[str, pa.Schema]
    static: bool
    """Whether it gives a stored table."""


@dataclass(frozen=True, eq=False, repr=False)
class Stream(SqualMethods):
    """Tuples from one port of an input or a box. Immutable: every method gives another stream.

    Expressions are SQL text or `au.col("mph") > 60`. Columns whose names are taken by arguments go in a mapping as
    first argument. `box` names the box; without it, it is named after its kind, as in `filter_1`.
    """

    origin: Input | DrawnBox
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

    @property
    def signal(self) -> Signals:
        """Its methods for signals: `stream.signal.rewindow(1024)`."""
        from australis.api.signal import Signals

        return Signals(self)

    @property
    def moving(self) -> MovingObjects:
        """Its methods for moving objects: `stream.moving.watch(queries)`."""
        from australis.api.moving import MovingObjects

        return MovingObjects(self)

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
    def output(
        self,
        latency: Points | None = None,
        delivered: Points | None = None,
        value: Mapping[str, Points] | None = None,
        weight: float = 1.0,
    ) -> Outlet:
        """Say what the stream is worth as an output: utilities by latency in seconds, part delivered, and value.

        `weight` is how much it counts beside other outputs. Without `delivered` nothing of it is ever shed.
        """
        with placed(Subject("output")):
            return Outlet(self, qos(latency, delivered, value, weight))

    def _mapped(self, verb: str, columns: Columns, name: str | None) -> Stream:
        with placed(Subject(verb, name)):
            return self.draw(Map(parameters.columns(columns)), name=name)

    def _check_columns(self, verb: str, columns: Iterable[str]) -> None:
        for name in columns:
            if name not in self.schema.names:
                known = self.schema.names
                raise NetworkError(f"{verb}: there is no column {name}; there are {listing(known)}{near(name, known)}")

    def draw(self, box: Box, *others: Stream, name: str | None = None) -> Stream:
        """Draw a box that takes this stream first, then the others; gives its main port."""
        drawn = self._drawn(box, name, *others)
        return Stream(drawn, next(iter(drawn.ports)))

    def fork(self, box: Box, *others: Stream, name: str | None = None) -> tuple[Stream, ...]:
        """Draw a box that takes this stream first, then the others; gives all its ports."""
        drawn = self._drawn(box, name, *others)
        return tuple(Stream(drawn, port) for port in drawn.ports)

    def _drawn(self, box: Box, name: str | None, *others: Stream) -> DrawnBox:
        sources = (self, *others)
        schemas = [source.schema for source in sources]
        stored = [source.static for source in sources]
        box = box.adapted(stored, schemas)
        return DrawnBox(box, sources, name, _GROUP.get(), box.outputs(*schemas), box.stores and all(stored))

    @property
    def _stream(self) -> Stream:
        return self


@dataclass(frozen=True, eq=False)
class Outlet:
    """A stream as an output of a network, with its QoS."""

    stream: Stream
    qos: QoS


@check_arguments()
def stream(name: str, schema: Spec) -> Stream:
    """An input: `au.stream("reports", "time int, vid int, mph int")`."""
    with placed(Subject("input", name)):
        return Stream(Input(name, schema_of(schema)))


@check_arguments()
def static(name: str, schema: Spec) -> Stream:
    """A stored table as an input, read whole before any stream starts."""
    with placed(Subject("input", name)):
        return Stream(Input(name, schema_of(schema), static=True))


@check_arguments()
def table(name: str, schema: Spec, key: By) -> Keyed:
    """A table of rows under a key, which one `write` of a network fills and others may `read`."""
    with placed(Subject("table", name)):
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
