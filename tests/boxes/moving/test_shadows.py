"""Shadows: what is left of objects that were shed."""

from australis.testing import Cut, rows, train
from tests.boxes.moving.test_shedding import box
from tests.boxes.moving.test_watch import OBJECTS
from tests.oracles.moving import Ledger, steps


def test_shadows_come_back_where_a_region_moves_over_them() -> None:
    reports = train(
        OBJECTS, id=[1, 2, 3, 5, 5], x=[0, 1, 2, 50, 1], y=[0] * 5, time=[0] * 5, type=["a"] * 5, number=[1, 2, 3, 4, 9]
    )
    wanted = train(
        "query int, kind string, x int, y int, radius int, focal int, accuracy double",
        query=[1, 2], kind=["circle"] * 2, x=[1, 0], y=[0, 0], radius=[3, 3], focal=[None, 5], accuracy=[0, 0.7],
        first=5,
    )  # fmt: skip
    ledger, answers, parts = Ledger(), [], []
    for _, (updates, _, _, changes), _ in steps(box(2), [reports, wanted], Cut((8,))):
        ledger.add(updates)
        answers.append(ledger.answers([1, 2]))
        parts.append(dict(rows(changes)))
    assert answers == [{1: {3}, 2: {5}}, {1: {1, 2, 3, 5}, 2: {1, 2, 3, 5}}]
    assert parts == [{1: 1 / 3}, {1: 1.0}]
