"""Read ahead: a thread reads the lines of a feed before they are due."""

from __future__ import annotations

import io
import threading
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv

from australis.apps.linear_road.feed import Feed
from australis.model.train import Ints

BY = ("vid", "xway")
"""The columns that lines can be divided by."""
ROOM = 1 << 28
"""The most bytes of lines that are held."""
_PLAIN = csv.WriteOptions(include_header=False)


class SecondOfLines(NamedTuple):
    """The lines of one connection in a second."""

    second: int
    tuples: int
    text: bytes


class ReadAhead:
    """Reads a feed in the background, as lines for each connection.

    A thread reads until there is no `room`, and goes on when lines are taken. An error of the thread is raised in
    `ready` and `lines`.
    """

    def __init__(self, feed: Feed, connections: int = 1, by: str = "vid", room: int = ROOM) -> None:
        self._feed, self._by, self._room = feed, by, room
        self._queues: list[deque[SecondOfLines]] = [deque() for _ in range(connections)]
        self._changed = threading.Condition()
        self._held = 0
        self._next = 0
        """The second after the last one that was read."""
        self._full = self._ended = self._stopped = False
        self._failure: Exception | None = None
        self._reader = threading.Thread(target=self._read, name="reading ahead", daemon=True)

    def __enter__(self) -> ReadAhead:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._reader.join()

    def stopped(self) -> bool:
        """Whether sending must stop, even of lines that have been read."""
        return self._stopped or self._failure is not None

    def stop(self) -> None:
        """Stop reading, and drop the lines that have been read."""
        with self._changed:
            self._ended = self._stopped = True
            for queue in self._queues:
                queue.clear()
            self._changed.notify_all()

    def ready(self, second: float) -> None:
        """Wait until all lines up to a second have been read, or as many as there is room for."""
        with self._changed:
            self._changed.wait_for(lambda: self._next > second or self._full or self._ended)
            self._raise()

    def lines(self, connection: int) -> Iterator[SecondOfLines]:
        """The lines of a connection, second by second."""
        queue = self._queues[connection]
        while True:
            with self._changed:
                self._changed.wait_for(lambda: queue or self._ended)
                self._raise()
                if not queue:
                    return
                lines = queue.popleft()
                self._held -= len(lines.text)
                self._changed.notify_all()
            yield lines

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _read(self) -> None:
        try:
            for batch in self._feed.merge(1):
                if not self._put(parts(batch, len(self._queues), self._by)):
                    return
        except Exception as error:
            self._failure = error
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _put(self, some: list[tuple[int, SecondOfLines]]) -> bool:
        """Add the lines of a second when there is room. Returns whether to read on."""
        size = sum(len(lines.text) for _, lines in some)
        with self._changed:
            self._full = bool(self._held) and self._held + size > self._room
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._held or self._held + size <= self._room or self._ended)
            if self._ended:
                return False
            for connection, lines in some:
                self._queues[connection].append(lines)
                self._next = lines.second + 1
            self._held += size
            self._full = False
            self._changed.notify_all()
        return True


def parts(batch: pa.RecordBatch, connections: int = 1, by: str = "vid") -> list[tuple[int, SecondOfLines]]:
    """The tuples of one second as lines, for each connection that has any."""
    second = int(batch["time"][0].as_py())
    if connections == 1:
        return [(0, SecondOfLines(second, batch.num_rows, flat(batch)))]
    where = connections_of(batch, connections, by)
    parts_of_second = []
    for connection in np.unique(where).tolist():
        tuples = batch.take(np.flatnonzero(where == connection))
        parts_of_second.append((connection, SecondOfLines(second, tuples.num_rows, flat(tuples))))
    return parts_of_second


def connections_of(batch: pa.RecordBatch, connections: int, by: str) -> Ints:
    """The connection of each tuple, by its vehicle, or by its expressway if it has one."""
    vid = batch["vid"].to_numpy().astype(np.int64)
    if by == "vid":
        return vid % connections
    xway = batch["xway"].to_numpy().astype(np.int64)
    return np.where(xway < 0, vid, xway) % connections


def flat(batch: pa.RecordBatch) -> bytes:
    """Tuples as lines of 15 integers.

    >>> from australis.apps.linear_road.record import INPUT
    >>> row = pa.record_batch([pa.array([n], column.type) for n, column in enumerate(INPUT)], schema=INPUT)
    >>> flat(row)
    b'0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\\n'
    """
    out = io.BytesIO()
    csv.write_csv(batch, out, _PLAIN)
    return out.getvalue()
