"""Scope: the columns that the names of a query mean."""

from __future__ import annotations

from dataclasses import dataclass

from australis.api.stream import Stream
from australis.boxes.moving.watch import SIGN
from australis.errors import ExpressionError, listing, near, single_quotes, unknown
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import renamed
from australis.queries.piece import Piece


@dataclass(frozen=True)
class Column:
    """A column of a table in FROM, with its name in the query and its name in the stream."""

    table: str
    name: str
    stream_name: str


@dataclass(frozen=True)
class QueryScope:
    """A stream, and its columns that a query may name."""

    stream: Stream
    columns: tuple[Column, ...]
    sign: str | None = None
    """If the tuples are updates of an answer: the column that says whether an object enters or leaves."""

    def find(self, name: str) -> list[str]:
        """The columns of the stream that a name may mean, each once."""
        fitting = (each.stream_name for each in self.columns if name in (each.name, f"{each.table}.{each.name}"))
        return list(dict.fromkeys(fitting))

    def column(self, name: str, piece: Piece) -> str:
        """The one column of the stream that a name means. Raises if there is none, or more than one."""
        matches = self.find(name)
        if len(matches) == 1:
            return matches[0]
        if matches:
            whose = [f"{each.table}.{each.name}" for each in self.columns if each.name == name]
            raise piece.error(f"`{name}` may be {' or '.join(dict.fromkeys(whose))}; say which", name)
        names = list(dict.fromkeys(each.name for each in self.columns))
        whole = names if "." not in name else [f"{each.table}.{each.name}" for each in self.columns]
        hint = near(name, whole) or "."
        text = single_quotes(name) if f'"{name}"' in piece.text else ""
        raise ExpressionError(
            f"there is no column `{name}`{hint} The columns are {listing(names)}{text}",
            piece.place(name),
            unknown(name, whole),
        )

    def resolve(self, piece: Piece, expression: Expr | None = None) -> Expr:
        """The expression of a piece, over the columns of the stream."""
        unresolved = piece.expr if expression is None else expression
        return of(renamed(unresolved.node, {name: self.column(name, piece) for name in unresolved.columns}))


def scope(stream: Stream, table: str, signed: bool = False) -> QueryScope:
    """The scope of one stream: all of its columns, but not the sign of updates if it is `signed`."""
    names = [name for name in stream.schema.names if not (signed and name == SIGN)]
    return QueryScope(stream, tuple(Column(table, name, name) for name in names), SIGN if signed else None)
