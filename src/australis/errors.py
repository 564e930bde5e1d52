"""Errors: one root and four children, and the phrases that their messages share."""

import difflib
from collections.abc import Iterable


class AustralisError(Exception):
    """The root of every error that Australis raises on purpose."""


class SchemaError(AustralisError):
    """A schema's text does not read, or columns and types do not fit together."""


class ExpressionError(AustralisError):
    """An expression does not parse, names what is not there, or has the wrong type."""


class NetworkError(AustralisError):
    """Boxes and arrows do not fit: arity, cycles, names, or a network file."""


class RunError(AustralisError):
    """Something went wrong while tuples were moving."""


def near(name: str, options: Iterable[str]) -> str:
    """The end of a sentence that proposes the nearest option, or nothing when none is near.

    >>> near("mhp", ["time", "vid", "mph"])
    '; did you mean `mph`?'
    >>> near("altitude", ["time", "vid", "mph"])
    ''
    """
    by_fold: dict[str, str] = {}
    for option in options:
        by_fold.setdefault(option.casefold(), option)
    close = difflib.get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.6)
    return f"; did you mean `{by_fold[close[0]]}`?" if close else ""


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
