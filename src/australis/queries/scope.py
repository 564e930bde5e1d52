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
    """A column of a table in FROM, by the names that it goes by in a query and in the stream."""

    table: str
    name: str
    held: str


@dataclass(frozen=True)
class QueryScope:
    """A stream, and the columns of it that a query may name."""

    stream: Stream
    columns: tuple[Column, ...]
    sign: str | None = None
    """The column of the stream that tells what enters and leaves, if its tuples are updates of an answer."""

    def find(self, name: str) -> list[str]:
        """The columns of the stream that a name may mean, each once."""
        fitting = (each.held for each in self.columns if name in (each.name, f"{each.table}.{each.name}"))
        return list(dict.fromkeys(fitting))

    def held(self, name: str, piece: Piece) -> str:
        """The one column of the stream that a name means."""
        found = self.find(name)
        if len(found) == 1:
            return found[0]
        if found:
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

    def resolved(self, piece: Piece, given: Expr | None = None) -> Expr:
        """The expression of a piece, over the columns of the stream."""
        written = piece.expr if given is None else given
        return of(renamed(written.node, {name: self.held(name, piece) for name in written.columns}))


def scope(stream: Stream, table: str, signed: bool = False) -> QueryScope:
    """All columns of one stream; but if it is `signed`, not the one that tells what enters and leaves."""
    names = [name for name in stream.schema.names if not (signed and name == SIGN)]
    return QueryScope(stream, tuple(Column(table, name, name) for name in names), SIGN if signed else None)
