"""Window: numbers gathered into segments (XStream I)."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.window import Window
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, apply, cuts, train
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import plain
from tests.oracles.tuples import Out, Stream, out, passed, stream_of, streams

SCHEMA = "k int, at int, v float"
BASE = timebase("30/7")
BOX = Window("v", "at", 3, "30/7", ("k",))


@st.composite
def counted(draw: st.DrawFn) -> Stream:
    """Tuples of two keys whose counts mostly go on; some leave a gap, come again, or are null."""
    given = draw(streams(k=st.sampled_from([None, 1]), at=st.just(0), v=st.none() | st.integers(-9, 9).map(float)))
    next_: dict[Any, int] = {}
    for each in given:
        key = each.row["k"]
        at = next_.get(key, draw(st.integers(-2, 2))) + draw(st.sampled_from([0, 0, 0, 0, 2, -1]))
        next_[key] = at + 1
        each.row["at"] = None if draw(st.integers(0, 15)) == 0 else at
    return given


def oracle(stream: Stream, end: int) -> tuple[list[Out], list[Out]]:
    made: list[Out] = []
    late: Stream = []
    open_: dict[Any, list[tuple[int, float, int]]] = {}
    last: dict[Any, int] = {}

    def give(key: Any, number: int) -> None:
        samples = open_.pop(key)
        whole = segment([value for _, value, _ in samples], BASE, samples[0][0], dtype="float32")
        made.append(out([key, plain(whole)], min(ts for *_, ts in samples), number))

    for each in stream:
        key, at, value = each.row.values()
        if at is None or at <= last.get(key, -99):
            late.append(each)
        elif value is not None:
            if key in open_ and at != last[key] + 1:
                give(key, each.number)
            open_.setdefault(key, []).append((at, value, each.ts))
            last[key] = at
            if len(open_[key]) == 3:
                give(key, each.number)
    for key in list(last):
        if key in open_:
            give(key, end)
    return made, passed(late)


@given(counted(), st.just(SINGLY) | cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut, restart: bool) -> None:
    got = run(BOX, [stream_of(SCHEMA, stream)], cut, restart=restart)
    wanted = oracle(stream, max((each.number for each in stream), default=0))
    assert (in_any_order(got[0]), got[1]) == (in_any_order(wanted[0]), wanted[1])
    assert got == run(BOX, [stream_of(SCHEMA, stream)])


@given(counted(), st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: Stream, partitions: int) -> None:
    whole = stream_of(SCHEMA, stream)
    assert partitioned(BOX, [whole], partitions) == tuple(map(in_any_order, run(BOX, [whole])))


def gathered(given: Train, rate: Any) -> list[tuple[int, int]]:
    (made, _) = apply(Window("v", "at", 1000, rate), given, end=True)
    return [(each["start"], len(each["samples"])) for each in made["v"].to_pylist()]


@given(
    st.sampled_from([44_100, "30000/1001", 0.5, 48_000]),
    st.integers(-(10**6), 10**6),
    st.sampled_from("s ms us ns".split()),
)
def test_a_time_lies_at_the_nearest_index(rate: Any, first: int, unit: str) -> None:
    base = timebase(rate)
    scale = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit]
    if base.frequency > scale:
        return
    epoch = base.first(1_700_000_000) + first
    times = [round(base.time(epoch + place) * scale) for place in range(50)]
    given = train(f"at timestamp[{unit}], v double", at=times, v=np.arange(50.0).tolist())
    assert gathered(given, rate) == [(epoch, 50)]


def test_seconds_will_do() -> None:
    times = [float(Fraction(place, 44_100)) for place in (1, 2, 3, 5, 6)]
    given = train("at double, v double", at=[*times, None, float("nan"), float("inf")], v=[0.0] * 8)
    assert gathered(given, 44_100) == [(1, 3), (5, 2)]
    assert len(apply(Window("v", "at", 9, 44_100), given)[1]) == 3


@pytest.mark.parametrize(
    ("type_", "samples"),
    [("tinyint", "int16"), ("smallint", "int16"), ("int", "int32"), ("bigint", "float64"), ("float", "float32")],
)
def test_numbers_of_many_types_become_samples(type_: str, samples: str) -> None:
    given = train(f"at bigint, v {type_}", at=[5, 6, 7], v=[1, -2, 3])
    (first, second), _ = run(Window("v", "at", 2, 8), [given], SINGLY)
    assert first[0] == (plain(segment([1, -2], timebase(8), 5, dtype=samples)),)
    assert second[0] == (plain(segment([3], timebase(8), 7, dtype=samples)),)


def test_ten_thousand_numbers_are_rewindowed_to_the_same_samples() -> None:
    values = np.random.default_rng(0).normal(size=10_000)
    given = train(pa.schema({"at": pa.int64(), "v": pa.float64()}), at=range(10_000), v=values)
    (got, late) = run(Window("v", "at", 4096, 8), [given], Cut((3000, 8000)))
    assert [len(row[0]["samples"]) for row, *_ in got] == [4096, 4096, 1808]
    assert np.concatenate([row[0]["samples"] for row, *_ in got]).tolist() == values.tolist()
    assert not late


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (Window("v", "at", 0, 8), "at least 1"),
        (Window("v", "at", 4, 0), "above zero"),
        (Window("v", "at", 4, "fast"), "give numbers"),
        (Window("w", "at", 4, 8), "`w` is no column; there are k, at, v"),
        (Window("v", "s", 4, 8), "`s` is no column"),
        (Window("s", "at", 4, 8), "`s` is string; samples"),
        (Window("v", "s", 4, 8), "`s` is string; give a count"),
        (Window("v", "at", 4, 8, ("v",)), "both the value and a key"),
        (Window("v", "at", 4, 8, ("kk",)), "`kk`.*did you mean `k`"),
    ],
)
def test_what_does_not_fit_is_refused(box: Window, message: str) -> None:
    stream = f"{SCHEMA}, s string" if "string" in message else SCHEMA
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))


@pytest.mark.parametrize(
    ("type_", "near", "far"),
    [
        ("bigint", [3, 4], [1 << 62, -(1 << 63), (1 << 63) - 1]),
        ("uint64", [3, 4], [(1 << 64) - 1, 1 << 63]),
        ("timestamp[s]", [3, 4], [1 << 62, -(1 << 62)]),
        ("double", [3.0, 4.0], [1e300, float("nan"), -float("inf")]),
    ],
)
def test_what_lies_at_no_index_is_late(type_: str, near: list[Any], far: list[Any]) -> None:
    given_ = train(f"at {type_}, v float", at=[near[0], *far, near[1]], v=[1.0] * (2 + len(far)))
    out, late = apply(Window("v", "at", 2, 1), given_, end=True)
    assert [(each["start"], each["samples"]) for each in out["v"].to_pylist()] == [(3, [1.0, 1.0])]
    assert len(late) == len(far)
