"""Files as sources and sinks of a local run: CSV, JSON lines, Parquet and Arrow, told apart by their names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from australis.errors import RunError, listing, near
from australis.expr.arrow import Array, Datum, pc

_BLOCK = 1 << 22
FORMATS = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


class Sink(Protocol):
    """What takes the results of an output."""

    def write(self, tuples: pa.RecordBatch, /) -> None: ...

    def close(self) -> None: ...


def read(pattern: str | Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The tuples of a file, or of all files that a glob matches in the order of their names.

    Columns are found by name, and those that the schema does not have are passed over.
    """
    paths = sorted(glob(str(pattern)))
    if not paths:
        raise RunError(f"no file matches {pattern}")
    readers = {"csv": _csv, "json": _json, "parquet": _parquet, "arrow": _arrow}
    for path in paths:
        reader = readers[form(path)]
        try:
            yield from reader(path, schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowKeyError, OSError) as error:
            raise RunError(f"{path}: {error}") from error


def form(path: str | Path) -> str:
    """The format that a file's name tells; a compressed file keeps its own suffix before the last."""
    for suffix in reversed(Path(path).suffixes):
        if suffix.lower() in FORMATS:
            return FORMATS[suffix.lower()]
    raise RunError(f"{path}: the format is told by the name, which ends in one of {listing(FORMATS)}")


def _csv(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    convert = pa.csv.ConvertOptions(
        column_types={field.name: field.type for field in schema},
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = pa.csv.ParseOptions(ignore_empty_lines=len(schema) > 1)
    block = pa.csv.ReadOptions(block_size=_BLOCK)
    with _opened(path) as file, pa.csv.open_csv(file, block, parse, convert) as reader:
        names = _check(path, schema, reader.schema.names)
        for batch in reader:
            yield batch.select(names)


def _json(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if not Path(path).stat().st_size:
        return
    block = pa.json.ReadOptions(block_size=_BLOCK)
    with _opened(path) as file, pa.json.open_json(file, block) as reader:
        names = _check(path, schema, reader.schema.names)
    # Arrow's reader takes dates for numbers: they are read as text and cast.
    dates = [pa.types.is_date(field.type) for field in schema]
    plain = pa.schema([f.with_type(pa.string()) if date else f for f, date in zip(schema, dates, strict=True)])
    parse = pa.json.ParseOptions(explicit_schema=plain, unexpected_field_behavior="ignore")
    with _opened(path) as file, pa.json.open_json(file, block, parse) as reader:
        for batch in reader:
            columns = [batch.column(name).cast(schema.field(name).type) for name in names]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _parquet(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with pa.parquet.ParquetFile(path) as file:
        yield from file.iter_batches(columns=_check(path, schema, file.schema_arrow.names))


def _arrow(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(path) as file:
        try:
            whole = pa.ipc.open_file(file)
        except pa.ArrowInvalid:
            file.seek(0)
            with pa.ipc.open_stream(file) as stream:
                names = _check(path, schema, stream.schema.names)
                for batch in stream:
                    yield batch.select(names)
            return
        names = _check(path, schema, whole.schema.names)
        for index in range(whole.num_record_batches):
            yield whole.get_batch(index).select(names)


def _opened(path: str) -> Any:
    """A file's bytes, unpacked if its name says that they are packed."""
    return pa.input_stream(path)


def _check(path: str, schema: pa.Schema, there: list[str]) -> list[str]:
    missing = [name for name in schema.names if name not in there]
    if missing:
        raise RunError(f"{path}: no column {listing(missing)}; there are {listing(there)}{near(missing[0], there)}")
    return schema.names


def sink(path: str | Path, schema: pa.Schema) -> Sink:
    """A new file for results of the schema."""
    try:
        match form(path):
            case "csv":
                return pa.csv.CSVWriter(str(path), schema)
            case "json":
                return JsonLines(Path(path).open("wb"))
            case "parquet":
                return pa.parquet.ParquetWriter(str(path), schema)
            case _:
                return pa.ipc.new_file(str(path), schema)
    except (OSError, pa.ArrowInvalid) as error:
        raise RunError(f"{path}: {error}") from error


class JsonLines:
    """One JSON object a line, made column by column."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, tuples: pa.RecordBatch, /) -> None:
        if not tuples.num_rows:
            return
        parts: list[Any] = []
        for place, (name, column) in enumerate(zip(tuples.schema.names, tuples.columns, strict=True)):
            parts += [("{" if not place else ", ") + json.dumps(name) + ": ", _json_text(column)]
        lines = pc.binary_join_element_wise(*parts, "}\n", "")
        # Nothing is null, so that the text of all lines lies in one piece.
        self.file.write(memoryview(lines.buffers()[2])[: pc.sum(pc.binary_length(lines)).as_py()])

    def close(self) -> None:
        self.file.close()


def _json_text(column: Array) -> Datum:
    """The values of a column as JSON; a number that JSON does not have, such as infinity, is null."""
    type_ = column.type
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        texts = _quoted(_escaped(column))
    elif pa.types.is_temporal(type_) and not pa.types.is_duration(type_):
        texts = _quoted(column.cast(pa.string()))
    elif pa.types.is_floating(type_):
        texts = pc.if_else(pc.is_finite(column), column.cast(pa.string()), None)
    elif pa.types.is_integer(type_) or pa.types.is_boolean(type_):
        texts = column.cast(pa.string())
    else:
        texts = pa.array([json.dumps(value, default=str) for value in column.to_pylist()], pa.string())
    return pc.coalesce(texts.cast(pa.string()), "null")


def _quoted(texts: Datum) -> Datum:
    return pc.binary_join_element_wise('"', texts.cast(pa.string()), '"', "")


def _escaped(texts: Datum) -> Datum:
    if not pc.any(pc.match_substring_regex(texts, r'[\x00-\x1f"\\]')).as_py():
        return texts
    for char in ("\\", '"', *map(chr, range(0x20))):
        texts = pc.replace_substring(texts, char, json.dumps(char)[1:-1])
    return texts
