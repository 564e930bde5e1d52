"""What the streams of objects and of queries must have, told when a network is built."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from australis.arrow.schema import numeric, textual
from australis.boxes.moving.queries import NUMBERS, QUERY, TEXTS, WHOLE
from australis.errors import SchemaError, listing, near
from australis.model.keys import hashable


def objects(stream: pa.Schema, identifier: str, coordinates: Sequence[str], carried: Sequence[str]) -> None:
    """Objects have a whole number to go by and two coordinates."""
    for name in (identifier, *coordinates, *carried):
        if name not in stream.names:
            raise SchemaError(
                f"`{name}` is no column of the objects{near(name, stream.names) or '.'}"
                f" There are {listing(stream.names)}"
            )
    if not pa.types.is_integer(stream.field(identifier).type):
        raise SchemaError(
            f"`{identifier}` is a {stream.field(identifier).type}: objects go by whole numbers, which decide between"
            " those that are equally near; map it to one"
        )
    for name in coordinates:
        if not numeric(stream.field(name).type):
            raise SchemaError(f"`{name}` is a {stream.field(name).type}, and a coordinate is a number")


def updates(stream: pa.Schema, by: Sequence[str], sign: str) -> None:
    """Updates of an answer have the columns to go by, and a sign."""
    for name in (*by, sign):
        if name not in stream.names:
            raise SchemaError(f"`{name}` is no column; there are {listing(stream.names)}{near(name, stream.names)}")
    if not pa.types.is_integer(stream.field(sign).type):
        raise SchemaError(f"`{sign}` is a {stream.field(sign).type}, and a sign is a whole number")


def focal(stream: pa.Schema, wanted: pa.Schema) -> None:
    """Refuse a stream of focal objects that has another schema than `lead` gives."""
    if not stream.equals(wanted):
        raise SchemaError(f"the third input has {stream.names}, and tells of focal objects by {wanted.names}")


def queries(stream: pa.Schema) -> None:
    """A stream of queries has a `query` and a `kind`, and of the other columns those that its kinds take."""
    known = (QUERY, *TEXTS, *NUMBERS, *WHOLE)
    for name in (QUERY, "kind"):
        if name not in stream.names:
            raise SchemaError(
                f"the stream of queries lacks `{name}`{near(name, stream.names) or '.'}"
                f" Its columns are {listing(stream.names)}, of which those named {listing(known)} are read"
            )
    if not hashable(stream.field(QUERY).type):
        raise SchemaError(f"`{QUERY}` names queries: values of type {stream.field(QUERY).type} make no key")
    for names, fits, what in (
        (NUMBERS, numeric, "a number"), (WHOLE, pa.types.is_integer, "a whole number"), (TEXTS, textual, "a text"),
    ):  # fmt: skip
        for name in names:
            if name in stream.names and not fits(stream.field(name).type):
                raise SchemaError(f"`{name}` of the stream of queries is a {stream.field(name).type}, not {what}")
