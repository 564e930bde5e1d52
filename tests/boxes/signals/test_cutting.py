"""Which samples lie in ranges, and what is freed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.signals.segments import segment
from australis.boxes.signals.sync import Sync
from australis.boxes.signals.timebases import timebase
from australis.testing import Cut, apply, cuts
from australis.testing.signals import signal
from tests.boxes.signals.test_sync import BOX, SIGNALS, Range, asked, latest, oracle, trains_of
from tests.oracles.running import run
from tests.oracles.signals import Came


def test_times_cut_signals_of_different_rates() -> None:
    slow = segment(np.arange(100), timebase(10, "1/20"), dtype="int16")
    fast = segment(np.arange(1000), timebase("300/3"), dtype="int16")
    control = signal("start timestamp, end timestamp", start=[1_000_000], end=[1_250_000])
    left = signal("slow segment<int16>", slow=[slow[:11], slow[11:]])
    right = signal("fast segment<int16>", fast=[fast])
    ((row, _, number),) = run(Sync(2), [control, left, right], end=False)[0]
    assert number == 2
    assert row[2]["samples"] == [10, 11, 12]
    assert row[3]["samples"] == list(range(100, 126))


def test_what_is_discarded_is_freed_and_nothing_else_is_kept() -> None:
    box = Sync(1, keep="keep")
    sound = segment(np.arange(100_000, dtype=np.int16), timebase(8))
    control = "start bigint, end bigint, keep boolean"
    trains = (signal(control, start=[0], end=[89_999], keep=[False]), signal("audio segment<int16>", audio=[sound]))
    tables = box.tables(*(train.schema for train in trains))
    nothing, _ = apply(box, *trains, tables=tables)
    held = tables["held_0"]
    assert not len(nothing)
    assert [len(blob) for blob in held["#samples"][held.slots]] == [20_000]
    kept, _ = apply(
        box, signal(control, start=[95_000], end=[95_001], keep=[True]), trains[1].slice(0, 0), tables=tables
    )
    assert kept["audio"].to_pylist()[0]["samples"] == np.array([95_000, 95_001]).astype(np.int16).tolist()


@given(asked(scale=97), SIGNALS, SIGNALS, cuts(), st.booleans())
def test_times_agree_with_a_join_of_samples_too(
    ranges: list[Range], left: list[Came], right: list[Came], cut: Cut, restart: bool
) -> None:
    got, *_ = run(BOX, trains_of(ranges, left, right, "timestamp[ms]"), cut, restart=restart)
    wanted = oracle(ranges, [left, right], latest(ranges, left, right), 1000)
    assert [((row[0], *row[3:]), *more) for row, *more in got] == [((row[0], *row[3:]), *more) for row, *more in wanted]


@pytest.mark.parametrize("type_", ["bigint", "timestamp", "timestamp[ns]", "timestamp[s]"])
def test_ranges_to_the_ends_of_time_have_all_that_there_is(type_: str) -> None:
    sound = segment(np.arange(40), timebase(8), 0, dtype="int16")
    far = (1 << 63) - 1
    control = signal(f"start {type_}, end {type_}", start=[-far, 0], end=[0, far])
    made, _ = apply(Sync(1), control, signal("a segment<int16>", a=[sound[:20], sound[20:]]), end=True)
    assert [each["samples"] for each in made["a"].to_pylist()] == [[0], list(range(40))]
