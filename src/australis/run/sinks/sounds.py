"""A folder of sounds, one a tuple, named by its columns or counted."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import pyarrow as pa

from australis.errors import RunError, listing, near
from australis.place import place
from australis.run.sinks.durable import again, renamed, sweep, sync_folder
from australis.run.sinks.sound import Channels, encoded

COUNTED = "{number:06d}"
_JOURNAL, _NAMES = ".journal", ".names"
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
            return SoundsWriter(folder, self, channels, run, replace)
        except OSError as error:
            raise RunError(f"{folder}: {error}; choose a folder that can be written to") from error


class SoundsWriter:
    """An open folder."""

    def __init__(self, folder: Path, sink: Sounds, channels: Channels, run: str, replace: bool) -> None:
        self.folder, self.sink, self.channels, self.run, self.kept = folder, sink, channels, run, not replace
        self.last, self.count, self.length = -1, 0, 0
        self._take_up(replace)

    def _take_up(self, replace: bool) -> None:
        journal, names = self.folder / _JOURNAL, self.folder / _NAMES
        kept = json.loads(journal.read_text()) if journal.exists() else None
        sweep(self.folder, "")
        if kept is not None and kept["run"] == self.run:
            self.last, self.count, self.length = kept["batch"], kept["count"], kept["length"]
        elif not replace and any(self.folder.glob(f"*.{self.sink.form}")):
            raise RunError(f"{self.folder}: holds sounds of another run; move them away, or choose a new folder")
        if names.exists():
            for name in names.read_bytes()[self.length :].decode().splitlines():
                (self.folder / name).unlink(missing_ok=True)
            os.truncate(names, self.length)
        self._commit()

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        if batch_id <= self.last:
            return
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
        except OSError as error:
            raise RunError(f"{self.folder}: {error}; the batch is not written: {again(self.kept)}") from error
        self.last, self.count, self.length = batch_id, count, length
        self._commit()

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

    def _commit(self) -> None:
        """Keep how far it has come."""
        kept = {"run": self.run, "batch": self.last, "count": self.count, "length": self.length}
        with renamed(self.folder / _JOURNAL) as file:
            file.write(json.dumps(kept).encode())

    def close(self) -> None:
        """Nothing is held open."""


def _fields(where: str, name: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(name))
    except ValueError as error:
        raise RunError(f"{where}: the name {name} is no pattern: {error}; write {{column}} for a value") from error
