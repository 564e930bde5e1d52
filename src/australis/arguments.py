"""The arguments of methods and the fields of boxes, checked against their annotations before anything is done."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields
from datetime import timedelta
from functools import cache, wraps
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from australis.errors import (
    ArgumentPlace,
    AustralisError,
    MadeColumn,
    NetworkError,
    Subject,
    UnknownName,
    listing,
    near,
    unknown,
)

P = ParamSpec("P")
R = TypeVar("R")

LARGEST = (1 << 63) - 1
"""The largest whole number among data."""
COUNT = 1 << 53
"""The largest whole number of an argument: a double holds it, and sums of them stay whole numbers of 64 bits."""

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_EXPRESSION = "an expression such as `mph > 60`"
_KNOWN = {
    "Stream": "a stream", "Keyed": "an au.table", "Order": "an au.order", "Expr": _EXPRESSION,
    "Term": _EXPRESSION, "Aggregation": "a window function such as `avg(mph)`",
}  # fmt: skip
_PLAINER = (
    ("a number", "a whole number"), (_EXPRESSION, "a text"), (_KNOWN["Aggregation"], _EXPRESSION),
)  # fmt: skip
_WORDS: dict[object, str] = {
    str: "a text", bool: "true or false", int: "a whole number", float: "a number", type(None): "none",
    timedelta: "a timedelta", Path: "a path", Mapping: "a mapping", dict: "a mapping",
}  # fmt: skip
_ELSEWHERE = {"SparkSession": Any}
"""Names in annotations that may not be there when a program runs."""
_FIELDS: dict[type, dict[str, Any]] = {}


class Misfit(Exception):  # noqa: N818 (it is caught here, and told with the name of the argument)
    """A value is not what an annotation asks for; `wanted` is what that is, where it is not plain from the type."""

    def __init__(self, wanted: str = "") -> None:
        super().__init__(wanted)
        self.wanted = wanted


def check_arguments(
    error: type[AustralisError] = NetworkError, name_errors: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that refuses arguments of another type than it says, numbers that are not finite, and those too large.

    Whole and real numbers of any library become Python's. The error names the function, its `box` and the argument.
    With `name_errors`, errors that the function itself raises name the function too.

    >>> @check_arguments()
    ... def bsort(on: str, slack: int = 0) -> int: return slack
    >>> bsort("time", slack=1.5)
    Traceback (most recent call last):
        ...
    australis.errors.NetworkError: bsort: `slack` is a whole number, not 1.5
    """

    def make(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [name for name, each in signature.parameters.items() if each.kind in _NAMED and name != "self"]

        @cache
        def hints() -> dict[str, Any]:
            return get_type_hints(function, localns=_ELSEWHERE)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # Python tells by itself which argument there is not
            box = bound.arguments.get("box")
            called = function.__qualname__.split(".__init__")[0].rpartition(".")[2]
            place = Subject(called, box if isinstance(box, str) and box else None)
            wanted = hints()
            for name, value in bound.arguments.items():
                hint = wanted.get(name, Any)
                match signature.parameters[name].kind:
                    case inspect.Parameter.VAR_POSITIONAL:
                        given: Any = tuple(_fitted(error, place, name, hint, each) for each in value)
                    case inspect.Parameter.VAR_KEYWORD:
                        given = {key: _column(error, place, key, hint, each, own) for key, each in value.items()}
                    case _:
                        given = _fitted(error, place, name, hint, value)
                bound.arguments[name] = given
            try:
                return function(*bound.args, **bound.kwargs)
            except AustralisError as told:
                if name_errors and not any(isinstance(each, Subject) and each.kind == called for each in told.places):
                    told.put(place)
                hinted(told, [name for name in own if name not in bound.arguments])
                raise

        return call

    return make


def hinted(error: AustralisError, arguments: list[str]) -> AustralisError:
    """The error, which tells the arguments if it is about a column that is made: perhaps its name is one, misspelt."""
    column = error.first(MadeColumn)
    if column is None or any(isinstance(place, UnknownName) and place.name == column.name for place in error.places):
        return error
    misspelt = unknown(column.name, arguments)
    if misspelt.suggestion is not None:
        error.reason += f"; the arguments are {listing(arguments)}{near(column.name, arguments)}"
        error.put(misspelt)
    return error


def check_fields(box: Any) -> None:
    """Refuse a box with a field that is not what its class says, whoever made it."""
    for name, hint in _box_hints(type(box)).items():
        _fitted(NetworkError, None, name, hint, getattr(box, name))


def fit_fields(made: Any) -> None:
    """Put the fields of a value of a frozen class in the form that its class says, or refuse them."""
    for name, hint in _box_hints(type(made)).items():
        place = Subject(type(made).__name__)
        object.__setattr__(made, name, _fitted(NetworkError, place, name, hint, getattr(made, name)))


def _box_hints(kind: Any) -> dict[str, Any]:
    if kind not in _FIELDS:
        hints = get_type_hints(kind)
        _FIELDS[kind] = {field.name: hints[field.name] for field in fields(kind)}
    return _FIELDS[kind]


def _fitted(error: type[AustralisError], place: Subject | None, name: str, hint: Any, value: object) -> Any:
    try:
        return fit(hint, value)
    except Misfit as misfit:
        places = [ArgumentPlace(name, silent=True)] if place is None else [place, ArgumentPlace(name, silent=True)]
        raise error(f"`{name}` is {misfit.wanted or words(hint)}, not {shown(value)}", *places) from None


def _column(
    error: type[AustralisError], place: Subject, name: str, hint: Any, value: object, arguments: list[str]
) -> Any:
    """What stands among the columns that a box makes: an argument whose name is misspelt ends up there."""
    try:
        return fit(hint, value)
    except Misfit:
        raise error(
            f"`{name}={shown(value)}` is neither an argument nor {words(hint)}; the arguments are"
            f" {listing(arguments)}{near(name, arguments)}",
            place,
            MadeColumn(name),
            unknown(name, arguments),
        ) from None


def fit(hint: Any, value: object) -> Any:
    """The value as an annotation has it.

    >>> fit(tuple[float, ...], [1, 2.5])
    (1, 2.5)
    """
    if hint is Any or hint is object:
        return value
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of(inner, value)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise Misfit
        return {fit(inner[0], key): fit(inner[1], each) for key, each in value.items()}
    if origin is Callable:
        return _is(callable(value), value)
    if origin is tuple and inner[-1] is not ...:
        if not isinstance(value, tuple | list) or len(value) != len(inner):
            raise Misfit
        return tuple(fit(each, part) for each, part in zip(inner, value, strict=True))
    if origin is list:  # which the function may add to
        return _is(isinstance(value, list) and all(fit(inner[0], each) is each for each in value), value)
    if origin is not None and issubclass(origin, Iterable):
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping | Set):
            raise Misfit
        return tuple(fit(inner[0], each) for each in value)
    return _plain(origin or hint, value)


