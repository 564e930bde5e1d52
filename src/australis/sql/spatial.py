"""The spatial clauses of a query, INSIDE and kNN, in both forms each (SOLE 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from australis.errors import NetworkError
from australis.expr.node import Apply, Literal, Value
from australis.sql.piece import Piece
from australis.stream import Stream

_INSIDE = "write INSIDE (x1, y1, x2, y2), or INSIDE ('M', id, xdist, ydist) around an object"
_NEAREST = "write kNN (k, x, y), or kNN ('M', k, id) around an object"


@dataclass(frozen=True)
class Inside:
    """The objects in a rectangle; its corners are relative to the focal object where there is one."""

    x1: float
    y1: float
    x2: float
    y2: float
    focal: int | str | None = None


@dataclass(frozen=True)
class Nearest:
    """The k objects nearest to a point, or to the focal object where there is one."""

    k: int
    x: float = 0.0
    y: float = 0.0
    focal: int | str | None = None


Spatial: TypeAlias = Callable[[Stream, Inside | Nearest], Stream]
"""What makes the stream of a query's answers of the stream of objects."""


def unplanned(objects: Stream, clause: Inside | Nearest) -> Stream:
    """The place of a plan for spatial clauses where there is none."""
    raise NetworkError(f"nothing plans {clause}: give `sql` a function as `spatial`, from objects to answers")


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
    return Inside(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def nearest(args: Sequence[Piece], whole: Piece) -> Nearest:
    """The kNN clause with its arguments."""
    values = [_value(arg) for arg in args]
    if len(values) != 3:
        raise whole.error(f"kNN takes three arguments, not {len(values)}; {_NEAREST}")
    moving = values[0] == "M"
    k = values[1 if moving else 0]
    if type(k) is not int or k < 1:
        raise args[1 if moving else 0].error(f"k is a count of neighbours, 1 or more; {_NEAREST}")
    if moving:
        return Nearest(k, focal=_focal(values[2], args[2], _NEAREST))
    x, y = (_number(value, arg, _NEAREST) for value, arg in zip(values[1:], args[1:], strict=True))
    return Nearest(k, x, y)


def _value(arg: Piece) -> Value:
    node = arg.expr.node
    if node == Apply("neg", (Literal(0.0),)):
        return 0.0
    if not isinstance(node, Literal):
        raise arg.error(f"`{arg.text}` is no constant; spatial clauses take constants")
    return node.value


def _number(value: Value, arg: Piece, advice: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise arg.error(f"`{arg.text}` is no number; {advice}")
    return float(value)


def _focal(value: Value, arg: Piece, advice: str) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise arg.error(f"`{arg.text}` names no object; {advice}")
    return value
