"""Ahead: the lines of a feed, read and written out before they are due, by a thread of their own."""

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
"""What lines can be divided by."""
ROOM = 1 << 28
"""Bytes of lines that are held at most, however short a time that is."""
_PLAIN = csv.WriteOptions(include_header=False)


class SecondOfLines(NamedTuple):
    """What goes over one connection in a second."""

    second: int
    tuples: int
    text: bytes


class Ahead:
    """Reads a feed in the background, as lines of each connection.

    A thread reads until there is no `room`, and goes on when lines are taken. What goes wrong in it is raised where
    lines are waited for.
    """

    def __init__(self, feed: Feed, connections: int = 1, by: str = "vid", room: int = ROOM) -> None:
        self._feed, self._by, self._room = feed, by, room
        self._queues: list[deque[SecondOfLines]] = [deque() for _ in range(connections)]
        self._changed = threading.Condition()
        self._held = 0
        self._next = 0
        """The second after the last that was read."""
        self._full = self._ended = self._stopped = False
        self._failure: Exception | None = None
        self._reader = threading.Thread(target=self._read, name="reading ahead", daemon=True)

    def __enter__(self) -> Ahead:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._reader.join()

    def stopped(self) -> bool:
        """Whether no more is to be sent, of what was read as well."""
        return self._stopped or self._failure is not None

    def stop(self) -> None:
        """Read no more, and give out no more."""
        with self._changed:
            self._ended = self._stopped = True
            for queue in self._queues:
                queue.clear()
            self._changed.notify_all()

    def ready(self, second: float) -> None:
        """Wait until all lines up to a second are here, or as many as there is room for."""
        with self._changed:
            self._changed.wait_for(lambda: self._next > second or self._full or self._ended)
            self._raise()

    def lines(self, connection: int) -> Iterator[SecondOfLines]:
        """What goes over a connection, second by second."""
        queue = self._queues[connection]
        while True:
            with self._changed:
                self._changed.wait_for(lambda: queue or self._ended)
                self._raise()
                if not queue:
                    return
                taken = queue.popleft()
                self._held -= len(taken.text)
                self._changed.notify_all()
            yield taken

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _read(self) -> None:
        try:
            for batch in self._feed.merged(1):
                if not self._put(parts(batch, len(self._queues), self._by)):
                    return
        except Exception as error:
            self._failure = error
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _put(self, some: list[tuple[int, SecondOfLines]]) -> bool:
        """Hold the lines of a second when there is room; says whether more is wanted."""
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
    """The tuples of one second as the lines of each connection that has any."""
    second = int(batch["time"][0].as_py())
    if connections == 1:
        return [(0, SecondOfLines(second, batch.num_rows, flat(batch)))]
    where = divided(batch, connections, by)
    found = []
    for connection in np.unique(where).tolist():
        mine = batch.take(np.flatnonzero(where == connection))
        found.append((connection, SecondOfLines(second, mine.num_rows, flat(mine))))
    return found


def divided(batch: pa.RecordBatch, connections: int, by: str) -> Ints:
    """The connection of each tuple: that of its vehicle, or of its expressway where it names one."""
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
