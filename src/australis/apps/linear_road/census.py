"""Census: how many tuples of each type there are in an input, and whether they can be answered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import EXPENDITURE, TRAVEL
from australis.errors import RunError

Told = Callable[[int], None]


def census(feed: Feed, told: Told | None = None) -> dict[int, int]:
    """How many tuples of each type the files of a feed hold, not counting copies; `told` hears of their seconds."""
    counts = np.zeros(TRAVEL + 1, np.int64)
    for file in feed.files:
        for batch in feed.read(file):
            counts += np.bincount(batch["type"].to_numpy(), minlength=len(counts))
            if told is not None:
                told(int(batch["time"][-1].as_py()))
    return {kind: count for kind, count in enumerate(counts.tolist()) if count}


def check_answerable(counts: dict[int, int], history: object | None, given: object) -> None:
    """Refuse an input that asks about the weeks before when there is no history of them."""
    asked = counts.get(EXPENDITURE, 0) + counts.get(TRAVEL, 0)
    if asked and history is None:
        raise RunError(
            f"{given}: {asked:,} requests ask about the weeks before, and nobody can answer them without a history;"
            f" give --history DIR, which `australis linear-road history {given} --out DIR` makes"
        )
