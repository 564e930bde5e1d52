"""The tools that tests stand on."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.boxes import Filter, Union
from australis.expressions import expr
from australis.model.train import Train
from australis.testing import AbortedError, Collect, Cut, ScriptedSource, apply, cuts, drive, drive_trains, rows, train


@dataclass(frozen=True)
class Liar:
    """A box that breaks its promises in a way that is asked for."""

    lie: str
    kind: ClassVar[str] = "liar"
    arity: ClassVar[int] = 1

    def outputs(self, *inputs):
        return {"out": inputs[0]}

    def keys(self, *inputs):
        return None

    def tables(self, *inputs):
        return {}

    def holds(self, *inputs):
        return ""

    def step(self, tables, trains, moment):
        (given,) = trains
        match self.lie:
            case "ports":
                return (given, given)
            case "schema":
                return (train("b int", b=[1]),)
            case "length":
                return (Train(given.tuples, given.ts, given.number[:0]),)
            case "order":
                return (Train(given.tuples, given.ts, given.number[::-1]),)
            case "trains":
                return (Train(given.tuples, given.ts, 100 - given.number),)
        return (given,)


def test_a_train_numbers_its_tuples_and_stamps_them():
    made = train("a int", a=[1, 2], first=5)
    assert made.number.tolist() == made.ts.tolist() == [5, 6]
    assert train("a int", a=[1, 2], ts=9).ts.tolist() == [9, 9]
    assert train("a int", a=[1, 2], ts=[3, 4], number=[7, 7]).number.tolist() == [7, 7]
    assert rows(train("ts int", {"ts": [1]})) == [(1,)]


def test_a_train_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\['b'\] given for the schema \['a'\]"):
        train("a int", b=[1])
    with pytest.raises(ValueError, match="1 tuples with 2 ts"):
        train("a int", a=[1], ts=[1, 2])


@pytest.mark.parametrize("lie", ["ports", "schema", "length", "order"])
def test_apply_finds_broken_promises(lie):
    with pytest.raises(AssertionError, match="liar"):
        apply(Liar(lie), train("a int", a=[1, 2]))


def test_drive_finds_numbers_that_fall_between_trains():
    with pytest.raises(AssertionError, match="fall from one train to the next"):
        drive(Liar("trains"), [train("a int", a=[1]), train("a int", a=[2], first=2)])


def test_drive_needs_a_step():
    with pytest.raises(ValueError, match="one empty train"):
        drive(Liar(""), [])


@given(st.lists(st.none() | st.integers(0, 9)), cuts())
def test_cuts_lose_nothing_and_keep_the_order(values, cut):
    whole = train("a int", a=values)
    assert drive(Liar(""), cut(whole)) == ([(value,) for value in values],)
    assert np.concatenate([part.number for (part,) in cut(whole)]).tolist() == whole.number.tolist()


@given(st.lists(st.booleans()), cuts())
def test_cuts_keep_two_streams_in_step(sides, cut):
    numbers = [[n for n, side in enumerate(sides, start=1) if side is wanted] for wanted in (False, True)]
    left, right = (train("n int", n=each, number=each) for each in numbers)
    steps = cut(left, right)
    assert drive(Union(2), steps) == ([(n,) for n in range(1, len(sides) + 1)],)
    latest = 0
    for step in steps:
        arrived = sorted(n for part in step for n in part.number.tolist())
        assert all(n > latest for n in arrived)
        latest = max(arrived, default=latest)


def test_cuts_give_empty_trains_too():
    assert [[len(part) for part in step] for step in Cut((0, 1, 1))(train("a int", a=[1, 2]))] == [[0], [1], [0], [1]]


def test_drive_trains_gives_the_trains_themselves():
    fast, _ = drive_trains(Filter(expr("mph > 60")), [train("mph int", mph=[70, 50, 80], ts=[5, 6, 7])], end=False)
    assert fast[0].ts.tolist() == [5, 7]
    assert fast[0].number.tolist() == [1, 3]


def test_feed_and_collect_are_a_source_and_a_sink():
    net = au.network(fast=au.stream("reports", "mph int").filter("mph > 60"))
    feed, sink = ScriptedSource("mph int", [(55,), (70,)], ScriptedSource.PAUSE, train("mph int", mph=[80])), Collect()
    net.run_local(reports=feed, fast=sink)
    assert sink.rows == [(70,), (80,)]
    assert sink.closed


def test_a_feed_aborts_once():
    net = au.network(fast=au.stream("reports", "mph int").filter("mph > 60"))
    feed, sink = ScriptedSource("mph int", [(70,)], ScriptedSource.ABORT, [(80,)]), Collect()
    with pytest.raises(AbortedError, match="part 2"):
        net.run_local(reports=feed, fast=sink)
    assert sink.rows == [(70,)]
    assert sink.closed
    assert rows(net.run_local(reports=feed)["fast"]) == [(70,), (80,)]
