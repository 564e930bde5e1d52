"""JSON lines: an object a line. A field that is left out is null; those that the schema lacks are passed over."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
from pyarrow import types

from australis.arrow.columns import plain
from australis.arrow.compute import Datum, pc
from australis.arrow.schema import SAMPLES, samples_of
from australis.boxes.signals.column import Segments, starts
from australis.connectors.sources.lines import Lines
from australis.connectors.sources.sift import BadLines, Faults, check_text
from australis.errors import RunError, listing, near

_ROW = re.compile(r"\.? in row (\d+)")
_OPEN, _CLOSE = b"{}"
_SAMPLE = 100
_NUMBERS = ("start", "rate", "per", "phase")


@dataclass(frozen=True)
class JsonLines:
    """JSON lines of some columns."""

    path: str
    schema: pa.Schema

    keep_empty = False

    def __post_init__(self) -> None:
        for column in self.schema:
            if types.is_duration(column.type) or types.is_float16(column.type):
                raise RunError(
                    f"{self.path}: column {column.name} is {column.type}, which is not read from JSON;"
                    " read it as a bigint or a float, or keep the tuples in Parquet or Arrow"
                )

    @cached_property
    def _parse(self) -> Any:
        # Arrow's reader takes dates and times for numbers: they are read as text and cast.
        fields = [pa.field(f.name, _plain(f.type)) for f in self.schema]
        return pa.json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")

    def odd(self, lines: Lines) -> Faults:
        faults = {}
        for row in np.flatnonzero(~_objects(lines, 0, len(lines))).tolist():
            line = lines.line(row).strip(b" \t\r")
            if line[:1] != b"{" or line[-1:] != b"}":
                faults[row] = "not a JSON object in one line"
        return faults

    def parse(self, lines: Lines, low: int, high: int) -> tuple[pa.RecordBatch, Faults]:
        # Between `}` and `{` no object goes on, so that as many objects as lines means an object a line.
        spaced = not _objects(lines, low, high).all()
        if spaced and (high - low > 1 or self.odd(_one(lines, low))):
            raise BadLines("not a JSON object in one line")
        check_text(lines, low, high)  # Arrow's reader does not
        buffer = lines.buffer(low, high)
        read = pa.json.ReadOptions(use_threads=False, block_size=max(buffer.size + 1, 1024))
        try:
            file: Any = pa.BufferReader(buffer)
            table = pa.json.read_json(file, read, self._parse)
            if table.num_rows != high - low:
                raise BadLines("more than one JSON object in a line")
            arrays = [_typed(table.column(column.name), column.type) for column in self.schema]
        except pa.ArrowInvalid as error:
            raise _bad(str(error)) from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema), {}

    def check(self, text: bytes) -> None:
        """Tell of a column that was probably misspelt: none of a file's first objects has it, but a name like it."""
        found: dict[str, None] = {}
        lines = (line.removesuffix(b"\r") for line in text.split(b"\n"))
        for line in islice(filter(None, lines), _SAMPLE):
            with suppress(ValueError, RecursionError):  # what does not read is told by a letter
                if isinstance(fields := json.loads(line), dict):
                    found.update(dict.fromkeys(fields))
            if found.keys() >= set(self.schema.names):
                return
        others = [key for key in found if key not in self.schema.names]
        for name in self.schema.names:
            if name not in found and (hint := near(name, others)):
                raise RunError(f"{self.path}: no column {name}; there are {listing(found)}{hint}")


def _objects(lines: Lines, low: int, high: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    octets = np.frombuffer(lines.data, np.uint8)
    starts, stops = lines.starts[low:high], lines.stops[low:high]
    return (octets[starts] == _OPEN) & (octets[stops - 1] == _CLOSE)  # type: ignore[no-any-return]


def _one(lines: Lines, row: int) -> Lines:
    return Lines(lines.data, lines.size, lines.starts[row : row + 1], lines.stops[row : row + 1], lines.base)


def _plain(type: pa.DataType) -> pa.DataType:
    """What Arrow's reader takes for a type."""
    if types.is_date(type) or types.is_time(type):
        return pa.string()
    samples = samples_of(type)
    if samples is None:
        return type
    item = pa.list_(pa.float32()) if samples == "complex64" else SAMPLES[samples]
    return pa.struct([*(pa.field(name, pa.int64()) for name in _NUMBERS), pa.field("samples", pa.list_(item))])


def _typed(column: Datum, type: pa.DataType) -> Datum:
    array = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    if (samples := samples_of(type)) is not None:
        return _segments(array, samples)
    if array.type == type:
        return array
    if types.is_time(type):
        moments = pc.binary_join_element_wise("1970-01-01T", array, "")
        return moments.cast(pa.timestamp("ns")).cast(pa.time64("ns")).cast(type)
    return array.cast(type)


def _segments(array: Any, samples: str) -> Datum:
    """Segments of objects with all their numbers and samples; a line where one lacks some is at fault."""
    valid = plain(array.is_valid())[0]
    lists = array.field("samples")
    items = lists.flatten()
    pairs = samples == "complex64"
    whole = items.null_count == 0 and (not pairs or bool(pc.all(pc.equal(pc.list_value_length(items), 2)).as_py()))
    numbers = [array.field(name) for name in _NUMBERS]
    known = pc.and_(pc.is_valid(lists), pc.and_(pc.is_valid(numbers[0]), pc.is_valid(numbers[1])))
    known = pc.and_(known, pc.and_(pc.is_valid(numbers[2]), pc.is_valid(numbers[3])))
    if not whole or bool((valid & ~plain(known)[0]).any()):
        raise BadLines(f"a segment has {', '.join(_NUMBERS)} and samples, none of them null")
    values = plain(items.flatten() if pairs else items)[0]
    sizes = plain(pc.fill_null(pc.list_value_length(lists), 0))[0].astype(np.int32)
    start, rate, per, phase = (plain(number.fill_null(0))[0] for number in numbers)
    if bool((valid & ((rate < 1) | (per < 1))).any()):
        raise BadLines("the rate of a segment is above zero")
    made = Segments(values.view(samples), starts(sizes), sizes, start, rate, per, phase, None if valid.all() else valid)
    return made.arrow()


def _bad(message: str) -> BadLines:
    row = _ROW.search(message)
    reason = _ROW.sub("", message).removeprefix("JSON parse error: ")
    return BadLines(reason, int(row[1]) if row else None)
