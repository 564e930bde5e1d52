"""A road: the file of one expressway, mapped into memory and searched by time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from australis.apps.linear_road.record import INPUT, REPORT
from australis.errors import RunError


class RoadFile:
    """Tuples of an Arrow file in order of time, mapped and read on demand."""

    def __init__(self, file: Path) -> None:
        try:
            reader = ipc.open_file(pa.memory_map(str(file)))
            every = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        except (pa.ArrowException, OSError) as error:
            raise RunError(f"{file}: {str(error).strip()}; simulate it again") from None
        if reader.schema != INPUT:
            raise RunError(f"{file}: its columns are {', '.join(reader.schema.names)}, not {', '.join(INPUT.names)}")
        self.file = file
        self._batches = [batch for batch in every if batch.num_rows]
        self._starts = list(accumulate((batch.num_rows for batch in self._batches), initial=0))
        self._times = [int(batch["time"][0].as_py()) for batch in self._batches]

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def end(self) -> int:
        """The second after that of the last tuple."""
        return int(self._batches[-1]["time"][-1].as_py()) + 1 if self._batches else 0

    @cached_property
    def xway(self) -> int:
        """The expressway that its first report names; -1 if there are only requests."""
        for batch in self._batches:
            reports = np.flatnonzero(batch["type"].to_numpy() == REPORT)
            if len(reports):
                return int(batch["xway"][int(reports[0])].as_py())
        return -1

    def row(self, time: int) -> int:
        """The first row of a second, or of a later one."""
        at = bisect_right(self._times, time - 1) - 1  # a second may begin in the batch before that of its first tuples
        if at < 0:
            return 0
        return self._starts[at] + int(np.searchsorted(self._batches[at]["time"].to_numpy(), time))

    def between(self, start: int, stop: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The tuples from the second `start` up to `stop`, in batches, each with the number of its first row."""
        low, high = self.row(start), self.row(stop)
        for first, batch in zip(self._starts, self._batches, strict=False):
            begin, end = max(low - first, 0), min(high - first, batch.num_rows)
            if begin < end:
                yield first + begin, batch.slice(begin, end - begin)


@lru_cache(maxsize=4096)
def road(file: Path) -> RoadFile:
    """The road of a file, which is mapped once in a process."""
    return RoadFile(file)
