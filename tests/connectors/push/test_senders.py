"""Senders: what each of them has sent."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from australis.connectors.push.senders import Senders


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
