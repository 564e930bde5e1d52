"""Queries as they are written, parsed: statements, SELECTs and what they are from."""

from __future__ import annotations

from dataclasses import dataclass

from australis.queries.piece import Piece
from australis.queries.spatial import Inside, NearestClause


@dataclass(frozen=True)
class Item:
    """A column of a SELECT: an expression and its alias, if any; or `*`, of all tables or of one."""

    piece: Piece
    name: str | None = None
    star: bool = False
    of: str | None = None


@dataclass(frozen=True)
class Named:
    """A table by its name."""

    name: str
    piece: Piece


@dataclass(frozen=True)
class Windowed:
    """TUMBLE or HOP over a table. A length is an expression, with its name or by its position."""

    kind: str
    source: Source
    on: Piece
    lengths: tuple[tuple[str | None, Piece], ...]
    piece: Piece


@dataclass(frozen=True)
class FromItem:
    """An item after FROM or JOIN, with its name."""

    source: Source
    alias: str | None
    piece: Piece

    @property
    def name(self) -> str:
        if self.alias is not None:
            return self.alias
        inner = self.source.source if isinstance(self.source, Windowed) else self.source
        return inner.name if isinstance(inner, Named) else ""


@dataclass(frozen=True)
class Joined:
    """A table that is joined: by a condition, by columns of both sides, or (after a comma) as WHERE says."""

    part: FromItem
    piece: Piece
    on: Piece | None = None
    using: tuple[str, ...] = ()


@dataclass(frozen=True)
class Select:
    """One SELECT."""

    items: tuple[Item, ...]
    first: FromItem
    joins: tuple[Joined, ...]
    where: Piece | None
    spatial: tuple[tuple[Inside | NearestClause, Piece], ...]
    groups: tuple[Piece, ...]
    having: Piece | None
    piece: Piece
    distinct: Piece | None = None


@dataclass(frozen=True)
class Query:
    """SELECTs with UNION ALL between them, and the named queries of WITH."""

    views: tuple[tuple[str, Query], ...]
    selects: tuple[Select | Query, ...]
    piece: Piece


@dataclass(frozen=True)
class Statement:
    """A query that is an output of the network, or a view for the statements after it."""

    query: Query
    name: str
    output: bool
    piece: Piece


Source = Named | Windowed | Query
