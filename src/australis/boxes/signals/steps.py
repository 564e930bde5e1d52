"""The steps of transforms: functions of the rows of an array, each a segment, and what becomes of their timebase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from australis.boxes.signals.column import Segments
from australis.boxes.signals.segments import Samples
from australis.errors import ExpressionError

DType = np.dtype[Any]
HALF, WHOLE = "half", "whole"
"""Forms of a spectrum: the bins from 0 Hz to half the rate, of real samples, or all of them, of complex ones."""
_FLOAT32, _FLOAT64, _COMPLEX = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.complex64)


def real(dtype: DType) -> DType:
    """The floating type in which samples are computed with: a wide one for wide samples."""
    return _FLOAT64 if dtype in (np.dtype(np.int32), _FLOAT64) else _FLOAT32


def _as_real(block: Samples) -> Samples:
    return block.astype(real(block.dtype), copy=False)


@dataclass(frozen=True)
class Step:
    """`takes` are the kinds of samples it is for, `result` their type after it, `places` where segments lie then.

    `check` refuses arguments that mean nothing.
    """

    apply: Callable[..., Samples]
    result: Callable[[DType], DType] = real
    places: Callable[..., Segments] = lambda segments, *_: segments
    arguments: tuple[int, int] = (0, 0)
    takes: str = "if"
    check: Callable[..., None] = lambda *_: None


def _window(name: str, arguments: tuple[int, int] = (0, 0)) -> Step:
    def apply(block: Samples, *arguments: float) -> Samples:
        return _as_real(block) * _shape((name, *arguments), block.shape[1], real(block.dtype).name)

    return Step(apply, arguments=arguments, takes="if")


@lru_cache(maxsize=64)
def _shape(window: tuple[Any, ...], size: int, dtype: str) -> Samples:
    import scipy

    weights: Samples = scipy.signal.get_window(window if len(window) > 1 else window[0], size).astype(dtype)
    return weights


def _fft(block: Samples) -> Samples:
    import scipy

    if block.dtype.kind == "c":
        return np.asarray(scipy.fft.fft(block, axis=1))
    return np.asarray(scipy.fft.rfft(_as_real(block), axis=1)).astype(np.complex64, copy=False)


def _bins(segments: Segments) -> Segments:
    """Index k at k times the rate over the number of samples."""
    return _based(segments, segments.per * segments.sizes, segments.rate)


def _irfft(block: Samples, size: float = 0) -> Samples:
    import scipy

    return np.asarray(scipy.fft.irfft(block, int(_samples_of(block.shape[1], size)), axis=1))


def _icfft(block: Samples) -> Samples:
    import scipy

    return np.asarray(scipy.fft.ifft(block, axis=1))


def _unbinned(segments: Segments, size: float = 0) -> Segments:
    return _based(segments, segments.per * _samples_of(segments.sizes.astype(np.int64), size), segments.rate)


def _samples_of(bins: Any, size: float) -> Any:
    """How many samples so many bins are of: an even number, if it is not given."""
    return np.maximum(2 * (bins - 1), 1) if not size else np.full_like(bins, int(size))


def _check_size(size: float = 1) -> None:
    if not 1 <= size < 1 << 31 or size != int(size):
        raise ExpressionError(f"an inverse transform gives a whole number of samples, 1 or more, not {size:g}")


def _based(segments: Segments, rate: Any, per: Any) -> Segments:
    rate, per = np.maximum(rate, 1), np.maximum(per, 1)
    common = np.gcd(rate, per)
    none = np.zeros(len(segments), np.int64)
    return replace(segments, start=none, rate=rate // common, per=per // common, phase=none)


def _power(block: Samples) -> Samples:
    if block.dtype.kind == "c":
        block = np.abs(block)
    return np.square(_as_real(block))


def _db(block: Samples) -> Samples:
    size = np.abs(block) if block.dtype.kind == "c" else np.abs(_as_real(block))
    return np.asarray(20 * np.log10(np.maximum(size, np.finfo(size.dtype).tiny)), size.dtype)


def _center(block: Samples) -> Samples:
    values = _as_real(block)
    return np.asarray(values - values.mean(axis=1, keepdims=True, dtype=np.float64), values.dtype)


def _normalize(block: Samples) -> Samples:
    values = _center(block)
    peak = np.abs(values).max(axis=1, keepdims=True)
    scaled: Samples = np.divide(values, peak, out=np.zeros_like(values), where=peak != 0)
    return scaled


def _cast(name: str) -> Step:
    dtype = np.dtype(name)

    def apply(block: Samples) -> Samples:
        if dtype.kind == "f":
            return block.astype(dtype)
        most = np.iinfo(dtype)
        near = np.rint(np.nan_to_num(block.astype(np.float64), posinf=most.max, neginf=most.min))
        return np.clip(near, most.min, most.max).astype(dtype)

    return Step(apply, lambda _: dtype)


INVERSE = {HALF: "irfft", WHOLE: "icfft"}
"""What `ifft` is of a spectrum of each form."""

STEPS: Mapping[str, Step] = {
    **{name: _window(name) for name in ("hann", "hamming", "blackman", "bartlett", "flattop")},
    "kaiser": _window("kaiser", (1, 1)),
    "fft": Step(_fft, lambda _: _COMPLEX, _bins, takes="ifc"),
    "irfft": Step(_irfft, lambda _: _FLOAT32, _unbinned, (0, 1), "c", _check_size),
    "icfft": Step(_icfft, lambda _: _COMPLEX, _bins, takes="c"),
    "abs": Step(lambda block: np.abs(block if block.dtype.kind == "c" else _as_real(block)), takes="ifc"),
    "power": Step(_power, takes="ifc"),
    "db": Step(_db, takes="ifc"),
    "center": Step(_center),
    "normalize": Step(_normalize),
    "scale": Step(lambda block, by: _as_real(block) * real(block.dtype).type(by), arguments=(1, 1)),
    **{name: _cast(name) for name in ("int16", "int32", "float32", "float64")},
}
