"""Stats, Transform and Wavelet: each tuple with more of its segment."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import pywt
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema, text
from australis.boxes.signals.column import column, segments
from australis.boxes.signals.segments import Segment, segment
from australis.boxes.signals.stats import Stats
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.transform import Transform
from australis.boxes.signals.wavelet import Wavelet
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, apply, cuts, rows
from australis.testing.signals import signal
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.signals import extremes

BASE = timebase(8)
REAL = ["int16", "int32", "float32", "float64"]
LISTS = st.lists(st.none() | st.lists(st.integers(-1000, 1000), max_size=12), max_size=8)
NAMES = ("mean", "sum", "std", "var", "rms", "energy", "min", "max", "peak", "peak_at", "trimpeak(0.3)", "band(1, 2)")


def train_of(lists: list[list[int] | None], dtype: str = "int16") -> Train:
    made = [None if each is None else segment(each, BASE, 5 + at, dtype=dtype) for at, each in enumerate(lists)]
    return signal(f"audio segment<{dtype}>", audio=made)


def oracle(at: int, values: list[int]) -> list[float | None]:
    if not values:
        return [None] * len(NAMES)
    mean = math.fsum(values) / len(values)
    sizes = [abs(value) for value in values]
    var = math.fsum((value - mean) ** 2 for value in values) / len(values)
    energy = math.fsum(value**2 for value in values)
    trimmed = sorted(sizes)[len(sizes) - 1 - int(0.3 * len(sizes))]
    return [mean, sum(values), math.sqrt(var), var, math.sqrt(energy / len(values)), energy, min(values), max(values),
            max(sizes), 5 + at + sizes.index(max(sizes)), trimmed, sum(sizes[1:3]) if sizes[1:] else None]  # fmt: skip


@given(LISTS, st.sampled_from(REAL))
def test_statistics_agree_with_their_oracle(lists: list[list[int] | None], dtype: str) -> None:
    box = Stats(tuple((f"c{place}", name) for place, name in enumerate(NAMES)))
    got = [row[1:] for row in rows(apply(box, train_of(lists, dtype))[0])]
    for at, (each, row) in enumerate(zip(lists, got, strict=True)):
        for found, wanted in zip(row, oracle(at, each or []), strict=True):
            assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-9, abs=1e-9))


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


BOXES = [
    Stats((("s", "std"), ("t", "trimpeak"))),
    Transform(("hann", "fft"), into="spectrum"),
    Transform(("center", "abs", "int16")),
    Wavelet(2),
    Wavelet(1, "db2"),
]


@given(LISTS, cuts(), st.sampled_from(BOXES))
def test_cuts_change_nothing(lists: list[list[int] | None], cut: Cut, box: Any) -> None:
    assert run(box, [train_of(lists)], cut) == run(box, [train_of(lists)])


@given(LISTS, st.integers(1, 3), st.sampled_from(BOXES))
def test_any_partitioning_does(lists: list[list[int] | None], partitions: int, box: Any) -> None:
    train = train_of(lists)
    assert box.keys(train.schema) is None
    assert partitioned(box, [train], partitions) == (in_any_order(run(box, [train])[0]),)


def values(train: Train, name: str = "audio") -> list[Segment | None]:
    return segments(train[name]).values()


@given(LISTS, st.sampled_from(REAL))
def test_a_spectrum_is_that_of_numpy_and_goes_back(lists: list[list[int] | None], dtype: str) -> None:
    train = train_of(lists, dtype)
    (spectra,) = apply(Transform(("fft",), into="spectrum"), train)
    (back,) = apply(Transform(("ifft",), "spectrum", "back"), spectra)
    for each, spectrum, again in zip(lists, values(spectra, "spectrum"), values(back, "back"), strict=True):
        assert (spectrum is None) == (each is None)
        if not each or spectrum is None or again is None:
            continue
        np.testing.assert_allclose(np.asarray(spectrum), np.fft.rfft(each), rtol=1e-4, atol=1e-1)
        assert spectrum.timebase.time(1) == Fraction(8, len(each))
        if len(each) % 2 == 0:
            np.testing.assert_allclose(np.asarray(again), each, rtol=1e-3, atol=1e-1)
            assert again.timebase == BASE


def test_so_many_samples_as_are_asked_for_come_back_from_a_spectrum() -> None:
    train = train_of([[1, 2, 3, 4, 5]], "float64")
    (back,) = values(apply(Transform(("fft", "ifft(5)")), train)[0])
    assert back is not None
    np.testing.assert_allclose(np.asarray(back), [1, 2, 3, 4, 5], rtol=1e-5)
    assert back.timebase == BASE
    with pytest.raises(AustralisError, match="whole number of samples"):
        apply(Transform(("fft", "ifft(2.5)")), train)


def test_steps_follow_one_another() -> None:
    train = signal("audio segment<int16>", audio=[segment([3, 4, 0, 0], BASE, 9, dtype="int16")])
    (window,) = values(apply(Transform(("hann",)), train)[0])
    assert window is not None
    assert (window.start, window.timebase, window.dtype) == (9, BASE, np.float32)
    np.testing.assert_allclose(np.asarray(window), [0, 2, 0, 0])
    (small,) = values(apply(Transform(("scale(10000)", "int16")), train)[0])
    assert np.asarray(small).tolist() == [30000, 32767, 0, 0]
    (level,) = values(apply(Transform(("normalize", "power")), train)[0])
    np.testing.assert_allclose(np.asarray(level), np.square((np.array([3, 4, 0, 0]) - 1.75) / 2.25), rtol=1e-6)
    (shaped,) = values(apply(Transform(("kaiser(5)", "db")), train)[0])
    assert shaped is not None
    assert shaped.dtype == np.float32


@given(LISTS, st.sampled_from(REAL), st.sampled_from(["haar", "db2", "sym3"]), st.integers(1, 3))
def test_wavelets_are_those_of_pywavelets(lists: list[list[int] | None], dtype: str, wavelet: str, level: int) -> None:
    (out,) = apply(Wavelet(level, wavelet), train_of(lists, dtype))
    for at, each in enumerate(lists):
        if not each:
            continue
        rest: Any = np.array(each, np.float64)
        for depth in range(1, level + 1):
            rest, detail = pywt.dwt(rest, wavelet)
            found = values(out, f"d{depth}")[at]
            assert found is not None
            np.testing.assert_allclose(np.asarray(found), detail, rtol=1e-4, atol=1e-2)
            assert found.time == BASE.time(5 + at)
            assert found.timebase.frequency * 2**depth == 8
        np.testing.assert_allclose(np.asarray(values(out, f"a{level}")[at]), rest, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Stats(()), "a segment<int16>", "at least one"),
        (Stats((("s", "stdd"),)), "a segment<int16>", "no statistic `stdd`; did you mean `std`"),
        (Stats((("a", "std"),)), "a segment<int16>", "`a` already"),
        (Stats((("s", "band(3)"),)), "a segment<int16>", "1 arguments, not 2"),
        (Stats((("s", "band(x, 3)"),)), "a segment<int16>", "numbers"),
        (Stats((("s", "band(3, 4, 1)"),)), "a segment<int16>", r"band\(3, 4, ...\) has 2 bins and 1 weights"),
        (Stats((("s", "band(3, 4, 1, inf)"),)), "a segment<int16>", "a finite number for each bin"),
        (Stats((("s", "extreme(0)"),)), "a segment<int16>", "from 1 to 1000, in whole numbers, not 0"),
        (Stats((("s", "extreme(1.5)"),)), "a segment<int16>", "in whole numbers, not 1.5"),
        (Stats((("s", "extreme(nan)"),)), "a segment<int16>", "in whole numbers, not nan"),
        (Transform(()), "a segment<int16>", "at least one step"),
        (Transform(("fft", "hann")), "a segment<int16>", "`hann` takes real samples.*complex64"),
        (Transform(("ifft",)), "a segment<int16>", "`ifft` takes complex"),
        (Transform(("kaiser",)), "a segment<int16>", "0 arguments, not 1"),
        (Wavelet(0), "a segment<int16>", "1 to 30"),
        (Wavelet(2, "harr"), "a segment<int16>", "did you mean `haar`"),
        (Wavelet(2), "a segment<complex64>", "real samples"),
        (Wavelet(2), "a segment<int16>, d1 int", "`d1` already"),
    ],
)
def test_what_does_not_fit_is_refused(box: Any, stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))


def test_the_count_of_a_segment_without_samples_does_not_depend_on_those_beside_it() -> None:
    box = Stats((("count", "count"), ("start", "start"), ("rate", "rate"), ("seconds", "seconds"), ("end", "end")))
    for beside in ([], [None], [[1]]):
        assert rows(apply(box, train_of([[], *beside]))[0])[0][1:] == (0, 5, 8.0, 0.625, None)


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


COMPLEX = st.lists(
    st.lists(st.complex_numbers(max_magnitude=100, allow_nan=False), min_size=1, max_size=11), min_size=1, max_size=5
)


@given(COMPLEX)
@example([[1j, 2, 3, 4, 5, 6, 7, 8]])
@example([[1j], [1, 2j, 3]])
def test_a_spectrum_of_complex_samples_is_numpys_and_goes_back(lists: list[list[complex]]) -> None:
    train = signal("a segment<complex64>", a=[segment(each, BASE, dtype="complex64") for each in lists])
    (spectra,) = apply(Transform(("fft",), into="spectrum"), train)
    (apart,) = apply(Transform(("ifft",), "spectrum"), spectra)
    (plainly,) = apply(Transform(("icfft",), "spectrum"), spectra)
    (at_once,) = apply(Transform(("fft", "ifft")), train)
    for at, each in enumerate(lists):
        spectrum = values(spectra, "spectrum")[at]
        assert spectrum is not None
        np.testing.assert_allclose(np.asarray(spectrum), np.fft.fft(each), rtol=1e-4, atol=1e-2)
        assert spectrum.timebase.time(1) == Fraction(8, len(each))
        for out, name in ((apart, "spectrum"), (plainly, "spectrum"), (at_once, "a")):
            again = values(out, name)[at]
            assert again is not None
            assert (again.timebase, again.dtype) == (BASE, np.complex64)
            np.testing.assert_allclose(np.asarray(again), np.array(each), rtol=1e-4, atol=1e-3)


def test_of_which_samples_a_spectrum_is_stays_known_or_is_asked() -> None:
    audio = au.stream("audio", "a segment<complex64>")
    spectra = audio.signal.transform("fft").filter("true").signal.rewindow(8)
    whole = au.network(out=spectra.signal.transform("ifft"))
    assert text(whole.schemas["transform_2"]["out"]) == "a segment<complex64>"
    sound = segment(np.arange(8) * 1j, BASE, dtype="complex64")
    (found,) = values_of(whole.run_local(audio={"a": column([sound], "complex64")})["out"].column("a"))
    np.testing.assert_allclose(np.asarray(found), np.arange(8) * 1j, atol=1e-5)
    with pytest.raises(AustralisError, match=r"not known.*irfft if they were real, icfft if they were complex"):
        spectra.map(a="a").signal.transform("ifft")
    with pytest.raises(AustralisError, match="spectrum of complex samples: write icfft"):
        spectra.signal.transform("irfft")
    with pytest.raises(AustralisError, match="spectrum of real samples: write irfft"):
        au.stream("x", "a segment<float32>").signal.transform("fft", "icfft")
    with pytest.raises(AustralisError, match="1 arguments, not 0"):
        audio.signal.transform("fft", "ifft(4)")


def values_of(given_: Any) -> list[Segment | None]:
    return segments(given_.combine_chunks()).values()
