"""The spool: posts that wait to be read."""

import pickle
import shutil
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from australis.connectors.push import spool
from australis.connectors.push.bodies import JSON, post
from australis.connectors.push.spool import Full, Spool
from tests.connectors.push.posts import SCHEMA, lines


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
