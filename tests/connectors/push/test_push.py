"""Posts: what was acknowledged is read, each tuple once, whatever stops the server."""

import errno
import json
import os
import pickle
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from itertools import count, pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.push import arrivals, connections, senders, spool
from australis.connectors.push.bodies import ARROW, CSV, JSON, Refused, post
from australis.connectors.push.senders import Senders
from australis.connectors.push.spool import Full, Spool
from australis.connectors.source import Opened, Releasing, parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.push import Push
from australis.connectors.sources.uri import source
from australis.disk import journal
from australis.testing import rows

SCHEMA = schema("vid int, mph int")


def lines(*numbers):
    return b"".join(b'{"vid": %d, "mph": 50}\n' % number for number in numbers)


def stream(batch):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


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


@pytest.fixture
def push(tmp_path):
    """A source with a spool, and no thread or port left over."""
    before = set(threading.enumerate())
    yield Push("127.0.0.1", 0, SCHEMA, str(tmp_path / "spool"))
    assert not {thread for thread in threading.enumerate() if thread not in before}


@pytest.fixture
def endpoint(push):
    with closing(push.open()) as endpoint:
        yield endpoint
    with pytest.raises(ConnectionRefusedError), socket.create_connection(endpoint.address):
        pass


@pytest.fixture
def client(endpoint):
    with closing(Client(endpoint)) as client:
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """An endpoint for requests of which nothing is kept."""
    source = Push("127.0.0.1", 0, SCHEMA, str(tmp_path_factory.mktemp("shared")))
    with closing(source.open()) as endpoint:
        yield endpoint
    assert names(source) == []


@pytest.fixture
def stranger(shared):
    with closing(Client(shared)) as client:
        yield client


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


# What is taken


def test_every_kind_of_body_is_read_in_the_order_of_the_posts(push, client):
    batch = pa.record_batch({"mph": pa.array([53, None]), "road": pa.array(["A", "B"]), "vid": pa.array([5, 6])})
    reader = Reader(push)
    bodies = [
        (b'{"vid": 1, "mph": 51}', JSON, [(1, 51)]),
        (b'\xef\xbb\xbf{"mph": 52, "vid": 2}\r\n\r\n{"vid": 3, "road": 9}', "application/json", [(2, 52), (3, None)]),
        (b"road,mph,vid\nA,53,4\r\nB,,5", "text/csv; charset=UTF-8", [(4, 53), (5, None)]),
        (b"vid,mph\n", CSV, []),
        (stream(batch), ARROW, [(5, 53), (6, None)]),
        (stream(batch[:0]), ARROW, []),
        (lines(7), JSON, [(7, 50)]),
    ]
    for number, (body, type, tuples) in enumerate(bodies, 1):
        assert client.post(body, type) == (200, {"number": number})
        assert reader.more() == tuples
    everything = [row for _, _, tuples in bodies for row in tuples]
    assert client.ask("GET", "/health") == (200, {"number": 7, "slow": 0})
    assert names(push) == ["000000000007.jsonl"]
    for limit in (1, 3):
        for body, type, _ in bodies:
            assert client.post(body, type)[0] == 200
        reader.limit = limit
        assert reader.more() == everything


def test_json_is_what_a_body_is_unless_told_otherwise(push, client):
    assert client.post(b"", ARROW)[0] == 400
    assert client.ask("POST", "/", lines(1)) == (200, {"number": 1})  # over the same connection
    assert vids(push) == [1]


def test_bad_lines_become_letters_whole(push, client):
    assert client.post(lines(1) + b'{"vid": "x\xff"}\nnonsense\n[{"vid": 1}]\n' + lines(2))[0] == 200
    assert client.post(b'vid,mph\n3,fast\n"4,5\n5,6,7\n6,7', CSV)[0] == 200
    batch = pa.record_batch({"vid": pa.array([1 << 40, 7]), "mph": pa.array([1.5, 2.0])})
    assert client.post(stream(batch), ARROW)[0] == 200
    reader = Reader(push, limit=2)
    assert [vid for vid, _ in reader.more()] == [1, 2, 6, 7]
    assert [letter.raw for letter in reader.letters] == [
        b'{"vid": "x\xff"}', b"nonsense", b'[{"vid": 1}]', b"3,fast", b'"4,5', b"5,6,7",
        b'{"vid": 1099511627776, "mph": 1.5}',
    ]  # fmt: skip


def nested(depth):
    return b'{"vid": 1, "mph": 2, "x": ' + b"[" * depth + b"]" * depth + b"}\n"


NULLS = pa.Array.from_buffers(pa.null(), (1 << 31) - 1, [None])  # no bytes at all
ROWS = pa.record_batch({"vid": pa.array([1, 2], pa.int32()), "mph": pa.array([3, 4], pa.int32())})


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


