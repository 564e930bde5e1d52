"""The console: a table a batch."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
from rich.console import Console as Screen
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True)
class Console:
    """At least once: a batch that is run again is printed again. Of each batch the first `most` tuples are printed."""

    most: int = 20

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> ConsoleWriter:
        return ConsoleWriter(schema, self.most)


@dataclass(frozen=True)
class ConsoleWriter:
    schema: pa.Schema
    most: int

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        whole = pa.Table.from_batches(tuples, self.schema)
        if not whole.num_rows:
            return
        more = f", the first {self.most}" if whole.num_rows > self.most else ""
        table = Table(
            *self.schema.names, title=f"batch {batch_id}: {whole.num_rows} tuples{more}", title_justify="left"
        )
        for row in zip(*(column.to_pylist() for column in whole[: self.most].columns), strict=True):
            table.add_row(*("" if value is None else Text(str(value)) for value in row))
        screen = Screen(file=sys.stdout, markup=False)
        screen.print(f"batch {batch_id}: {whole.num_rows} tuples{more}")
        screen.print(table)

    def close(self) -> None:
        """The console stays open."""
