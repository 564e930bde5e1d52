"""A folder of sounds, one a tuple, named by its columns or counted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import pyarrow as pa

from australis.arrow.schema import text
from australis.connectors.sinks.past import NEVER, SinkHistory, cut_off
from australis.connectors.sinks.sound import Channels, encoded
from australis.disk.durable import again, locked, sweep, sync_folder
from australis.disk.paths import place
from australis.errors import RunError, listing, near

COUNTED = "{number:06d}"
_JOURNAL, _NAMES, _LOCK = ".journal", ".names", ".lock"
_ODD = re.compile(r"[^\w.,+=@ -]+")


@dataclass(frozen=True)
class Sounds:
    """Exactly once: the segments of each tuple are a file, its columns of segments the channels.

    The name is a pattern of columns, such as `{site}-{start}`, or of the `{number}` of the tuple, from 1 on; `-2` and
    so on follow one that is there already. Names are written to `.names` before files get them, and the journal
    `.journal` holds the last batch whose files are all there: those of a batch that was stopped are removed.
    """

    path: str
    form: str = "wav"
    name: str = COUNTED

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> SoundsWriter:
        """Take up the folder where a run left it. The results of another run are refused, or replaced."""
        channels = Channels(self.path, schema, self.form)
        known = ["number", *(name for name in schema.names if name not in channels.names)]
        for _, name, _, _ in _fields(self.path, self.name):
            if name is not None and name not in known:
                raise RunError(f"{self.path}: files are named by {listing(known)}, not by {name}{near(name, known)}")
        folder = place(self.path).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return SoundsWriter(folder, self, channels, schema, run, replace)
        except OSError as error:
            raise RunError(f"{folder}: {error}; choose a folder that can be written to") from error


class SoundsWriter:
    """An open folder."""

    def __init__(
        self, folder: Path, sink: Sounds, channels: Channels, schema: pa.Schema, run: str, replace: bool
    ) -> None:
        self.folder, self.sink, self.channels, self.kept = folder, sink, channels, not replace
        self.lock = locked(folder / _LOCK, folder)
        try:
            self.past = SinkHistory(folder / _JOURNAL, folder)
            self._take_up(schema, run, replace)
        except BaseException:
            self.close()
            raise

    def _take_up(self, schema: pa.Schema, run: str, replace: bool) -> None:
        past = self.past
        ours = past.run == run
        if not ours and not replace and any(self.folder.glob(f"*.{self.sink.form}")):
            raise RunError(f"{self.folder}: holds sounds of another run; move them away, or choose a new folder")
        sweep(self.folder, "")
        if ours and past.last > NEVER:
            past.check_columns(schema)
            self.count, self.length = past.sizes
            return
        self.count = self.length = 0
        self._forget()
        past.begin(run, text(schema), 0, 0)

    def agree(self, planned: int, committed: int) -> str:
        """Remove the sounds of batches after the last one that a checkpoint has planned; what went, in words."""
        names = self.folder / _NAMES
        spare = names.exists() and names.stat().st_size > self.length
        gone = self.past.back_to(planned, committed, spare)
        self.count, self.length = self.past.sizes
        self._forget()
        return cut_off(self.folder, gone)

    def _forget(self) -> None:
        """Remove the files of batches that were stopped, or do not count."""
        names = self.folder / _NAMES
        if names.exists():
            for name in names.read_bytes()[self.length :].decode().splitlines():
                (self.folder / name).unlink(missing_ok=True)
            os.truncate(names, self.length)

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        if batch_id <= self.past.last:
            return
        self._forget()
        made: dict[str, Path] = {}
        count = self.count
        try:
            for train in tuples:
                plain = train.select([name for name in train.schema.names if name not in self.channels.names])
                rows = plain.to_pylist() if plain.num_columns else [{}] * train.num_rows
                for row, (frames, rate) in zip(rows, self.channels.takes(train), strict=True):
                    count += 1
                    name = self._free(self._name({**row, "number": count}), made)
                    made[name] = self.folder / f".{name}.tmp"
                    with made[name].open("wb") as file:
                        file.write(encoded(frames, rate, self.sink.form))
                        file.flush()
                        os.fsync(file.fileno())
            with (self.folder / _NAMES).open("ab") as names:
                names.write("".join(f"{name}\n" for name in made).encode())
                names.flush()
                os.fsync(names.fileno())
                length = names.tell()
            for name, path in made.items():
                path.replace(self.folder / name)
            sync_folder(self.folder)
            self.past.add(batch_id, count, length)
        except OSError as error:
            raise RunError(f"{self.folder}: {error}; the batch is not written: {again(self.kept)}") from error
        self.count, self.length = count, length

    def _name(self, row: dict[str, Any]) -> str:
        try:
            text = self.sink.name.format_map(row)
        except (ValueError, TypeError) as error:
            raise RunError(f"{self.folder}: the name {self.sink.name} does not fit {row}: {error}") from error
        return _ODD.sub("_", text).strip(".") or "_"

    def _free(self, stem: str, made: dict[str, Path]) -> str:
        """A name that no other file has."""
        name, turn = f"{stem}.{self.sink.form}", 1
        while name in made or (self.folder / name).exists():
            turn += 1
            name = f"{stem}-{turn}.{self.sink.form}"
        return name

    def close(self) -> None:
        """Let others write there."""
        self.lock.close()
        if hasattr(self, "past"):
            self.past.close()


def _fields(where: str, name: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(name))
    except ValueError as error:
        raise RunError(f"{where}: the name {name} is no pattern: {error}; write {{column}} for a value") from error
