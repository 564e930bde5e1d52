"""Bodies: what may be posted. One that a source of files could not read is refused, while its sender still listens.

Only what would stop a run is looked for. Lines and rows that do not read are taken, and become dead letters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice
from typing import Any

import pyarrow as pa

from australis.connectors.push.spool import Post
from australis.connectors.sources.conform import conform, places
from australis.connectors.sources.csv import Csv, header
from australis.connectors.sources.jsonlines import JsonLines
from australis.errors import RunError, listing, near

JSON, CSV, ARROW = "application/x-ndjson", "text/csv", "application/vnd.apache.arrow.stream"
TYPES = {JSON: JSON, "application/json": JSON, CSV: CSV, ARROW: ARROW}
MOST_ROWS = 1 << 29
"""In one body."""
_BOM = b"\xef\xbb\xbf"
_BODY = "the body"
_SAMPLE = 100  # lines in which a reader of JSON lines looks for misspelt names; rows of Arrow that are tried


class Refused(Exception):  # noqa: N818 (the fault is the sender's)
    """What was posted is not taken, for a reason with a code of HTTP."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


def post(type: str, body: bytes, schema: pa.Schema) -> Post:
    """What is stored of a body of one of the `TYPES`. A text gets a line end after its last line.

    >>> post(CSV, b"vid,mph\\n7,55", pa.schema({"mph": pa.int32()}))
    Post(suffix='.csv', body=b'7,55\\n', head=b'vid,mph\\n', sender='', sequence=0, number=None, failed='',
         forgotten='', done=False)
    """
    if not body or body.isspace():
        raise Refused(400, "the body is empty; post at least one tuple")
    try:
        match TYPES[type]:
            case "text/csv":
                return _csv(body.removeprefix(_BOM), schema)
            case "application/x-ndjson":
                return _json(body.removeprefix(_BOM), schema)
            case _:
                return _arrow(body, schema)
    except RunError as error:
        raise Refused(400, str(error)) from error


def _csv(body: bytes, schema: pa.Schema) -> Post:
    stop = body.find(b"\n") + 1 or len(body)
    line = body[:stop].rstrip(b"\r\n")
    try:
        names = header(_BODY, line, ",")
    except RunError as error:
        wanted = ",".join(schema.names)
        raise Refused(400, f"the first line of CSV names the columns, such as {wanted}; this one does not") from error
    Csv(_BODY, schema, names)
    return Post(".csv", _ended(body[stop:]), line + b"\n")


def _json(body: bytes, schema: pa.Schema) -> Post:
    """Refuse what a reader takes for misspelt: a name that the first lines lack, where one like it is."""
    JsonLines(_BODY, schema)
    found: dict[Any, None] = {}
    for number, keys, named in islice(_keys(body), _SAMPLE):
        new = [key for key in keys if key not in found and key not in schema.names]
        found.update(keys if named else {})
        for name in schema.names if new else ():
            if name in found:
                continue
            if not all(isinstance(key, str) for key in new):
                raise Refused(400, f"line {number} is a list; post objects, one a line")
            if hint := near(name, new):
                raise Refused(400, f'no column {name}; there are {listing(found)}{hint} If not, write "{name}": null')
    return Post(".jsonl", _ended(body), b"")


def _keys(body: bytes) -> Iterator[tuple[int, dict[Any, None], bool]]:
    """What the lines of a text hold, as far as they are JSON, and whether those are the names of an object."""
    for number, line in enumerate(BytesIO(body), 1):
        text = line.removesuffix(b"\n").removesuffix(b"\r")
        keys: dict[Any, None] = {}
        value: Any = None
        try:
            with suppress(ValueError, TypeError):
                value = json.loads(text)
                keys = dict.fromkeys(value)
        except RecursionError as error:
            raise Refused(400, f"line {number} is nested too deep; post plain objects, one a line") from error
        if text:
            yield number, keys, isinstance(value, dict)


def _arrow(body: bytes, schema: pa.Schema) -> Post:
    """Refuse what is no stream, or more than one: a reader would stop at it, or see only the first."""
    options: Any = pa.ipc.IpcReadOptions(use_threads=False)
    file: Any = pa.BufferReader(body)
    rows = 0
    try:
        with pa.ipc.open_stream(file, options=options) as reader:
            wanted = places(_BODY, schema, reader.schema)
            for batch in reader:
                batch.validate(full=True)
                rows += batch.num_rows
                if rows > MOST_ROWS or batch.num_rows > 8 * batch.nbytes:
                    raise Refused(413, f"{rows} rows are too many for a body of {len(body)} bytes; post fewer at once")
                if batch.num_rows:
                    conform(_BODY, schema, [batch.column(place)[:_SAMPLE] for place in wanted], 0)
        rest = len(body) - file.tell()
    except (Refused, RunError):
        raise
    except Exception as error:
        raise Refused(400, f"the body is no Arrow stream that reads ({error}); write one with a writer of streams, such"
                           " as pyarrow.ipc.new_stream, and close it") from error  # fmt: skip
    if rest or body.endswith(b"ARROW1"):  # as a file ends, which may hold something else
        raise Refused(400, f"{rest} bytes follow the end of the Arrow stream; post one stream at a time")
    return Post(".arrows", body)


def _ended(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"
