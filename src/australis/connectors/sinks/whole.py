"""One file that cannot grow: its batches wait beside it, and it is written when the run ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.arrow.schema import text
from australis.connectors.sinks.encode import whole
from australis.connectors.sinks.folder import Folder, FolderWriter
from australis.connectors.sinks.past import SinkHistory
from australis.connectors.sources.form import form
from australis.disk.durable import check_ours, journal_of, renamed
from australis.disk.paths import place
from australis.errors import RunError


@dataclass(frozen=True)
class Whole:
    """Exactly once, in order: Parquet or Arrow. A file that no run wrote is refused.

    The batches are Arrow files in the folder `.<name>.batches`. When the run ends, or is stopped, the file is made of
    them. With a checkpoint they stay there, since the run may go on.
    """

    path: str

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> WholeWriter:
        """Take up the batches where a run left them. The results of another run are refused, or replaced."""
        path = place(self.path)
        try:
            if not path.parent.is_dir():
                raise FileNotFoundError(f"there is no folder {path.parent}")
            past = _past(path, run, replace)
            batches = Folder(str(path.with_name(f".{path.name}.batches")), "arrow").open(schema, run, replace)
            return WholeWriter(path, schema, run, past, batches, not replace)
        except OSError as error:
            raise RunError(f"{path}: {error}; choose a file that can be written to") from error


def _past(path: Path, run: str, replace: bool) -> SinkHistory:
    """Whose a file is. One that is not the run's own is refused, or must be one that a run wrote."""
    past, size = SinkHistory(journal_of(path), path), path.stat().st_size if path.exists() else 0
    if size and not replace and past.run != run:
        raise RunError(f"{path}: is there already, and not of this run; move it away, or choose another file")
    check_ours(path, past.sizes[0] if past.marks else None, size)
    return past


class WholeWriter:
    """The batches of a file. Nobody but the driver writes them, so that they stay in order."""

    def __init__(
        self, path: Path, schema: pa.Schema, run: str, past: SinkHistory, batches: FolderWriter, kept: bool
    ) -> None:
        self.path, self.schema, self.run, self.past, self.batches, self.kept = path, schema, run, past, batches, kept

    def agree(self, planned: int, committed: int) -> str:
        """Remove the batches after the last one that a checkpoint has planned; what went, in words."""
        return self.batches.agree(planned, committed)

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        self.batches.write(batch_id, tuples)

    def close(self) -> None:
        """Make the file, and let others write there."""
        try:
            self._make()
            if not self.kept:
                shutil.rmtree(self.batches.folder)
        except OSError as error:
            raise RunError(
                f"{self.path}: {error}; the file is not written, its batches are in {self.batches.folder}"
            ) from error
        finally:
            self.batches.close()

    def _make(self) -> None:
        if self.path.exists() and not self.path.is_file():  # a device or a pipe holds nothing
            with self.path.open("wb") as device:
                whole(form(self.path), self.schema, self._trains(), device)
            return
        self._note(0)  # first, so that the file is known to be ours whenever this is stopped
        with renamed(self.path) as file:
            whole(form(self.path), self.schema, self._trains(), file)
        self._note(self.path.stat().st_size)

    def _trains(self) -> Iterator[pa.RecordBatch]:
        for path in sorted(self.batches.folder.glob("batch-*.arrow")):
            with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as batch:
                yield from (batch.get_batch(at) for at in range(batch.num_record_batches))

    def _note(self, length: int) -> None:
        self.past.begin(self.run, text(self.schema), length)
        self.past.close()
