"""Schemas: Arrow schemas, written as text with the type names of SQL or of Arrow."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, cast

import pyarrow as pa

from australis.errors import ColumnPlace, SchemaError, listing, near, placed

Type: TypeAlias = pa.DataType
Spec: TypeAlias = str | Mapping[str, str | pa.DataType] | pa.Schema

# The first name of a type is the one that `text` writes.
_NAMED: dict[str, Type] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "large_string": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "date": pa.date32(),
    "date64": pa.date64(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "time": pa.time64("us"),
    "interval": pa.duration("us"),
    "null": pa.null(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "real": pa.float32(),
    "halffloat": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "varchar": pa.string(),
    "text": pa.string(),
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "blob": pa.binary(),
    "bytes": pa.binary(),
    "date32": pa.date32(),
    "date32[day]": pa.date32(),
    "date64[ms]": pa.date64(),
    "time32[s]": pa.time32("s"),
    "time32[ms]": pa.time32("ms"),
    "time64[us]": pa.time64("us"),
    "time64[ns]": pa.time64("ns"),
    "duration": pa.duration("us"),
    **{f"duration[{unit}]": pa.duration(cast(Any, unit)) for unit in ("s", "ms", "us", "ns")},
}
_NAMES: dict[Type, str] = {}
for _name, _type in _NAMED.items():
    _NAMES.setdefault(_type, _name)

_DECIMALS: dict[str, Callable[[int, int], Type]] = {
    "": pa.decimal128,
    "32": cast(Any, pa).decimal32,  # the stubs lack it
    "64": cast(Any, pa).decimal64,
    "128": pa.decimal128,
    "256": pa.decimal256,
}

_WORD = re.compile(r"[^\W\d]\w*")
_COLUMN = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"]|"")+)"|`(?P<back>(?:[^`]|``)+)`|(?P<bare>[^\W\d][\w#]*))(?:\s*:\s*|\s+)(?P<type>.+)""",
    re.DOTALL,
)
_NOT_NULL = re.compile(r"\s+not\s+null\s*$", re.IGNORECASE)
_LIST = re.compile(r"(array|list|large_list)\s*<(.*)>", re.IGNORECASE | re.DOTALL)
_FIXED_LIST = re.compile(r"fixed_size_list\s*<(.*)>\s*\[\s*(\d+)\s*\]", re.IGNORECASE | re.DOTALL)
_FIXED_BINARY = re.compile(r"fixed_size_binary\s*\[\s*(\d+)\s*\]", re.IGNORECASE)
_SUFFIX = re.compile(r"(.+?)\s*\[\s*(\d*)\s*\]", re.DOTALL)
_DECIMAL = re.compile(r"(?:decimal(32|64|128|256|)|numeric)\s*\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)", re.IGNORECASE)
_TIMESTAMP = re.compile(r"timestamp\s*\[\s*(s|ms|us|ns)\s*(?:,\s*(?:tz\s*=\s*)?(\S+)\s*)?\]", re.IGNORECASE)
_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_SEGMENT = re.compile(r"segment\s*<\s*(\w+)\s*>", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:item|element)\s*:\s*", re.IGNORECASE)


