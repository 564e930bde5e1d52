"""Sift: read lines a block at a time, and where a block does not read, single out the lines that are at fault.

A line's fate is its own: it is a tuple if and only if it reads by itself. Whole blocks are read at once only because
that gives the same.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa

from australis.arrow.compute import pc
from australis.connectors.dead_letters import Letter
from australis.connectors.sources.lines import Lines
from australis.model.train import Ints, empty, joined

_CHUNK = 1024


class BadLines(Exception):  # noqa: N818 (it is caught here, and tells where to cut)
    """Some lines do not read. `row` says which of them is perhaps the first at fault."""

    def __init__(self, reason: str, row: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.row = reason, row


@dataclass(frozen=True)
class SiftedRows:
    """Tuples with their positions in a file, and the letters among them; `skipped` and `places` are as in `Part`."""

    tuples: pa.RecordBatch
    position: Ints
    letters: tuple[Letter, ...] = ()
    skipped: int = 0
    places: Ints | None = None


Faults = dict[int, str]
"""The lines at fault, counted from the first that was read, with their reasons."""


class LineFormat(Protocol):
    """How lines of text are read."""

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def keep_empty(self) -> bool:
        """Whether an empty line is a tuple."""
        ...

    def odd(self, lines: Lines) -> Faults:
        """The lines that must not be read together with others: what they hold could reach over their ends."""
        ...

    def parse(self, lines: Lines, low: int, high: int) -> tuple[pa.RecordBatch, Faults]:
        """Tuples of the lines that are not at fault; raises BadLines when it cannot tell which are."""
        ...


def sift(format: LineFormat, lines: Lines, file: str) -> SiftedRows:
    """The tuples of all lines that read, and letters for the others."""
    if not len(lines):
        return SiftedRows(none(format.schema), lines.starts)
    try:
        tuples, faults = format.parse(lines, 0, len(lines))
    except BadLines:
        tuples, faults = _singled(format, lines)
    position = lines.position
    if faults:
        position = np.delete(position, list(faults))
    missing = nulls(tuples)
    if missing is not None:
        kept = np.delete(np.arange(len(lines)), list(faults)) if faults else np.arange(len(lines))
        for row in np.flatnonzero(missing):
            faults[int(kept[row])] = null_reason(tuples, int(row))
        tuples, position = tuples.filter(pa.array(~missing)), position[~missing]
    letters = tuple(Letter(faults[i], file, int(lines.starts[i]) + lines.base, lines.line(i)) for i in sorted(faults))
    return SiftedRows(tuples, position, letters)


def check_text(lines: Lines, low: int, high: int) -> None:
    """See to it that lines are UTF-8."""
    if lines.data.isascii():
        return
    try:
        codecs.utf_8_decode(lines.buffer(low, high), "strict", True)
    except UnicodeDecodeError as error:
        row = np.searchsorted(lines.starts, lines.starts[low] + error.start, side="right") - 1 - low
        raise BadLines("invalid UTF-8", int(row)) from error


def nulls(tuples: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """The rows that have a null where the schema allows none, or None."""
    wrong = [name for field, name in zip(tuples.schema, tuples.schema.names, strict=True)
             if not field.nullable and tuples.column(name).null_count]  # fmt: skip
    if not wrong:
        return None
    masks = [pc.is_null(tuples.column(name)).to_numpy(zero_copy_only=False) for name in wrong]
    return np.logical_or.reduce(masks)  # type: ignore[no-any-return]


def null_reason(tuples: pa.RecordBatch, row: int) -> str:
    names = [f.name for f in tuples.schema if not f.nullable and not tuples.column(f.name)[row].is_valid]
    return f"no value of {', '.join(names)}, which may not be null"


def none(schema: pa.Schema) -> pa.RecordBatch:
    """No tuples."""
    return empty(schema).tuples


def _singled(format: LineFormat, lines: Lines) -> tuple[pa.RecordBatch, Faults]:
    faults = dict(format.odd(lines))
    batches = []
    for before, after in pairwise([-1, *sorted(faults), len(lines)]):
        for low in range(before + 1, after, _CHUNK):
            for start, tuples, found in _read(format, lines, low, min(low + _CHUNK, after)):
                batches.append(tuples)
                faults.update({start + row: reason for row, reason in found.items()})
    return joined(batches) if batches else none(format.schema), faults


def _read(format: LineFormat, lines: Lines, low: int, high: int) -> Iterator[tuple[int, pa.RecordBatch, Faults]]:
    """The lines of a stretch, in pieces that read or are one line at fault, in order."""
    todo = [(low, high)]
    while todo:
        low, high = todo.pop()
        if low == high:
            continue
        try:
            yield low, *format.parse(lines, low, high)
        except BadLines as bad:
            if high - low == 1:
                yield low, none(format.schema), {0: bad.reason}
            elif bad.row is not None and 0 <= bad.row < high - low:
                row = low + bad.row
                todo += [(row + 1, high), (row, row + 1), (low, row)]
            else:
                middle = (low + high) // 2
                todo += [(middle, high), (low, middle)]
