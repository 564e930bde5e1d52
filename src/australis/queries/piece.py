"""Pieces of a query's text, so that errors can point into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from australis.errors import AustralisError, ExpressionError, ExpressionPlace, TextPlace, UnknownName, text_place
from australis.expressions import Expr, expr


def error_at(whole: str, why: str, at: int) -> ExpressionError:
    """An error at a place in a query, with its line and column, and a caret under it."""
    return ExpressionError(why, text_place(whole, at))


@dataclass(frozen=True)
class Piece:
    """A part of a query's text, from `start` up to `stop`."""

    whole: str
    start: int
    stop: int

    @property
    def text(self) -> str:
        return self.whole[self.start : self.stop]

    @property
    def expr(self) -> Expr:
        """The piece as an expression."""
        with self.point_into_query():
            return expr(self.text)

    def error(self, why: str, name: str | None = None) -> ExpressionError:
        """An error that points at this piece, or at a name in it."""
        return ExpressionError(why, self.place(name))

    def place(self, name: str | None = None) -> TextPlace:
        """Where the piece begins in the query, or where a name stands in it."""
        at = 0
        if name is not None:
            match = re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", self.text)
            at = match.start() if match else 0
        return text_place(self.whole, self.start + at)

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Let errors in the body of a `with` point at this piece, or at the unknown name in it."""
        try:
            yield
        except AustralisError as error:
            if error.first(TextPlace) is None:
                missing = error.first(UnknownName)
                error.put(self.place(None if missing is None else missing.name))
            raise

    @contextmanager
    def point_into_query(self) -> Iterator[None]:
        """Let errors that point into the piece, as an expression, point into the whole query."""
        try:
            yield
        except ExpressionError as error:
            expression = error.first(ExpressionPlace)
            if expression is not None and (expression.at is not None or expression.text == self.text):
                quiet = replace(expression, silent=True)
                error.places = tuple(quiet if place is expression else place for place in error.places)
            error.put(text_place(self.whole, self.start + ((expression and expression.at) or 0)))
            raise