SAMPLES: dict[str, Type] = {
    "int16": pa.int16(),
    "int32": pa.int32(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "complex64": pa.list_(pa.field("item", pa.float32(), nullable=False), 2),
}
"""The types of samples, by their names in numpy."""


@lru_cache(maxsize=16)
def segment(samples: str) -> pa.StructType:
    """The type of signal segments: `start` is an index; index i lies at (phase + i * per) / rate seconds.

    Segments of a column share one buffer of samples, in which they may overlap.
    """
    if samples not in SAMPLES:
        raise SchemaError(
            f"there are no segments of `{samples}`{near(samples, SAMPLES) or '.'} Samples are {listing(SAMPLES)}"
        )
    numbers = [pa.field(name, pa.int64(), nullable=False) for name in ("start", "rate", "per", "phase")]
    item = pa.field("item", SAMPLES[samples], nullable=False)
    return pa.struct([*numbers, pa.field("samples", pa.list_view(item), nullable=False)])


def samples_of(type: Type) -> str | None:
    """The name of the samples of a segment type, or None for any other type."""
    return next((name for name in SAMPLES if type == segment(name)), None) if pa.types.is_struct(type) else None


def schema(spec: Spec) -> pa.Schema:
    """An Arrow schema from text, from names with types, or from an Arrow schema.

    >>> schema("time int, vid int, mph double not null").names
    ['time', 'vid', 'mph']
    >>> schema({"time": "int", "pos": pa.float64()}).field("pos").type
    DataType(double)
    """
    if isinstance(spec, pa.Schema):
        return _checked(list(spec), spec)
    if isinstance(spec, str):
        if not spec.strip():
            raise SchemaError("a schema needs at least one column, such as `time int, mph double`")
        return _checked([_column(part, spec) for part in _parts(spec)])
    if isinstance(spec, Mapping):
        return _checked([_field(name, kind) for name, kind in spec.items()])
    raise SchemaError(f"a schema is a text, a dict of types or a pyarrow.Schema, not {type(spec).__name__}")


def text(schema: pa.Schema) -> str:
    """The text that `schema` reads back to the same columns and types.

    >>> text(pa.schema({"time": pa.int32(), "at": pa.timestamp("ms", "Europe/Paris")}))
    'time int, at timestamp[ms, Europe/Paris]'
    """
    return ", ".join(
        f"{quoted(field.name)} {type_text(field.type)}{'' if field.nullable else ' not null'}" for field in schema
    )


def quoted(name: str) -> str:
    """A column's name as it stands in a schema's text."""
    return name if _WORD.fullmatch(name) else '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=1024)
def data_type(text: str) -> Type:
    """The Arrow type that a type's text names: `int` is 32 bits and `bigint` 64, as in SQL."""
    words = text.strip()
    named = _NAMED.get(words.lower())
    if named is not None:
        return named
    if match := _LIST.fullmatch(words):
        item = _item(match[2])
        return pa.large_list(item) if match[1].lower() == "large_list" else pa.list_(item)
    if match := _FIXED_LIST.fullmatch(words):
        return pa.list_(_item(match[1]), int(match[2]))
    if match := _SEGMENT.fullmatch(words):
        return segment(match[1].lower())
    if match := _FIXED_BINARY.fullmatch(words):
        return pa.binary(int(match[1]))
    if match := _TIMESTAMP.fullmatch(words):
        return pa.timestamp(cast(Any, match[1].lower()), _zone(match[2]))
    if match := _DECIMAL.fullmatch(words):
        return _decimal(words, match[1] or "", int(match[2]), int(match[3] or 0))
    if match := _SUFFIX.fullmatch(words):
        item = pa.field("item", data_type(match[1]))
        return pa.list_(item, int(match[2])) if match[2] else pa.list_(item)
    raise SchemaError(f"there is no type `{words}`{_advice(words)} The types are {listing(_NAMES.values())}, "
                      "decimal(p, s), timestamp[unit, zone], array<type>, segment<samples>")  # fmt: skip


def type_text(type: Type) -> str:
    """The text that `data_type` reads back to the same type."""
    if type in _NAMES:
        return _NAMES[type]
    if isinstance(type, pa.TimestampType):
        return f"timestamp[{type.unit}, {type.tz}]" if type.tz else f"timestamp[{type.unit}]"
    if pa.types.is_decimal(type):
        return f"decimal{'' if type.bit_width == 128 else type.bit_width}({type.precision}, {type.scale})"
    if isinstance(type, pa.FixedSizeBinaryType):
        return f"fixed_size_binary[{type.byte_width}]"
    if isinstance(type, pa.ListType | pa.LargeListType | pa.FixedSizeListType):
        item: pa.Field[Any] = type.value_field
        inner = type_text(item.type) + ("" if item.nullable else " not null")
        if isinstance(type, pa.FixedSizeListType):
            return f"fixed_size_list<{inner}>[{type.list_size}]"
        return f"{'large_list' if isinstance(type, pa.LargeListType) else 'array'}<{inner}>"
    if (samples := samples_of(type)) is not None:
        return f"segment<{samples}>"
    raise SchemaError(f"the type {type} has no text form; cast the column to one of {listing(_NAMES.values())}")


def numeric(type: Type) -> bool:
    """Whether values of the type are numbers."""
    return pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type)


