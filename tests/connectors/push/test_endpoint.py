"""The endpoint: which requests it takes, and what it answers."""

import socket
import threading
from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pytest

from australis import RunError
from australis.connectors.push.bodies import ARROW, CSV, JSON
from tests.connectors.push.posts import ROWS, Client, lines, nested, stream, under_way, vids

NULLS = pa.Array.from_buffers(pa.null(), (1 << 31) - 1, [None])  # no bytes at all


@pytest.mark.parametrize(
    ("body", "type", "code", "told"),
    [
        (b"", JSON, 400, "the body is empty; post at least one tuple"),
        (b" \n\r\n", CSV, 400, "the body is empty"),
        (lines(1), "text/plain", 415, "the Content-Type is one of application/x-ndjson, application/json, text/csv, "),
        (lines(1), "application/json; charset=utf-16", 415, "texts are UTF-8"),
        (b"vid,speed\n1,2\n", CSV, 400, "the body: no column mph; there are vid, speed"),
        (b"\xff,\xfe\n1,2\n", CSV, 400, "the first line of CSV names the columns, such as vid,mph; this one does not"),
        (b'{"vid": 1, "mhp": 2}\n', JSON, 400, "no column mph; there are vid, mhp; did you mean `mhp`? If not, write"),
        (b'{"vid": 1}\n[1, 2]\n', JSON, 400, "line 2 is a list; post objects, one a line"),
        (lines(1) + nested(100_000), JSON, 400, "line 2 is nested too deep"),
        (b"no stream", ARROW, 400, "the body is no Arrow stream that reads ("),
        (stream(ROWS)[:-40], ARROW, 400, "the body is no Arrow stream that reads ("),
        (stream(ROWS) + stream(ROWS), ARROW, 400, "bytes follow the end of the Arrow stream; post one stream at a"),
        (stream(ROWS.select(["vid"])), ARROW, 400, "the body: no column mph; there are vid"),
        (stream(pa.record_batch({"vid": ["x"], "mph": [1]})), ARROW, 400, "column vid is string, where int32 is"),
        (
            stream(pa.record_batch({"vid": NULLS, "mph": NULLS})),
            ARROW, 413, "2147483647 rows are too many for a body of",
        ),
    ],
)  # fmt: skip
def test_bodies_that_could_not_be_read_are_refused(stranger, body, type, code, told):
    status, answer = stranger.post(body, type)
    assert status == code
    assert told in answer["error"]
    assert stranger.ask("GET", "/health") == (200, {"number": 0, "slow": 0})


@pytest.mark.parametrize(
    ("headers", "code", "told"),
    [
        ({"Content_Encoding": "gzip"}, 415, "compressed bodies are not taken"),
        ({"Origin": "http://example.org"}, 403, "web pages may not post tuples"),
        ({"path": "/reports"}, 404, "tuples are taken at POST /"),
        ({"Transfer_Encoding": "chunked"}, 411, "post the body in one piece, with its Content-Length"),
        ({"Content_Length": "+5"}, 411, "with its Content-Length"),
        ({"Content_Length": "99999999999"}, 413, "has 99999999999 bytes, of at most 67108864; post it in parts"),
        ({"Australis_Sender": "a"}, 400, "goes with Australis-Sequence, an integer that rises"),
        ({"Australis_Sequence": "1"}, 400, "Australis-Sender is a name"),
        ({"Australis_Sender": "../a", "Australis_Sequence": "1"}, 400, "Australis-Sender is a name"),
        ({"Australis_Sender": "a", "Australis_Sequence": "-1"}, 400, "Australis-Sequence, an integer"),
        ({"Australis_Sender": "a", "Australis_Sequence": "1" * 19}, 400, "Australis-Sequence, an integer"),
    ],
)
def test_requests_that_are_no_posts_of_ours_are_refused(stranger, headers, code, told):
    status, answer = stranger.post(lines(1), **headers)
    assert status == code
    assert told in answer["error"]
    assert stranger.headers["Connection"] == "close"  # the body was not read


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [("GET", "/", 404), ("PUT", "/", 405), ("DELETE", "/health", 405), ("HEAD", "/health", 405), ("BREW", "/", 405)],
)
def test_other_paths_and_methods_are_told(stranger, method, path, code):
    status, answer = stranger.ask(method, path)
    assert status == code
    assert answer is None if method == "HEAD" else answer["error"]
    assert stranger.headers["Allow"] == ("GET, POST" if code == 405 else None)