def test_an_arrow_stream_with_broken_values_is_refused():
    texts = pa.record_batch({"s": ["abc", "defg"]})
    good = stream(texts)
    broken = good.replace(
        pa.array([0, 3, 7], pa.int32()).buffers()[1].to_pybytes()[:12], bytes([0, 0, 0, 0] + [99] * 8)
    )
    assert broken != good
    assert post(ARROW, good, texts.schema).body == good
    with pytest.raises(Refused, match="no Arrow stream that reads"):
        post(ARROW, broken, texts.schema)


def test_columns_that_a_format_does_not_hold_are_told():
    with pytest.raises(Refused, match=r"column d is duration.*, which is not read from JSON"):
        post(JSON, b'{"d": 1}', pa.schema({"d": pa.duration("us")}))
    with pytest.raises(Refused, match=r"column l is list.*, which CSV does not hold"):
        post(CSV, b"l\n1\n", pa.schema({"l": pa.list_(pa.int32())}))


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


JSON_LINES = st.sampled_from(
    [b'{"vid": 1, "mph": 2}', b'{"vid": 3}', b'{"mhp": 3}', b"{}", b"[1]", b'["mhp"]', b'"mph"', b"7", b"null", b"",
     b'{"vid": "x"}', b'{"vid": 1', b'"', b"\r", b"\xff", b"\x00", b'{"vid": 1}{"vid": 2}', b'{"a": [{}]}', b" ",
     b"\xef\xbb\xbf"]
)  # fmt: skip
CSV_LINES = st.sampled_from(
    [b"vid,mph", b"mph", b"1,2", b"3", b'"4', b'"4",5', b"\r", b"", b"x,y", b"\xff", b",", b'"']
)
BODIES = st.one_of(
    st.tuples(st.just(JSON), st.lists(JSON_LINES, max_size=6).map(b"\n".join)),
    st.tuples(st.just(CSV), st.lists(CSV_LINES, max_size=5).map(lambda its: b"\n".join([b"mph,vid", *its]))),
    st.tuples(st.just(CSV), st.lists(CSV_LINES, max_size=5).map(b"\n".join)),
    st.tuples(st.sampled_from([JSON, CSV, ARROW]), st.binary(max_size=60)),
)


@given(st.lists(BODIES, max_size=5), st.integers(1, 9))
@example([(JSON, b'[1]\n{"vid": 1}')], 1)
@example([(JSON, b'{"vid": 1}'), (JSON, b'{"mph": 1, "mhp": 2}')], 1)
def test_what_is_taken_can_be_read_line_by_line(tmp_path_factory, bodies, limit):
    folder = tmp_path_factory.mktemp("bodies")
    taken = []
    for type, body in bodies:
        with suppress(Refused):
            taken.append(post(type, body, SCHEMA))
    with closing(Spool(folder)) as opened:
        opened._commit(taken)
    found = list(parts(Files(str(folder), SCHEMA, follow=True), limit))
    given = [line.removesuffix(b"\r") for body in taken for line in body.body.split(b"\n")]
    assert sum(part.tuples.num_rows + len(part.letters) for part in found) == sum(line != b"" for line in given)
    assert all(letter.raw in given for part in found for letter in part.letters)


# Once each


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 40)), max_size=80))
def test_senders_know_what_they_have(posts):
    known, oracle = Senders(), set()
    for place, key in enumerate(posts):
        assert known.has(*key) == (key in oracle)
        known.add(*key)
        oracle.add(key)
        if place % 10 == 0:
            known = Senders(json.loads(json.dumps(known.stretches)))
    assert all(low[1] + 1 < high[0] for its in known.stretches.values() for low, high in pairwise(its))


class Remembered:
    """What a sender is answered, one number at a time, from the set of all that was ever stored."""

    def __init__(self, kept):
        self.kept, self.stored, self.floor = kept, set(), 0

    def stretches(self):
        known = sorted(number for number in self.stored if number >= self.floor)
        ends = [number for number in known if number + 1 not in self.stored]
        return [(number, min(end for end in ends if end >= number)) for number in known if number - 1 not in known]

    def answer(self, number):
        its = self.stretches()
        if number < self.floor or (len(its) == self.kept and number < its[0][0] - 1):
            return "forgotten"
        if number in self.stored:
            return "repeated"
        self.stored.add(number)
        if len(its := self.stretches()) > self.kept:
            self.floor = its[0][1] + 1
        return "stored"


SENT = st.one_of(
    st.none(),  # a restart
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), min_size=1, max_size=6),  # posts that wait together
)


