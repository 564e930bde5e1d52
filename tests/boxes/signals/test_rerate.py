"""Rerate: the whole of a signal at another rate, however it is cut."""

from itertools import pairwise
from math import ceil

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.rerate import Rerate
from australis.boxes.signals.segments import runs, segment
from australis.boxes.signals.timebases import lowest, timebase
from australis.errors import AustralisError
from australis.testing import Cut, apply, cuts
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import SCHEMA, Came, Sample, in_runs, late, news, outs, signals, train_of

RATES = st.sampled_from([(2, 1), (1, 2), (3, 2), (2, 3), (4, 6), (1, 5), (5, 1)])
TAPS = st.sampled_from([(), (1.0,), (0.25, 0.5, 0.25), (1.0, 2.0), (0.1, 0.2, 0.3, 0.2, 0.1)])


def whole(values: list[float], start: int, up: int, down: int, taps: tuple[float, ...]) -> tuple[int, list[float]]:
    """The first index and the samples that scipy makes of a run, zeros before it so that it starts on both grids."""
    before = next(more for more in range(down + 1) if (start - more) * up % down == 0)
    padded = np.concatenate([np.zeros(before), np.array(values, np.float64)])
    made = scipy.signal.resample_poly(padded, up, down, **({"window": np.array(taps)} if taps else {}))
    first = ceil(start * up / down)
    return first, made[first - (start - before) * up // down :].tolist()


def known(samples: list[Sample], index: int, up: int, down: int, size: int) -> int | None:
    """When a sample of the result is known, None at the end of the run: one sample at a time."""
    half = (size - 1) // 2
    return next((each.number for each in samples if index * down + half < (each.index + 1) * up), None)


def oldest(samples: list[Sample], index: int, number: int, up: int, down: int, size: int) -> int:
    """The oldest `ts` of what has come by then and the filter reads, from an index of the result on."""
    come = [each for each in samples if each.number <= number]
    first = (index * down + (size - 1) // 2) // up - -(-size // up) + 1
    return min(each.ts for each in come if each.index >= first or each is come[-1])


@given(signals(steps=(1,), size=14), RATES, TAPS, cuts(), st.booleans())
def test_it_is_scipys_of_the_whole_signal(
    stream: list[Came], rate: tuple[int, int], taps: tuple[float, ...], cut: Cut, restart: bool
) -> None:
    up, down = rate
    box, train = Rerate(up, down, taps, ("k",)), train_of(stream)
    got, back = run(box, [train], cut, restart=restart)
    assert (got, back) == run(box, [train])
    assert back == outs(late(stream))
    up, down = {(4, 6): (2, 3)}.get(rate, rate)
    size = len(taps) or 20 * max(up, down) + 1
    for key, samples in news(stream).items():
        mine = [each for each in got if each[0][0] == key]
        end = max(each.number for each in stream)
        all_ = in_runs(samples)
        for place, one in enumerate(all_):
            first, wanted = whole([each.value for each in one], one[0].index, up, down, taps)
            after = all_[place + 1][0].number if place + 1 < len(all_) else end
            found: list[float] = []
            while len(found) < len(wanted):
                ((_, audio), ts, number), *mine = mine
                base = one[0].base
                assert (audio["rate"], audio["per"], audio["phase"]) == (
                    (made := lowest(base.rate * up, base.per * down, base.phase * up)).rate, made.per, made.phase,
                )  # fmt: skip
                assert audio["start"] == first + len(found)
                indices = range(audio["start"], audio["start"] + len(audio["samples"]))
                when = {known(one, index, up, down, size) for index in indices}
                assert when in ({number}, {None})
                assert number == after or when == {number}
                assert ts == oldest(one, audio["start"], number, up, down, size)
                found += audio["samples"]
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)
        assert not mine


@given(signals(), RATES, TAPS, st.just(SINGLY) | cuts(), st.booleans())
def test_the_order_is_the_same_however_the_stream_is_cut(
    stream: list[Came], rate: tuple[int, int], taps: tuple[float, ...], cut: Cut, restart: bool
) -> None:
    box, train = Rerate(*rate, taps, ("k",)), train_of(stream)
    assert run(box, [train], cut, restart=restart) == run(box, [train])


@given(signals(keys=4), RATES, st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: list[Came], rate: tuple[int, int], partitions: int) -> None:
    box, train = Rerate(*rate, (), ("k",)), train_of(stream)
    assert partitioned(box, [train], partitions) == tuple(map(in_any_order, run(box, [train])))


@pytest.mark.parametrize(("up", "down"), [(160, 147), (147, 160), (1, 8)])
def test_wide_samples_are_scipys_to_the_last_digits(up: int, down: int) -> None:
    values = np.random.default_rng(1).normal(size=3000)
    sound = segment(values, timebase(44_100))
    train = signal("audio segment<float64>", audio=[sound[:1000], sound[1000:1001], sound[1001:]])
    got, _ = run(Rerate(up, down), [train], SINGLY)
    found = np.concatenate([audio["samples"] for (audio,), *_ in got])
    np.testing.assert_allclose(found, scipy.signal.resample_poly(values, up, down), rtol=1e-10, atol=1e-12)


@given(st.lists(st.integers(1, 300), max_size=6))
def test_how_the_signal_is_chunked_changes_nothing(ends: list[int]) -> None:
    sound = segment(np.random.default_rng(3).integers(-99, 99, 300), timebase(8), 7, dtype="int16")
    bounds = [0, *sorted(ends), 300]
    parts = [sound[first:last] for first, last in pairwise(bounds)]
    made = []
    for given_ in ([sound], parts):
        out, _ = apply(Rerate(3, 2), signal("a segment<int16>", a=given_), end=True)
        made.append(runs(each for each in segments(out["a"]).values() if each is not None))
    assert made[0] == made[1]
    assert len(made[0]) == 1


def test_no_more_is_held_than_the_filter_needs() -> None:
    box = Rerate(1, 2)
    train = signal("a segment<int16>", a=[segment(np.arange(10_000, dtype=np.int16), timebase(8))])
    tables = box.tables(train.schema)
    apply(box, train, tables=tables)
    (held,) = tables["held"]["#samples"][tables["held"].slots]
    assert len(held) // 2 <= 42


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Rerate(0, 1), SCHEMA, "1 to 10,000"),
        (Rerate(3, 3), SCHEMA, "the same"),
        (Rerate(2, 1, (float("nan"),)), SCHEMA, "finite"),
        (Rerate(2, 1), "a segment<complex64>", "complex"),
        (Rerate(2, 1, (), ("kk",)), SCHEMA, "did you mean `k`"),
    ],
)
def test_what_does_not_fit_is_refused(box: Rerate, stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))
