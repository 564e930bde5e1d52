"""Tuples as they enter: stamped with when they came, numbered as they arrive, in trains of one length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import Queue
from threading import Event, Thread
from typing import TypeVar

import numpy as np
import pyarrow as pa

from australis.connectors.dead_letters import Letter
from australis.connectors.source import Part
from australis.engine.batch import Batch
from australis.model.train import Ints, Train, concat

T = TypeVar("T")
_AHEAD = 4


def stamp(
    parts: Iterable[Part], batch: Batch, place: int, unread: list[Letter], before: int | None = None
) -> Iterator[Train]:
    """The tuples of a split with their time and arrival numbers. What could not be read is added to `unread`.

    Tuples came when their source says, but not after the batch's clock; where it says nothing, at that clock.
    Tuples are numbered in the order of splits, or by their own numbers after `before`; those that were skipped have
    numbers, too. No train is empty: a step ends at the arrival number of its last tuple.
    """
    row = 0
    for part in parts:
        if part.tuples.num_rows:
            number = batch.numbers(place, row, part.length) if before is None else batch.merging(part.number - before)
            if before is None and part.places is not None:
                number = number[part.places]
            yield Train(part.tuples, _times(part, batch.clock), number)
        row += part.length
        unread += part.letters


def _times(part: Part, clock: int) -> Ints:
    """When the tuples of a part came."""
    if part.ts is None or isinstance(part.ts, int):
        return np.full(part.tuples.num_rows, clock if part.ts is None else min(part.ts, clock))
    return np.minimum(part.ts, clock)


def cut(schema: pa.Schema, trains: Iterable[Train], length: int, first: int | None = None) -> Iterator[Train]:
    """The same tuples in trains of exactly a length, but for the last.

    If the `first` number is given, a train reaches as far as so many numbers, and those that were skipped are missing
    in it: of some trains all are.
    """
    held: list[Train] = []
    count, end = 0, length
    for train in trains:
        places = count + np.arange(len(train)) if first is None else train.number - first
        count += len(train)
        while len(train) and places[-1] >= end:
            missing = int(np.searchsorted(places, end))
            yield concat(schema, [*held, train.slice(0, missing) if missing < len(train) else train])
            train, places, held, end = train.slice(missing, len(train)), places[missing:], [], end + length
        if len(train):
            held.append(train)
    if held:
        yield concat(schema, held)


def read_ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items. A thread reads the next few while those before them are used."""
    queue: Queue[tuple[T | None, BaseException | None]] = Queue(_AHEAD)
    abandoned = Event()

    def fill() -> None:
        try:
            for item in items:
                queue.put((item, None))
                if abandoned.is_set():
                    return
        except BaseException as error:
            queue.put((None, error))
        else:
            queue.put((None, StopIteration()))

    def drain() -> Iterator[T]:
        thread = Thread(target=fill, daemon=True)
        thread.start()
        try:
            while True:
                item, error = queue.get()
                if isinstance(error, StopIteration):
                    return
                if error is not None:
                    raise error
                yield item  # type: ignore[misc]
        finally:
            abandoned.set()
            while thread.is_alive():
                while not queue.empty():
                    queue.get_nowait()
                thread.join(0.01)

    return drain()
