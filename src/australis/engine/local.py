"""The local runner: a whole network in this process, a step at a time, for tests, demos and single stepping."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from australis.arguments import check_arguments
from australis.connectors import files, intake
from australis.connectors.files import LocalSink, Unread
from australis.connectors.intake import Given
from australis.engine.losses import losses, summed
from australis.engine.merging import merging
from australis.engine.superbox import Event, tables_of
from australis.engine.superbox import steps as superbox_steps
from australis.errors import RunError, Subject, listing, near
from australis.model.box import LATE, REFUSED, Moment, lost
from australis.model.network import OUT, Network
from australis.model.train import Train, empty, joined

Results = dict[str, pa.RecordBatch]
Clock = Callable[[], int]
"""The local time in microseconds."""


@dataclass
class Counts:
    """How many tuples a box has been given and has given, in all, by place and by port."""

    taken: list[int]
    given: dict[str, int]

    @property
    def late(self) -> int:
        """Tuples that were out of order."""
        return sum(count for port, count in self.given.items() if lost(port) == LATE)

    @property
    def refused(self) -> int:
        """Tuples that told what cannot be."""
        return sum(count for port, count in self.given.items() if lost(port) == REFUSED)


class LocalResults(dict[str, pa.Table]):
    """The tables of outputs by their names, and beside them what was counted on the way.

    `counts` has what each input and box took and gave. `late` and `refused` name the boxes that found tuples late, or
    refused some, and how many, wherever those went; `losses` says which of them nothing took, and what to do.
    """

    def __init__(self, tables: Mapping[str, pa.Table], network: Network, counts: Mapping[str, Counts]) -> None:
        super().__init__(tables)
        self.network, self.counts = network, dict(counts)

    @property
    def late(self) -> dict[str, int]:
        return summed(self._ports, LATE)

    @property
    def refused(self) -> dict[str, int]:
        return summed(self._ports, REFUSED)

    def losses(self, slack: str = "") -> list[str]:
        """In words; `slack` says how people give slack, where that is not to a box."""
        return losses(self.network, self._ports, slack)

    @property
    def _ports(self) -> dict[str, dict[str, int]]:
        return {name: counts.given for name, counts in self.counts.items()}


class Local:
    """A run of a network. Each call is one step of all its boxes; nothing is held between them.

    Static inputs come first, on opening or in pushes of their own. What those on opening give by themselves comes with
    the results of the first call. After `end()` the run takes nothing more.
    """

    @check_arguments(RunError)
    def __init__(self, network: Network, statics: Mapping[str, Given] | None = None, /, **more: Given) -> None:
        self.network = network
        self.arrived = 0
        """The arrival number of the latest tuple."""
        self.counts = {input.name: Counts([], {OUT: 0}) for input in network.inputs}
        for node in network.nodes:
            self.counts[node.name] = Counts([0] * len(node.sources), dict.fromkeys(network.schemas[node.name], 0))
        self.tables = tables_of(network, network.nodes)
        """The state of each box."""
        self._inputs = {input.name: input for input in network.inputs}
        self._awaited = {input.name for input in network.inputs if input.static}
        self._streaming = False
        self._closed = ""
        self._opened: Results = {}
        if statics or more:
            self._opened = self.push(statics, **more)

    def push(
        self,
        given: Mapping[str, Given] | None = None,
        /,
        *,
        clock: int | None = None,
        ts: int | None = None,
        **more: Given,
    ) -> Results:
        """Let tuples in, and run them through: inputs in the order given, all entering at `ts`.

        Times are in microseconds. `ts` is the clock if not given, or else now. Windows time out by the clock, and by
        the `ts` of the tuples that follow.
        """
        return _exhaust(self.steps(given, clock=clock, ts=ts, **more))

    @check_arguments(RunError)
    def tick(self, clock: int) -> Results:
        """Let windows time out."""
        return _exhaust(self.steps(clock=clock))

    def end(self) -> Results:
        """Say that the inputs are finished: what is open comes out."""
        return _exhaust(self.steps(end=True))

    @check_arguments(RunError)
    def steps(
        self,
        given: Mapping[str, Given] | None = None,
        /,
        *,
        clock: int | None = None,
        ts: int | None = None,
        end: bool = False,
        ended: Iterable[str] = (),
        **more: Given,
    ) -> Generator[Event, None, Results]:
        """One step of the network, stopping after each box. It must be run to its end before the next.

        Of inputs that have `ended`, boxes that wait for them are told.
        """
        if self._closed:
            raise RunError(self._closed)
        now = time.time_ns() // 1000 if clock is None else clock
        trains = self._admit({**(given or {}), **more}, now if ts is None else ts)
        self._closed = "a step is under way: run steps() to its end first"
        moment = Moment(self.arrived, clock, end, frozenset(ended))
        try:
            for event in superbox_steps(self.network, self.network.nodes, self.tables, trains, moment):
                assert isinstance(event, Event)
                self._count(event)
                yield event
        except RunError as error:
            self._closed = f"the run failed ({error}): open another"
            raise
        self._closed = "the run has ended: open another" if end else ""
        opened, self._opened = self._opened, {}
        found = {output.name: trains[output.arrow.source, output.arrow.port].tuples for output in self.network.outputs}
        some = {name: tuples for name, tuples in opened.items() if tuples.num_rows}
        return found | {name: joined([tuples, found[name]]) for name, tuples in some.items()}

    def _admit(self, given: Mapping[str, Given], ts: int) -> dict[tuple[str, str], Train]:
        """A train for each input, empty where nothing is given, numbered as they arrive."""
        unknown = [name for name in given if name not in self._inputs]
        if unknown:
            raise RunError(
                f"there is no input {listing(unknown)}; there are {listing(self._inputs)}"
                f"{near(unknown[0], self._inputs)}"
            )
        static = [name for name in given if self._inputs[name].static]
        if static and (self._streaming or len(static) < len(given)):
            raise RunError(f"static input {listing(static)}: push a static table by itself, before any stream")
        if given and not static and self._awaited:
            raise RunError(
                f"static input {listing(sorted(self._awaited))}: push it first; streams wait for static tables"
            )
        batches = {name: intake.batch(name, self._inputs[name].schema, value) for name, value in given.items()}
        trains = {(name, OUT): empty(input.schema) for name, input in self._inputs.items()}
        for name, tuples in batches.items():
            trains[name, OUT] = self._stamped(tuples, ts)
            self.counts[name].given[OUT] += tuples.num_rows
        self._awaited -= given.keys()
        self._streaming |= bool(given) and not static
        return trains

    def _stamped(self, tuples: pa.RecordBatch, ts: int) -> Train:
        first, self.arrived = self.arrived + 1, self.arrived + tuples.num_rows
        return Train(tuples, np.full(tuples.num_rows, ts), np.arange(first, self.arrived + 1))

    def _count(self, event: Event) -> None:
        counts = self.counts[event.node.name]
        for place, train in enumerate(event.inputs):
            counts.taken[place] += len(train)
        for port, train in event.outputs.items():
            counts.given[port] += len(train)


def _exhaust(steps: Generator[Event, None, Results]) -> Results:
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


@check_arguments(RunError)
def run_local(
    network: Network,
    given: Mapping[str, object] | None = None,
    /,
    *,
    train: int = 65536,
    clock: Clock | None = None,
    strict: bool = False,
    unread: list[Unread] | None = None,
    **more: object,
) -> LocalResults:
    """Run a network over whole inputs to their end, and give the tables of its outputs, and what was counted.

    Every input is given by its name: tuples in memory, a path or glob of files, or an iterable of parts that are trains
    as they are. Streams take turns, a train of at most `train` tuples each; those of a union before a box that goes by
    order are merged by that order. An output may be given a path or a sink by its name, and is written there as well.
    `clock` lets windows time out. Without it all tuples enter at one moment, so that none do, and results do not depend
    on how fast the machine is.

    Lines that do not read are left out: they are added to `unread`, by input, or else a warning tells of them. With
    `strict` the first one is an error.
    """
    if train < 1:
        raise RunError(f"run_local: `train` is the most tuples of a train, 1 or more, not {train}")
    named = {**(given or {}), **more}
    inputs, outputs = [i.name for i in network.inputs], [o.name for o in network.outputs]
    for name in named:
        if name not in inputs and name not in outputs:
            known = [*inputs, *outputs]
            raise RunError(f"there is no input or output {name}; there are {listing(known)}{near(name, known)}")
    missing = [name for name in inputs if name not in named]
    if missing:
        raise RunError(f"input {listing(missing)}: not given; the inputs are {listing(inputs)}")
    network = merging(network, inputs)
    run = Local(network)
    lost = [Unread(name) for name in inputs]
    parts = {
        i.name: _parts(i.name, i.schema, named[i.name], train, None if strict else each)
        for i, each in zip(network.inputs, lost, strict=True)
    }
    found: dict[str, list[pa.RecordBatch]] = {name: [] for name in outputs}
    with ExitStack() as stack:
        sinks = {}
        for output in network.outputs:
            if output.name in named:
                sinks[output.name] = _sink(output.name, named[output.name], network.schema(output.arrow))
                stack.callback(sinks[output.name].close)
        for results in _results(run, parts, clock):
            for name, tuples in results.items():
                found[name].append(tuples)
                if name in sinks:
                    sinks[name].write(tuples)
    if unread is not None:
        unread.extend(each for each in lost if each.count)
    elif told := files.dead(lost):
        warnings.warn(f"{told}; with `unread=[]` or `strict=True` there is no warning", stacklevel=4)
    schemas = {output.name: network.schema(output.arrow) for output in network.outputs}
    tables = {
        name: pa.Table.from_batches([tuples for tuples in batches if tuples.num_rows], schemas[name])
        for name, batches in found.items()
    }
    return LocalResults(tables, network, run.counts)


def _results(run: Local, parts: Mapping[str, Iterator[pa.RecordBatch]], clock: Clock | None) -> Iterator[Results]:
    """Static tables whole, then streams in turn, then the end."""
    turns = {input.name: parts[input.name] for input in run.network.inputs if not input.static}
    streams = list(turns)
    start = time.time_ns() // 1000

    def push(name: str, tuples: pa.RecordBatch | pa.Table) -> Results:
        ended = [stream for stream in streams if stream not in turns]
        if clock is None:
            return _exhaust(run.steps({name: tuples}, ts=start, ended=ended))
        return _exhaust(run.steps({name: tuples}, clock=clock(), ended=ended))

    for input in run.network.inputs:
        if input.static:
            table = pa.Table.from_batches(parts[input.name], input.schema)
            yield push(input.name, table)
    while turns:
        for name in list(turns):
            tuples = next(turns[name], None)
            if tuples is None:
                del turns[name]
            else:
                yield push(name, tuples)
    yield run.end()


def _parts(name: str, schema: pa.Schema, given: Any, size: int, unread: Unread | None) -> Iterator[pa.RecordBatch]:
    """An input in record batches of its schema, none longer than `size`."""
    if isinstance(given, str | Path):
        parts: Iterable[Any] = files.read(given, schema, unread)
    elif hasattr(given, "splits"):
        parts = files.tuples_of(given, unread)
    elif _is_parted(given):
        parts = given
    else:
        parts = [given]
    for part in parts:
        tuples = intake.batch(name, schema, part)
        for start in range(0, max(tuples.num_rows, 1), size):
            yield tuples.slice(start, size)


def _is_parted(given: Any) -> bool:
    """Whether a value is an iterable of parts rather than tuples."""
    if isinstance(given, list | tuple):
        return bool(given) and not isinstance(given[0], Mapping)
    arrow = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return isinstance(given, Iterable) and not isinstance(given, Mapping) and not arrow and not hasattr(given, "iloc")


def _sink(name: str, given: object, schema: pa.Schema) -> LocalSink:
    if isinstance(given, str | Path):
        return files.sink(given, schema)
    if hasattr(given, "write") and hasattr(given, "close"):
        return cast(LocalSink, given)
    raise RunError(
        f"give a path or a sink with `write` and `close`, not {type(given).__name__}", Subject("output", name)
    )
