"""Errors: one root and four children, the places that they are about, and the phrases that their messages share.

An error has a reason, which is a sentence, and places: the file and the line, the box, the argument, the expression.
The code that raises an error knows some of them, and its callers add others on the way up, with `placed`. The message
is made of all of them when it is shown. `data` has them apart, for programs that show an error where it belongs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

P = TypeVar("P", bound="Place")


@dataclass(frozen=True)
class Place:
    """Where something is wrong. A silent place is data alone: the reason has it in words already."""

    silent: bool = field(default=False, kw_only=True)

    @property
    def prefix(self) -> str:
        """What the message begins with."""
        return ""

    @property
    def picture(self) -> str:
        """The lines below the message."""
        return ""


@dataclass(frozen=True)
class Subject(Place):
    """The part of a network that is wrong, by kind and name, such as `filter fast`; or a function, or an option."""

    kind: str
    name: str | None = None

    @property
    def prefix(self) -> str:
        return f"{self.kind}: " if self.name is None else f"{self.kind} {self.name}: "


@dataclass(frozen=True)
class ArgumentPlace(Place):
    """The argument of a box or a function, which is a key of a box in a network file."""

    name: str

    @property
    def prefix(self) -> str:
        return f"`{self.name}`: "


@dataclass(frozen=True)
class ColumnPlace(Place):
    """The column."""

    name: str

    @property
    def prefix(self) -> str:
        return f"column `{self.name}`: "


@dataclass(frozen=True)
class MadeColumn(ColumnPlace):
    """The column that a box makes; among its arguments the name may be that of another argument, misspelt."""

    silent: bool = field(default=True, kw_only=True)


@dataclass(frozen=True)
class ExpressionPlace(Place):
    """The expression, and the part of it or the position in it, from 0, where it is known."""

    text: str
    part: str | None = None
    at: int | None = None

    @property
    def prefix(self) -> str:
        inside = "" if self.part is None else f"in `{self.part}`, "
        return f"`{self.text}`: {inside}" if self.at is None else ""

    @property
    def picture(self) -> str:
        return "" if self.at is None else caret(self.text, self.at)


@dataclass(frozen=True)
class TextPlace(Place):
    """The line and the column, from 1, in a file or in the text of a query; `query` is that text, to point into."""

    name: str
    line: int | None = None
    column: int | None = None
    exact: bool = False
    """Whether the mistake is at that very column, which the message then has too, or in the part that begins there."""
    query: str | None = None

    @property
    def prefix(self) -> str:
        line = "" if self.line is None else f"line {self.line}"
        column = f"column {self.column}" if self.exact else ""
        return f"{', '.join(filter(None, (self.name, line, column)))}: "

    @property
    def picture(self) -> str:
        if self.query is None or self.line is None or self.column is None:
            return ""
        return _pointed(self.query.split("\n")[self.line - 1], self.column - 1)


@dataclass(frozen=True)
class UnknownName(Place):
    """A name that there is not, and the nearest of those that there are."""

    name: str
    suggestion: str | None = None
    silent: bool = field(default=True, kw_only=True)


def unknown(name: str, options: Iterable[str]) -> UnknownName:
    """The place of a name that is not among the options.

    >>> unknown("mhp", ["time", "vid", "mph"]).suggestion
    'mph'
    """
    return UnknownName(name, nearest(name, options))


def text_place(query: str, at: int) -> TextPlace:
    """The place of a position in the text of a query."""
    start = query.rfind("\n", 0, at) + 1
    return TextPlace("", query.count("\n", 0, at) + 1, at - start + 1, exact=True, query=query)


def caret(text: str, at: int) -> str:
    """The line of a text that has a position, and a caret under it."""
    start = text.rfind("\n", 0, at) + 1
    return _pointed(text[start:].split("\n", 1)[0], at - start)


def _pointed(line: str, at: int) -> str:
    return f"\n  {line}\n  {' ' * at}^"


class AustralisError(Exception):
    """The root of every error that Australis raises on purpose.

    `reason` is what is wrong in a sentence, `places` are where, the outermost first.

    >>> error = NetworkError("there is no column `mhp`", Subject("filter", "fast"), ExpressionPlace("mhp > 60"))
    >>> print(error.put(TextPlace("jams.yaml", 7, 5)))
    jams.yaml, line 7: filter fast: `mhp > 60`: there is no column `mhp`
    >>> error.data()["about"], error.data()["text"]
    ({'kind': 'filter', 'name': 'fast'}, {'name': 'jams.yaml', 'line': 7, 'column': 5})
    """

    def __init__(self, reason: str, *places: Place) -> None:
        super().__init__(reason)
        self.reason = reason
        self.places = places

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Another error as one of this class, with its places if it has any."""
        if isinstance(error, AustralisError):
            return cls(error.reason, *error.places)
        return cls(str(error) or type(error).__name__)

    def put(self, *places: Place) -> Self:
        """The same error, which is at these places around those that it has."""
        self.places = (*places, *self.places)
        return self

    def __str__(self) -> str:
        shown = [place for place in self.places if not place.silent]
        picture = next(filter(None, (place.picture for place in shown)), "")
        return "".join(place.prefix for place in shown) + self.reason + picture

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason,), self.__dict__

    def first(self, kind: type[P]) -> P | None:
        """The outermost of its places of a kind."""
        return next((place for place in self.places if isinstance(place, kind)), None)

    @property
    def about(self) -> Subject | None:
        """The part of the network that has a name, or else what was called."""
        subjects = [place for place in self.places if isinstance(place, Subject)]
        return next((subject for subject in subjects if subject.name is not None), subjects[0] if subjects else None)

    def data(self) -> dict[str, Any]:
        """All that is known of the error, as plain data that JSON can have; what is not known is none."""
        about, argument, column = self.about, self.first(ArgumentPlace), self.first(ColumnPlace)
        expression, text, name = self.first(ExpressionPlace), self.first(TextPlace), self.first(UnknownName)
        return {
            "error": type(self).__name__,
            "message": str(self),
            "reason": self.reason,
            "about": about and {"kind": about.kind, "name": about.name},
            "argument": argument and argument.name,
            "column": column and column.name,
            "expression": expression and {"text": expression.text, "part": expression.part, "at": expression.at},
            "text": text and {"name": text.name, "line": text.line, "column": text.column},
            "unknown": name and {"name": name.name, "suggestion": name.suggestion},
        }


