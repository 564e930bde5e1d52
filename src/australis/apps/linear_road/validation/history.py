"""History: what the validator asks of the ten weeks before the run (3.1.3)."""

from typing import Protocol

from australis.apps.linear_road.validation.arrays import Floats, Ints


class PastTolls(Protocol):
    """Tolls of past days, and averages of each segment over the ten weeks."""

    def tolls(self, vid: Ints, day: Ints, xway: Ints) -> Ints:
        """What vehicles paid on days and expressways; 0 if there is no row."""
        ...

    def weekly(self, xway: int) -> tuple[Floats, Floats] | None:
        """Average Lav and Cnt by weekday - 1, minute - 1, direction and segment; NaN if there is no row."""
        ...
