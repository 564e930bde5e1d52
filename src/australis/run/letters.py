"""Dead letters: input that could not be read, kept whole with its reason and its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from australis.place import place
from australis.run.sinks.folder import Folder, FolderWriter
from australis.schema import schema

SCHEMA = schema("input string, reason string, file string, position bigint, raw binary, batch bigint")


@dataclass(frozen=True)
class Letter:
    """One line or row that is no tuple. The position is a byte of a text file, or a row of any other source."""

    reason: str
    file: str
    position: int
    raw: bytes

    def __str__(self) -> str:
        raw = self.raw if len(self.raw) <= 200 else self.raw[:200] + b"..."
        return f"{self.file}: at {self.position}: {self.reason}, in {raw.decode(errors='backslashreplace')}"


def table(input: str, letters: Iterable[Letter], batch: int) -> pa.RecordBatch:
    """The letters of an input in one batch of a run.

    >>> table("reports", [Letter("2 values for 3 columns", "a.csv", 40, b"1,2")], batch=7).to_pylist()
    [{'input': 'reports', 'reason': '2 values for 3 columns', 'file': 'a.csv', 'position': 40, 'raw': b'1,2',
      'batch': 7}]
    """
    rows = [(input, letter.reason, letter.file, letter.position, letter.raw, batch) for letter in letters]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in SCHEMA]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def writer(checkpoint: str | Path, run: str = "") -> FolderWriter:
    """What takes the letters of a run, each batch exactly once: a folder beside its state."""
    return Folder(str(Path(checkpoint) / "letters"), "parquet").open(SCHEMA, run)


def read(checkpoint: str | Path) -> pa.Table:
    """All letters of a run, in the order of its batches."""
    paths = sorted((place(checkpoint) / "letters").glob("*.parquet"))
    return pa.concat_tables([SCHEMA.empty_table(), *(pa.parquet.read_table(path, schema=SCHEMA) for path in paths)])
