"""Connections: a web server's, a thread each, and so many at once.

Whoever comes when all places are taken gets the place of the connection that has been quiet for longest. So nobody can
keep others out by connections that bring nothing.
"""

from __future__ import annotations

import socket
import time
from http.server import BaseHTTPRequestHandler
from io import BufferedReader
from socketserver import ThreadingTCPServer
from threading import Condition, Thread
from typing import Any

from australis.connectors.push.arrivals import Arrivals, shut

MOST = 256
"""Connections at once."""
_TELL = 10.0  # seconds for which an answer waits for a sender that does not read
_TURN = 0.1  # seconds between looks for one that can be ended, where all are busy


class Connections(ThreadingTCPServer):
    """A server that has a bounded number of connections, and knows those that wait for a request."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.threads: dict[Any, Thread] = {}
        self.arrivals: dict[Any, Arrivals] = {}
        self.slow = 0
        """How many requests were ended before they had come whole."""
        self.closing = False
        self.lock = Condition()
        super().__init__((host, port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        with self.lock:
            while len(self.threads) >= MOST and not self.closing:
                self._end_quietest()
                self.lock.wait(_TURN)
            self.threads[request] = thread
        thread.start()

    def close_request(self, request: Any) -> None:
        with self.lock:
            self.threads.pop(request, None)
            self.arrivals.pop(request, None)
            self.lock.notify_all()
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that goes away is no error."""

    def reader(self, request: Any) -> Arrivals:
        """What reads a connection."""
        made = Arrivals(request)
        with self.lock:
            self.arrivals[request] = made
        return made

    def finish(self, grace: float, linger: float) -> None:
        """Take no more; end at once the connections that wait, the others when they are done, or after a while."""
        with self.lock:
            self.closing = True
            self.lock.notify_all()
        self.shutdown()
        with self.lock:
            for request, its in self.arrivals.items():
                if not its.under_way:
                    shut(request, socket.SHUT_RD)
            threads = list(self.threads.values())
        end = time.monotonic() + grace
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        with self.lock:
            for request in self.threads:
                shut(request, socket.SHUT_RDWR)
        for thread in threads:
            thread.join(linger)

    def _end_quietest(self) -> None:
        """Make a place free, unless one is about to be."""
        waiting = [its for its in self.arrivals.values() if its.waiting]
        if waiting and not any(its.why for its in self.arrivals.values()):
            min(waiting, key=lambda its: its.heard).end(
                f"the request was ended while it brought nothing, to let others in: {MOST} connections were open; post"
                " it again, without a pause"
            )


class Handler(BaseHTTPRequestHandler):
    """The requests of one connection."""

    server: Connections
    requestline = request_version = command = ""
    wbufsize = -1  # an answer leaves in one piece

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.arrivals = self.server.reader(self.connection)
        self.rfile = BufferedReader(self.arrivals)

    def handle_one_request(self) -> None:
        self.close_connection = True
        self.arrivals.next()
        if self.server.closing:
            return
        super().handle_one_request()
        if self.arrivals.told and self.arrivals.under_way:
            with self.server.lock:
                self.server.slow += 1
            self.send_error(408, self.arrivals.why)

    def flush_headers(self) -> None:
        self.connection.settimeout(_TELL)
        super().flush_headers()
