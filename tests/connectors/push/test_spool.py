"""The spool: posts that wait to be read."""

from contextlib import closing

import pytest

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
