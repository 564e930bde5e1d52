"""Arrivals: requests that come at a least rate."""

import socket
from contextlib import suppress

import pytest

from australis.connectors.push import arrivals


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
