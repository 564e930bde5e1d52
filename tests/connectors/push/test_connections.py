"""Connections of a web server: so many at once."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from australis.connectors.push import connections
from australis.connectors.push.connections import Connections, Handler


class Hello(Handler):
    """Greets whoever asks, and keeps the connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server calls)
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def serving() -> Iterator[Connections]:
    with Connections("127.0.0.1", 0, Hello) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.finish(60.0, 60.0)
            thread.join()
        assert server.threads == {}


def asked(connection: socket.socket) -> bytes:
    """What is answered to a request on a connection that stays open."""
    connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
    answer = b""
    while not answer.endswith(b"\r\n\r\nhello") and (more := connection.recv(4096)):
        answer += more
    return answer


def test_a_connection_is_asked_again_and_again() -> None:
    with serving() as server, socket.create_connection(server.server_address) as connection:
        for _ in range(3):
            assert asked(connection).startswith(b"HTTP/1.1 200")


def test_who_comes_when_all_places_are_taken_gets_that_of_the_quietest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST", 2)
    with serving() as server:
        first, second, third = (socket.create_connection(server.server_address) for _ in range(3))
        with first, second, third:
            assert asked(third).startswith(b"HTTP/1.1 200")
            assert len(server.threads) <= 2
            gone = [connection for connection in (first, second) if asked_or_gone(connection) == b""]
            assert gone


def asked_or_gone(connection: socket.socket) -> bytes:
    try:
        return asked(connection)
    except (BrokenPipeError, ConnectionResetError):
        return b""


def test_connections_that_wait_are_ended_at_once() -> None:
    with serving() as server:
        idle = socket.create_connection(server.server_address)
        assert asked(idle).startswith(b"HTTP/1.1 200")
    with idle:
        assert idle.recv(1) == b""
