"""Clock: the time of day at which a stream is sent, which several machines can share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from australis.errors import RunError

_LONGEST = 0.5
"""The most seconds between two checks whether to stop waiting."""


@dataclass(frozen=True)
class Clock:
    """Seconds since 1970, and how to wait."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep

    def wait(self, moment: float, stopped: Callable[[], bool]) -> None:
        """Wait until a moment, or until stopped."""
        while (left := moment - self.now()) > 0 and not stopped():
            self.sleep(min(left, _LONGEST))


def moment(text: str, option: str) -> float:
    """A point in time, in seconds since 1970 or as a date and a time with its zone.

    >>> moment("1767225600.5", "--since"), moment("2026-01-01T01:00:00.5+01:00", "--since")
    (1767225600.5, 1767225600.5)
    """
    try:
        if text.replace(".", "", 1).isdecimal():
            return float(text)
        date = datetime.fromisoformat(text)
    except ValueError:
        date = None
    if date is None or date.tzinfo is None:
        raise RunError(
            f"{option} {text}: give seconds since 1970, or a date and a time with its zone,"
            " such as 2026-01-31T12:00:00Z"
        )
    return date.timestamp()


def show_moment(moment: float) -> str:
    """A point in time in both forms.

    >>> show_moment(1767225600.5)
    '2026-01-01T00:00:00.500Z (1767225600.500)'
    """
    date = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{date} ({moment:.3f})"
