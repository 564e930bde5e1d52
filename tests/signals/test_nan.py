"""NaN among samples: one meaning for every statistic and step, as numpy has it, and filters that recover."""

from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import example, given
from hypothesis import strategies as st

from australis.signals.column import segments
from australis.signals.correlate import Correlate
from australis.signals.segment import segment
from australis.signals.stats import Stats
from australis.signals.testing import signal
from australis.signals.timebase import timebase
from australis.signals.transform import Transform
from australis.signals.wavelet import Wavelet
from australis.testing import apply, rows

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
