"""Pieces of a query's text, which errors point into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from australis.errors import AustralisError, ExpressionError, ExpressionPlace, TextPlace, UnknownName, text_place
from australis.expressions import Expr, expr


def broken(whole: str, why: str, at: int) -> ExpressionError:
    """The error for a place in a query, with its line and column, and a caret under it."""
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
        """The expression that it is."""
        with self.pointing():
            return expr(self.text)

    def error(self, why: str, name: str | None = None) -> ExpressionError:
        """The error for this piece, or for where a name stands in it."""
        return ExpressionError(why, self.place(name))

    def place(self, name: str | None = None) -> TextPlace:
        """Where the piece begins in the query, or where a name stands in it."""
        at = 0
        if name is not None:
            found = re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", self.text)
            at = found.start() if found else 0
        return text_place(self.whole, self.start + at)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Let errors of what is made of this piece point at it, or at the name in it that there is not."""
        try:
            yield
        except AustralisError as error:
            if error.first(TextPlace) is None:
                missing = error.first(UnknownName)
                error.put(self.place(None if missing is None else missing.name))
            raise

    @contextmanager
    def pointing(self) -> Iterator[None]:
        """Let errors that point into the piece as an expression point into the whole query."""
        try:
            yield
        except ExpressionError as error:
            expression = error.first(ExpressionPlace)
            if expression is not None and (expression.at is not None or expression.text == self.text):
                quiet = replace(expression, silent=True)
                error.places = tuple(quiet if place is expression else place for place in error.places)
            error.put(text_place(self.whole, self.start + ((expression and expression.at) or 0)))
            raise
