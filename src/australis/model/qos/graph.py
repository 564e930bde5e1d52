"""QoS graphs: the utility of an output by its latency, by the part of it delivered, by its values (Aurora 4.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite

import numpy as np

from australis.arrow.columns import Floats
from australis.errors import ArgumentPlace, NetworkError, placed

Points = Mapping[float, float]

_WIDE, _HIGH = 12, 4  # of a drawing, in characters


@dataclass(frozen=True)
class Graph:
    """A piecewise-linear function to utilities between 0 and 1, flat beyond its first and its last point.

    >>> graph({2: 1.0, 10: 0.0}).utility(4)
    0.75
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if len(self.points) < 2:
            raise NetworkError(f"a QoS graph needs two points or more; {self} has {len(self.points)}")
        if not all(isfinite(x) for x, _ in self.points):
            raise NetworkError(f"the points of a QoS graph lie at finite numbers, not as in {self}")
        if any(x >= after for (x, _), (after, _) in pairwise(self.points)):
            raise NetworkError(f"the points of a QoS graph ascend; those of {self} do not")
        for x, utility in self.points:
            if not 0 <= utility <= 1:
                raise NetworkError(f"utilities lie between 0 and 1; {self} has {utility:g} at {x:g}")

    def utility(self, x: float) -> float:
        place = bisect_right(self.points, x, key=_first)
        if place in (0, len(self.points)):
            return self.points[min(place, len(self.points) - 1)][1]
        (left, low), (right, high) = self.points[place - 1], self.points[place]
        return low + (high - low) * ((x - left) / (right - left))

    def utilities(self, xs: Floats) -> Floats:
        """The utilities at several places."""
        places, utilities = zip(*self.points, strict=True)
        found: Floats = np.interp(xs, places, utilities)
        return found

    def after(self, inner: Graph) -> Graph:
        """The graph of what this one makes of the utilities of another, which never falls.

        >>> print(graph({0: 0, 0.5: 0.9, 1: 1}).after(graph({0: 0, 0.5: 1, 1: 1})))
        {0: 0, 0.25: 0.9, 0.5: 1, 1: 1}
        """
        xs = {x for x, _ in inner.points}
        for (start, low), (end, high) in pairwise(inner.points):
            xs |= {start + (end - start) * ((x - low) / (high - low)) for x, _ in self.points if low < x < high}
        return Graph(tuple((x, self.utility(inner.utility(x))) for x in sorted(xs)))

    @property
    def bend(self) -> float:
        """How far its first, flat part goes: where a latency graph begins to fall (Aurora's δ)."""
        first = self.points[0][1]
        return next((x for (x, _), (_, after) in pairwise(self.points) if after != first), self.points[-1][0])

    @cached_property
    def hull(self) -> Graph:
        """The least concave graph that is nowhere below it: a step along it never gains less than the next one.

        >>> print(graph({0: 0, 0.5: 0.1, 1: 1}).hull)
        {0: 0, 1: 1}
        """
        upper: list[tuple[float, float]] = []
        for point in self.points:
            while len(upper) > 1 and _slope(upper[-2], upper[-1]) <= _slope(upper[-2], point):
                upper.pop()
            upper.append(point)
        return Graph(tuple(upper))

    @property
    def concave(self) -> bool:
        """Whether it is its own hull, as steps along the smallest slope need it (Aurora 4.1 says convex)."""
        return bool(np.allclose(self.utilities(xs := np.array([x for x, _ in self.points])), self.hull.utilities(xs)))

    def sketch(self) -> str:
        """The graph as a small drawing of lines of text.

        >>> print(graph({2: 1.0, 10: 0.0}).sketch())
        1 |**
          |  ****
          |      ****
        0 |          **
           2         10
        """
        (left, _), (right, _) = self.points[0], self.points[-1]
        heights = np.rint(self.utilities(np.linspace(left, right, _WIDE)) * (_HIGH - 1))
        rows = ["".join("*" if height == row else " " for height in heights) for row in reversed(range(_HIGH))]
        names = ["1 |", *["  |"] * (_HIGH - 2), "0 |"]
        lines = [f"{name}{row}".rstrip() for name, row in zip(names, rows, strict=True)]
        scale = f"   {left:g}{f'{right:g}':>{max(_WIDE - len(f'{left:g}'), 1)}}"
        return "\n".join([*lines, scale])

    @property
    def never_rises(self) -> bool:
        return all(utility >= after for (_, utility), (_, after) in pairwise(self.points))

    @property
    def never_falls(self) -> bool:
        return all(utility <= after for (_, utility), (_, after) in pairwise(self.points))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{x:g}: {utility:g}" for x, utility in self.points) + "}"