class SchemaError(AustralisError):
    """A schema's text does not read, or columns and types do not fit together."""


class ExpressionError(AustralisError):
    """An expression does not parse, names what is not there, or has the wrong type."""


class NetworkError(AustralisError):
    """Boxes and arrows do not fit: arity, cycles, names, or a network file."""


class RunError(AustralisError):
    """Something went wrong while tuples were moving."""


@contextmanager
def placed(*places: Place) -> Iterator[None]:
    """Errors raised inside are at these places, around those that they have.

    >>> with placed(Subject("--trigger", "1 minuet")):
    ...     raise SchemaError("`minuet` is no unit")
    Traceback (most recent call last):
        ...
    australis.errors.SchemaError: --trigger 1 minuet: `minuet` is no unit
    """
    try:
        yield
    except AustralisError as error:
        error.put(*places)
        raise


def near(name: str, options: Iterable[str]) -> str:
    """The end of a sentence that proposes the nearest option, or nothing when none is near.

    >>> near("mhp", ["time", "vid", "mph"])
    '; did you mean `mph`?'
    >>> near("altitude", ["time", "vid", "mph"])
    ''
    """
    found = nearest(name, options)
    return "" if found is None else f"; did you mean `{found}`?"


def nearest(name: str, options: Iterable[str]) -> str | None:
    """The option that is spelt most like a name, or none when none is near."""
    by_fold: dict[str, str] = {}
    for option in options:
        by_fold.setdefault(option.casefold(), option)
    close = difflib.get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None


def single_quotes(name: str) -> str:
    """The end of a sentence about a column that is not there: in SQL a word in double quotes is a column too.

    >>> single_quotes("abc")
    "; a text stands in single quotes: 'abc'"
    """
    return "; a text stands in single quotes: '" + name.replace("'", "''") + "'"


def listing(names: Iterable[str], most: int = 30) -> str:
    """The names there are, cut when there are very many.

    >>> listing(["time", "vid", "mph"])
    'time, vid, mph'
    >>> listing(map(str, range(100)), most=3)
    '0, 1, 2 and 97 more'
    >>> listing([])
    'none'
    """
    every = list(names)
    if len(every) <= most + 1:  # "and 1 more" would take as much room as the name
        return ", ".join(every) or "none"
    return f"{', '.join(every[:most])} and {len(every) - most} more"
