"""The past of a sink: how much it held after each of its last batches, in a journal, so that it can be cut back."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from australis.arrow.schema import text
from australis.disk.journal import Journal
from australis.errors import RunError

NEVER = -1
"""The batch before all others."""
_MARKS = 1000
_LONG = 1 << 17  # bytes of a journal that is summed up


class SinkHistory:
    """What a journal says of a sink: whose it is, its columns, and its sizes after batches, the last ones and none."""

    def __init__(self, path: Path, what: Path) -> None:
        self.what = what
        self.journal = Journal(path, f"put it back as it was, or move it away together with {what}")
        self.run: str | None = None
        """The run that wrote it, if any did."""
        self.columns = ""
        self.marks: list[tuple[int, ...]] = []
        """Of each batch its id and the sizes after it; the first is of no batch."""
        self.forgotten = 0
        """Of how many batches, after the first mark, the sizes are no longer known."""
        entries = self.journal.entries()
        self.torn = self.journal.torn
        """Whether the last entry was never finished."""
        if not entries and path.exists():
            raise self.journal.unreadable(1)
        if entries:
            self.run, self.columns, self.forgotten = (entries[0][name] for name in ("run", "columns", "forgotten"))
            self.marks = [tuple(mark) for entry in entries for mark in entry["marks"]]

    @property
    def last(self) -> int:
        """The last batch."""
        return self.marks[-1][0] if self.marks else NEVER

    @property
    def sizes(self) -> tuple[int, ...]:
        """How much there is after it."""
        return self.marks[-1][1:] if self.marks else ()

    def begin(self, run: str, columns: str, *sizes: int) -> None:
        """Forget all, and begin with no batch."""
        self.run, self.columns, self.forgotten = run, columns, 0
        self._sum_up([(NEVER, *sizes)])

    def add(self, batch: int, *sizes: int) -> None:
        """Keep how much there is after a batch. It is on the disk then."""
        mark = (batch, *sizes)
        if self.journal.file is not None and self.journal.size < _LONG:
            try:
                os.fdatasync(self.journal.append({"marks": [mark]}))
            except BaseException:
                self.journal.close()  # it may hold half a line, and is written anew with the next batch
                raise
            self.marks.append(mark)
            return
        self._sum_up([*self.marks, mark])

    def check_columns(self, schema: pa.Schema) -> None:
        """Refuse columns that the sink does not have."""
        if self.columns != text(schema):
            raise other_columns(self.what, self.columns, schema)

    def back_to(self, planned: int, committed: int, spare: bool) -> int:
        """Forget the batches after the last one that a checkpoint has planned; how many they were.

        What is there beyond the last batch is `spare`: of a batch that was under way, which comes again. That cannot be
        if the checkpoint counts it as done.
        """
        if self.last < committed and (spare or self.torn):
            raise RunError(
                f"{self.what}: its journal {self.journal.path.name} ends with batch {self.last}, and the checkpoint"
                f" counts batches up to {committed} as written; put back both as they were, or move both away: then"
                " the results go on in a new place"
            )
        kept = [mark for mark in self.marks if mark[0] <= planned]
        gone = len(self.marks) - len(kept)
        if gone and self.forgotten and len(kept) == 1 and planned > 0:
            raise RunError(
                f"{self.what}: holds at least {gone} batches after batch {planned}, the last that the checkpoint knows,"
                " and cannot be cut back so far; put back a checkpoint that is as old as it, or move it away"
            )
        if gone:
            self._sum_up(kept)
        return gone

    def _sum_up(self, marks: list[tuple[int, ...]]) -> None:
        """Write the journal anew, with the first mark and the last ones."""
        self.forgotten += max(len(marks) - 1 - _MARKS, 0)
        kept = [*marks[:1], *marks[1:][-_MARKS:]]
        self.journal.rewrite({"run": self.run, "columns": self.columns, "forgotten": self.forgotten, "marks": kept})
        self.marks = kept

    def close(self) -> None:
        self.journal.close()


def other_columns(what: Path, columns: str, schema: pa.Schema) -> RunError:
    return RunError(
        f"{what}: has the columns {columns}, and the output has {text(schema)} now; give the output another sink"
    )


def cut_off(what: object, count: int) -> str:
    """How many batches were cut off, in words."""
    if not count:
        return ""
    some = "1 batch" if count == 1 else f"{count} batches"
    return f"{what}: cut off {some} that the checkpoint does not know of; what was in them comes again"
