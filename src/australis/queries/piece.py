"""Pieces of a query's text, so that errors can point into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from australis.errors import AustralisError, ExpressionError
from australis.expressions import Expr, expr


def error_at(whole: str, why: str, at: int) -> ExpressionError:
    """An error at a place in a query, with its line and column, and a caret under it."""
    begin = whole.rfind("\n", 0, at) + 1
    line = whole[begin:].split("\n", 1)[0]
    place = f"line {whole.count(chr(10), 0, at) + 1}, column {at - begin + 1}"
    return ExpressionError(f"{place}: {why}\n  {line}\n  {' ' * (at - begin)}^")


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
        try:
            return expr(self.text)
        except ExpressionError as error:
            raise self.point_into_query(str(error)) from None

    def error(self, why: str, name: str | None = None) -> ExpressionError:
        """An error that points at this piece, or at a name in it."""
        at = 0
        if name is not None:
            match = re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", self.text)
            at = match.start() if match else 0
        return error_at(self.whole, why, self.start + at)

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Let errors in the body of a `with` point at this piece."""
        try:
            yield
        except AustralisError as error:
            if str(error).startswith("line "):
                raise
            raise self.error(str(error), _column_named_in(str(error))) from error

    def point_into_query(self, message: str) -> ExpressionError:
        """An error about the piece alone, as an error about the whole query, with its caret at the same place."""
        why, *excerpt = message.split("\n")
        if len(excerpt) != 2:
            return self.error(why.removeprefix(f"`{self.text}`: "))
        line, caret = excerpt[0][2:], len(excerpt[1]) - 3
        return error_at(self.whole, why, self.start + max(0, self.text.find(line)) + caret)


def _column_named_in(message: str) -> str | None:
    """The column that an error message is about, if any."""
    match = re.search(r"no column `([^`]+)`", message)
    return match[1] if match else None
