"""Pairs of tuples from a left and a right stream: their columns, and the predicates that match them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import pyarrow as pa

from australis.arrow.columns import storage
from australis.errors import ExpressionError, SchemaError, listing, near
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Name, Node, apply
from australis.model.box import Key

LEFT, RIGHT = "left.", "right."
_SUFFIX = "_right"


@dataclass(frozen=True)
class Pair:
    """t ++ u: the columns of the left tuple, then those of the right; a right name that the left has gets `_right`."""

    left: pa.Schema
    right: pa.Schema

    @cached_property
    def names(self) -> dict[str, str]:
        """From `left.x` and `right.x` to the columns of a pair."""
        lefts = set(self.left.names)
        right = {name: name + _SUFFIX if name in lefts else name for name in self.right.names}
        return {LEFT + name: name for name in self.left.names} | {RIGHT + name: to for name, to in right.items()}

    @cached_property
    def passes(self) -> dict[int, dict[str, str]]:
        """Of each side, from its own names to the columns of a pair."""
        return {
            side: {name.removeprefix(prefix): to for name, to in self.names.items() if name.startswith(prefix)}
            for side, prefix in enumerate((LEFT, RIGHT))
        }

    @cached_property
    def schema(self) -> pa.Schema:
        names = self.names
        right = [field.with_name(names[RIGHT + field.name]) for field in self.right]
        clash = {field.name for field in right} & set(self.left.names)
        if clash:
            raise SchemaError(f"two columns of the join would be named {listing(sorted(clash))}: rename one with a map")
        return pa.schema([*self.left, *right])

    def resolve(self, expression: Expr) -> Expr:
        """An expression over the columns of a pair from one that may say `left.` and `right.`."""
        both = set(self.left.names) & set(self.right.names)
        for name in expression.columns:
            for side, stream in ((LEFT, self.left), (RIGHT, self.right)):
                wanted = name.removeprefix(side)
                if name.startswith(side) and wanted not in stream.names:
                    raise ExpressionError(
                        f"`{expression}`: the {side[:-1]} side has no column `{wanted}`"
                        f"{near(wanted, stream.names) or '.'} Its columns are {listing(stream.names)}"
                    )
            if name in both:
                raise ExpressionError(f"`{expression}`: both sides have `{name}`; say `left.{name}` or `right.{name}`")
        # `pos_right` is also how a pair spells `right.pos`, so unqualified names pass through.
        return expression.rename(self.names)


@dataclass(frozen=True)
class Match:
    """A predicate over pairs, apart: columns that must be equal, and what else must hold."""

    left: Key
    right: Key
    rest: Expr | None


@lru_cache(maxsize=256)
def match(predicate: Expr | None, pair: Pair) -> Match:
    """Take the equalities of one left and one right column out of a predicate, so that they can be a key."""
    if predicate is None:
        return Match((), (), None)
    whole = pair.resolve(predicate)
    type_ = whole.bind(pair.schema).type
    if type_ != pa.bool_():
        raise ExpressionError(f"`{predicate}` is no predicate: it gives a {type_}, not a boolean")
    lefts = {name: name for name in pair.left.names}
    rights = {to: name.removeprefix(RIGHT) for name, to in pair.names.items() if name.startswith(RIGHT)}
    equal: list[tuple[str, str]] = []
    rest: list[Node] = []
    for part in _conjuncts(whole):
        sides = _equated(part)
        if sides is not None and sides[0] in rights and sides[1] in lefts:
            sides = sides[::-1]
        if sides is not None and sides[0] in lefts and sides[1] in rights:
            left, right = lefts[sides[0]], rights[sides[1]]
            if _one_key(pair.left.field(left).type, pair.right.field(right).type):
                equal.append((left, right))
                continue
        rest.append(part)
    left_key, right_key = tuple(left for left, _ in equal), tuple(right for _, right in equal)
    return Match(left_key, right_key, of(apply("and", *rest) if len(rest) > 1 else rest[0]) if rest else None)


def _conjuncts(predicate: Expr) -> tuple[Node, ...]:
    node = predicate.node
    return node.args if isinstance(node, FunctionCall) and node.function == "and" else (node,)


def _equated(node: Node) -> tuple[str, str] | None:
    """The two columns that a part of a predicate says are equal, if that is all it says."""
    if isinstance(node, FunctionCall) and node.function == "=":
        one, other = node.args
        if isinstance(one, Name) and isinstance(other, Name):
            return one.name, other.name
    return None


def _one_key(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether equal values of two types are equal keys."""
    if left == right:
        return storage(left).kind in "biu" or pa.types.is_string(left) or pa.types.is_binary(left)
    return pa.types.is_integer(left) and pa.types.is_integer(right) and pa.uint64() not in (left, right)
