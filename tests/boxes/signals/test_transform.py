"""Transform: spectra, and the way back."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import text
from australis.boxes.signals.column import column, segments
from australis.boxes.signals.segments import Segment, segment
from australis.boxes.signals.transform import Transform
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import apply
from australis.testing.signals import signal
from tests.boxes.signals.test_stats import BASE, LISTS, REAL, train_of


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
