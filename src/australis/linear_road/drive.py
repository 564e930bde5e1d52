"""Drive another system: send it the stream over a socket in the paper's flat format, each line at its time (3.3)."""

from __future__ import annotations

import io
import math
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import csv

from australis.errors import RunError
from australis.linear_road.feed import Feed
from australis.run.given import address

Told = Callable[[int, float], None]
_PLAIN = csv.WriteOptions(include_header=False)


def drive(feed: Feed, to: BinaryIO, speed: float = 1.0, told: Told | None = None) -> int:
    """Write every line when it is due, `time / speed` seconds from now; gives how many lines there were.

    `told` hears of every second: its number, and how many seconds late its last line went out.
    """
    if not speed > 0:
        raise RunError(f"the speed is {speed}; give one above zero, or `max`")
    began, lines = time.monotonic(), 0
    for batch in feed.merged():
        times = batch["time"].to_numpy()
        for second in np.unique(times).tolist():
            low, high = np.searchsorted(times, [second, second + 1]).tolist()
            due = began + second / speed if math.isfinite(speed) else began
            time.sleep(max(0.0, due - time.monotonic()))
            to.write(flat(batch.slice(low, high - low)))
            to.flush()
            lines += high - low
            if told is not None:
                told(second, time.monotonic() - due if math.isfinite(speed) else 0.0)
    return lines


def flat(batch: pa.RecordBatch) -> bytes:
    """Tuples as lines of 15 integers.

    >>> from australis.linear_road.record import INPUT
    >>> row = pa.record_batch([pa.array([n], column.type) for n, column in enumerate(INPUT)], schema=INPUT)
    >>> flat(row)
    b'0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\\n'
    """
    out = io.BytesIO()
    csv.write_csv(batch, out, _PLAIN)
    return out.getvalue()


@contextmanager
def opened(to: str | None = None, listen: str | None = None) -> Iterator[BinaryIO]:
    """Where lines go: `HOST:PORT` to connect to, `[HOST:]PORT` to wait for one client at, or standard output."""
    if to is None and listen is None:
        yield sys.stdout.buffer
        return
    try:
        if to is not None:
            connection = socket.create_connection(address(to, "--to"))
        else:
            with socket.create_server(address(str(listen), "--listen")) as server:
                print("waiting for a client at {}:{}".format(*server.getsockname()), file=sys.stderr)
                connection, _ = server.accept()
    except OSError as error:
        raise RunError(f"{to or listen}: {error.strerror or error}; is the other side there?") from None
    with connection, connection.makefile("wb") as file:
        try:
            yield file
        except OSError as error:
            raise RunError(f"{to or listen}: {error.strerror or error}; the other side has gone") from None