def _one_of(hints: tuple[Any, ...], value: object) -> Any:
    constant = bool in hints and float in hints  # a value among data, which may be any
    if constant and isinstance(value, bool | int | float):
        return value
    if float in hints and type(value) is int and abs(value) <= LARGEST:
        return value
    reason = ""
    for hint in sorted(hints, key=lambda each: each is float):  # a whole number stays one where it may
        try:
            return fit(hint, value)
        except Misfit as misfit:
            reason = reason or misfit.wanted
    raise Misfit(reason)


def _plain(kind: Any, value: Any) -> Any:
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise Misfit
        if abs(int(value)) > COUNT:
            raise Misfit(f"a whole number up to {COUNT}")
        return int(value)
    if kind is not float:
        return _is(isinstance(value, kind), value)
    if type(value) is int and abs(value) <= COUNT:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Misfit
    try:
        real = float(value)
    except OverflowError:
        real = float("inf")
    if not isfinite(real):
        raise Misfit("a finite number")
    return real


def _is(fits: bool, value: object) -> object:
    if not fits:
        raise Misfit
    return value


def words(hint: Any) -> str:
    """What an annotation asks for, in words.

    >>> words(str | list[int] | None)
    'a text, or a list of whole numbers'
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        each = list(dict.fromkeys(words(part) for part in inner if part is not type(None)))
        for closer, plain in _PLAINER:
            if closer in each and plain in each:
                each.remove(plain)
        return each[0] if len(each) == 1 else f"{', '.join(each[:-1])}, or {each[-1]}"
    if origin is not None and issubclass(origin, Mapping):
        return f"a mapping of {_several(inner[0])} to {_several(inner[1])}" if inner[1] is not Any else "a mapping"
    if origin is Callable:
        return "a function"
    if origin is not None and issubclass(origin, Iterable) and inner:
        return f"a list of {_several(inner[0])}"
    kind = origin or hint
    if kind in _WORDS:
        return _WORDS[kind]
    name = getattr(kind, "__name__", str(kind))
    return _KNOWN.get(name) or f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _several(hint: Any) -> str:
    told = words(hint)
    return f"{told.partition(' ')[2]}s" if told.startswith("a ") and told.count(" ") < 3 else told


def shown(value: object) -> str:
    """A value as messages show it, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # a whole number of thousands of digits has none
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
