"""The local runner: a whole network in this process, a step at a time, for tests, demos and single stepping."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.arguments import check_arguments
from australis.connectors import intake
from australis.connectors.dead_letters import Letters
from australis.connectors.intake import Given
from australis.engine.losses import unwired
from australis.engine.shedding import Shedding
from australis.engine.superbox import Event, tables_of
from australis.engine.superbox import steps as superbox_steps
from australis.errors import RunError, listing, near
from australis.model.box import LATE, REFUSED, Moment, lost
from australis.model.network import OUT, Network
from australis.model.train import Train, empty, joined
from australis.qos.shedding import ShedPlan

Results = dict[str, pa.RecordBatch]


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
        refusing = [arrow for arrow in unwired(network, network.named) if lost(arrow.port) == REFUSED]
        self.refused = {(arrow.source, arrow.port): Letters(arrow.source) for arrow in refusing}
        """What boxes refused and nothing takes, by box and port."""
        self._inputs = {input.name: input for input in network.inputs}
        self._awaited = {input.name for input in network.inputs if input.static}
        self._streaming = False
        self._closed = ""
        self._opened: Results = {}
        self.shedding: Shedding | None = None
        """What is left out of the next steps, if anything; see `leave_out`."""
        if statics or more:
            self._opened = self.push(statics, **more)

    def leave_out(self, plan: ShedPlan) -> Shedding:
        """Shed by a plan from the next step on; gives the counts of what is left out."""
        plan.check(self.network)
        self.shedding = Shedding(self.network, plan)
        return self.shedding

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
        return exhaust(self.steps(given, clock=clock, ts=ts, **more))

    @check_arguments(RunError)
    def tick(self, clock: int) -> Results:
        """Let windows time out."""
        return exhaust(self.steps(clock=clock))

    def end(self) -> Results:
        """Say that the inputs are finished: what is open comes out."""
        return exhaust(self.steps(end=True))

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
            boxes = superbox_steps(
                self.network, self.network.nodes, self.tables, trains, moment, shedding=self.shedding
            )
            for event in boxes:
                assert isinstance(event, Event)
                self._count(event)
                yield event
        except RunError as error:
            self._closed = f"the run failed ({error}): open another"
            raise
        self._closed = "the run has ended: open another" if end else ""
        opened, self._opened = self._opened, {}
        leaving = {output.name: trains[output.arrow.source, output.arrow.port] for output in self.network.outputs}
        if self.shedding is not None:
            leaving = {name: self.shedding.keep("output", name, train) for name, train in leaving.items()}
        found = {name: train.tuples for name, train in leaving.items()}
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
            train = self._stamped(tuples, ts)
            trains[name, OUT] = train if self.shedding is None else self.shedding.keep("input", name, train)
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
            if (event.node.name, port) in self.refused:
                self.refused[event.node.name, port].add_refused(port, train)


def exhaust(steps: Generator[Event, None, Results]) -> Results:
    """Run a step to its end; what it gives."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
