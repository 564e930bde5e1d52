"""Vehicles: the classes of moving objects, and the state of those that are on the roads (SOLE 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from australis.apps.city.roads import Bytes, Longs, Reals

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Vehicle:
    """A class of vehicles."""

    name: str
    speed: float
    """Kilometres an hour, at most."""
    share: float
    """Its fraction of all objects."""
    shuns: bool = False
    """Whether it keeps off highways."""


CLASSES = (
    Vehicle("car", 130.0, 0.74),
    Vehicle("truck", 80.0, 0.1),
    Vehicle("bus", 70.0, 0.06),
    Vehicle("bicycle", 20.0, 0.1, shuns=True),
)
FASTEST = max(each.speed for each in CLASSES) * 1.1 / 3.6
"""Metres a second that no object exceeds. Drivers exceed the speed of their class by a tenth at most."""


class Vehicles(NamedTuple):
    """Objects by slot. An object that ends makes room for another one, with a new number."""

    number: Ints
    kind: Bytes
    """Its class, an index in CLASSES."""
    edge: Longs
    along: Reals
    """Metres from the beginning of its edge."""
    place: Longs
    """Where it goes to, as a number among the places of the routes."""
    manner: Reals
    """How fast it goes, as a fraction of what it might."""
    speed: Reals
    """Metres a second, at the last moment."""
    made: Longs
    """How many there have been, in all."""


def vehicles(count: int) -> Vehicles:
    """Slots for objects, none of which has begun."""
    return Vehicles(
        np.full(count, -1, np.int32),
        np.zeros(count, np.uint8),
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count),
        np.zeros(1, np.int64),
    )


def part(all_: Vehicles, first: int, end: int) -> Vehicles:
    """A view of the objects of some slots: what changes here changes there."""
    return Vehicles._make([*(each[first:end] for each in all_[:-1]), all_.made])
