"""Sync: ranges of time cut out of signals (XStream II-A)."""

from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.sync import Sync
from australis.errors import SchemaError
from australis.model.train import Train
from australis.testing import Cut, cuts
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import Came, Sample, joined, late, news, outs, plain, signals, train_of
from tests.oracles.tuples import Out, out

CONTROL = "k int, start {0}, end {0}, keep boolean"
BOX = Sync(2, ("k",), keep="keep")


class Range(NamedTuple):
    key: int | None
    start: int | None
    end: int
    keep: bool | None
    ts: int
    number: int


@st.composite
def asked(draw: st.DrawFn, most: int = 6, scale: int = 1) -> list[Range]:
    """Ranges that mostly ascend."""
    made, at, number = [], draw(st.integers(-3, 3)), 1
    for _ in range(draw(st.integers(0, most))):
        at += draw(st.sampled_from([0, 1, 3, 5, -2]))
        start = draw(st.sampled_from([at * scale] * 9 + [None]))
        number += draw(st.sampled_from([0, 1, 1, 2]))
        key = draw(st.sampled_from([None, 1]))
        end = at * scale + draw(st.integers(-1, 12)) * scale
        made.append(
            Range(key, start, end, draw(st.sampled_from([True, True, False, None])), draw(st.integers(0, 12)), number)
        )
    return made


def control_of(ranges: list[Range], type_: str = "bigint") -> Train:
    names = ("k", "start", "end", "keep")
    columns = {name: [each[place] for each in ranges] for place, name in enumerate(names)}
    return signal(CONTROL.format(type_), **columns, ts=[r.ts for r in ranges], number=[r.number for r in ranges])


def oracle(ranges: list[Range], streams: list[list[Came]], end: int, unit: int = 0) -> list[Out]:
    """A join on the place of each sample, in order of ranges."""
    signals_ = [news(stream) for stream in streams]
    freed: dict[int | None, tuple[Any, bool]] = {}
    last: dict[int | None, int] = {}
    waiting: set[int | None] = set()
    """Keys with a range that leaves only at the end, as those after it do."""
    made = []

    def at(sample: Sample) -> Fraction:
        return sample.base.time(sample.index) * unit if unit else Fraction(sample.index)

    for place, asked in enumerate(ranges):
        if asked.start is None:
            continue
        number = asked.number
        pieces = []
        bottom, after = freed.get(asked.key, (asked.start, False))
        past = asked.key in freed and (asked.end < bottom or (asked.end == bottom and after))
        if asked.start > bottom:
            bottom, after = asked.start, False
        for its in signals_:
            samples = its.get(asked.key, [])
            inside: list[Sample] = []
            number_here = None
            for each in samples:
                if at(each) <= asked.end and (at(each) > bottom or (at(each) == bottom and not after)):
                    inside.append(each)
                # A signal has come past a range when its next sample would lie after it.
                if at(each._replace(index=each.index + 1)) > asked.end:
                    number_here = each.number
                    break
            if number_here is None and not past:
                waiting.add(asked.key)
            number = max(number, asked.number if past else end if number_here is None else number_here)
            runs: dict[int, list[Sample]] = {}
            for each in inside:
                runs.setdefault(each.run, []).append(each)
            pieces.append(list(runs.values()))
        number = last[asked.key] = max(number, last.get(asked.key, 0))
        if asked.keep:
            ts = min([asked.ts, *(each.ts for runs in pieces for run_ in runs for each in run_)])
            for turn in range(max(1, *map(len, pieces))):
                cells = [plain(joined(runs[turn])) if turn < len(runs) else None for runs in pieces]
                row = [asked.key, asked.start, asked.end, *cells]
                made.append((number, asked.key in waiting, place, turn, out(row, ts, number)))
        freeing = (asked.start, False) if asked.keep else (asked.end, True)
        freed[asked.key] = max(freed.get(asked.key, freeing), freeing)
    return [each for *_, each in sorted(made, key=lambda each: each[:4])]


def trains_of(ranges: list[Range], left: list[Came], right: list[Came], type_: str = "bigint") -> list[Train]:
    return [
        control_of(ranges, type_),
        train_of(left),
        train_of(right, "k int, other segment<int16>".replace("other", "audio")).carrying(
            train_of(right).tuples.rename_columns(["k", "other"])
        ),
    ]


def latest(*streams: Any) -> int:
    return max((each.number for stream in streams for each in stream), default=0)


SIGNALS = signals(bases=1, size=12)


@given(asked(), SIGNALS, SIGNALS, cuts(), st.booleans())
def test_it_agrees_with_a_join_of_samples_however_streams_are_cut(
    ranges: list[Range], left: list[Came], right: list[Came], cut: Cut, restart: bool
) -> None:
    got, *back = run(BOX, trains_of(ranges, left, right), cut, restart=restart)
    assert got == oracle(ranges, [left, right], latest(ranges, left, right))
    assert back == [outs(late(left)), outs(late(right))]


@given(asked(), signals(), signals(), st.just(SINGLY) | cuts(), st.booleans())
def test_cuts_change_nothing_where_rates_change(
    ranges: list[Range], left: list[Came], right: list[Came], cut: Cut, restart: bool
) -> None:
    trains = trains_of(ranges, left, right)
    assert run(BOX, trains, cut, restart=restart) == run(BOX, trains)


@given(asked(), SIGNALS, SIGNALS, st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(
    ranges: list[Range], left: list[Came], right: list[Came], partitions: int
) -> None:
    trains = trains_of(ranges, left, right)
    assert partitioned(BOX, trains, partitions) == tuple(map(in_any_order, run(BOX, trains)))


@pytest.mark.parametrize(
    ("box", "streams", "message"),
    [
        (Sync(1), ("start int, stop int", "a segment<int16>"), "`end`.*start, stop"),
        (Sync(1), ("start int, end bigint", "a segment<int16>"), "int32 to int64"),
        (Sync(1), ("start double, end double", "a segment<int16>"), "whole numbers"),
        (Sync(1, keep="k"), ("start int, end int, k int", "a segment<int16>"), "boolean"),
        (Sync(1), ("start int, end int", "b int"), "signal 1 has no column of segments.*b"),
        (Sync(2), ("start int, end int", "a segment<int16>", "a segment<int16>"), "`a` of signal 2"),
        (Sync(1, ("k",)), ("k int, start int, end int", "k bigint, a segment<int16>"), "int32 and int64"),
        (Sync(0), ("start int, end int",), "at least one signal"),
    ],
)
def test_what_does_not_fit_is_refused(box: Sync, streams: tuple[str, ...], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        box.outputs(*map(schema, streams))
