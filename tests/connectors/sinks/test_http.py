"""A web server as a sink."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors import sink
from australis.connectors.sinks.http import Http

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


@pytest.fixture
def server():
    """A web server that answers with the given codes, and then with 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            code = self.server.codes.pop(0) if self.server.codes else 200
            self.server.taken.append((code, self.headers["Australis-Batch"], self.headers["Australis-Run"], body))
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.codes, server.taken = [], []
        server.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_http_posts_json_lines_and_tries_again(server):
    server.codes = [503, 429]
    writer = sink.open(Http(server.url, pause=0.01), SCHEMA, run="r")
    writer.write(5, [train(1), train(2)])
    writer.write(6, [train()])
    body = b'{"i": 1, "s": "<1>"}\n{"i": 2, "s": "<2>"}\n'
    assert server.taken == [(code, "5", "r", body) for code in (503, 429, 200)]


def test_http_gives_up(server):
    writer = sink.open(Http(server.url, attempts=3, pause=0.01), SCHEMA)
    server.codes = [400]
    with pytest.raises(RunError, match=r"batch 5 was not taken \(HTTP Error 400.*; see to the server, then start the"):
        writer.write(5, [train(1)])
    assert len(server.taken) == 1
    server.codes = [500] * 9
    with pytest.raises(RunError, match=r"batch 6 was not taken 3 times \(HTTP Error 500"):
        writer.write(6, [train(1)])
    assert len(server.taken) == 4
    with pytest.raises(RunError, match=r"was not taken 2 times"):
        Http("http://127.0.0.1:1/", attempts=2, pause=0.01).open(SCHEMA).write(0, [train(1)])
