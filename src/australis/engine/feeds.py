"""Feeds: the inputs of a local run, which take turns, a train each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from australis.connectors.dead_letters import Letter, Letters
from australis.connectors.source import Clock, Releasing, Ringing, Source, parts
from australis.engine.idle import Look, Wait
from australis.engine.local import Local, Results, exhaust
from australis.errors import RunError
from australis.model.network import Input

_PLANNED = 1 << 20  # tuples that a source is asked for at a time
_PATIENCE = 0.2  # seconds after which a run that waits looks whether it is to stop


class StreamFeed:
    """A stream's source, and how far it was read. What does not read is counted, or with `strict` an error."""

    def __init__(self, input: Input, source: Source, train: int, strict: bool) -> None:
        self.input, self.source, self.train, self.strict = input, source, train, strict
        self.letters = Letters(input.name)
        self.skipped = 0
        """How many tuples were left unread, since they matter to nobody."""
        self.over = False
        """Whether the source has come to its end."""
        self._offset = source.start()
        self._trains = self._read()

    def take(self) -> pa.RecordBatch | None:
        """The next train; none if nothing is there now, or the source is over."""
        for train in self._trains:
            return train
        self.over = True
        return None

    @property
    def ready(self) -> bool:
        """Whether `take` has something to tell."""
        return self.source.latest(self._offset, 1) != self._offset or self.source.finished(self._offset)

    def _read(self) -> Iterator[pa.RecordBatch | None]:
        while True:
            end = self.source.latest(self._offset, _PLANNED)
            if end == self._offset:
                if self.source.finished(end):
                    return
                yield None
                continue
            for split in self.source.splits(self._offset, end, 1):
                for part in self.source.read(split):
                    self._lay_aside(part.letters)
                    self.skipped += part.skipped
                    # Tuples that were skipped have their turn, so that inputs meet as they would with them.
                    for start in range(0, max(part.length, 1), self.train):
                        yield part.between(start, start + self.train)
            self._offset = end
            if isinstance(self.source, Releasing):
                self.source.release(end)

    def _lay_aside(self, letters: Sequence[Letter]) -> None:
        if self.strict and letters:
            raise RunError(
                f"input {self.input.name}: {letters[0]}; correct it, or run without `strict` to leave it out"
            )
        self.letters.add(letters)


def read_table(input: Input, source: Source) -> pa.Table:
    """A static input, whole. What does not read is an error."""
    batches = []
    for part in parts(source):
        if part.letters:
            raise RunError(f"static input {input.name}: {part.letters[0]}: mend the table")
        batches.append(part.tuples)
    return pa.Table.from_batches(batches, input.schema)


class Feeds:
    """All inputs of a run: static ones, which come first, and streams.

    Without a `clock` all tuples enter at one moment, unless some source goes by the clock itself. The run ends with its
    sources, or without an end of the streams as soon as `stop` is true.
    """

    def __init__(
        self,
        run: Local,
        sources: Mapping[str, Source],
        train: int,
        strict: bool,
        clock: Clock | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.run, self.sources, self.stop = run, sources, stop
        self.streams = [
            StreamFeed(input, sources[input.name], train, strict) for input in run.network.inputs if not input.static
        ]
        timed = any(feed.source.timed for feed in self.streams)
        self._clock = _wall_clock if clock is None and timed else clock
        self._began = _wall_clock()
        self._wait = Wait(_PATIENCE)

    def results(self) -> Iterator[Results]:
        """What the network gives, a step at a time."""
        for input in self.run.network.inputs:
            if input.static:
                yield self._push(input.name, read_table(input, self.sources[input.name]))
        while not self.stop():
            waiting = [feed for feed in self.streams if not feed.over]
            if not waiting:
                yield self.run.end()
                return
            idle = True
            for feed in waiting:
                train = feed.take()
                if train is not None:
                    yield self._push(feed.input.name, train)
                idle &= train is None and not feed.over
            if idle:
                self._await(waiting)

    def close(self) -> None:
        self._wait.close()

    def _push(self, name: str, tuples: pa.RecordBatch | pa.Table) -> Results:
        ended = [feed.input.name for feed in self.streams if feed.over]
        if self._clock is None:
            return exhaust(self.run.steps({name: tuples}, ts=self._began, ended=ended))
        return exhaust(self.run.steps({name: tuples}, clock=self._clock(), ended=ended))

    def _await(self, feeds: Sequence[StreamFeed]) -> None:
        """Wait until a source has something, or it is time to look whether the run is to stop."""
        bells = tuple(feed.source.bell for feed in feeds if isinstance(feed.source, Ringing))
        self._wait.until(lambda: Look(None, any(feed.ready for feed in feeds), bells, seen=len(bells) < len(feeds)))


def _wall_clock() -> int:
    return time.time_ns() // 1000
