"""Parse SQL text into a tree, with sqlglot's parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token

from australis.arrow.durations import interval
from australis.arrow.schema import data_type, type_text
from australis.errors import ExpressionError, ExpressionPlace, SchemaError, listing, near
from australis.expressions.node import NULL, Literal, Name, Node, apply
from australis.expressions.words import CALL, DIALECT, broken, place, source, tokenize

_BINARY: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.Pow: "power",
    exp.DPipe: "||",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "rlike",
    exp.NullSafeNEQ: "is distinct from",
}
_CHAINS: dict[type[exp.Expr], str] = {exp.And: "and", exp.Or: "or"}
_ADVICE: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "write `and` for `&`",
    exp.BitwiseOr: "write `or` for `|`",
    exp.BitwiseNot: "write `not` for `~`",
    exp.Escape: "a backslash escapes `%` and `_` in a pattern, without ESCAPE",
    exp.Star: "`*` stands only in `count(*)`",
    exp.Bracket: "there are no subscripts",
}

_EXTRACTED = {
    **{unit: unit for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "epoch")},
    **dict.fromkeys(("dow", "isodow", "dayofweek"), "dayofweek"),
    **dict.fromkeys(("doy", "dayofyear"), "dayofyear"),
}


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """The tree of a text. Raises an ExpressionError that points at the place that does not parse."""
    tokens: list[Token] = []
    try:
        tokens = tokenize(text)
        trees = DIALECT.parser().parse_into(exp.Condition, tokens, source(text))
        tree = trees[0]
        if tree is None:
            raise broken(text, "there is no expression here", 0)
        return _node(tree)
    except ParseError as error:
        raise _pointed(text, error.errors[0], tokens) from None
    except SchemaError as error:
        raise ExpressionError.of(error).put(ExpressionPlace(text)) from error
    except RecursionError:
        short = text if len(text) < 60 else text[:60] + "..."
        raise ExpressionError(f"`{short}` is nested too deeply; split it over several map boxes") from None
    except ExpressionError as error:
        part = error.first(ExpressionPlace)
        if tokens and (part is None or (part.silent and part.text != text)):
            error.put(ExpressionPlace(text))
        raise


def _pointed(text: str, error: dict[str, Any], tokens: list[Token]) -> ExpressionError:
    line, end = int(error["line"]), int(error["col"])
    at = next((token for token in tokens if (token.line, token.col) == (line, end)), tokens[-1])
    what = str(error["description"] or "")
    if what.startswith("Required keyword"):
        why = f"something is missing at `{at.text.removeprefix(CALL)}`"
    elif what.startswith("Expecting"):
        why = f"`{what.removeprefix('Expecting').strip()}` is missing after `{at.text.removeprefix(CALL)}`"
    else:
        why = f"`{at.text.removeprefix(CALL)}` is not expected here"
    return broken(text, why, place(at.start))


def _node(tree: exp.Expr) -> Node:
    kind = type(tree)
    if kind in _BINARY:
        node = apply(_BINARY[kind], _node(tree.this), _node(tree.expression))
        return apply("not", node) if tree.args.get("negate") else node
    if kind in _CHAINS:
        return apply(_CHAINS[kind], *map(_node, _chain(tree, kind)))
    rule = _RULES.get(kind)
    if rule is None:
        part = tree.sql("duckdb").replace('"' + CALL, "").replace(CALL, "")
        advice = _ADVICE.get(kind, "docs/expressions.md lists what is")
        raise ExpressionError(
            f"`{part}` is not part of the expression language; {advice}", ExpressionPlace(part, silent=True)
        )
    return rule(tree)


def _chain(tree: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a long `and` or `or`, without recursion down its left side."""
    parts: list[exp.Expr] = []
    while type(tree) is kind:
        parts.append(tree.expression)
        tree = tree.this
    return [tree, *reversed(parts)]


def _column(tree: exp.Column) -> Node:
    if isinstance(tree.this, exp.Star):
        return _node(tree.this)
    return Name(".".join(part.name for part in tree.parts))


