"""Answers: the one flat file that all outputs go to, each line with the time at which it was written (3.3)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from australis.arrow.compute import pc
from australis.connectors.sinks.single import SingleWriter
from australis.errors import RunError

EMIT = "emit"
LINES = {
    "tolls": ("type", "vid", "time", EMIT, "lav", "toll"),
    "alerts": ("type", "time", EMIT, "vid", "seg"),
    "balances": ("type", "time", EMIT, "time", "qid", "balance"),
    "expenditures": ("type", "time", EMIT, "qid", "balance"),
    "journeys": ("type", "time", EMIT, "qid", "travel_time", "toll"),
}
"""The fields of each kind of answer, in the order of its lines. A balance is the one at the time of the request."""

_PLAIN = csv.WriteOptions(include_header=False, quoting_style="none")
_LATER = "@"
"""What stands for the time at which a line is written, until it is."""


@dataclass
class AnswerLog:
    """A file for the batches of all outputs. A batch is written when all of its outputs have come.

    `seconds` returns how long ago the run began; it is called when a batch is written. Answers to requests before
    `since` are left out.
    """

    path: Path
    seconds: Callable[[], float]
    since: int = 0
    _writer: SingleWriter | None = field(default=None, repr=False)
    _texts: dict[str, list[bytes]] = field(default_factory=dict, repr=False)
    """What has come of a batch, by output."""
    _open: int = field(default=0, repr=False)

    def sinks(self) -> dict[str, AnswerSink]:
        """A sink for each output."""
        return {name: AnswerSink(self, name) for name in LINES}

    def open(self, run: str, replace: bool) -> None:
        if self._writer is None:
            try:
                self._writer = SingleWriter(self.path, b"", pa.schema([]), run, replace)
            except OSError as error:
                raise RunError(f"{self.path}: {error}; choose a file that can be written to") from error
        self._open += 1

    def agree(self, planned: int, committed: int) -> str:
        """Cut off the batches after the last one that a checkpoint has planned. Returns what was removed, in words."""
        assert self._writer is not None
        return self._writer.agree(planned, committed)

    def take(self, name: str, batch: int, tuples: Iterable[pa.RecordBatch]) -> None:
        assert self._writer is not None
        if self.since:
            tuples = (train.filter(pc.greater_equal(train["time"], self.since)) for train in tuples)
        self._texts[name] = [lines(name, train) for train in tuples if train.num_rows]
        if len(self._texts) == len(LINES):
            texts, self._texts = [text for kind in LINES for text in self._texts[kind]], {}
            self._writer.append(batch, (timed(text, self.seconds()) for text in texts))

    def close(self) -> None:
        self._open -= 1
        if not self._open and self._writer is not None:
            self._writer.close()
            self._writer = None


@dataclass(frozen=True)
class AnswerSink:
    """The sink of one output, which is also its writer."""

    answers: AnswerLog
    name: str

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> AnswerSink:
        self.answers.open(run, replace)
        return self

    def agree(self, planned: int, committed: int) -> str:
        return self.answers.agree(planned, committed)

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        self.answers.take(self.name, batch_id, tuples)

    def close(self) -> None:
        self.answers.close()


def lines(name: str, train: pa.RecordBatch) -> bytes:
    """Answers as lines of a flat file, in which the time is open until they are written (`timed`)."""
    moment = pa.repeat(_LATER, train.num_rows)
    columns = [moment if column == EMIT else train[column] for column in LINES[name]]
    table = pa.RecordBatch.from_arrays(columns, names=[str(at) for at in range(len(columns))])
    out = io.BytesIO()
    csv.write_csv(table, out, _PLAIN)
    return out.getvalue()


def timed(text: bytes, emit: float) -> bytes:
    """Lines with the time at which they are written.

    >>> timed(lines("alerts", pa.record_batch({"type": [1], "time": [7], "vid": [3], "seg": [50]})), 8.25)
    b'1,7,8.250,3,50\\n'
    """
    return text.replace(_LATER.encode(), f"{emit:.3f}".encode())
