"""The wait of a run that has nothing to do, until something comes.

Spark asks a source for news a hundred times a second. So the source answers late: when there is something, or after a
while. It hears bells, and looks by itself only where none would ring, more seldom the more a look costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from australis.disk.wakeup import Bells

PATIENCE = 1.0
"""For how many seconds Spark may wait for an answer. What is to stop a run rings."""
_SHORTEST, _LONGEST = 0.02, 0.2  # seconds between two looks
_SHARE = 50

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Look(Generic[Answer]):
    """What was seen: an answer, and whether it is a final one; if not, the folders whose bells may ring.

    `seen` tells that there is also what no bell rings for, and is only seen by looking.
    """

    answer: Answer
    done: bool = False
    bells: tuple[str, ...] = ()
    seen: bool = False
    within: float | None = None
    """In how many seconds to look again whatever happens, if it is known."""


def pause(cost: float) -> float:
    """How many seconds to let pass after a look that cost so many of the processor's: fifty times as many.

    >>> pause(0.0001), pause(0.002), pause(1.0)
    (0.02, 0.1, 0.2)
    """
    return min(max(cost * _SHARE, _SHORTEST), _LONGEST)


class Wait:
    """Waits of one process; the bells that it hears stay open from one to the next."""

    def __init__(
        self,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        work: Callable[[], float] = time.thread_time,
        hang: Callable[[tuple[str, ...]], Bells] = Bells,
    ) -> None:
        self.patience, self._clock, self._work, self._hang = patience, clock, work, hang
        self._folders: tuple[str, ...] = ()
        self._bells: Bells | None = None

    def until(self, look: Callable[[], Look[Answer]]) -> Answer:
        """Look until the answer is a final one, or patience ends."""
        end = self._clock() + self.patience
        while True:
            before = self._work()
            found = look()
            cost, left = self._work() - before, end - self._clock()
            if found.done or left <= 0:
                return found.answer
            if self._bells is None or found.bells != self._folders:
                self.close()
                self._bells, self._folders = self._hang(found.bells), found.bells
                continue  # what came since the look rang nowhere
            alone = not found.seen and len(self._bells) == len(found.bells)
            longest = left if found.within is None else min(left, found.within)
            self._bells.wait(longest if alone or found.within is not None else min(left, pause(cost)))

    def close(self) -> None:
        if self._bells is not None:
            self._bells.close()
            self._bells = None
