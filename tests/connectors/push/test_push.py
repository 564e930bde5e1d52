"""Posts: what was acknowledged is read, each tuple once, whatever stops the server."""

import errno
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.push import arrivals, connections, senders, spool
from australis.connectors.push.bodies import ARROW, CSV, JSON, post
from australis.connectors.push.spool import Spool
from australis.connectors.source import parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.push import Push
from australis.disk import journal
from australis.testing import rows
from tests.connectors.push.posts import ROWS, SCHEMA, Client, Reader, lines, names, stream, under_way, vids

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


# Once each


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


@pytest.mark.slow
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


# The source


def test_a_spool_must_be_given(push):
    for act in (Push.open, Push.start, lambda given: given.latest({"before": 0, "files": []}, 1)):
        with pytest.raises(RunError, match=r"push:127.0.0.1:0: say where to keep what is posted, such as .*\?spool="):
            act(replace(push, spool=""))
    assert vids(push) == []  # the folder is not there yet


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
