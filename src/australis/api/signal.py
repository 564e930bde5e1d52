"""The methods of streams that make boxes for signals: functions, which the class of streams takes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from australis.arguments import check_arguments
from australis.boxes import parameters
from australis.boxes.parameters import By, Expression
from australis.boxes.signals import (
    Apply,
    Cfar,
    Correlate,
    Lfilter,
    Rerate,
    Rewindow,
    Stats,
    Sync,
    Transform,
    Trigger,
    Wavelet,
    Window,
    Zip,
)
from australis.model.box import Box
from australis.model.validation import telling

if TYPE_CHECKING:
    from australis.api.stream import Stream


@check_arguments(telling=True)
def rewindow(self: Stream, size: int, gap: int = 0, by: By = (), column: str = "", box: str | None = None) -> Stream:
    """Cut the signal of each key in windows of so many samples; between two lies a gap, or they overlap by it."""
    return _main(self, Rewindow(size, gap, parameters.by(by), column), box)


@check_arguments(telling=True)
def sync(
    self: Stream,
    *signals: Stream,
    by: By = (),
    start: str = "start",
    end: str = "end",
    keep: str | None = None,
    box: str | None = None,
) -> Stream:
    """Cut the ranges that this stream asks for, [start, end], out of all signals.

    Ranges whose column `keep` is false free samples; where a stream has a column `keep`, it is that one.
    """
    flag = ("keep" if "keep" in self.schema.names else "") if keep is None else keep
    return _main(self, Sync(len(signals), parameters.by(by), start, end, flag), box, *signals)


@check_arguments(telling=True)
def stats(
    self: Stream,
    *names: str,
    column: str = "",
    columns: Mapping[str, str] | None = None,
    box: str | None = None,
    **more: str,
) -> Stream:
    """Add columns with what a segment comes to: `stats("std", loud="peak")`."""
    made = {**{name: name for name in names}, **(columns or {}), **more}
    return _main(self, Stats(tuple(made.items()), column), box)


@check_arguments(telling=True)
def transform(self: Stream, *steps: str, column: str = "", into: str = "", box: str | None = None) -> Stream:
    """Make another segment of each by steps such as `hann` and `fft`, in place of it or in a column of its own."""
    return _main(self, Transform(steps, column, into), box)


@check_arguments(telling=True)
def wavelet(self: Stream, level: int, wavelet: str = "haar", column: str = "", box: str | None = None) -> Stream:
    """Add the details `d1`, `d2`, ... of a segment's wavelet transform, and what is left, such as `a2`."""
    return _main(self, Wavelet(level, wavelet, column), box)


@check_arguments(telling=True)
def lfilter(
    self: Stream,
    b: Sequence[float],
    a: Sequence[float] = (1.0,),
    by: By = (),
    column: str = "",
    box: str | None = None,
) -> Stream:
    """Filter the signal of each key as `scipy.signal.lfilter(b, a, signal)` does, from segment to segment."""
    return _main(self, Lfilter(tuple(map(float, b)), tuple(map(float, a)), parameters.by(by), column), box)


@check_arguments(telling=True)
def cfar(
    self: Stream,
    on: str,
    by: By = (),
    column: str = "",
    *,
    threshold: float = 16.0,
    weight: float = 0.999,
    startup: int = 300,
    refractory: int = 40,
    longest: int = 48_000,
    padding: int = 2_400,
    lock: int = 48_000,
    box: str | None = None,
) -> Stream:
    """Tell the ranges in which the score `on` stands out of its noise, for `sync`."""
    key = parameters.by(by)
    return _main(self, Cfar(on, key, column, threshold, weight, startup, refractory, longest, padding, lock), box)


@check_arguments(telling=True)
def trigger(
    self: Stream,
    high: float,
    low: float | None = None,
    on: str = "",
    by: By = (),
    column: str = "",
    *,
    longest: int = 48_000,
    padding: int = 0,
    box: str | None = None,
) -> Stream:
    """Tell the ranges from a sample, or a window's number `on`, above `high` until one below `low`, for `sync`."""
    return _main(self, Trigger(high, low, on, parameters.by(by), column, longest, padding), box)


@check_arguments(telling=True)
def window(
    self: Stream, value: str, on: str, size: int, rate: int | float | str, by: By = (), box: str | None = None
) -> Stream:
    """Gather the numbers of a column, which lie at the index or time `on`, into segments of so many samples."""
    return _main(self, Window(value, on, size, rate, parameters.by(by)), box)


@check_arguments(telling=True)
def zip(self: Stream, *signals: Stream, by: By = (), size: int = 0, box: str | None = None) -> Stream:
    """Put the signals of streams side by side, as far as all of them go; with a size, in windows of so many samples."""
    return _main(self, Zip(len(signals), parameters.by(by), size), box, *signals)


@check_arguments(telling=True)
def rerate(
    self: Stream,
    up: int,
    down: int,
    taps: Sequence[float] = (),
    by: By = (),
    column: str = "",
    box: str | None = None,
) -> Stream:
    """Bring the signal of each key to `up` / `down` times its rate as `scipy.signal.resample_poly` does."""
    return _main(self, Rerate(up, down, tuple(map(float, taps)), parameters.by(by), column), box)


@check_arguments(telling=True)
def correlate(
    self: Stream,
    other: str | Sequence[float],
    column: str = "",
    *,
    into: str = "",
    normalize: bool = False,
    peak: str = "peak",
    lag: str = "lag",
    box: str | None = None,
) -> Stream:
    """Add the `peak` of a segment's correlation with another column's, or with a template of samples, and its `lag`."""
    name, template = (other, ()) if isinstance(other, str) else ("", tuple(map(float, other)))
    return _main(self, Correlate(name, template, column, into, normalize, peak, lag), box)


@check_arguments(telling=True)
def spectrogram(
    self: Stream,
    size: int,
    overlap: int = 0,
    window: str = "hann",
    scale: str = "abs",
    by: By = (),
    column: str = "",
    into: str = "spectrum",
) -> Stream:
    """Cut the signal of each key in windows, and add the spectrum of each: `rewindow`, then `transform`.

    `scale` is the last step: `abs`, `power`, `db`, or none for complex numbers.
    """
    steps = [step for step in (window, "fft", scale) if step]
    return self.rewindow(size, -overlap, by, column).transform(*steps, into=into)


@check_arguments(telling=True)
def apply(
    self: Stream, columns: Mapping[str, Expression] | None = None, /, *, box: str | None = None, **more: Expression
) -> Stream:
    """Add columns that functions of your own make of segments, many at once: `apply(loud="loudness(audio)")`."""
    with telling(f"apply {box}" if box else "apply"):
        made = parameters.columns({**(columns or {}), **more})
    return _main(self, Apply(made), box)


def _main(stream: Stream, box: Box, name: str | None, *others: Stream) -> Stream:
    with telling(f"{box.kind} {name}" if name else box.kind):
        return stream._main(box, name, *others)
