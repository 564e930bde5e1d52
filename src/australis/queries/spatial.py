"""The spatial clauses of a query, INSIDE and kNN, in both forms each (SOLE 3.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from australis.expressions.node import FunctionCall, Literal, Value
from australis.model.parameters import Length
from australis.queries.piece import Piece

_INSIDE = "write INSIDE (x1, y1, x2, y2), or INSIDE ('M', id, xdist, ydist) around an object"
_NEAREST = "write kNN (k, x, y), or kNN ('M', k, id) around an object"


@dataclass(frozen=True)
class Inside:
    """The objects in a rectangle; its corners are relative to the focal object where there is one."""

    x1: float
    y1: float
    x2: float
    y2: float
    focal: int | None = None
    first: float | None = field(default=None, compare=False)
    """The x that was written first; on the earth it is the western one."""

    def on_earth(self) -> Inside:
        """The rectangle on the earth: east from its first longitude to its second, even across the antimeridian."""
        if self.focal is not None or self.first is None or self.x1 == self.first:
            return self
        east = self.x1 + 360
        over = (self.x2 + east) / 2 > 180  # as seen from where the middle lies
        return replace(self, x1=self.x2 - 360 * over, x2=east - 360 * over)

    @property
    def question(self) -> dict[str, Any]:
        """The query as `ask` takes it. It is at least as wide as its corners, so that its edges belong to it."""
        x, y = self.x1 / 2 + self.x2 / 2, self.y1 / 2 + self.y2 / 2
        half = _half(x, self.x1, self.x2), _half(y, self.y1, self.y2)
        return {
            "kind": "rectangle", "x": x, "y": y, "width": 2 * half[0], "height": 2 * half[1], "focal": self.focal,
        }  # fmt: skip


@dataclass(frozen=True)
class NearestClause:
    """The k objects nearest to a point, or to the focal object where there is one."""

    k: int
    x: float = 0.0
    y: float = 0.0
    focal: int | None = None

    @property
    def question(self) -> dict[str, Any]:
        return {"kind": "knn", "k": self.k, "x": self.x, "y": self.y, "focal": self.focal}


@dataclass(frozen=True)
class Moving:
    """How the objects of spatial clauses report: their columns, and the `timeout` after which a silent object is gone.

    `every` says when answers are updated: after every report, after a span of time, or after every train (`"train"`).
    `first` makes `selection` or `inside` come first, whatever the costs.
    """

    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None
    timeout: Length | None = None
    earth: bool = False
    first: str | None = None
    every: Length | None = None
    ahead: Length | None = None


def _half(middle: float, low: float, high: float) -> float:
    """Half of a side, large enough to reach both ends in spite of rounding."""
    half = (high - low) / 2
    while middle - half > low or middle + half < high:
        half = math.nextafter(half, math.inf)
    return half


def inside(args: Sequence[Piece], whole: Piece) -> Inside:
    """INSIDE with its arguments; the corners may come in any order."""
    values = [_value(arg) for arg in args]
    if len(values) != 4:
        raise whole.error(f"INSIDE takes four arguments, not {len(values)}; {_INSIDE}")
    if values[0] == "M":
        x, y = (_number(value, arg, _INSIDE) / 2 for value, arg in zip(values[2:], args[2:], strict=True))
        if x < 0 or y < 0:
            raise args[2 if x < 0 else 3].error(f"a rectangle is not less than nothing wide; {_INSIDE}")
        return Inside(-x, -y, x, y, _focal(values[1], args[1], _INSIDE))
    x1, y1, x2, y2 = (_number(value, arg, _INSIDE) for value, arg in zip(values, args, strict=True))
    return Inside(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), first=x1)


def nearest(args: Sequence[Piece], whole: Piece) -> NearestClause:
    """The kNN clause with its arguments."""
    values = [_value(arg) for arg in args]
    if len(values) != 3:
        raise whole.error(f"kNN takes three arguments, not {len(values)}; {_NEAREST}")
    moving = values[0] == "M"
    k = values[1 if moving else 0]
    if type(k) is not int or k < 1:
        raise args[1 if moving else 0].error(f"k is a count of neighbours, 1 or more; {_NEAREST}")
    if moving:
        return NearestClause(k, focal=_focal(values[2], args[2], _NEAREST))
    x, y = (_number(value, arg, _NEAREST) for value, arg in zip(values[1:], args[1:], strict=True))
    return NearestClause(k, x, y)


def _value(arg: Piece) -> Value:
    node = arg.expr.node
    if node == FunctionCall("neg", (Literal(0.0),)):
        return 0.0
    if not isinstance(node, Literal):
        raise arg.error(f"`{arg.text}` is no constant; spatial clauses take constants")
    return node.value


def _number(value: Value, arg: Piece, advice: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise arg.error(f"`{arg.text}` is no number; {advice}")
    return float(value)


def _focal(value: Value, arg: Piece, advice: str) -> int:
    if type(value) is not int:
        raise arg.error(f"`{arg.text}` names no object, which go by whole numbers; {advice}")
    return value