@given(st.lists(SENT, max_size=12), st.integers(1, 4))
@example([[("a", 1), ("a", 3), ("a", 5)], [("a", 2)], None, [("a", 4), ("a", 1)]], 1)
@example([[("a", 9), ("a", 5), ("a", 5)], None, [("a", 5)]], 1)
def test_what_is_acknowledged_is_stored_exactly_once(tmp_path_factory, rounds, kept):
    """In any order, with any gaps, together or alone, and over restarts."""
    folder, oracles = tmp_path_factory.mktemp("once"), {name: Remembered(kept) for name in "ab"}
    acknowledged, places = set(), {"a": 0, "b": 100}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(senders, "KEPT", kept)
        opened = Spool(folder)
        for posts in rounds:
            if posts is None:
                opened.close()
                opened = Spool(folder)
                continue
            given = [sent(JSON, lines(places[name] + number), number, name) for name, number in posts]
            opened._commit(given)
            for (name, number), each in zip(posts, given, strict=True):
                assert not each.failed
                answer = "forgotten" if each.forgotten else "stored" if each.number else "repeated"
                assert answer == oracles[name].answer(number)
                acknowledged |= {places[name] + number} if answer != "forgotten" else set()
        opened.close()
    stored = [row for part in parts(Files(str(folder), SCHEMA, follow=True)) for row in rows(part.tuples)]
    assert sorted(vid for vid, _ in stored) == sorted(acknowledged)
    assert acknowledged == {places[name] + number for name, its in oracles.items() for number in its.stored}


@pytest.mark.parametrize("restart", [False, True])
def test_a_number_that_was_never_sent_is_not_acknowledged_however_many_gaps_follow_it(push, restart):
    sequences = range(0, 140, 2)
    with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
        for sequence in sequences:
            assert client.post(lines(sequence), sender="a", sequence=sequence)[0] == 200
        if not restart:
            check_forgotten(client)
    if restart:
        with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
            check_forgotten(client)
    assert vids(push) == [*sequences, 1, 13]


def check_forgotten(client):
    for sequence in (1, 0):  # the one was never sent and the other was, which is not known any more
        status, answer = client.post(lines(1), sender="a", sequence=sequence)
        assert status == 409
        assert answer["error"] == (
            f"sequence {sequence} of a lies before 11, from which on it is known what was stored; if it was not sent"
            " before, post it with a greater sequence"
        )
    assert client.post(lines(12), sender="a", sequence=12) == (200, {"repeated": True})
    assert client.post(lines(1), sender="a", sequence=140)[1].keys() == {"number"}
    assert client.post(lines(13), sender="a", sequence=13)[1].keys() == {"number"}
    assert client.post(lines(13), sender="a", sequence=13) == (200, {"repeated": True})


def test_what_is_sent_again_is_acknowledged_and_not_stored_again(push):
    reader, seen = Reader(push), []
    for round in range(3):
        with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
            for sequence in (1, 2, 2, 1, 5, 4):
                answer = client.post(lines(sequence), sender="car-7", sequence=sequence)
                if round or seen.count(sequence):
                    assert answer == (200, {"repeated": True})
                else:
                    assert answer == (200, {"number": len(seen) + 1})
                    seen.append(sequence)
            other = client.post(lines(10 + round), sender="car.8", sequence=round)
            assert other == (200, {"number": len(seen) + round + 1})
        more = reader.more()
        assert [vid for vid, _ in more] == ([*seen, 10] if not round else [10 + round])
        assert len(names(push)) == 1  # the others were released


def test_one_post_sent_over_many_connections_at_once_is_stored_once(push, endpoint):
    def work():
        with closing(Client(endpoint)) as client:
            answers.append(client.post(lines(1), sender="a", sequence=3))

    answers = []
    at_once([work] * 12)
    assert sorted(map(str, answers)) == ["(200, {'number': 1})", *["(200, {'repeated': True})"] * 11]
    assert vids(push) == [1]


