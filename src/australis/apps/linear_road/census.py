"""Census: how many tuples of each type there are in an input, and whether they can be answered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import EXPENDITURE, TRAVEL
from australis.errors import RunError

OnProgress = Callable[[int], None]


def census(feed: Feed, on_progress: OnProgress | None = None) -> dict[int, int]:
    """Count the tuples of each type in a feed, without copies. `on_progress` is called with the second reached."""
    counts = np.zeros(TRAVEL + 1, np.int64)
    for file in feed.files:
        for batch in feed.read(file):
            counts += np.bincount(batch["type"].to_numpy(), minlength=len(counts))
            if on_progress is not None:
                on_progress(int(batch["time"][-1].as_py()))
    return {kind: count for kind, count in enumerate(counts.tolist()) if count}


def check_answerable(counts: dict[int, int], history: object | None, source: object) -> None:
    """Raise if an input asks about the weeks before and there is no history."""
    requests = counts.get(EXPENDITURE, 0) + counts.get(TRAVEL, 0)
    if requests and history is None:
        raise RunError(
            f"{source}: {requests:,} requests ask about the weeks before, and cannot be answered without a history;"
            f" give --history DIR, which `australis linear-road history {source} --out DIR` makes"
        )
