"""A text file as a reader of lines: positions are bytes, and any line is a place to cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.connectors.sources.csv import Csv, header
from australis.connectors.sources.form import Packing, packed
from australis.connectors.sources.jsonlines import JsonLines
from australis.connectors.sources.lines import blocks, line_bytes, line_ends, lines_of, next_line, unpacked, whole_lines
from australis.connectors.sources.sift import LineFormat, SiftedRows, sift
from australis.errors import RunError

_BOM = b"\xef\xbb\xbf"
_HEAD = 1 << 16
_RATIO = 4  # how much longer a text is than its compressed form, about


@dataclass(frozen=True)
class Text:
    """CSV or JSON lines. A compressed file is read whole: its position is its beginning or its end."""

    path: str
    schema: pa.Schema
    form: str
    header: bool
    delimiter: str
    nulls: tuple[str, ...]

    @cached_property
    def packing(self) -> Packing | None:
        return packed(self.path)

    @property
    def whole(self) -> bool:
        return self.packing is not None

    @cached_property
    def size(self) -> int:
        return Path(self.path).stat().st_size

    def end(self, begin: int, final: bool) -> int:
        return self.size if final or self.whole else whole_lines(self.path, begin, self.size)

    def rows(self, begin: int, stop: int) -> int:
        if begin >= stop:
            return 0
        if self.packing is not None:
            with pa.input_stream(self.path, compression=self.packing) as file:
                sample = file.read(1 << 16)
            return max(1, round((stop - begin) * _RATIO * max(1, sample.count(b"\n")) / max(1, len(sample))))
        return max(1, round((stop - begin) / line_bytes(self.path, begin)))

    def reach(self, begin: int, stop: int, rows: int) -> int:
        if self.whole:
            return stop
        return next_line(self.path, begin + max(1, int(rows * line_bytes(self.path, begin))), stop)

    def snap(self, position: int, stop: int) -> int:
        return stop if self.whole else next_line(self.path, position, stop)

    def lost(self, stop: int, size: int) -> str:
        if self.whole:
            return f"has {self.size} bytes and had {size}" if self.size != size else ""
        if self.size < stop:
            return f"has {self.size} bytes, fewer than the {stop} that it had"
        if self.size != size and not line_ends(self.path, stop):
            return f"was changed, and not only at its end, since it was to be read up to {stop}"
        return ""

    def read(self, begin: int, stop: int) -> Iterator[SiftedRows]:
        if begin >= stop:
            return
        format, first = self._format()
        pieces = unpacked(self.path, self.packing) if self.packing else blocks(self.path, max(begin, first), stop)
        for base, data, size in pieces:
            skip = max(0, first - base)
            lines = lines_of(data[skip:] if skip else data, size - skip, base + skip, format.keep_empty)
            yield sift(format, lines, self.path)

    def _format(self) -> tuple[LineFormat, int]:
        """How lines are read, and where the first tuple is, told from the file's beginning, whatever is read of it."""
        packing: Any = self.packing
        with pa.input_stream(self.path, compression=packing) as file:
            start, line = len(_BOM) if (read := file.read(_HEAD)).startswith(_BOM) else 0, read
            while self.form == "csv" and self.header and b"\n" not in line and (read := file.read(_HEAD)):
                line += read
        if self.form == "json":
            objects = JsonLines(self.path, self.schema)
            objects.check(line[start : line.rfind(b"\n") + 1 if len(line) == _HEAD else None])
            return objects, start
        if not self.header:
            return Csv(self.path, self.schema, tuple(self.schema.names), self.delimiter, self.nulls), start
        stop = line.find(b"\n") + 1 or len(line)
        names = header(self.path, line[start:stop].rstrip(b"\r\n"), self.delimiter)
        return Csv(self.path, self.schema, names, self.delimiter, self.nulls), stop


def check(path: str) -> None:
    """Refuse a packed file that is not text."""
    if packed(path):
        raise RunError(f"{path}: only CSV and JSON lines are read compressed; unpack the file (Parquet and Arrow"
                       " compress their columns themselves)")  # fmt: skip
