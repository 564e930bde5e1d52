"""What is measured of segments, beside one sample at a time."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.segments import segment
from australis.boxes.signals.stats import Stats
from australis.boxes.signals.timebases import timebase
from australis.errors import AustralisError
from australis.testing import apply, rows
from australis.testing.signals import signal
from tests.boxes.signals.test_stats import BASE, LISTS, REAL, train_of
from tests.oracles.signals import extremes


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("part", [0.0, 0.01, 0.99])
def test_a_trimmed_peak_is_that_of_all_magnitudes_in_order(dtype: str, part: float) -> None:
    random = np.random.default_rng(1)
    least = np.iinfo(dtype).min if dtype.startswith("int") else -1e30
    sounds = [
        random.normal(0, 3000, 4001).astype(dtype),
        random.integers(-2, 3, 500).astype(dtype),
        np.full(300, least, dtype),
        np.append(np.zeros(300, dtype), [least]).astype(dtype),
    ]
    train = signal(f"audio segment<{dtype}>", audio=[segment(each, BASE) for each in sounds])
    got = [row[1] for row in rows(apply(Stats((("t", f"trimpeak({part})"),)), train)[0])]
    for found, sound in zip(got, sounds, strict=True):
        assert found == np.sort(np.abs(sound.astype(np.float64)))[::-1][int(part * len(sound))]


@given(
    st.lists(st.lists(st.integers(-3, 3) | st.sampled_from([math.nan, math.inf, -math.inf]), max_size=12), max_size=6),
    st.integers(1, 6),
)
@example([[2, 1, 1, 5, 0], [math.nan, 1.0, math.nan, 3.0, 2.0], [math.nan]], 4)
def test_extremes_take_turns(lists: list[list[float]], turns: int) -> None:
    train = signal("audio segment<float64>", audio=[segment(each, BASE, dtype="float64") for each in lists])
    box = Stats(tuple((f"e{turn}", f"extreme({turn})") for turn in range(1, turns + 1)))
    got = [row[1:] for row in rows(apply(box, train)[0])]
    for each, row in zip(lists, got, strict=True):
        assert repr(list(row)) == repr(extremes([float(value) for value in each], turns) if each else [None] * turns)


@pytest.mark.parametrize("dtype", REAL)
def test_extremes_of_any_samples_take_turns(dtype: str) -> None:
    (got,) = rows(apply(Stats((("e", "extreme(4)"),)), train_of([[5, -9, 2, 7, -3, 4, 1]], dtype))[0])
    assert got[1] == 4.0


@given(LISTS, st.sampled_from(REAL), st.integers(0, 14), st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6))
def test_the_bins_of_a_band_are_weighted(
    lists: list[list[int] | None], dtype: str, low: int, weights: list[float]
) -> None:
    text = f"band({low}, {low + len(weights) - 1}, {', '.join(map(repr, weights))})"
    got = [row[1] for row in rows(apply(Stats((("b", text),)), train_of(lists, dtype))[0])]
    for each, found in zip(lists, got, strict=True):
        bins = [weight * abs(each[low + at]) for at, weight in enumerate(weights) if low + at < len(each or [])]
        assert found == (pytest.approx(math.fsum(bins), rel=1e-9, abs=1e-6) if bins else None)


def test_long_segments_and_places() -> None:
    loud = np.full(70_000, 32_767, np.int16)
    loud[::2] = 32_765
    names = ("std", "count", "start", "end", "seconds", "rate")
    train = signal("audio segment<int16>", audio=[segment(loud, timebase(8, 2), 4), segment(loud[:0], BASE), None])
    got = [row[1:] for row in rows(apply(Stats(tuple((name, name) for name in names)), train)[0])]
    assert got == [(1.0, 70_000, 4, 70_003, 2.5, 8.0), (None, 0, 0, None, 0.0, 8.0), (None,) * 6]


def weight(place: int, low: float, high: float) -> float:
    return max(0.0, 1 - max(low - place, place - high, 0))


@given(LISTS, st.sampled_from([*REAL, "complex64"]), st.floats(0, 14), st.floats(0, 14))
@example([[1, 10, 100, 1000]], "int16", 1.5, 2.25)
@example([[1, 10, 100]], "float32", 2.0, 99.0)
@example([[1, 10, 100]], "float32", 2.5, 2.75)
def test_a_band_weighs_the_bins_at_its_ends(lists: list[list[int] | None], dtype: str, one: float, two: float) -> None:
    low, high = sorted((one, two))
    box = Stats((("b", f"band({low!r}, {high!r})"),))
    got = [row[1] for row in rows(apply(box, train_of(lists, dtype))[0])]
    for values_, found in zip(lists, got, strict=True):
        if not values_ or len(values_) <= int(low):
            assert found is None
        else:
            wanted = sum(weight(place, low, high) * abs(value) for place, value in enumerate(values_))
            assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("text", ["band(4, 3)", "band(-1, 3)", "band(nan, 3)", "band(0, inf)", "band(0, nan)"])
def test_a_band_that_is_none_is_refused_when_the_network_is_built(text: str) -> None:
    with pytest.raises(AustralisError, match="a band goes from a bin, 0 or more, up to one that is not below it"):
        Stats((("b", text),)).outputs(schema("a segment<int16>"))
    with pytest.raises(AustralisError, match="from 0 to less than 1"):
        Stats((("b", "trimpeak(1)"),)).outputs(schema("a segment<int16>"))
