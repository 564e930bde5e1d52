"""CSV: a line a tuple. A quoted value holds anything but a line end, so that a file can be split at any line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv
from pyarrow import types

from australis.arrow.compute import pc
from australis.connectors.sources.lines import Lines
from australis.connectors.sources.sift import BadLines, Faults, check_text, none
from australis.errors import RunError, listing, near
from australis.model.train import joined

_PLACE = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?")
_ODD = "a quote is not closed, or there is a carriage return, in the line"


@dataclass(frozen=True)
class Csv:
    """CSV of some columns: `columns` are those of the file, in its order."""

    path: str
    schema: pa.Schema
    columns: tuple[str, ...]
    delimiter: str = ","
    nulls: tuple[str, ...] = ("",)
    _wrong: list[tuple[int, int]] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        missing = [name for name in self.schema.names if name not in self.columns]
        if missing:
            hint = near(missing[0], self.columns)
            raise RunError(f"{self.path}: no column {listing(missing)}; there are {listing(self.columns)}{hint}")
        for column in self.schema:
            if types.is_nested(column.type) or types.is_float16(column.type):
                raise RunError(
                    f"{self.path}: column {column.name} is {column.type}, which CSV does not hold;"
                    " keep the tuples in JSON lines, Parquet or Arrow"
                )

    @property
    def keep_empty(self) -> bool:
        """Whether an empty line is a tuple: that of one null."""
        return len(self.columns) == 1

    @cached_property
    def _options(self) -> tuple[Any, ...]:
        # Columns that nobody wants need no name, and one that is there twice is its first.
        names = [
            name if name in self.schema.names and self.columns.index(name) == place else f"#{place}"
            for place, name in enumerate(self.columns)
        ]

        def wrong(row: Any) -> Literal["skip"]:
            self._wrong.append((row.number, row.actual_columns))
            return "skip"

        return (
            names,
            pa.csv.ParseOptions(
                delimiter=self.delimiter, ignore_empty_lines=not self.keep_empty, invalid_row_handler=wrong
            ),
            pa.csv.ConvertOptions(
                column_types={column.name: column.type for column in self.schema},
                include_columns=self.schema.names,
                null_values=list(self.nulls),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def odd(self, lines: Lines) -> Faults:
        if lines.data.find(b'"') < 0 and lines.data.count(b"\r") == lines.data.count(b"\r\n"):
            return {}
        closed = pc.match_substring_regex(lines.array(), self._closed)
        return {int(i): _ODD for i in pc.indices_nonzero(pc.invert(closed)).to_pylist()}

    @cached_property
    def _closed(self) -> str:
        """What a line looks like that ends outside of quotes. Quotes mean something only where a value begins."""
        comma = re.escape(self.delimiter)
        value = rf'(?:"(?:[^"\r\n]|"")*"(?:[^"{comma}\r\n][^{comma}\r\n]*)?|[^"{comma}\r\n][^{comma}\r\n]*|)'
        return rf"(?s)\A{value}(?:{comma}{value})*[\r\n]*\z"

    def parse(self, lines: Lines, low: int, high: int) -> tuple[pa.RecordBatch, Faults]:
        check_text(lines, low, high)  # Arrow's reader cannot tell of a row that is not UTF-8
        buffer = lines.buffer(low, high)
        names, parse, convert = self._options
        read = pa.csv.ReadOptions(use_threads=False, column_names=names, block_size=max(buffer.size, 1024))
        self._wrong.clear()
        try:
            file: Any = pa.BufferReader(buffer)
            with pa.csv.open_csv(file, read, parse, convert) as reader:
                batches = [batch for batch in reader if batch.num_rows]
        except pa.ArrowInvalid as error:
            raise self._bad(str(error)) from error
        rows = sum(batch.num_rows for batch in batches)
        if rows + len(self._wrong) != high - low or not self._plain(lines, low, high):
            raise BadLines(_ODD)
        count = len(self.columns)
        faults = {row - 1: f"{found} values for {count} columns" for row, found in self._wrong}
        if not batches:
            return none(self.schema), faults
        return pa.RecordBatch.from_arrays(
            (batches[0] if len(batches) == 1 else joined(batches)).columns, schema=self.schema
        ), faults

    def _plain(self, lines: Lines, low: int, high: int) -> bool:
        """Whether as many rows as lines means a row a line: nothing else ends a row, and the last line is closed."""
        start, stop = int(lines.starts[low]), int(lines.stops[high - 1])
        data = lines.data
        if data.find(b"\r", start, stop) >= 0 and data.count(b"\r", start, stop) != data.count(b"\r\n", start, stop):
            return False
        if data.find(b'"', int(lines.starts[high - 1]), stop) < 0:
            return True
        return bool(pc.match_substring_regex(pa.scalar(lines.line(high - 1)), self._closed).as_py())

    def _bad(self, message: str) -> BadLines:
        place = _PLACE.match(message)
        if place is None:
            return BadLines(message)
        reason = message[place.end() :].removeprefix("CSV conversion error to ")
        name = self.columns[int(place[1])] if int(place[1]) < len(self.columns) else f"#{place[1]}"
        return BadLines(f"column {name}: {reason}", int(place[2]) - 1 if place[2] else None)


def header(path: str, line: bytes, delimiter: str) -> tuple[str, ...]:
    """The names that the first line of a file gives its columns."""
    try:
        parse = pa.csv.ParseOptions(delimiter=delimiter)
        file: Any = pa.BufferReader(line + b"\n")
        with pa.csv.open_csv(file, parse_options=parse) as reader:
            return tuple(reader.schema.names)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise RunError(f"{path}: the first line does not name the columns ({error}); add a header, or say that"
                       " there is none (header=False)") from error  # fmt: skip
