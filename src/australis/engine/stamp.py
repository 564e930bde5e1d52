"""Tuples as they enter: stamped with the batch's time, numbered as they arrive, in trains of one length."""

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
from australis.model.train import Train, concat

T = TypeVar("T")
_AHEAD = 4


def stamped(
    parts: Iterable[Part], batch: Batch, place: int, bad: list[Letter], before: int | None = None
) -> Iterator[Train]:
    """The tuples of a split, stamped and numbered; what could not be read goes to `bad`.

    They arrive in the order of splits, or in that of their own numbers from `before` on. No train is empty, as a part
    is of which nothing could be read: a step ends at the arrival number of its last tuple.
    """
    row = 0
    for part in parts:
        count = part.tuples.num_rows
        if count:
            number = batch.numbers(place, row, count) if before is None else batch.merging(part.number - before)
            yield Train(part.tuples, np.full(count, batch.clock), number)
        row += count
        bad += part.letters


def trains(schema: pa.Schema, arriving: Iterable[Train], length: int) -> Iterator[Train]:
    """The same tuples in trains of exactly a length, but for the last."""
    held: list[Train] = []
    count = 0
    for train in arriving:
        while count + len(train) >= length:
            cut = length - count
            yield concat(schema, [*held, train.slice(0, cut) if cut < len(train) else train])
            train, held, count = train.slice(cut, len(train)), [], 0
        if len(train):
            held.append(train)
            count += len(train)
    if held:
        yield concat(schema, held)


def ahead(things: Iterable[T]) -> Iterator[T]:
    """The same things, got ready by a thread of its own while those before them are used."""
    made: Queue[tuple[T | None, BaseException | None]] = Queue(_AHEAD)
    left = Event()

    def make() -> None:
        try:
            for thing in things:
                made.put((thing, None))
                if left.is_set():
                    return
        except BaseException as error:
            made.put((None, error))
        else:
            made.put((None, StopIteration()))

    def taken() -> Iterator[T]:
        thread = Thread(target=make, daemon=True)
        thread.start()
        try:
            while True:
                thing, error = made.get()
                if isinstance(error, StopIteration):
                    return
                if error is not None:
                    raise error
                yield thing  # type: ignore[misc]
        finally:
            left.set()
            while thread.is_alive():
                while not made.empty():
                    made.get_nowait()
                thread.join(0.01)

    return taken()
