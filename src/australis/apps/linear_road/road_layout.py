"""Road layout: writes a feed as one file for each expressway, which is what the driver takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from pyarrow import ipc

from australis.apps.linear_road.feed import NOTE, Feed, feed
from australis.apps.linear_road.record import INPUT, REPORT

OnProgress = Callable[[int], None]


def is_laid_out(stream: Feed) -> bool:
    """Whether a feed is laid out already."""
    return bool(stream.note) and all(file.suffix == ".arrow" for file in stream.files)


def lay_out(stream: Feed, folder: Path, on_progress: OnProgress | None = None) -> Feed:
    """Lay out a feed in a folder, from any files. `on_progress` is called with the second that was reached.

    Reports go to the file of their expressway, and requests to one of their own.
    """
    most = {"xway": -1, "vid": -1, "qid": -1}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        writers: dict[int, ipc.RecordBatchFileWriter] = {}
        for batch in Feed(stream.files).merge():
            way = np.where(batch["type"].to_numpy() == REPORT, batch["xway"].to_numpy(), -1)
            for name in most:
                most[name] = max(most[name], int(batch[name].to_numpy().max()))
            for number in np.unique(way).tolist():
                if number not in writers:
                    file = folder / ("requests.arrow" if number < 0 else f"xway-{number:03}.arrow")
                    writers[number] = opened.enter_context(ipc.new_file(str(file), INPUT))
                writers[number].write_batch(batch.take(np.flatnonzero(way == number)))
            if on_progress is not None:
                on_progress(int(batch["time"][-1].as_py()))
    numbers = {"xways": most["xway"] + 1, "vehicles": most["vid"] + 1, "queries": most["qid"] + 1}
    (folder / NOTE).write_text(json.dumps({"version": 1, **numbers, "copies": stream.copies}))
    return feed(folder)