def temporal(type: Type) -> bool:
    """Whether values of the type are dates, times, timestamps or intervals."""
    return bool(pa.types.is_temporal(type))


def textual(type: Type) -> bool:
    """Whether values of the type are strings."""
    return pa.types.is_string(type) or pa.types.is_large_string(type)


def _checked(fields: list[pa.Field[Any]], original: pa.Schema | None = None) -> pa.Schema:
    names = [field.name for field in fields]
    if not names:
        raise SchemaError("a schema needs at least one column, such as `time int, mph double`")
    for name in names:
        if not name:
            raise SchemaError(f"a column has no name; the columns are {listing(names)}")
        if name.startswith("#"):
            raise SchemaError(
                f"the column name `{name}` is reserved, as all that start with `#`: give the column another"
            )
        if names.count(name) > 1:
            raise SchemaError(f"the column `{name}` appears {names.count(name)} times in {listing(names)}; rename one")
    return pa.schema(fields) if original is None else original


def _field(name: str, kind: str | Type) -> pa.Field[Any]:
    if isinstance(kind, pa.DataType):
        return pa.field(name, kind)
    if not isinstance(kind, str):
        raise SchemaError(f"the type of column `{name}` is a text or a pyarrow.DataType, not {type(kind).__name__}")
    with placed(ColumnPlace(name)):
        return _typed(name, kind)


def _column(part: str, whole: str) -> pa.Field[Any]:
    match = _COLUMN.fullmatch(part)
    if match is None:
        what = f"`{part.strip()}` is not a name and a type" if part.strip() else "a column is missing at a comma"
        raise SchemaError(f'`{whole}`: {what}; write columns as `time int, "odd name" double`')
    if match["double"] is not None:
        name = match["double"].replace('""', '"')
    elif match["back"] is not None:
        name = match["back"].replace("``", "`")
    else:
        name = match["bare"]
    return _field(name, match["type"])


def _parts(spec: str) -> list[str]:
    """Cut at the commas that are outside quotes and brackets."""
    parts, start, depth, quote = [], 0, 0, ""
    for at, char in enumerate(spec):
        if quote:
            quote = "" if char == quote else quote
        elif char in '"`':
            quote = char
        elif char in "<([":
            depth += 1
        elif char in ">)]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(spec[start:at])
            start = at + 1
        if depth < 0:
            raise SchemaError(f"`{spec}`: the `{char}` at position {at + 1} closes nothing")
    if quote or depth:
        raise SchemaError(f"`{spec}`: a {f'quote {quote}' if quote else 'bracket'} is not closed")
    return [*parts, spec[start:]]


def _item(inner: str) -> pa.Field[Any]:
    return _typed("item", _ITEM.sub("", inner, count=1))


def _typed(name: str, kind: str) -> pa.Field[Any]:
    type, nullable = data_type(_NOT_NULL.sub("", kind)), not _NOT_NULL.search(kind)
    if pa.types.is_null(type) and not nullable:
        raise SchemaError("the type `null` has no value but null; drop `not null`")
    return pa.field(name, type, nullable=nullable)


def _zone(zone: str | None) -> str | None:
    if zone is None or _OFFSET.fullmatch(zone):
        return zone
    try:
        return zoneinfo.ZoneInfo(zone).key
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise SchemaError(f"there is no time zone `{zone}`{near(zone, zoneinfo.available_timezones())}") from None


def _decimal(words: str, bits: str, precision: int, scale: int) -> Type:
    try:
        return _DECIMALS[bits](precision, scale)
    except (pa.ArrowInvalid, ValueError) as error:
        raise SchemaError(f"`{words}`: {error}") from None


def _advice(words: str) -> str:
    base = (_WORD.match(words) or [words])[0]
    if base.lower() in ("decimal", "numeric"):
        return "; give its precision and scale, such as `decimal(10, 2)`."
    if base.lower() in _NAMED and base != words:
        return f"; `{base.lower()}` alone is one."
    return near(base, [*_NAMED, "decimal", "array", "segment"]) or "."
