"""Tuples of two streams that meet their partners as both arrive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes import chains
from australis.boxes.join import join as module
from australis.model.box import Moment
from australis.testing import Cut, cuts
from tests.boxes.join.test_join import CASES, SIDES, STATIC, Case, table_first
from tests.oracles.running import SINGLY, run
from tests.oracles.tuples import Stream, Tuple, out


@given(CASES | STATIC, SIDES, st.just(SINGLY) | cuts())
def test_sweeping_often_and_pairing_in_small_portions_change_nothing(
    case: Case, sides: tuple[Stream, Stream], cut: Cut
) -> None:
    sides = table_first(case, sides)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "_SWEEP", 0)
        patch.setattr(module, "_MOST_PAIRS", 2)
        for restart in (False, True):
            assert run(case.box, case.trains(*sides), cut, restart=restart) == case.expected(*sides)


def test_a_long_stream_keeps_what_is_in_reach_and_no_more() -> None:
    def side(name: str, key: str, odd: int) -> Stream:
        return [
            Tuple({name: number // 2, "g": "xy"[number % 2], key: number % 5}, number, 2 * number + odd)
            for number in range(1, 4001)
        ]

    case = Case(size=3, slacks=(1, 0))
    left, right = side("a", "p", 0), side("b", "q", 1)
    trains = case.trains(left, right)
    tables = case.box.tables(*(each.schema for each in trains))

    got = []
    for trains_ in Cut(tuple(range(0, 8000, 200)))(*trains):
        got += case.box.step(tables, trains_, Moment(0))[0].tuples.to_pylist()
    assert len(tables["left"]) < 3000 > len(tables["right"])
    near = [
        (t, u)
        for t in left
        for u in right[max(0, t.row["a"] * 2 - 10) : t.row["a"] * 2 + 10]
        if abs(t.row["a"] - u.row["b"]) <= 3 and t.row["p"] == u.row["q"]
    ]
    assert len(got) == len(near)
    assert {(row["a"], row["b"], row["p"]) for row in got} == {(t.row["a"], u.row["b"], t.row["p"]) for t, u in near}


def test_partners_come_by_value_and_then_by_arrival() -> None:
    case = Case(slacks=(3, 3), predicate=None, size=9)
    right = [Tuple({"b": b, "g": "x", "q": q}, 9, q) for q, b in enumerate((5, 3, 5, 4), start=1)]
    left = [Tuple({"a": 4, "g": "y", "p": 0}, 1, 5)]
    assert run(case.box, case.trains(left, right))[0] == [
        out((4, "y", 0, b, "x", q), 1, 5) for b, q in ((3, 2), (4, 4), (5, 1), (5, 3))
    ]
