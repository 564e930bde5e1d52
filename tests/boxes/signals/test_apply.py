"""Apply: functions of one's own over segments."""

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.signals.apply import Apply
from australis.boxes.signals.column import column, segments
from australis.boxes.signals.segments import Segment, segment
from australis.boxes.signals.timebases import timebase
from australis.errors import AustralisError, RunError
from australis.expressions import expr
from australis.model.train import Train
from australis.testing import Cut, apply, cuts, rows
from australis.testing.signals import signal
from tests.oracles.running import run

BASE = timebase(8)
SCHEMA = "gain int, a segment<int16>, b segment<float64>"
LISTS = st.none() | st.lists(st.integers(-99, 99), max_size=5)
ROWS = st.lists(st.tuples(st.none() | st.integers(-3, 3), LISTS, LISTS), max_size=9)
Row = tuple[int | None, list[int] | None, list[int] | None]


@au.function("double")
def weighed(a: Any, b: Any, gain: Any, more: Any) -> Any:
    assert a.ndim == b.ndim == 2
    return gain * a.max(axis=1) + b.sum(axis=1) + more


@au.function("segment<float32>")
def differences(a: Any) -> Any:
    return np.diff(a.astype(np.float32), axis=1)


@au.function("segment<float32>", name="no_rows")
def flat(a: Any) -> Any:
    return a.reshape(-1)


@au.function("bigint")
def picky(a: Any) -> Any:
    if (a > 98).any():
        raise ValueError("too loud")
    return pa.array(a[:, 0])


BOX = Apply((("w", expr("weighed(a, b, gain, 2)")), ("a", expr("differences(a)"))))


def train_of(given_: list[Row]) -> Train:
    a = [None if one is None else segment(one, BASE, 3 + at, dtype="int16") for at, (_, one, _) in enumerate(given_)]
    b = [None if two is None else segment(two, BASE, dtype="float64") for *_, two in given_]
    return signal(SCHEMA, gain=[gain for gain, *_ in given_], a=a, b=b)


@given(ROWS, cuts())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(given_: list[Row], cut: Cut) -> None:
    whole = train_of(given_)
    assert run(BOX, [whole], cut) == run(BOX, [whole])
    (out,) = apply(BOX, whole)
    assert out.schema.names == ["gain", "a", "b", "w"]
    for at, ((gain, one, two), made) in enumerate(zip(given_, rows(out), strict=True)):
        there = gain is not None and one and two
        assert made[3] == (gain * max(one) + sum(two) + 2 if there and gain is not None and one and two else None)
        (moved,) = segments(out["a"].slice(at, 1)).values()
        if not one:
            assert moved is None
        else:
            wanted = [float(after - before) for before, after in pairwise(one)]
            assert moved == segment(wanted, BASE, 3 + at, dtype="float32")


def sounds(*values: list[int]) -> dict[str, Any]:
    made: list[Segment | None] = [segment(each, BASE, dtype="int16") for each in values]
    return {"a": column(made, "int16")}


def test_an_exception_names_the_box_and_the_tuple() -> None:
    stream = au.stream("s", "a segment<int16>")
    net = au.network(out=stream.signal.apply(first="picky(a)", box="ears"))
    assert net.run_local(s=sounds([5], [7]))["out"].column("first").to_pylist() == [5, 7]
    with pytest.raises(
        RunError, match=r"apply ears: `picky\(a\)`.*failed: too loud, at the tuple {'a': <segment .* 8 Hz"
    ):
        net.run_local(s=sounds([1, 2], [3], [99, 0], [4]))
    with pytest.raises(RunError, match=r"`no_rows` failed: it returned an array of 4, not 2 rows of samples"):
        au.network(out=stream.signal.apply(a="no_rows(a)")).run_local(s=sounds([1, 2], [3, 4]))


def test_functions_go_with_the_network_and_its_file() -> None:
    net = au.network(out=au.stream("s", "a segment<int16>").signal.apply(a="differences(a)", first="picky(a)"))
    assert {function.name for function in net.functions} == {"differences", "picky"}
    assert au.loads(au.dumps(net)) == net
    assert "apply: {a: differences(a), first: picky(a)}" in au.dumps(net)
    assert pickle.loads(pickle.dumps(net)) == net


def test_a_map_calls_functions_of_segments_too() -> None:
    @au.function("double")
    def first_sample(a: Any) -> Any:
        return np.array([np.nan if each is None else each[0] for each in segments(a).values()])

    net = au.network(out=au.stream("s", "a segment<int16>").map(first="first_sample(a)"))
    assert net.run_local(s=sounds([5], [7]))["out"].column("first").to_pylist() == [5.0, 7.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "at least one column"),
        ({"x": "a"}, "`a`: give a call of a function"),
        ({"x": "abs(gain)"}, "give a call of a function"),
        ({"x": "picky(a) + 1"}, "give a call of a function"),
        ({"x": "picky(aa)"}, "no column `aa`; did you mean `a`"),
        ({"x": "picky(gain)"}, "no argument is a column of segments"),
        ({"gain": "picky(a)"}, "`gain` already"),
    ],
)
def test_what_does_not_fit_is_refused(columns: dict[str, str], message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        Apply(tuple((name, expr(text)) for name, text in columns.items())).outputs(schema(SCHEMA))
