"""The hook that Spark's process calls in this one with every batch of a query.

Spark's process keeps a callback until it next collects garbage, and the connection and the thread of its calls longer
still. So the hook releases all of them itself.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import TYPE_CHECKING, Any

from australis.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PATIENCE = 5.0


class Hook:
    """Calls `work` with each batch of a query, until it is closed."""

    def __init__(self, gateway: Any, work: Callable[[DataFrame, int], None]) -> None:
        self._client = gateway._gateway_client
        self._work: Callable[[DataFrame, int], None] | None = work
        self._turn = Lock()
        self._connections: dict[Thread, Any] = {}

    def __call__(self, frame: DataFrame, number: int) -> None:
        with self._turn:
            if self._work is None:
                raise RunError("the run has ended")
            if hasattr(self._client, "get_thread_connection"):  # else threads come and go with their calls
                self._connections[current_thread()] = self._client.get_thread_connection()
            self._work(frame, number)

    def close(self) -> None:
        """Wait for the batch under way, and let no other begin. The query must be over."""
        with self._turn:
            self._work = None
            connections, self._connections = self._connections, {}
        for thread, connection in connections.items():
            with suppress(OSError, AttributeError):  # it may be closed already
                connection.socket.shutdown(socket.SHUT_RDWR)
            if thread is not current_thread():
                thread.join(_PATIENCE)
