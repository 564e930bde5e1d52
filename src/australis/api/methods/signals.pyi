"""The methods that draw the boxes of `australis.boxes.signals`; see tests/api/test_methods.py."""

from collections.abc import Mapping, Sequence

from australis.api.stream import Stream
from australis.model.parameters import By, Expression

class SignalMethods:
    @property
    def _stream(self) -> Stream: ...
    def apply(
        self,
        columns: Mapping[str, Expression] | None = None,
        /,
        *,
        box: str | None = None,
        **more: Expression,
    ) -> Stream:
        """The tuple, and columns that functions under `@au.function` make of its segments: `loud="loudness(audio,
        gain)"`."""

    def cfar(
        self,
        on: str,
        by: By = (),
        column: str = "",
        threshold: float = 16.0,
        weight: float = 0.999,
        startup: int = 300,
        refractory: int = 40,
        longest: int = 48000,
        padding: int = 2400,
        lock: int = 48000,
        *,
        box: str | None = None,
    ) -> Stream:
        """Where the score of a key's windows exceeds the mean of its noise by `threshold` standard deviations."""

    def correlate(
        self,
        other: str | Sequence[float],
        column: str = "",
        *,
        into: str = "",
        normalize: bool = False,
        peak: str = "peak",
        lag: str = "lag",
        box: str | None = None,
    ) -> Stream:
        """Add the `peak` of a segment's correlation with another column's, or a template's, and its `lag`."""

    def lfilter(
        self,
        b: Sequence[float],
        a: Sequence[float] = (1.0,),
        by: By = (),
        column: str = "",
        *,
        box: str | None = None,
    ) -> Stream:
        """The tuple, with its segment filtered as `scipy.signal.lfilter(b, a, signal)` does; null stays null."""

    def rerate(
        self,
        up: int,
        down: int,
        taps: Sequence[float] = (),
        by: By = (),
        column: str = "",
        *,
        box: str | None = None,
    ) -> Stream:
        """The signal of each key at `up` / `down` times its rate, as `scipy.signal.resample_poly` makes it of the
        whole."""

    def rewindow(
        self,
        size: int,
        gap: int = 0,
        by: By = (),
        column: str = "",
        *,
        box: str | None = None,
    ) -> Stream:
        """Windows of `size` samples of each key's signal; `gap` samples lie between two, or are in both if it is
        negative."""

    def stats(
        self,
        *names: str,
        column: str = "",
        columns: Mapping[str, str] | None = None,
        box: str | None = None,
        **more: str,
    ) -> Stream:
        """Add columns with what a segment comes to: `stats("std", loud="peak")`."""

    def sync(
        self,
        *signals: Stream,
        by: By = (),
        start: str = "start",
        end: str = "end",
        keep: str | None = None,
        box: str | None = None,
    ) -> Stream:
        """Cut the ranges that this stream asks for, [start, end], out of all signals."""

    def transform(
        self,
        *steps: str,
        column: str = "",
        into: str = "",
        box: str | None = None,
    ) -> Stream:
        """Make another segment of each by steps such as `hann` and `fft`, in place of it or in a column of its own."""

    def trigger(
        self,
        high: float,
        low: float | None = None,
        on: str = "",
        by: By = (),
        column: str = "",
        longest: int = 48000,
        padding: int = 0,
        *,
        box: str | None = None,
    ) -> Stream:
        """Where the samples of a key's signal, or the numbers `on` of its windows, exceed `high` and until they fall
        below `low`, which is `high` if it is not given."""

    def wavelet(
        self,
        level: int,
        wavelet: str = "haar",
        column: str = "",
        *,
        box: str | None = None,
    ) -> Stream:
        """The tuple, and the discrete wavelet transform of its segment: details `d1` to `d<level>`, and `a<level>`."""

    def window(
        self,
        value: str,
        on: str,
        size: int,
        rate: int | float | str,
        by: By = (),
        *,
        box: str | None = None,
    ) -> Stream:
        """Gather the numbers of a column, which lie at the index or time `on`, into segments of so many samples."""

    def zip(
        self,
        *signals: Stream,
        by: By = (),
        size: int = 0,
        box: str | None = None,
    ) -> Stream:
        """Put the signals of streams side by side, as far as all go; with a size, in windows of so many samples."""