def _literal(tree: exp.Expr) -> Node:
    text = str(tree.this)
    if tree.args["is_string"]:
        return Literal(text)
    if not text.isdigit():
        return Literal(float(text))
    if int(text) >= 2**64:
        raise ExpressionError(f"the number {text} does not fit in 64 bits; write it as a double, {text}.0")
    return Literal(int(text))


def _is(tree: exp.Expr) -> Node:
    this, other = _node(tree.this), _node(tree.expression)
    if other == NULL:
        return apply("is null", this)
    if isinstance(tree.expression, exp.Boolean):
        return apply("not", apply("is distinct from", this, other))
    raise ExpressionError("IS is followed by NULL, TRUE, FALSE or DISTINCT FROM; write `=` to compare")


def _in(tree: exp.Expr) -> Node:
    values = tree.args.get("expressions") or []
    if not values:
        raise ExpressionError("IN needs a list of values in parentheses, such as `lane in (1, 2)`")
    return apply("in", _node(tree.this), *map(_node, values))


def _case(tree: exp.Expr) -> Node:
    subject = tree.args.get("this")
    args: list[Node] = []
    for arm in tree.args["ifs"]:
        condition = _node(arm.this)
        args += [apply("=", _node(subject), condition) if subject else condition, _node(arm.args["true"])]
    default = tree.args.get("default")
    return apply("case", *args, *([_node(default)] if default else []))


def _cast(tree: exp.Expr) -> Node:
    return _converted("cast", _node(tree.this), tree.args["to"].sql("duckdb"))


def _converted(function: str, arg: Node, kind: str) -> Node:
    return apply(function, arg, Literal(type_text(data_type(kind))))


def _call(tree: exp.Expr) -> Node:
    name = str(tree.this).removeprefix(CALL)
    if name == "count" and len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star):
        return apply("count")
    args = tuple(_arguments(tree))
    if name in ("cast", "try_cast"):
        kind = args[1].value if len(args) == 2 and isinstance(args[1], Literal) else None
        if not isinstance(kind, str):
            raise ExpressionError(f"write {name} as `{name}(mph as double)`")
        return _converted(name, args[0], kind)
    if name == "interval":
        length = args[0].value if len(args) == 1 and isinstance(args[0], Literal) else None
        if not isinstance(length, str):
            raise ExpressionError("write an interval as `interval '10' minute`, or as `x * interval '1' second`")
        return Literal(interval(length))
    if name == "extract":
        return _extracted(args)
    if name in ("if", "iif") and len(args) in (2, 3):
        return apply("case", *args)
    return apply(name, *args)


def _extracted(args: tuple[Node, ...]) -> Node:
    if len(args) != 2 or not isinstance(args[0], Literal) or not isinstance(args[0].value, str):
        raise ExpressionError("write extract as `extract(hour from at)`")
    unit = args[0].value.lower()
    if unit not in _EXTRACTED:
        units = [*_EXTRACTED]
        raise ExpressionError(f"there is no `{unit}` to extract{near(unit, units) or '.'} There are {listing(units)}")
    return apply(_EXTRACTED[unit], args[1])


def _arguments(tree: exp.Expr) -> Iterator[Node]:
    return map(_node, tree.expressions)


_RULES: dict[type[exp.Expr], Callable[[Any], Node]] = {
    exp.Paren: lambda tree: _node(tree.this),
    exp.Neg: lambda tree: apply("neg", _node(tree.this)),
    exp.Not: lambda tree: apply("not", _node(tree.this)),
    exp.NullSafeEQ: lambda tree: apply("not", apply("is distinct from", _node(tree.this), _node(tree.expression))),
    exp.Between: lambda tree: apply("between", _node(tree.this), _node(tree.args["low"]), _node(tree.args["high"])),
    exp.Null: lambda tree: NULL,
    exp.Boolean: lambda tree: Literal(bool(tree.this)),
    exp.Distinct: lambda tree: apply("distinct", *_arguments(tree)),
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Is: _is,
    exp.In: _in,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Anonymous: _call,
}
