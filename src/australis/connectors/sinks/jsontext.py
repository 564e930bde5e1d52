"""Tuples as JSON lines: one object a line, made column by column."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Array, Datum, null, pc, scalar
from australis.arrow.schema import samples_of
from australis.boxes.signals.column import gathered, segments


def json_lines(tuples: pa.RecordBatch) -> bytes:
    """The lines of some tuples.

    >>> json_lines(pa.record_batch({"vid": [1, None], "name": ["a", 'b"']}))
    b'{"vid": 1, "name": "a"}\\n{"vid": null, "name": "b\\\\""}\\n'
    """
    if not tuples.num_rows:
        return b""
    parts: list[Any] = []
    for place, (name, column) in enumerate(zip(tuples.schema.names, tuples.columns, strict=True)):
        parts += [scalar(("{" if not place else ", ") + json.dumps(name) + ": "), _json_text(column)]
    lines = pc.binary_join_element_wise(*parts, scalar("}\n"), scalar(""))
    # Nothing is null, so that the text of all lines lies in one piece.
    return bytes(memoryview(lines.buffers()[2])[: pc.sum(pc.binary_length(lines)).as_py()])


def _json_text(column: Array) -> Datum:
    """The values of a column as JSON; a number that JSON does not have, such as infinity, is null."""
    type_ = column.type
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        texts = _quoted(_escaped(column))
    elif pa.types.is_temporal(type_) and not pa.types.is_duration(type_):
        texts = _quoted(column.cast(pa.string()))
    elif pa.types.is_floating(type_):
        texts = pc.if_else(pc.is_finite(column), column.cast(pa.string()), null(pa.string()))
    elif pa.types.is_integer(type_) or pa.types.is_boolean(type_):
        texts = column.cast(pa.string())
    elif (samples := samples_of(type_)) is not None:
        texts = _segments(column, samples)
    else:
        texts = pa.array([json.dumps(value, default=str) for value in column.to_pylist()], pa.string())
    return pc.coalesce(texts.cast(pa.string()), scalar("null"))


def _segments(column: Array, samples: str) -> Datum:
    """Segments as objects of their numbers, and the samples in an array; complex ones are pairs."""
    given = segments(column)
    values, sizes = gathered(given), np.asarray(given.sizes, np.int32)
    parts = [values] if samples != "complex64" else [values.real, values.imag]
    texts = [_json_text(pa.array(np.ascontiguousarray(part))) for part in parts]
    each = texts[0] if len(texts) == 1 else pc.binary_join_element_wise("[", texts[0], ", ", texts[1], "]", "")
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    lists: Any = pa.ListArray
    joined = pc.binary_join(lists.from_arrays(pa.array(offsets), each), ", ")
    numbers: list[Any] = []
    for name in ("start", "rate", "per", "phase"):
        numbers += [f'"{name}": ', pa.array(getattr(given, name)).cast(pa.string()), ", "]
    made = pc.binary_join_element_wise("{", *numbers, '"samples": [', joined, "]}", "")
    return made if given.valid is None else pc.if_else(pa.array(given.valid), made, None)


def _quoted(texts: Datum) -> Datum:
    return pc.binary_join_element_wise('"', texts.cast(pa.string()), '"', "")


def _escaped(texts: Datum) -> Datum:
    if not pc.any(pc.match_substring_regex(texts, r'[\x00-\x1f"\\]')).as_py():
        return texts
    for char in ("\\", '"', *map(chr, range(0x20))):
        texts = pc.replace_substring(texts, char, json.dumps(char)[1:-1])
    return texts