def at_once(works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_many_threads_post_and_everything_is_read_once(push, endpoint):
    def work(first, type):
        def run():
            with closing(Client(endpoint)) as client:
                for vid in range(first, first + 20):
                    batch = pa.record_batch({"vid": [vid], "mph": [1]})
                    body = {JSON: lines(vid), CSV: b"vid,mph\n%d,50\n" % vid, ARROW: stream(batch)}[type]
                    assert client.post(body, type)[0] == 200

        return run

    at_once([work(1000 * thread, (JSON, JSON, CSV, JSON, ARROW)[thread % 5]) for thread in range(15)])
    found = vids(push)
    assert sorted(found) == [1000 * thread + i for thread in range(15) for i in range(20)]
    for thread in range(15):  # a sender's posts stay in order
        mine = [vid for vid in found if vid // 1000 == thread]
        assert mine == sorted(mine)
    assert len(names(push)) < 300  # some were written together


def test_posts_that_wait_are_written_together(push):
    def kind(number):
        return post(*((JSON, lines(number)), (CSV, b"vid,mph\n%d,1" % number))[number // 3 % 2], SCHEMA)

    with closing(Spool(push.spool)) as opened:
        posts = [kind(number) for number in range(9)] + [post(CSV, b"mph,vid\n1,9", SCHEMA)]
        opened._waiting += posts[:-1]
        opened.put(posts[-1])
        assert [waiting.number for waiting in posts] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4]
        opened._waiting += (again := [sent(JSON, lines(10), 1) for _ in range(3)])
        opened.put(post(ARROW, stream(ROWS), SCHEMA))
        assert [waiting.number for waiting in again] == [5, None, None]
    assert vids(push) == [*range(11), 1, 2]
    (second,) = Path(push.spool).glob("000000000002-*.csv")
    assert second.read_bytes() == b"vid,mph\n3,1\n4,1\n5,1\n"


# The spool


def test_release_removes_what_was_read_and_numbers_go_on(push):
    reader = Reader(push)
    for round in range(3):
        with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
            for number in range(3):
                assert client.post(lines(number)) == (200, {"number": 3 * round + number + 1})
        assert len(names(push)) == 3 + bool(round)
        push.release(push.start())
        push.release(reader.offset)
        assert len(names(push)) == 3 + bool(round)
        assert [vid for vid, _ in reader.more()] == [0, 1, 2]
        assert names(push) == [f"{3 * round + 3:012}.jsonl"]
    (last,) = Path(push.spool).glob("[!.]*")
    last.unlink()  # by hand
    with closing(Spool(push.spool)) as opened:
        assert opened.put(post(JSON, lines(1), SCHEMA)) == 10


def test_a_file_that_is_read_in_part_stays(push):
    with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
        for number in range(3):
            client.post(lines(*range(10 * number, 10 * number + 10)))
    end = push.latest(push.start(), 15)
    push.release(end)
    assert names(push) == ["000000000002.jsonl", "000000000003.jsonl"]
    reader = Reader(push)
    reader.offset = end
    assert sorted(vid for vid, _ in reader.more())[-1] == 29


def test_a_spool_lives_longer_than_a_folder_of_files(push):
    with closing(Spool(push.spool)) as opened:
        opened.number = 1 << 32
        for number in range(3):
            opened.put(post(JSON, lines(number), SCHEMA))
    reader = Reader(push, limit=1)
    reader.offset = {"before": 1 << 40, "files": [[str(Path(push.spool) / f"{1 << 32:012}.jsonl"), 5, 5, 0]]}
    assert [vid for vid, _ in reader.more()] == [0, 1, 2]
    assert reader.numbers == [(number << 30) + 1 for number in range((1 << 32) + 1, (1 << 32) + 4)]


# When posts came


def times(push, limit=1000):
    """When the tuples of a spool came, in batches of about so many."""
    found, offset = [], push.start()
    while (end := push.latest(offset, limit)) != offset:
        for split in push.splits(offset, end, 3):
            for part in pickle.loads(pickle.dumps(push)).read(split):
                found += [part.ts] * part.tuples.num_rows
        offset = end
    return found


def test_tuples_came_when_they_were_stored_whoever_reads_them_and_when(push, client):
    before = time.time_ns() // 1000
    for number in range(5):
        client.post(lines(number, number))
    found = times(push)
    assert before <= found[0]
    assert found == sorted(found)
    assert found[-1] <= time.time_ns() // 1000
    assert found[::2] == found[1::2]
    assert times(push, 1) == times(push, 3) == found
    copy = shutil.copytree(push.spool, Path(push.spool).with_name("copy"), ignore=shutil.ignore_patterns(".*"))
    assert times(replace(push, spool=str(copy))) == found


def test_the_times_of_posts_never_fall(push, monkeypatch):
    clock = 1_000_000
    monkeypatch.setattr(spool.time, "time_ns", lambda: clock * 1000)
    with closing(Spool(push.spool)) as opened:
        opened.put(post(JSON, lines(1), SCHEMA))
        clock = 900_000
        opened.put(post(JSON, lines(2), SCHEMA))
    with closing(Spool(push.spool)) as opened:
        opened.put(post(JSON, lines(3), SCHEMA))
        clock = 1_100_000
        opened.put(post(JSON, lines(4), SCHEMA))
    assert times(push) == [1_000_000, 1_000_000, 1_000_000, 1_100_000]


def test_files_of_a_spool_without_times_are_read(push):
    Path(push.spool).mkdir()
    (Path(push.spool) / "000000000001.jsonl").write_bytes(lines(1))
    with closing(Spool(push.spool)) as opened:
        assert opened.put(post(JSON, lines(2), SCHEMA)) == 2
    first, second = times(push)
    assert first is None
    assert second > 0
    assert push.arrived(push.start()) is None


def test_what_waits_in_a_spool_came_when_the_next_file_was_stored(push, monkeypatch):
    with closing(Spool(push.spool)) as opened:
        for number in range(3):
            monkeypatch.setattr(spool.time, "time_ns", lambda at=number: (at + 1) * 1_000_000)
            opened.put(post(JSON, lines(*range(3)), SCHEMA))
    offset, found = push.start(), []
    while (end := push.latest(offset, 1)) != offset:
        found.append(push.arrived(offset))
        offset = end
    assert sorted(found) == found
    assert set(found) == {1000, 2000, 3000}
    assert push.arrived(offset) is None
    assert replace(push, spool=f"{push.spool}/none").arrived(push.start()) is None


# Room


def test_a_spool_that_is_full_says_so_and_loses_nothing(push, monkeypatch):
    monkeypatch.setattr(spool, "_LOOK", 0)
    reader = Reader(push)
    sent, seen = 0, []
    with closing(replace(push, limit=40_000).open()) as endpoint, closing(Client(endpoint)) as client:
        for _ in range(3):
            while (answer := client.post(lines(sent)))[0] == 200:
                sent += 1
            assert answer[0] == 503
            assert (
                "bytes that wait to be read, and 0 that come, of at most 40000; post it again later"
                in answer[1]["error"]
            )
            assert client.headers["Retry-After"] == "1"
            seen += [vid for vid, _ in reader.more()]
        assert client.post(b"x" * 40_001)[0] == 413
    assert seen == list(range(sent))
    assert sent == 10  # a file counts as 16 kB, and the one that stays counts as nothing


def test_room_is_held_for_posts_as_they_come(tmp_path):
    with closing(Spool(tmp_path, limit=100)) as opened:
        told = "the spool holds 0 bytes that wait to be read, and 100 that come, of at most 100"
        with opened.room() as one, opened.room() as other:
            one(20)
            other(40)
            one(40)
            opened.check(0)
            for act in (one, other, opened.check):
                with pytest.raises(Full, match=told):
                    act(1)
        opened.check(100)


def promise(endpoint, length):
    """A connection that announces a body and sends one byte of it."""
    connection = socket.create_connection(endpoint.address)
    connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n{" % length)
    return connection


def told_to(connection):
    """The answer on a connection that is closed after it."""
    head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


def test_bodies_that_are_announced_take_no_room_from_others(push):
    with closing(replace(push, limit=200_000, largest=100_000).open()) as endpoint, ExitStack() as promised:
        for _ in range(3):
            connection = promised.enter_context(under_way(endpoint, 100_000))
            connection.sendall(b"{")
        with closing(Client(endpoint)) as client:
            assert client.post(b'{"vid": 1, "mph": 2}' + b" " * 90_000) == (200, {"number": 1})
    assert vids(push) == [1]


def test_a_body_for_which_there_is_no_room_any_more_is_told(push, endpoint, monkeypatch):
    with under_way(endpoint, 100_000) as connection:
        monkeypatch.setattr(endpoint._spool, "limit", 1000)
        connection.sendall(b" " * 100_000)
        code, told = told_to(connection)
    assert code == 503
    assert "that come, of at most 1000; post it again later" in told
    monkeypatch.undo()
    with closing(Client(endpoint)) as client:
        assert client.post(lines(1))[0] == 200


def test_a_thousand_connections_that_bring_nothing_leave_others_answered(push, endpoint):
    threads, handles = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    with ExitStack() as promised:
        made = [promised.enter_context(promise(endpoint, 1 << 20)) for _ in range(1000)]
        with closing(Client(endpoint)) as client:
            assert client.post(lines(1)) == (200, {"number": 1})
            assert client.ask("GET", "/health")[1]["slow"] >= 1001 - connections.MOST
            assert threading.active_count() - threads <= connections.MOST + 10  # and those of the spool
            assert len(list(Path("/proc/self/fd").iterdir())) - handles <= 1000 + connections.MOST + 10
        code, told = told_to(made[0])
        assert code == 408
        assert told == (
            f"the request was ended while it brought nothing, to let others in: {connections.MOST} connections were"
            " open; post it again, without a pause"
        )
    assert vids(push) == [1]


def test_connections_that_wait_for_a_request_make_room_too(push, endpoint, monkeypatch):
    monkeypatch.setattr(connections, "MOST", 2)
    with ExitStack() as opened:
        clients = [opened.enter_context(closing(Client(endpoint))) for _ in range(4)]
        for number, client in enumerate(clients, 1):
            assert client.post(lines(number)) == (200, {"number": number})
        assert clients[0].connection.sock.recv(1) == b""
        assert clients[-1].ask("GET", "/health") == (200, {"number": 4, "slow": 0})  # it had no request under way


def test_a_connection_that_is_ended_while_its_body_is_stored_has_one_answer(push, endpoint):
    body = lines(1)
    with socket.create_connection(endpoint.address) as connection:
        with endpoint._spool._turn:
            connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            while not endpoint._spool._waiting:
                time.sleep(0.001)
            (its,) = endpoint._server.arrivals.values()
            its.end("to let others in")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.count(b"HTTP/1.1") == 1
    assert endpoint._server.slow == 0
    assert vids(push) == [1]


def test_a_body_that_brings_nothing_is_ended_and_counted(push, endpoint, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(arrivals, "PATIENCE", 0.05)
        with promise(endpoint, 1000) as connection:
            code, told = told_to(connection)
        with socket.create_connection(endpoint.address) as headless:
            headless.sendall(b"POST / HTTP/1.1\r\nContent-")
            assert told_to(headless)[0] == 408
    assert code == 408
    assert told.startswith(
        "the request came too slowly: after 0.05 seconds it brings at least 1000 bytes a second, and"
    )
    with closing(Client(endpoint)) as client:
        assert client.ask("GET", "/health") == (200, {"number": 0, "slow": 2})
        assert endpoint._spool._held == 0


@pytest.mark.parametrize(("each", "ended"), [(1, True), (900, True), (1100, False)])
def test_a_request_comes_at_a_least_rate(each, ended):
    """Whoever sends a few bytes each second is never quiet for long, and is ended all the same."""
    now = [1000.0]
    sender, taker = socket.socketpair()
    with sender, taker:
        its = arrivals.Arrivals(taker, lambda: now[0])
        now[0] += 500  # between two requests
        seconds = 0
        with suppress(arrivals.Slow):
            while seconds < 600:
                sender.sendall(b"x" * each)
                assert its.readinto(bytearray(each)) == each
                now[0] += 1
                seconds += 1
        assert (seconds < 600) == ended
        assert seconds >= arrivals.PATIENCE


def test_a_spool_that_is_closed_takes_no_posts_and_says_so(tmp_path):
    opened = Spool(tmp_path)
    opened.put(post(JSON, lines(1), SCHEMA))
    opened.close()
    with pytest.raises(Full, match="the run has ended"):
        opened.put(post(JSON, lines(2), SCHEMA))
    ending = Spool(tmp_path)
    ending._pool.shutdown()  # as Python does when it ends
    with pytest.raises(Full, match="the process of the run ends"):
        ending.put(post(JSON, lines(2), SCHEMA))
    ending.close()
    Spool(tmp_path).close()
    assert len(list(tmp_path.glob("0*"))) == 1


def full(monkeypatch, where, name, fails):
    """The disk is full for some calls of a function."""
    real, calls = getattr(where, name), count()

    def call(*arguments):
        if next(calls) in fails:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments)

    monkeypatch.setattr(where, name, call)


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("fails", [{0}, {1}, {2}, {0, 1, 2}, {0, 3}, {1, 3, 4}, {2, 5, 6}, set(range(8))])
def test_a_full_disk_loses_nothing(push, monkeypatch, fails, restart):
    """A commit syncs a file, the folder and the journal; after a failure the journal is written anew."""
    with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
        assert client.post(lines(1), sender="a", sequence=1) == (200, {"number": 1})
        with monkeypatch.context() as patch:
            full(patch, os, "fsync", fails)
            status, answer = client.post(lines(2), sender="a", sequence=2)
            assert status == 503
            assert "cannot be stored now: No space left on device; post it again later" in answer["error"]
            assert client.headers["Retry-After"] == "1"
            assert vids(push) == [1]
            if not restart:
                while client.post(lines(2), sender="a", sequence=2)[0] != 200:
                    pass
    with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
        status, answer = client.post(lines(2), sender="a", sequence=2)
        assert (status, "repeated" in answer) == (200, not restart)
        assert client.post(lines(1), sender="a", sequence=1) == (200, {"repeated": True})
        assert client.post(lines(3), sender="a", sequence=3)[1]["number"] > 2
    assert vids(push) == [1, 2, 3]
    assert not list(Path(push.spool).glob(".*.tmp"))


def test_a_disk_that_is_full_before_the_file_is_written(push, client, monkeypatch):
    with monkeypatch.context() as patch:
        full(patch, Path, "open", {0})
        assert client.post(lines(1))[0] == 503
    assert client.post(lines(2)) == (200, {"number": 1})
    assert vids(push) == [2]


@pytest.mark.parametrize("restart", [False, True])
def test_files_that_cannot_be_named_yet_are_stored_and_shown_later(push, monkeypatch, restart):
    with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
        with monkeypatch.context() as patch:
            full(patch, Path, "replace", {0, 1})
            assert client.post(lines(1)) == (200, {"number": 1})
            assert client.post(lines(2))[0] == 503
            assert vids(push) == []
        if not restart:
            assert client.post(lines(3)) == (200, {"number": 2})
    if restart:
        with closing(push.open()) as endpoint, closing(Client(endpoint)) as client:
            assert vids(push) == [1]
            assert client.post(lines(3)) == (200, {"number": 2})
    assert vids(push) == [1, 3]


def test_a_process_that_is_stopped_at_any_moment_keeps_what_it_acknowledged(push, tmp_path, monkeypatch):
    """The folder is copied at each step; what was not on the disk yet may be there whole, in part, or not at all."""
    copies, stored = [], 0
    fsync, rename, lock = os.fsync, Path.replace, threading.Lock()

    def copied(synced):
        with lock:
            copies.append((tmp_path / f"copy-{len(copies)}", stored, synced))
            shutil.copytree(push.spool, copies[-1][0])

    posts = [(JSON, lines(1)), (CSV, b"vid,mph\n2,1\n"), (JSON, lines(3)), (JSON, lines(4))]
    with closing(Spool(push.spool)) as opened, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: (copied(False), fsync(handle))[1])
        patch.setattr(Path, "replace", lambda path, to: (copied(True), rename(path, to))[1])
        for group in (posts[:3], posts[3:]):
            opened._commit([sent(*given, stored + place) for place, given in enumerate(group)])
            stored += len(group)
    assert len(copies) == 5 + 3 + 3 + 1
    for folder, acknowledged, synced in copies:
        for lost in ("nothing",) if synced else ("nothing", "files", "half", "line"):
            shutil.copytree(folder, copy := folder.with_name(f"{folder.name}-{lost}"))
            for path in copy.glob(".0*.tmp") if lost in ("files", "half") else ():
                path.unlink() if lost == "files" else os.truncate(path, path.stat().st_size // 2)
            if lost == "line":
                os.truncate(copy / ".journal", (copy / ".journal").stat().st_size - 5)
            with closing(Spool(copy)) as again:
                assert again.number >= (3 if acknowledged else 0)
                kept = vids(replace(push, spool=str(copy)))
                assert kept == list(range(1, len(kept) + 1))
                assert len(kept) >= (4 if synced and acknowledged else 3 if synced else acknowledged)
                for place, given in enumerate(posts):
                    assert (again.put(sent(*given, place)) is None) == (place < len(kept))
            assert vids(replace(push, spool=str(copy))) == [1, 2, 3, 4]
            assert not list(copy.glob(".*.tmp"))


def sent(type, body, sequence, sender="a"):
    given = post(type, body, SCHEMA)
    given.sender, given.sequence = sender, sequence
    return given


def test_the_journal_is_summed_up_when_it_is_long(push, monkeypatch):
    monkeypatch.setattr(spool, "_JOURNAL", 100)
    sizes = []
    with closing(Spool(push.spool)) as opened:
        for number in range(60):
            opened.put(sent(JSON, lines(number), number))
            sizes.append((Path(push.spool) / ".journal").stat().st_size)
    assert max(sizes) < 400
    with closing(Spool(push.spool)) as opened:
        assert opened.number == 60
        assert opened.senders.stretches == {"a": [[0, 59]]}
    assert vids(push) == list(range(60))


def test_a_journal_that_does_not_read_is_told(push):
    with closing(Spool(push.spool)) as opened:
        for number in range(3):
            opened.put(sent(JSON, lines(number), number))
    path = Path(push.spool) / ".journal"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"a",1', b'"a",7'))
    with pytest.raises(RunError, match=r"\.journal: line 3 does not read; put the file back as it was, or remove it"):
        Spool(push.spool)
    path.unlink()
    with closing(Spool(push.spool)) as opened:
        assert opened.put(sent(JSON, lines(3), 3)) == 4
    assert journal.Journal(path).entries()[0] == {"number": 3, "senders": {}, "floors": {}}


# The server


def test_text_forms():
    assert source("push:8080", SCHEMA) == Push("127.0.0.1", 8080, SCHEMA)
    assert source("push:0.0.0.0:80?spool=in", SCHEMA) == Push("0.0.0.0", 80, SCHEMA, "in")
    made = source("push:[::1]:0?spool=a/b&limit=2e9&largest=1000", SCHEMA)
    assert made == Push("::1", 0, SCHEMA, "a/b", 2_000_000_000, 1000)
    assert pickle.loads(pickle.dumps(made)) == made
    assert isinstance(made, Opened)
    assert isinstance(made, Releasing)
    assert not isinstance(source("reports/", SCHEMA), Opened | Releasing)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("push:", "push:: `` is no port; write push:8080, or push:HOST:8080 for more than this machine"),
        ("push:localhost", "`localhost` is no port"),
        ("push:99999", "a port is less than 65536"),
        ("push:80?largest=1e12", "`largest` is 1 to 536870912 bytes.*given are largest=1000000000000"),
        ("push:80?limit=0", "limit is a whole number, 1 or more"),
        ("push:80?limit=much", "limit is a number, not `much`"),
        ("push:80?pool=x", "there is no option pool; there are spool, limit, largest; did you mean `spool`"),
        ("pusch:80", "there is no source `pusch:80`; did you mean `push`"),
    ],
)
def test_mistakes_in_text_forms_are_told(text, told):
    with pytest.raises(RunError, match=told):
        source(text, SCHEMA)


def test_a_spool_must_be_given(push):
    for act in (Push.open, Push.start, lambda given: given.latest({"before": 0, "files": []}, 1)):
        with pytest.raises(RunError, match=r"push:127.0.0.1:0: say where to keep what is posted, such as .*\?spool="):
            act(replace(push, spool=""))
    assert vids(push) == []  # the folder is not there yet


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


def under_way(endpoint, length):
    """A request of which the server waits for the body."""
    connection = socket.create_connection(endpoint.address)
    connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n" % length)
    assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    return connection


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


# Killed


class Load(threading.Thread):
    """Posts tuples until it is told to stop. Those with sequences are sent until they are acknowledged."""

    def __init__(self, who, ports, stop, sequences):
        super().__init__(daemon=True)
        self.connection = None
        self.who, self.ports, self.stop, self.sequences = who, ports, stop, sequences
        self.sent, self.acknowledged = [], []

    def run(self):
        i = 0
        while not self.stop.is_set():
            tuples = [(self.who, i, part) for part in range(1 + i % 3)]
            self.sent += tuples
            body = "\n".join(json.dumps(dict(zip(("who", "i", "part"), row, strict=True))) for row in tuples)
            while not self.post(body.encode(), i):
                if not self.sequences:
                    break
            else:
                self.acknowledged += tuples
            i += 1
        if self.connection:
            self.connection.close()

    def post(self, body, i):
        headers = {"Australis-Sender": self.who, "Australis-Sequence": str(i)} if self.sequences else {}
        connection = self.connection or HTTPConnection("127.0.0.1", self.ports[-1], timeout=5)
        try:
            connection.request("POST", "/", body, headers)
            answer = connection.getresponse()
            answer.read()
            self.connection = connection
            return answer.status == 200
        except (OSError, HTTPException):
            connection.close()
            self.connection = None
            time.sleep(0.01)
            return False


def test_a_server_that_is_killed_under_load_loses_nothing_and_stores_nothing_twice(push):
    program = [sys.executable, str(Path(__file__).with_name("killed_push.py")), push.spool]
    ports, stop, found = [], threading.Event(), []
    loads = [Load(f"{'once' if n < 5 else 'any'}-{n}", ports, stop, n < 5) for n in range(8)]
    reader = Reader(replace(push, schema=schema("who string, i int, part int")), limit=200)

    def serve(calls):
        served.stdin.write(f"{calls}\n")
        served.stdin.flush()
        child, port = map(int, served.stdout.readline().split())
        ports.append(port)
        return child

    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as served:
        for calls in (0, random.randint(20, 60), random.randint(20, 60), 0):
            child = serve(calls)
            for load in loads if len(ports) == 1 else ():
                load.start()
            time.sleep(random.uniform(0.05, 0.2))
            if len(ports) == 4:
                stop.set()
                for load in loads:
                    load.join()
            if not calls:
                os.kill(child, 9)
            assert served.stdout.readline() == "killed\n"
            found += reader.more()
        served.stdin.close()
    read = Counter(found)
    once = Counter(row for load in loads[:5] for row in load.sent)
    others = Counter(row for load in loads[5:] for row in load.sent)
    assert Counter(row for row in found if row[0].startswith("once")) == once
    assert read <= once + others
    assert all(read[row] for load in loads for row in load.acknowledged)
    for load in loads:  # all tuples of a post or none, in order
        mine = [row for row in found if row[0] == load.who]
        assert mine == [row for row in load.sent if (load.who, row[1], 0) in read]
        assert mine
    assert not reader.letters
