"""Schemas of sources, read from their files."""

from __future__ import annotations

from glob import glob
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from australis.arrow.schema import schema as schema_of
from australis.connectors.sources.form import FORMATS, SOUNDS, form
from australis.disk.paths import place as path_of
from australis.errors import RunError

BLOCK = 1 << 20
"""How many bytes of JSON are read to find the columns."""


def schema_from(name: str, text: str) -> pa.Schema:
    """The schema of a source, from the beginning of its first file. Raises if that does not have one."""
    path, options = first(text)
    if path is None or options.get("header") == "false" or path.suffix.lower() in SOUNDS:
        absent = path is None and ":" not in text.removeprefix("replay:")
        why = "there is no such file to tell its columns; correct its name, or give them" if absent else (
            "tells no columns; give them"
        )  # fmt: skip
        raise RunError(f"--source {name}={text}: {why}, such as --schema {name}='time int, mph int'")
    try:
        columns = _read_schema(path, unquote(options.get("delimiter", ",")))
    except (OSError, pa.ArrowInvalid) as error:
        raise RunError(f"--source {name}={text}: {path} does not read ({error})") from None
    # A column without values may hold anything.
    return schema_of(pa.schema([f.with_type(pa.string()) if f.type == pa.null() else f for f in columns]))


def first(text: str) -> tuple[Path | None, dict[str, str]]:
    """The first file of a source that is a path, a folder or a glob, and the options after it."""
    place, _, query = text.removeprefix("replay:").partition("?")
    options = dict(part.partition("=")[::2] for part in query.split("&"))
    path = path_of(place).expanduser()
    if path.is_file():
        return path, options
    files = sorted(path.iterdir()) if path.is_dir() else [Path(each) for each in sorted(glob(str(path)))]
    return next((each for each in files if each.is_file() and set(each.suffixes) & FORMATS.keys()), None), options


def _read_schema(path: Path, delimiter: str) -> pa.Schema:
    kind = form(path)
    if kind == "parquet":
        return pa.parquet.read_schema(path)
    file: Any
    with pa.input_stream(str(path), compression="detect") as file:
        if kind == "csv":
            parse = pa.csv.ParseOptions(delimiter=delimiter)
            return pa.csv.open_csv(file, parse_options=parse).schema
        if kind == "json":
            block = file.read(BLOCK)
            whole = block[: block.rfind(b"\n") + 1] or block
            return pa.json.read_json(BytesIO(whole)).schema
    with pa.memory_map(str(path)) as mapped:
        try:
            return pa.ipc.open_file(mapped).schema
        except pa.ArrowInvalid:
            mapped.seek(0)
            return pa.ipc.open_stream(mapped).schema
