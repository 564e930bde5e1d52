"""The ledger: the measurements of a run's last batches, on its checkpoint, to be read while it runs or after."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from australis.disk.paths import place
from australis.engine.measures import SCHEMA

_BATCHES, _FILES = 256, 4  # in a file, and how many files


class Ledger:
    """Writes the measurements of batches. Those older than a thousand batches are removed, file by file."""

    def __init__(self, checkpoint: str | Path) -> None:
        self.folder = Path(checkpoint) / "measures"
        self._stream: pa.RecordBatchStreamWriter | None = None
        self._file: pa.NativeFile | None = None
        self._held = 0
        self._recent: dict[int, pa.Table] = {}

    def write(self, batch: int, tables: list[pa.RecordBatch]) -> None:
        """Add the measurements of a batch. Those of one that is run again replace those of before."""
        table = pa.Table.from_batches(tables, SCHEMA).combine_chunks()
        self._recent[batch] = table
        while len(self._recent) > _BATCHES * _FILES:
            del self._recent[min(self._recent)]
        if self._stream is None or self._held == _BATCHES:
            self._begin_file(batch)
        assert self._stream is not None
        assert self._file is not None
        self._stream.write_table(table)
        self._file.flush()
        self._held += 1

    def table(self) -> pa.Table:
        """The measurements that this process has written."""
        return pa.concat_tables([SCHEMA.empty_table(), *self._recent.values()])

    def close(self) -> None:
        if self._stream is not None and self._file is not None:
            self._stream.close()
            self._file.close()
            self._stream = self._file = None

    def _begin_file(self, batch: int) -> None:
        """Begin a new file, and remove those that are too old."""
        self.close()
        self.folder.mkdir(exist_ok=True)
        for old in sorted(self.folder.glob("*.arrows"))[: 1 - _FILES or None]:
            old.unlink(missing_ok=True)
        self._file = pa.OSFile(str(self.folder / f"{batch:012}.arrows"), "wb")
        self._stream = pa.ipc.new_stream(self._file, SCHEMA)
        self._held = 0


def read(checkpoint: str | Path) -> pa.Table:
    """The measurements on a checkpoint; a batch whose rows are not all there yet is left out.

    Of a batch that was run again there are those of the last time.
    Columns that were not measured yet when a file was written are null.
    """
    batches: dict[int, pa.RecordBatch] = {}
    for path in sorted((place(checkpoint) / "measures").glob("*.arrows")):
        with suppress(pa.ArrowInvalid, OSError, EOFError), pa.OSFile(str(path), "rb") as file:
            for batch in pa.ipc.open_stream(file):
                batches[batch["batch"][0].as_py()] = batch
    tables = [SCHEMA.empty_table(), *(pa.Table.from_batches([batch]) for batch in batches.values())]
    return pa.concat_tables(tables, promote_options="default")
