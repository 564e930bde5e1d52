"""Interrupts: requests to stop, by Ctrl-C or by the signal that ends programs."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_BOUNCE = 0.3
"""Seconds within which signals count as one, since programs that pass them on may send each twice."""


class Interrupts:
    """Counts how often this process was asked to stop. Within its `with`, signals do nothing else."""

    def __init__(self) -> None:
        self.times, self.number = 0, 0
        self._last = -_BOUNCE
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._count)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @property
    def status(self) -> int:
        """The exit status of a program that the signal stopped."""
        return 128 + (self.number or signal.SIGINT)

    def _count(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > _BOUNCE:
            self.times, self.number = self.times + 1, number
        self._last = now
