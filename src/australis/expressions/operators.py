"""The operators, each with its typing rule and its kernel."""

from __future__ import annotations

import pyarrow as pa

from australis.arrow.compute import pc
from australis.arrow.schema import numeric, temporal
from australis.expressions import lazy, numbers, texts
from australis.expressions.operand import computed
from australis.expressions.signature import (
    DOUBLE,
    INT,
    TEXT,
    Args,
    Builtin,
    Signature,
    anything,
    arithmetic,
    comparison,
    doubles,
    need,
    text,
    truths,
)
from australis.expressions.signature import texts as any_texts


def _quotient(args: Args) -> Signature:
    return arithmetic(numbers.over)(args) if any(temporal(arg.type) for arg in args) else doubles(args)


def _whole(args: Args) -> Signature:
    signature = doubles(args)
    whole = all(pa.types.is_integer(arg.type) or pa.types.is_null(arg.type) for arg in args)
    return Signature((INT, INT), INT) if whole else signature


def _negated(args: Args) -> Signature:
    need(args[0], lambda type: numeric(type) or pa.types.is_duration(type), "a number or an interval")
    own = computed(args[0].type)
    if pa.types.is_integer(own) or pa.types.is_null(own):
        own = INT
    elif pa.types.is_floating(own):
        own = DOUBLE
    return Signature((own,), own)


_PLUS, _MINUS = numbers.plus, numbers.minus
_PATTERN = text(TEXT, gives=pa.bool_())

OPERATORS: dict[str, Builtin] = {
    operator.usage: operator
    for operator in (
        Builtin("and", "true when all are", truths, numbers.every, 2, None, lazy=lazy.every),
        Builtin("or", "true when one is", truths, numbers.some, 2, None, lazy=lazy.some),
        Builtin("not", "the other truth", truths, pc.invert),
        Builtin("=", "equal", comparison(ordered=False), pc.equal, 2, 2),
        Builtin("!=", "not equal", comparison(ordered=False), pc.not_equal, 2, 2),
        Builtin("<", "less", comparison(ordered=True), pc.less, 2, 2),
        Builtin("<=", "less or equal", comparison(ordered=True), pc.less_equal, 2, 2),
        Builtin(">", "greater", comparison(ordered=True), pc.greater, 2, 2),
        Builtin(">=", "greater or equal", comparison(ordered=True), pc.greater_equal, 2, 2),
        Builtin("between", "within two values", comparison(ordered=True), numbers.between, 3, 3),
        Builtin("is null", "whether a value is null", anything, pc.is_null),
        Builtin("is distinct from", "not equal, null being a value", comparison(ordered=False), numbers.distinct, 2, 2),
        Builtin("like", "a pattern of % and _", _PATTERN, pc.match_like, 2, 2, (1,)),
        Builtin("ilike", "like, in any case", _PATTERN, lambda s, p: pc.match_like(s, p, ignore_case=True), 2, 2, (1,)),
        Builtin("rlike", "a regular expression", _PATTERN, pc.match_substring_regex, 2, 2, (1,)),
        Builtin("||", "texts, one after the other", any_texts, texts.join, 2, None),
        Builtin("+", "sum", arithmetic(_PLUS), _PLUS, 2, 2),
        Builtin("-", "difference", arithmetic(_MINUS), _MINUS, 2, 2),
        Builtin("*", "product", arithmetic(numbers.times), numbers.times, 2, 2),
        Builtin("/", "quotient", _quotient, numbers.over, 2, 2),
        Builtin("//", "quotient cut toward zero", _whole, numbers.whole_over, 2, 2),
        Builtin("%", "remainder of //", _whole, numbers.remainder, 2, 2),
        Builtin("neg", "the number with the other sign", _negated, pc.negate_checked),
    )
}
