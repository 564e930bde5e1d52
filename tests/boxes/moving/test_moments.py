"""Moments: the tuples of a train in parts, and the latest time at each."""

import numpy as np
import pytest

from australis.boxes.moving.moments import parts, running
from australis.model.train import Train
from australis.testing import train

LEAST, MOST = -(2**63), 2**63 - 1


def reports(*numbers: int) -> Train:
    return train("id int", id=[0] * len(numbers), number=list(numbers))


def asked(**numbers: list[int]) -> Train:
    """Queries by their names, at these numbers."""
    rows = sorted((number, name) for name, each in numbers.items() for number in each)
    return train("query string", query=[name for _, name in rows], number=[number for number, _ in rows])


def cut(*trains: Train, breaks: tuple[int, ...] = ()) -> list[tuple[bool, list[list[int]]]]:
    """Whether each part asks, and its numbers of each train."""
    found = parts(trains, "query", 0, np.array(breaks, np.int64))
    return [(each.asks, [one.number.tolist() for one in each.trains]) for each in found]


def test_queries_with_no_report_among_them_are_one_part() -> None:
    assert cut(reports(1, 2, 6), asked(a=[3], b=[4])) == [
        (False, [[1, 2], []]), (True, [[], [3, 4]]), (False, [[6], []])
    ]  # fmt: skip
    assert cut(reports(3), asked(a=[2], b=[4])) == [(True, [[], [2]]), (False, [[3], []]), (True, [[], [4]])]


def test_a_query_that_comes_again_begins_a_part() -> None:
    assert cut(reports(), asked(a=[1, 3], b=[2])) == [(True, [[], [1, 2]]), (True, [[], [3]])]


def test_breaks_begin_parts_and_empty_parts_are_none() -> None:
    assert cut(reports(1, 2, 3), asked(), breaks=(3, 9)) == [(False, [[1, 2], []]), (False, [[3], []])]


@pytest.mark.parametrize("leeway", [5.0, float("inf")])
def test_the_latest_time_never_falls_but_by_more_than_the_leeway(leeway: float) -> None:
    times, moments = [3, 1, 9, 2, MOST, LEAST], [0, 0, 2, 3, 4, 5]
    now, expected = LEAST, []
    for moment in range(7):
        for time, at in zip(times, moments, strict=True):
            if at == moment and (time > now or now - time > leeway):
                now = time
        expected.append(now)
    found = running(np.array(times), np.array(moments), 7, np.int64(LEAST), leeway)
    assert found.tolist() == expected
