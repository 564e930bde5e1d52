"""Nearest: the k nearest of what each partition has found for a query."""

from collections import Counter

import pytest

import australis as au
from australis.plan import plan
from tests.boxes.moving.test_watch import OBJECTS
from tests.oracles.answers import Sums
from tests.planned import Planned, Step


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [2, 4])
def test_partitions_tell_again_of_candidates_that_stay(partitions: int) -> None:
    """A centre moves, or k changes, and no partition has other candidates than before."""
    queries = "query int, kind string, x double, y double, k int, focal int"
    net = au.network(
        seen=au.stream("o", OBJECTS).moving.watch(au.stream("q", queries), carry="type", spread=partitions)
    )
    place = {"y": 0.0, "time": 0, "type": None}
    for focal in range(3, 9):
        world = [{"id": 1, "x": 0.0, **place}, {"id": 2, "x": 10.0, **place}, {"id": focal, "x": 1.0, **place}]
        asked = {"query": 7, "kind": "knn", "x": None, "y": None, "k": 2, "focal": focal}
        planned, sums = Planned(net, plan(net), partitions, exact=False), Sums()
        for given_, nearest in (
            ({"q": [asked], "o": world}, {1, focal}), ({"o": [{**world[2], "x": 9.0}]}, {2, focal}),
            ({"q": [{**asked, "k": 3}]}, {1, 2, focal}), ({"q": [{**asked, "k": 1}]}, {focal}),
        ):  # fmt: skip
            seen = len(planned.found["seen"])
            planned.step(Step(given_))
            sums.add((sign, each) for _, sign, each, _ in planned.found["seen"][seen:])
            assert sums.rows() == Counter((each,) for each in nearest)
