"""An endpoint: a web server to which programs post tuples, and which answers once they are in a spool.

`POST /` takes a body; `GET /health` tells that the server is there. All answers are JSON. Whoever reaches the port may
post; web pages, whose browsers say where they come from, may not.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from typing import Any

import pyarrow as pa

from australis.connectors.push.arrivals import Slow
from australis.connectors.push.bodies import JSON, TYPES, Refused, post
from australis.connectors.push.connections import Connections, Handler
from australis.connectors.push.spool import Forgotten, Full, Spool
from australis.errors import RunError, listing

_SENDER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_INTEGER = re.compile(r"[0-9]{1,18}")
_GRACE = 10.0  # seconds for requests under way when the endpoint is closed
_LINGER = 2.0  # seconds for which a sender may go on after it was refused
_PART = 1 << 16  # bytes of a body that are read at once
_AGAIN = {"Retry-After": "1"}


class Endpoint:
    """A server that runs in threads of this process until it is closed."""

    def __init__(self, host: str, port: int, schema: pa.Schema, spool: Spool, largest: int) -> None:
        self._spool = spool
        try:
            self._server = _Server(host, port, schema, spool, largest)
        except OSError as error:
            spool.close()
            raise RunError(f"push:{host}:{port}: {error}; choose another port, or 0 for any that is free") from error
        self.address: tuple[str, int] = self._server.server_address[:2]  # type: ignore[assignment]
        """The host, and the port that was found if none was given."""
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="push", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish the requests under way, and stop."""
        self._server.finish(_GRACE, _LINGER)
        self._thread.join()
        self._server.server_close()
        self._spool.close()


class _Server(Connections):
    def __init__(self, host: str, port: int, schema: pa.Schema, spool: Spool, largest: int) -> None:
        self.schema, self.spool, self.largest = schema, spool, largest
        super().__init__(host, port, _PostHandler)


class _PostHandler(Handler):
    """The requests of one connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # of those that do not tell
    server_version, sys_version = "Australis", ""
    disable_nagle_algorithm = True

    def handle_one_request(self) -> None:
        self.unread = False
        super().handle_one_request()
        if self.unread and not self.arrivals.why:
            self._linger()

    def parse_request(self) -> bool:
        read = super().parse_request()
        self.unread = not read or "Content-Length" in self.headers or "Transfer-Encoding" in self.headers
        return read

    def handle_expect_100(self) -> bool:
        """A sender that asks first is answered once there is room."""
        return True

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        if self.path != "/health":
            self._answer(404, {"error": "there is only GET /health, and POST / to send tuples"})
        else:
            self._answer(200, {"number": self.server.spool.number, "slow": self.server.slow})

    def do_POST(self) -> None:  # noqa: N802 (the library's name)
        try:
            self._answer(200, self._taken())
        except Refused as refused:
            self._answer(refused.code, {"error": refused.reason})
        except Forgotten as forgotten:
            self._answer(409, {"error": str(forgotten)})
        except Full as full:
            self._answer(503, {"error": f"{full}; post it again later"}, _AGAIN)
        except ConnectionError:  # the sender is gone
            self.close_connection = True
        except Slow:
            raise
        except Exception as error:
            self._answer(500, {"error": f"the server failed ({type(error).__name__}); post it again later"}, _AGAIN)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What comes to no method of ours: a request that cannot be read, does not come, or asks for another."""
        self.unread = self.close_connection = True
        if code == 501:
            self._answer(405, {"error": "only POST / and GET /health are answered"}, {"Allow": "GET, POST"})
        elif code == 408:
            self._answer(code, {"error": message})
        else:
            self._answer(code, {"error": f"the request does not read: {message or self.responses[code][0]}"})

    def log_message(self, format: str, *args: Any) -> None:
        """What people send is not for others to read."""

    def _taken(self) -> dict[str, Any]:
        """Store the body, and say where."""
        type, sender, sequence = self._told()
        length = self._length()
        self.server.spool.check(length)
        with self.server.spool.room() as take:
            if self.headers.get("Expect", "").lower() == "100-continue":
                self.send_response_only(100)
                self.end_headers()
                self.wfile.flush()
            given = post(type, self._body(length, take), self.server.schema)
            given.sender, given.sequence = sender, sequence
            number = self.server.spool.put(given)
        return {"repeated": True} if number is None else {"number": number}

    def _told(self) -> tuple[str, str, int]:
        """What the headers say of the body: its type, its sender and its sequence."""
        if self.path != "/":
            raise Refused(404, "tuples are taken at POST /")
        if self.headers.get("Origin") is not None:
            raise Refused(403, "web pages may not post tuples; post them from a program")
        if self.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Refused(415, "compressed bodies are not taken; post the body as it is, without Content-Encoding")
        type, _, parameters = self.headers.get("Content-Type", JSON).lower().partition(";")
        charset = re.search(r'charset="?([^";\s]*)', parameters)
        if type.strip() not in TYPES or (charset and charset[1] not in ("utf-8", "utf8", "us-ascii")):
            raise Refused(415, f"the Content-Type is one of {listing(TYPES)}, and texts are UTF-8")
        sender, sequence = self.headers.get("Australis-Sender"), self.headers.get("Australis-Sequence")
        if sender is None and sequence is None:
            return type.strip(), "", 0
        if not _SENDER.fullmatch(sender or "") or not _INTEGER.fullmatch(sequence or ""):
            raise Refused(400, "Australis-Sender is a name of at most 64 letters, digits, `_`, `.` and `-`, and goes"
                               " with Australis-Sequence, an integer that rises")  # fmt: skip
        return type.strip(), str(sender), int(str(sequence))

    def _length(self) -> int:
        lengths = self.headers.get_all("Content-Length", [])
        if len(lengths) != 1 or not _INTEGER.fullmatch(lengths[0]) or "Transfer-Encoding" in self.headers:
            raise Refused(411, "post the body in one piece, with its Content-Length")
        length = int(lengths[0])
        if length > self.server.largest:
            raise Refused(413, f"the body has {length} bytes, of at most {self.server.largest}; post it in parts")
        return length

    def _body(self, length: int, take: Callable[[int], None]) -> bytes:
        """A body, for which room is taken as it comes: what is only announced takes none from others."""
        parts, left = [], length
        while left:
            try:
                part = self.rfile.read1(min(left, _PART))
            except Slow:
                raise
            except OSError as error:
                raise ConnectionError(f"the body did not come: {error}") from error
            if not part:
                raise ConnectionError(f"the body ended after {length - left} of {length} bytes")
            take(len(part))
            parts.append(part)
            left -= len(part)
        self.unread = False
        return b"".join(parts)

    def _answer(self, code: int, content: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self.close_connection |= self.unread
        body = json.dumps(content).encode() + b"\n"
        self.send_response(code)
        shown = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
        for name, value in shown.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _linger(self) -> None:
        """Let a sender finish that was refused before it had sent all, so that it comes to read the answer."""
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            self.arrivals.drain(_LINGER)