@pytest.mark.parametrize("request_", [b"nonsense\r\n\r\n", b"GET /health HTTP/9.9\r\n\r\n", b"GET " + b"x" * 70_000])
def test_requests_that_do_not_read_are_told_in_json(shared, request_):
    with socket.create_connection(shared.address) as connection:
        connection.sendall(request_)
        answer = connection.makefile("rb").read()
    assert b"HTTP/1.1 4" in answer or b"HTTP/1.1 505" in answer
    assert b'{"error": "the request does not read' in answer


def test_a_body_that_is_too_large_is_told_to_a_sender_that_does_not_ask_first(push):
    small = replace(push, largest=1 << 16)
    with closing(small.open()) as endpoint, closing(Client(endpoint)) as client:
        for size in (1 << 17, 1 << 24):
            assert client.post(b"x" * size)[0] == 413
        assert client.post(lines(1))[0] == 200


def test_a_sender_that_asks_first_is_told_to_go_on(push, endpoint):
    with socket.create_connection(endpoint.address) as connection:
        head = "POST / HTTP/1.1\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head.format(len(lines(1))).encode())
        answers = connection.makefile("rb")
        assert answers.readline() == b"HTTP/1.1 100 Continue\r\n"
        assert answers.readline() == b"\r\n"
        connection.sendall(lines(1))
        assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
        connection.sendall(head.format(1 << 40).encode())
        assert b"HTTP/1.1 413 " in connection.makefile("rb").read()
    assert vids(push) == [1]


def test_a_body_that_ends_early_is_not_kept(shared):
    for body in (lines(1), lines(1, 2)[:30]):
        with socket.create_connection(shared.address) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + body)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100) == b""


def test_one_process_takes_posts_at_a_time(push, endpoint, tmp_path):
    with pytest.raises(RunError, match="another process takes posts in it; stop that, or choose another folder"):
        push.open()
    other = replace(push, port=endpoint.address[1], spool=str(tmp_path / "other"))
    for _ in range(2):
        with pytest.raises(RunError, match=r"push:127.0.0.1:\d+: .*in use; choose another port, or 0 for any that is"):
            other.open()
    with closing(replace(push, host="", spool=str(tmp_path / "far/away")).open()) as third:
        assert third.address[0] == "127.0.0.1"
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="choose a spool folder that can be written to"):
        replace(push, spool=str(tmp_path / "file")).open()


def test_closing_finishes_the_requests_under_way(push):
    endpoint = push.open()
    with closing(Client(endpoint)) as idle, under_way(endpoint, len(lines(2))) as busy:
        assert idle.post(lines(1))[0] == 200
        closer = threading.Thread(target=endpoint.close)
        closer.start()
        assert idle.connection.sock.recv(1) == b""  # it is closed at once
        busy.sendall(lines(2))
        assert busy.makefile("rb").read().startswith(b"HTTP/1.1 200 OK")
        closer.join()
    endpoint.close()
    assert vids(push) == [1, 2]


def test_closing_does_not_wait_for_ever(push, monkeypatch):
    monkeypatch.setattr("australis.connectors.push.endpoint._GRACE", 0.05)
    with closing(push.open()) as endpoint:
        stuck = under_way(endpoint, 100)
        stuck.sendall(lines(1))
    with stuck:
        assert stuck.recv(1) == b""
    assert vids(push) == []
