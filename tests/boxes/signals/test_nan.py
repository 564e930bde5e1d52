"""NaN among samples: one meaning for every statistic and step, as numpy has it, and filters that recover."""

from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import example, given
from hypothesis import strategies as st

from australis.boxes.signals.column import segments
from australis.boxes.signals.correlate import Correlate
from australis.boxes.signals.lfilter import Lfilter
from australis.boxes.signals.rerate import Rerate
from australis.boxes.signals.segments import segment
from australis.boxes.signals.stats import Stats
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.transform import Transform
from australis.boxes.signals.trigger import Trigger
from australis.boxes.signals.wavelet import Wavelet
from australis.testing import apply, rows
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, run

BASE = timebase(8)
NAN = float("nan")
VALUES = st.lists(st.sampled_from([NAN, float("inf"), -float("inf"), 0.0, -2.0, 1.5, 7.0]), min_size=1, max_size=40)
NAMES = ("mean", "sum", "std", "var", "rms", "energy", "min", "max", "peak", "peak_at", "trimpeak(0.3)", "band(0, 99)")
REAL = ["float32", "float64"]


def numpys(values: Any) -> list[float]:
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        trimmed = np.nan if np.isnan(values).any() else np.sort(size)[len(size) - 1 - int(0.3 * len(size))]
        return [
            values.mean(), values.sum(), values.std(), values.var(), np.sqrt(np.square(values).mean()),
            np.square(values).sum(), values.min(), values.max(), size.max(), int(np.argmax(size)), trimmed, size.sum(),
        ]  # fmt: skip


@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from([*REAL, "complex64"]))
@example([[NAN, NAN]], "float32")
@example([[NAN], [1.5]], "complex64")
@example([[NAN, 1.5, 7.0], [1.5, NAN, 7.0], [1.5, 7.0, NAN]], "float64")
def test_every_statistic_of_samples_with_nan_is_numpys(lists: list[list[float]], dtype: str) -> None:
    made = signal(f"a segment<{dtype}>", a=[segment(each, BASE, dtype=dtype) for each in lists])
    box = Stats(tuple((f"c{place}", name) for place, name in enumerate(NAMES)))
    for values, (_, *found) in zip(lists, rows(apply(box, made)[0]), strict=True):
        real = np.abs(np.array(values)) if dtype == "complex64" else np.array(values)
        assert dict(zip(NAMES, found, strict=True)) == pytest.approx(
            dict(zip(NAMES, numpys(real), strict=True)), nan_ok=True
        )


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("size", [1, 2, 7, 8])
def test_steps_and_wavelets_of_nan_are_nan(dtype: str, size: int) -> None:
    train = signal(f"a segment<{dtype}>", a=[segment([1.0] * (size - 1) + [NAN], BASE, dtype=dtype)])
    for steps in (("hamming", "fft", "abs"), ("normalize",), ("center",), ("power",), ("db",), ("abs",), ("scale(2)",)):
        assert np.isnan(segments(apply(Transform(steps), train)[0]["a"]).samples[-1]), steps
    for wavelet in ("haar", "db2"):
        (out,) = apply(Wavelet(1, wavelet), train)
        assert np.isnan(segments(out["d1"]).samples[-1]), wavelet
        assert np.isnan(segments(out["a1"]).samples[-1]), wavelet


@pytest.mark.parametrize("normalize", [False, True])
def test_a_correlation_with_nan_is_nan_and_its_lag_unknown(normalize: bool) -> None:
    sounds = [segment([0.0, NAN, 3.0], BASE), segment([0.0, 2.0, 0.0], BASE), None]
    train = signal("a segment<float64>", a=sounds)
    (out,) = apply(Correlate(template=(1.0,), into="all", normalize=normalize), train)
    peaks, lags = out["peak"].to_pylist(), out["lag"].to_pylist()
    assert np.isnan(peaks[0])
    assert (peaks[1:], lags) == ([pytest.approx(1.0 if normalize else 2.0), None], [None, 1, None])
    assert np.isnan(segments(out["all"]).samples[:3]).all()


@pytest.mark.parametrize("a", [(1.0,), (2.0, 0.0, 0.0), (1.0, -0.5)])
@pytest.mark.parametrize("bad", [NAN, float("inf")])
def test_a_filter_without_feedback_recovers_from_nan_as_scipys_does(a: tuple[float, ...], bad: float) -> None:
    values = np.arange(40.0)
    values[[7, 20]] = bad
    sound, b = segment(values, BASE), (0.25, 0.5, 0.25)
    train = signal("a segment<float64>", a=[sound[:8], sound[8:21], sound[21:]])
    got, _ = run(Lfilter(b, a), [train], SINGLY)
    found = np.concatenate([audio["samples"] for (audio,), *_ in got])
    with np.errstate(invalid="ignore"):
        wanted = scipy.signal.lfilter(b, a if a[1:] == (-0.5,) else a[:1], values)
    np.testing.assert_allclose(found, wanted)
    assert np.isnan(found[-1]) == (a[1:] == (-0.5,))


def test_a_filter_with_feedback_begins_again_after_a_gap() -> None:
    values = np.array([1.0, NAN, 1.0, 1.0])
    train = signal("a segment<float64>", a=[segment(values, BASE), segment([1.0, 1.0], BASE, 5)])
    (_, ((audio,), *_)), _ = run(Lfilter((1.0,), (1.0, -0.5)), [train])
    assert audio["samples"] == [1.0, 1.5]


@pytest.mark.parametrize("rate", [(2, 1), (1, 2), (3, 2)])
def test_another_rate_recovers_from_nan(rate: tuple[int, int]) -> None:
    values = np.random.default_rng(1).normal(size=400)
    values[150] = NAN
    got, _ = run(Rerate(*rate), [signal("a segment<float64>", a=[segment(values, BASE)])])
    found = np.concatenate([audio["samples"] for (audio,), *_ in got])
    wanted = scipy.signal.resample_poly(values, *rate)
    numbers = ~np.isnan(wanted)
    np.testing.assert_allclose(found[numbers], wanted[numbers], atol=1e-12)
    assert np.isnan(found).any()
    assert not np.isnan(found[int(200 * rate[0] / rate[1]) :]).any()


@pytest.mark.parametrize("on", ["", "score"])
def test_nan_begins_no_range_and_ends_none(on: str) -> None:
    values = [NAN, 0.0, NAN, 9.0, NAN, 9.0, NAN, 0.0, NAN, 9.0, 0.0]
    sound = segment(values, BASE)
    train = signal("score double, a segment<float64>", score=values, a=[sound[at : at + 1] for at in range(len(sound))])
    got, _ = run(Trigger(5, 2, on), [train], SINGLY)
    assert [row[:2] for row, *_ in got] == [(3, 6), (9, 9)]
