"""QoS graphs: the utility of an output by its latency, by the part of it delivered, by its values (Aurora 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np

from australis.errors import ArgumentPlace, NetworkError, placed

Points = Mapping[float, float]


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
        xs, utilities = zip(*self.points, strict=True)
        return float(np.interp(x, xs, utilities))

    @property
    def never_rises(self) -> bool:
        return all(utility >= after for (_, utility), (_, after) in pairwise(self.points))

    @property
    def never_falls(self) -> bool:
        return all(utility <= after for (_, utility), (_, after) in pairwise(self.points))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{x:g}: {utility:g}" for x, utility in self.points) + "}"


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

    `latency` is in seconds from the entry of the oldest tuple behind a result, `delivered` is the fraction of tuples
    that are not shed, `value` tells which values of a column matter most.
    """

    latency: Graph | None = None
    delivered: Graph | None = None
    value: tuple[str, Graph] | None = None

    def __post_init__(self) -> None:
        if self.latency and not self.latency.never_rises:
            raise NetworkError(f"a latency graph never rises, since later is never better; {self.latency} does")
        if self.latency and self.latency.points[0][0] < 0:
            raise NetworkError(f"a latency graph starts at 0 seconds or later; {self.latency} does not")
        if self.delivered and not self.delivered.never_falls:
            raise NetworkError(f"a delivered graph never falls, since less is never better; {self.delivered} does")
        if self.delivered and not (self.delivered.points[0][0] >= 0 and self.delivered.points[-1][0] <= 1):
            raise NetworkError(f"a delivered graph runs over fractions from 0 to 1; {self.delivered} goes beyond")

    def __str__(self) -> str:
        """
        >>> print(qos(latency={2: 1.0, 10: 0.0}, value={"toll": {0: 0.1, 9: 1}}))
        latency {2: 1, 10: 0}, value of toll {0: 0.1, 9: 1}
        """
        parts = [f"{name} {part}" for name, part in (("latency", self.latency), ("delivered", self.delivered)) if part]
        if self.value:
            parts.append(f"value of {self.value[0]} {self.value[1]}")
        return ", ".join(parts)


def qos(
    latency: Points | None = None, delivered: Points | None = None, value: Mapping[str, Points] | None = None
) -> QoS:
    """QoS from graphs as people write them: `{x: utility}`, and for `value` such a graph under its column's name."""
    if value is not None and len(value) != 1:
        raise NetworkError(f"a value graph is about one column, as in {{toll: {{0: 0.1, 9: 1}}}}; {list(value)} given")
    return QoS(
        None if latency is None else graph(latency, "latency"),
        None if delivered is None else graph(delivered, "delivered"),
        None if value is None else next((column, graph(points, "value")) for column, points in value.items()),
    )
