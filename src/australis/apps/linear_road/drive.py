"""Drive another system: send it the stream over sockets in the paper's flat format, each line at its time (3.3)."""

from __future__ import annotations

import math
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from australis.apps.linear_road.clock import Clock
from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.read_ahead import BY, ReadAhead
from australis.connectors.address import address
from australis.errors import RunError, listing, near

Send = Callable[[bytes], object]
OnProgress = Callable[[int, float], None]

READY = 10
"""How many seconds of lines are read before the clock starts."""
NOTICE = 1.0
"""Seconds from the announcement of time 0 to time 0."""


def drive(
    feed: Feed,
    to: Sequence[Send],
    speed: float = 1.0,
    on_progress: OnProgress | None = None,
    *,
    by: str = "vid",
    since: float | None = None,
    announce: Callable[[float], None] | None = None,
    clock: Clock | None = None,
) -> int:
    """Send every line when it is due, `time / speed` seconds after time 0. Returns how many lines there were.

    Time 0 is `since`, or else shortly after the first lines have been read. `announce` is called with it before any
    line is sent. Each connection gets the lines of its vehicles, or expressways (`connections_of`). `on_progress` is
    called for every second of a connection, with its number and how many seconds late its last line was sent.
    """
    _check(speed, by)
    clock = clock or Clock()
    with ReadAhead(feed, len(to), by) as ahead:
        ahead.ready(READY * speed if math.isfinite(speed) else 0)
        began = _time_zero(clock, speed, since)
        if announce is not None:
            announce(began)
        return _send_all(ahead, to, began, speed, on_progress, clock)


def _check(speed: float, by: str) -> None:
    if not speed > 0:
        raise RunError(f"the speed is {speed}; give one above zero, or `max`")
    if by not in BY:
        raise RunError(f"lines cannot be divided by `{by}`; give {listing(BY)}{near(by, BY)}")


def _time_zero(clock: Clock, speed: float, since: float | None) -> float:
    """Time 0, which is in the future."""
    now = clock.now()
    if since is None:
        return now + (NOTICE if math.isfinite(speed) else 0.0)
    if since < now:
        raise RunError(
            f"time 0 was {now - since:.1f} s ago when all was ready to be sent; give a later one, and start sooner"
        )
    return since


def _send_all(
    ahead: ReadAhead, to: Sequence[Send], began: float, speed: float, on_progress: OnProgress | None, clock: Clock
) -> int:
    """Serve each connection by a thread, so that a slow one makes no other late. Returns the number of lines."""
    lock = threading.Lock()
    counts, failures = [0] * len(to), list[BaseException]()

    def serve(connection: int) -> None:
        try:
            for second, count, text in ahead.lines(connection):
                due = began + second / speed
                clock.wait(due, ahead.stopped)
                to[connection](text)
                counts[connection] += count
                if on_progress is not None:
                    with lock:
                        on_progress(second, clock.now() - due if math.isfinite(speed) else 0.0)
        except BaseException as error:
            failures.append(error)
            ahead.stop()

    threads = [threading.Thread(target=serve, args=(number,), daemon=True) for number in range(len(to))]
    for thread in threads:
        thread.start()
    while not failures and any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(0.1)
    if failures:
        raise failures[0]
    return sum(counts)


@contextmanager
def open_connections(to: str | None = None, listen: str | None = None, connections: int = 1) -> Iterator[list[Send]]:
    """Open the connections: to `HOST:PORT`, from clients at `[HOST:]PORT`, or the standard output."""
    if to is not None and listen is not None:
        raise RunError(f"--to {to} and --listen {listen}: give one of them, to connect or to be connected to")
    if to is None and listen is None:
        if connections > 1:
            raise RunError(f"--connections {connections}: give --to or --listen, for standard output is one stream")
        yield [_print]
        return
    where = to or str(listen)
    with ExitStack() as open_:
        try:
            sockets = [open_.enter_context(each) for each in _sockets(to, listen, connections)]
        except OSError as error:
            raise RunError(f"{where}: {error.strerror or error}; is the other side there?") from None
        try:
            yield [each.sendall for each in sockets]
        except OSError as error:
            raise RunError(f"{where}: {error.strerror or error}; the other side has gone") from None


def _sockets(to: str | None, listen: str | None, connections: int) -> Iterator[socket.socket]:
    if to is not None:
        for _ in range(connections):
            yield socket.create_connection(address(to, "--to"))
        return
    with socket.create_server(address(str(listen), "--listen")) as server:
        host, port = server.getsockname()[:2]
        for number in range(connections):
            which = f", {number + 1} of {connections}" if connections > 1 else ""
            print(f"waiting for a client at {host}:{port}{which}", file=sys.stderr)
            yield server.accept()[0]


def _print(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
