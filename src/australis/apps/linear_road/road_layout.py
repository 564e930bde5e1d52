"""Roads: a feed laid out as one mapped file an expressway, which is what the driver takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from pyarrow import ipc

from australis.apps.linear_road.feed import NOTE, Feed, feed
from australis.apps.linear_road.record import INPUT, REPORT

Told = Callable[[int], None]


def laid(given: Feed) -> bool:
    """Whether a feed is laid out so already."""
    return bool(given.note) and all(file.suffix == ".arrow" for file in given.files)


def lay(given: Feed, folder: Path, told: Told | None = None) -> Feed:
    """Lay out a feed in a folder, from flat files or any others; `told` hears of the seconds that are done.

    Reports go to the file of their expressway, and requests to one of their own.
    """
    most = {"xway": -1, "vid": -1, "qid": -1}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        writers: dict[int, ipc.RecordBatchFileWriter] = {}
        for batch in Feed(given.files).merged():
            way = np.where(batch["type"].to_numpy() == REPORT, batch["xway"].to_numpy(), -1)
            for name in most:
                most[name] = max(most[name], int(batch[name].to_numpy().max()))
            for number in np.unique(way).tolist():
                if number not in writers:
                    file = folder / ("requests.arrow" if number < 0 else f"xway-{number:03}.arrow")
                    writers[number] = opened.enter_context(ipc.new_file(str(file), INPUT))
                writers[number].write_batch(batch.take(np.flatnonzero(way == number)))
            if told is not None:
                told(int(batch["time"][-1].as_py()))
    numbers = {"xways": most["xway"] + 1, "vehicles": most["vid"] + 1, "queries": most["qid"] + 1}
    (folder / NOTE).write_text(json.dumps({"version": 1, **numbers, "copies": given.copies}))
    return feed(folder)
