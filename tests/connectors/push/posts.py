"""Posts, a client that sends them, and a reader of what was taken."""

import json
import pickle
import re
import socket
from http.client import HTTPConnection
from pathlib import Path

import pyarrow as pa

from australis.arrow.schema import schema
from australis.connectors.push.bodies import JSON
from australis.testing import rows

ROWS = pa.record_batch({"vid": pa.array([1, 2], pa.int32()), "mph": pa.array([3, 4], pa.int32())})

SCHEMA = schema("vid int, mph int")


def lines(*numbers):
    return b"".join(b'{"vid": %d, "mph": 50}\n' % number for number in numbers)


class Client:
    """A connection that stays open."""

    def __init__(self, endpoint):
        self.connection = HTTPConnection(*endpoint.address, timeout=600)

    def post(self, body, type=JSON, sender="", sequence=None, path="/", **headers):
        told = {"Content-Type": type} | {name.replace("_", "-"): value for name, value in headers.items()}
        if sender:
            told |= {"Australis-Sender": sender, "Australis-Sequence": str(sequence)}
        return self.ask("POST", path, body, told)

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        self.headers = answer.headers
        read = answer.read()
        assert answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(read) if read else None

    def close(self):
        self.connection.close()


class Reader:
    """Reads what is new, and releases what it has read."""

    def __init__(self, push, limit=1000, release=True):
        self.push, self.limit, self.release = push, limit, release
        self.offset = push.start()
        self.numbers, self.letters = [], []

    def more(self):
        found = []
        while (end := self.push.latest(self.offset, self.limit)) != self.offset:
            for split in self.push.splits(self.offset, end, 3):
                for part in pickle.loads(pickle.dumps(self.push)).read(split):
                    found += rows(part.tuples)
                    self.numbers += part.number.tolist()
                    self.letters += part.letters
            self.offset = json.loads(json.dumps(end))
            if self.release:
                self.push.release(self.offset)
        assert self.numbers == sorted(set(self.numbers))
        assert not self.push.finished(self.offset)
        assert not self.push.backlog(self.offset)
        return found


def vids(push):
    return [vid for vid, _ in Reader(push, release=False).more()]


def names(push):
    """The files of the spool, without the times when they were stored."""
    return sorted(re.sub(r"-\d+\.", ".", path.name) for path in Path(push.spool).glob("[!.]*"))


def stream(batch):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def nested(depth):
    return b'{"vid": 1, "mph": 2, "x": ' + b"[" * depth + b"]" * depth + b"}\n"


def under_way(endpoint, length):
    """A request of which the server waits for the body."""
    connection = socket.create_connection(endpoint.address)
    connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n" % length)
    assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    return connection
