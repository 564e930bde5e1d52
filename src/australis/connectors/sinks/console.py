"""The console: a table a batch."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from rich import box
from rich.console import Console as Screen
from rich.console import Group
from rich.table import Table
from rich.text import Text

from australis.arrow.schema import samples_of
from australis.boxes.signals.column import segments


def cells(column: pa.ChunkedArray[Any]) -> list[Any]:
    """The values of a column, as they are shown: a segment by its shape."""
    if samples_of(column.type) is None:
        return column.to_pylist()
    return [value for chunk in column.chunks for value in segments(chunk).values()]


def shown(title: str, tuples: pa.Table, most: int = 12) -> Group:
    """The first tuples as a table in the one style of all commands: texts to the left, all else to the right."""
    table = Table(box=box.SIMPLE_HEAD)
    first = tuples.slice(0, most)
    for column in first.schema:
        table.add_column(Text(column.name), justify="left" if str(column.type) == "string" else "right")
    for row in zip(*map(cells, first.columns), strict=True):
        table.add_row(*("" if value is None else Text(_text(value)) for value in row))
    left = tuples.num_rows - most
    return Group(Text(title, "bold"), table, *([Text(f"  and {left} more\n")] if left > 0 else []))


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Console:
    """At least once: a batch that is run again is printed again. Of each batch the first `most` tuples are printed."""

    most: int = 20
    name: str = field(default="", repr=False)
    """Of the output, where there are several."""

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> ConsoleWriter:
        return ConsoleWriter(schema, self.most, self.name)


@dataclass(frozen=True)
class ConsoleWriter:
    schema: pa.Schema
    most: int
    name: str = ""

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        whole = pa.Table.from_batches(tuples, self.schema)
        if not whole.num_rows:
            return
        counted = "1 tuple" if whole.num_rows == 1 else f"{whole.num_rows} tuples"
        title = f"{self.name and f'{self.name}, '}batch {batch_id}: {counted}"
        screen = Screen(file=sys.stdout, markup=False)
        with screen.capture() as drawn:
            screen.print(shown(title, whole, self.most))
        print(drawn.get(), end="", flush=True)  # at once, and where progress may be drawn beneath

    def close(self) -> None:
        """The console stays open."""
