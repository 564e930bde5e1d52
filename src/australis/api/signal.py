"""`stream.signal`: the methods of streams that draw boxes for signals."""

from __future__ import annotations

from dataclasses import dataclass

from australis.api.methods.signals import SignalMethods
from australis.api.stream import Stream
from australis.arguments import check_arguments
from australis.model.parameters import By


@dataclass(frozen=True)
class Signals(SignalMethods):
    """A stream, with a method for each box for signals."""

    stream: Stream

    @property
    def _stream(self) -> Stream:
        return self.stream

    @check_arguments(name_errors=True)
    def spectrogram(
        self,
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
        return self.rewindow(size, -overlap, by, column).signal.transform(*steps, into=into)
