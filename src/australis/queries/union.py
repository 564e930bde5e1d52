"""Unions of a query: merges streams column by column, whatever the columns are named."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from australis.api.stream import Stream
from australis.arrow.schema import numeric, type_text
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import Literal, Name, apply
from australis.queries.group import map_columns
from australis.queries.piece import Piece


def plan_union(parts: Sequence[Stream], piece: Piece) -> Stream:
    """Plan the union of streams, with the names of the first. Numbers of different types get a type that holds both."""
    first = parts[0].schema
    for part in parts:
        if len(part.schema) != len(first):
            raise piece.error(
                f"the parts of a UNION ALL have as many columns each, but the first has {len(first)} and another"
                f" {len(part.schema)}"
            )
    types = [_common([part.schema.field(at) for part in parts], piece) for at in range(len(first))]
    alike = [
        map_columns(part, {name: _cast(part.schema.field(at), types[at]) for at, name in enumerate(first.names)}, piece)
        for part in parts
    ]
    with piece.locate_errors():
        return alike[0].union(*alike[1:])


def _common(fields: Sequence[pa.Field[pa.DataType]], piece: Piece) -> pa.DataType:
    types = {field.type for field in fields}
    if len(types) == 1:
        return fields[0].type
    if not all(numeric(each) and not pa.types.is_decimal(each) for each in types) or pa.uint64() in types:
        type_names = " and ".join(dict.fromkeys(type_text(field.type) for field in fields))
        raise piece.error(f"column `{fields[0].name}` of the UNION ALL is {type_names} in its parts; cast one of them")
    return pa.float64() if any(pa.types.is_floating(each) for each in types) else pa.int64()


def _cast(field: pa.Field[pa.DataType], to: pa.DataType) -> Expr:
    name = Name(field.name)
    return of(name if field.type == to else apply("cast", name, Literal(type_text(to))))