def _first(point: tuple[float, float]) -> float:
    return point[0]


def _slope(start: tuple[float, float], end: tuple[float, float]) -> float:
    return (end[1] - start[1]) / (end[0] - start[0])


def graph(points: Points, about: str = "") -> Graph:
    """A graph from points in any order. Errors name the argument that it is `about`."""
    with placed(ArgumentPlace(about)) if about else nullcontext():
        try:
            return Graph(tuple(sorted((float(x), float(utility)) for x, utility in points.items())))
        except OverflowError as error:
            raise NetworkError(f"the points of a QoS graph lie at finite numbers ({error})") from error


@dataclass(frozen=True)
class QoS:
    """What an output is worth. A graph that is absent makes no demand.

    `latency` is in seconds from the arrival of the tuple that completed a result, `delivered` is the fraction of what
    would come out if nothing were shed, `value` tells which values of a column matter most. `weight` is how much the
    output counts beside others.

    Graphs are normalised, so that outputs can be compared: each reaches 1.
    """

    latency: Graph | None = None
    delivered: Graph | None = None
    value: tuple[str, Graph] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.latency:
            _check("latency", self.latency, self.latency.never_rises, "never rises, since later is never better")
            _check("latency", self.latency, self.latency.points[0][0] >= 0, "starts at 0 seconds or later")
        if self.delivered:
            (least, _), (most, _) = self.delivered.points[0], self.delivered.points[-1]
            _check("delivered", self.delivered, self.delivered.never_falls, "never falls, since less is never better")
            _check("delivered", self.delivered, least >= 0 and most <= 1, "runs over fractions from 0 to 1")
        for name, each in (("latency", self.latency), ("delivered", self.delivered), ("value", self._worth)):
            if each:
                reaches = max(utility for _, utility in each.points) == 1
                _check(name, each, reaches, "reaches 1, so that outputs can be compared; `weight` makes one count more")
        if not (isfinite(self.weight) and self.weight > 0):
            raise NetworkError(f"the weight of an output is a finite number above 0, not {self.weight:g}")

    @property
    def exact(self) -> bool:
        """Whether nothing of the output may be shed: nobody has said what a part of it is worth."""
        return self.delivered is None

    @property
    def _worth(self) -> Graph | None:
        return None if self.value is None else self.value[1]

    def __str__(self) -> str:
        """
        >>> print(qos(latency={2: 1.0, 10: 0.0}, value={"toll": {0: 0.1, 9: 1}}, weight=2))
        latency {2: 1, 10: 0}, value of toll {0: 0.1, 9: 1}, weight 2
        """
        parts = [f"{name} {part}" for name, part in (("latency", self.latency), ("delivered", self.delivered)) if part]
        if self.value:
            parts.append(f"value of {self.value[0]} {self.value[1]}")
        if self.weight != 1:
            parts.append(f"weight {self.weight:g}")
        return ", ".join(parts)


def _check(name: str, graph: Graph, holds: bool, rule: str) -> None:
    """Raise with a drawing of the graph where it breaks a rule."""
    if not holds:
        raise NetworkError(f"a {name} graph {rule}; this is {graph}:\n{graph.sketch()}")


def qos(
    latency: Points | None = None,
    delivered: Points | None = None,
    value: Mapping[str, Points] | None = None,
    weight: float = 1.0,
) -> QoS:
    """QoS from graphs as people write them: `{x: utility}`, and for `value` such a graph under its column's name."""
    if value is not None and len(value) != 1:
        raise NetworkError(f"a value graph is about one column, as in {{toll: {{0: 0.1, 9: 1}}}}; {list(value)} given")
    return QoS(
        None if latency is None else graph(latency, "latency"),
        None if delivered is None else graph(delivered, "delivered"),
        None if value is None else next((column, graph(points, "value")) for column, points in value.items()),
        weight,
    )
