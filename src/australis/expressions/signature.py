"""Signatures: the types that an operator or a function takes and gives, from the operands it is applied to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from australis.arrow.compute import Datum, nulls
from australis.arrow.schema import Type, numeric, temporal, textual
from australis.expressions import decimals
from australis.expressions.lazy import Run
from australis.expressions.operand import MisfitError, Operand, common, computed, kind

INT, DOUBLE, BOOLEAN, TEXT = pa.int64(), pa.float64(), pa.bool_(), pa.string()
TIMESTAMP, INTERVAL = pa.timestamp("us"), pa.duration("us")

Args: TypeAlias = tuple[Operand, ...]
Accepts: TypeAlias = Callable[[Type], bool]


@dataclass(frozen=True)
class Signature:
    """What operands are converted to, and the type of the result."""

    takes: tuple[Type, ...]
    gives: Type


Rule: TypeAlias = Callable[[Args], Signature]


@dataclass(frozen=True)
class Builtin:
    """An operator or a function: its typing rule, its kernel, and its line in the reference.

    Arguments at the places in `options` must be constants; the kernel gets them as Python values. A null among them
    makes the result null. With `lazy`, an argument may fail on rows for which those before it decide the result.
    """

    usage: str
    says: str
    rule: Rule
    kernel: Callable[..., Datum]
    least: int = 1
    most: int | None = 1
    options: tuple[int, ...] = ()
    aliases: tuple[str, ...] = ()
    lazy: Callable[[Sequence[Run], Type], Run] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.usage.partition("(")[0], *self.aliases)


def need(arg: Operand, accepts: Accepts, what: str) -> None:
    """Raise a MisfitError unless an operand is null or of an accepted type."""
    if not (pa.types.is_null(arg.type) or accepts(arg.type)):
        raise MisfitError(f"`{arg.text}` is {kind(arg.type)}, and {what} is needed")


def doubles(args: Args) -> Signature:
    """Numbers to a double."""
    for arg in args:
        need(arg, numeric, "a number")
    return Signature((DOUBLE,) * len(args), DOUBLE)


def same_number(args: Args) -> Signature:
    """A number, then integers as options, to a number of its own type."""
    need(args[0], numeric, "a number")
    own = DOUBLE if pa.types.is_null(args[0].type) else computed(args[0].type)
    return Signature((own, *_integers(args[1:])), own)


def rounding(args: Args) -> Signature:
    """A number to one of its own type, but a decimal to one of fewer digits after the point."""
    signature = same_number(args)
    if not pa.types.is_decimal(signature.gives):
        return signature
    digits = None if len(args) < 2 or args[1].value is None else args[1].value.as_py()
    takes, gives = decimals.whole(signature.gives, digits or 0)
    return Signature((takes, *signature.takes[1:]), gives)


def truths(args: Args) -> Signature:
    """Booleans to a boolean."""
    for arg in args:
        need(arg, pa.types.is_boolean, "a boolean")
    return Signature((BOOLEAN,) * len(args), BOOLEAN)


def anything(args: Args) -> Signature:
    """One value of any type to a boolean."""
    return Signature((args[0].type,), BOOLEAN)


def alike(args: Args) -> Signature:
    """Values of a common type to that type."""
    type = common(args)
    return Signature((type,) * len(args), type)


def ranked(args: Args) -> Signature:
    """Values of a common type that has an order to that type."""
    type = computed(common(args))
    for arg in args:
        if pa.types.is_nested(type) or pa.types.is_boolean(type):
            raise MisfitError(f"`{arg.text}` is {kind(arg.type)}, and such values have no order")
    return Signature((type,) * len(args), type)


def nullable(args: Args) -> Signature:
    """Two values that can be compared to one of them, or null."""
    comparison(ordered=False)(args)
    type = computed(common(args))
    return Signature((type,) * len(args), type)


def comparison(*, ordered: bool) -> Rule:
    """Two values of a common type to a boolean."""

    def rule(args: Args) -> Signature:
        type = computed(common(args, lossless=True))
        if pa.types.is_null(type):
            type = BOOLEAN
        elif pa.types.is_nested(type):
            raise MisfitError(f"values of {kind(type)} cannot be compared")
        elif pa.types.is_boolean(type) and ordered:
            raise MisfitError("booleans have no order; compare them with = or !=")
        return Signature((type,) * len(args), BOOLEAN)

    return rule


def text(*rest: Type, gives: Type | None = None) -> Rule:
    """A text, then options of the types of `rest`, of which the last one repeats."""

    def rule(args: Args) -> Signature:
        need(args[0], textual, "a string")
        own = TEXT if pa.types.is_null(args[0].type) else args[0].type
        takes = tuple(rest[min(i, len(rest) - 1)] for i in range(len(args) - 1)) if rest else ()
        for arg, type in zip(args[1:], takes, strict=True):
            need(arg, textual if type == TEXT else pa.types.is_integer, "a string" if type == TEXT else "an integer")
        return Signature((own, *takes), own if gives is None else gives)

    return rule


def texts(args: Args) -> Signature:
    """Values of any type that has a text, to a text."""
    for arg in args:
        need(arg, lambda type: not (pa.types.is_nested(type) or pa.types.is_duration(type)), "a value with a text")
    type = pa.large_string() if any(pa.types.is_large_string(arg.type) for arg in args) else TEXT
    return Signature((type,) * len(args), type)


def moment(gives: Type, *kinds: Accepts, what: str = "a date or a timestamp") -> Rule:
    """A date, a timestamp or one of other `kinds`; a literal text is read as a timestamp."""
    accepted = (pa.types.is_date, pa.types.is_timestamp, *kinds)

    def rule(args: Args) -> Signature:
        arg = args[-1]
        if pa.types.is_null(arg.type) or (arg.constant and textual(arg.type)):
            own: Type = TIMESTAMP
        else:
            need(arg, lambda type: any(accepts(type) for accepts in accepted), what)
            own = arg.type
        return Signature((TEXT,) * (len(args) - 1) + (own,), own if pa.types.is_null(gives) else gives)

    return rule


def arithmetic(kernel: Callable[[Any, Any], Datum]) -> Rule:
    """Numbers to bigint, decimal or double; times and intervals to what the kernel makes of them."""

    def rule(args: Args) -> Signature:
        one, two = (_own(arg, other) for arg, other in (args, args[::-1]))
        if numeric(one) and numeric(two):
            if pa.types.is_floating(one) or pa.types.is_floating(two):
                return Signature((DOUBLE, DOUBLE), DOUBLE)
            if pa.types.is_integer(one) and pa.types.is_integer(two):
                return Signature((INT, INT), INT)
            return Signature((one, two), _probe(kernel, one, two, args))
        if not (temporal(one) or temporal(two)):
            raise _no_kernel(args)
        gives = _probe(kernel, one, two, args)
        # Arrow counts the time between dates in seconds; an interval is in microseconds.
        both_dates = pa.types.is_date(one) and pa.types.is_date(two)
        return Signature((one, two), INTERVAL if both_dates else gives)

    return rule


def _own(arg: Operand, other: Operand) -> Type:
    """An operand's type; a null takes the other's, and an integer beside an interval is a bigint."""
    type = other.type if pa.types.is_null(arg.type) else arg.type
    if pa.types.is_null(type):
        return INT
    if temporal(other.type) and numeric(type):
        return INT if pa.types.is_integer(type) else DOUBLE
    return type


def _probe(kernel: Callable[[Any, Any], Datum], one: Type, two: Type, args: Args) -> Type:
    try:
        empty = kernel(nulls(0, one), nulls(0, two))
    except pa.ArrowNotImplementedError:
        raise _no_kernel(args) from None
    except pa.ArrowInvalid as error:  # such as a decimal of too many digits
        raise MisfitError(f"{error}; cast to double, or to fewer digits") from None
    type: Type = empty.type
    return type


def _no_kernel(args: Args) -> MisfitError:
    kinds = " and ".join(f"`{arg.text}` is {kind(arg.type)}" for arg in args)
    if any(textual(arg.type) for arg in args):
        return MisfitError(f"{kinds}; cast to a number, or write || to join texts")
    if any(temporal(arg.type) for arg in args):
        return MisfitError(f"{kinds}; a time moves by an interval, such as `interval '10' minute`")
    return MisfitError(f"{kinds}; numbers are needed")


def _integers(args: Args) -> tuple[Type, ...]:
    for arg in args:
        need(arg, pa.types.is_integer, "an integer")
    return (INT,) * len(args)
