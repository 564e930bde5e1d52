"""Pieces of a query's text, which errors point into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from australis.errors import AustralisError, ExpressionError
from australis.expressions import Expr, expr


def broken(whole: str, why: str, at: int) -> ExpressionError:
    """The error for a place in a query, with its line and column, and a caret under it."""
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
        """The expression that it is."""
        try:
            return expr(self.text)
        except ExpressionError as error:
            raise self.pointed(str(error)) from None

    def error(self, why: str, name: str | None = None) -> ExpressionError:
        """The error for this piece, or for where a name stands in it."""
        at = 0
        if name is not None:
            found = re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", self.text)
            at = found.start() if found else 0
        return broken(self.whole, why, self.start + at)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Let errors of what is made of this piece point at it."""
        try:
            yield
        except AustralisError as error:
            if str(error).startswith("line "):
                raise
            raise self.error(str(error), _named(str(error))) from error

    def pointed(self, told: str) -> ExpressionError:
        """An error about the piece alone, as one about the whole; its caret is where it was."""
        why, *shown = told.split("\n")
        if len(shown) != 2:
            return self.error(why.removeprefix(f"`{self.text}`: "))
        line, caret = shown[0][2:], len(shown[1]) - 3
        return broken(self.whole, why, self.start + max(0, self.text.find(line)) + caret)


def _named(told: str) -> str | None:
    """The column that an error is about."""
    found = re.search(r"no column `([^`]+)`", told)
    return found[1] if found else None
