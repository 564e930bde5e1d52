"""Arrivals: the bytes that come over a connection, which is ended where a request does not come.

A request may take so many seconds, and one more for each `RATE` of its bytes that have come; and no longer than the
same seconds may it bring nothing. A connection that is between two requests may wait longer.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from io import RawIOBase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PATIENCE = 20.0
"""Seconds."""
RATE = 1000
"""The bytes a second that a request brings at least, after the first seconds."""
IDLE = 60.0
"""Seconds between two requests."""


class Slow(TimeoutError):  # noqa: N818 (the fault is the sender's)
    """A request did not come, or not fast enough."""


class Arrivals(RawIOBase):
    """What is read of a socket. `heard` is when something came last, and `why` says why it was ended, if it was."""

    def __init__(self, connection: socket.socket, clock: Callable[[], float] = time.monotonic) -> None:
        self.why = ""
        self.told = False
        """Whether whoever read it knows that it was ended."""
        self.heard = clock()
        self.waiting = False
        self.under_way = False
        """Whether a part of a request has come."""
        self._connection, self._clock = connection, clock
        self._began, self._came = self.heard, 0

    def next(self) -> None:
        """Wait for a new request."""
        self.under_way = False

    def end(self, why: str) -> None:
        """Let whoever waits for bytes wait no longer."""
        self.why = why
        shut(self._connection, socket.SHUT_RD)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        self._connection.settimeout(self._patience())
        self.waiting = True
        try:
            count = self._connection.recv_into(buffer)
        except TimeoutError as error:
            raise self._slow() from error
        finally:
            self.waiting = False
        self._count(count)
        if self.why:
            raise self._ended(self.why)
        return count

    def drain(self, seconds: float) -> None:
        """Read what comes, and forget it, until the other side is done or the time is over."""
        rest, end = bytearray(1 << 16), self._clock() + seconds
        self.waiting = True
        with suppress(OSError):
            while not self.why and (left := end - self._clock()) > 0:
                self._connection.settimeout(left)
                if not self._connection.recv_into(rest):
                    break
        self.waiting = False

    def _patience(self) -> float:
        """The seconds that may pass until something comes."""
        if not self.under_way:
            return IDLE
        left = PATIENCE + self._came / RATE - (self._clock() - self._began)
        if left <= 0:
            raise self._slow()
        return min(PATIENCE, left)

    def _count(self, count: int) -> None:
        self.heard = self._clock()
        if not self.under_way:
            self.under_way, self._began, self._came = count > 0, self.heard, 0
        self._came += count

    def _slow(self) -> Slow:
        return self._ended(
            f"the request came too slowly: after {PATIENCE:g} seconds it brings at least {RATE} bytes a second, and"
            f" something every {PATIENCE:g} seconds; post less at once"
        )

    def _ended(self, why: str) -> Slow:
        self.why, self.told = why, True
        return Slow(why)


def shut(connection: socket.socket, how: int) -> None:
    with suppress(OSError):
        connection.shutdown(how)
