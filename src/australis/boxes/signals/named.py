"""Functions of segments by name, with numbers as arguments: `hann`, `trimpeak(0.05)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from australis.errors import ExpressionError, listing, near

_CALL = re.compile(r"\s*(\w+)\s*(?:\(\s*([^()]*?)\s*\))?\s*")


def call(text: str, known: Mapping[str, Any], what: str) -> tuple[str, tuple[float, ...]]:
    """The name and the arguments.

    >>> call("band(3, 4)", {"band": None}, "statistic")
    ('band', (3.0, 4.0))
    """
    match = _CALL.fullmatch(text)
    if match is None or match[1] not in known:
        name = match[1] if match else text
        raise ExpressionError(f"there is no {what} `{name}`{near(name, known)}; there are {listing(known)}")
    try:
        return match[1], tuple(float(each) for each in match[2].split(",")) if match[2] else ()
    except ValueError:
        raise ExpressionError(f"`{text}`: the arguments of {match[1]} are numbers") from None


def check(text: str, arguments: tuple[float, ...], least: int, most: int | None) -> None:
    """Refuse too few or too many arguments; `most` is None where there may be any number."""
    if len(arguments) < least or (most is not None and len(arguments) > most):
        wanted = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
        raise ExpressionError(f"`{text}` has {len(arguments)} arguments, not {wanted}")
