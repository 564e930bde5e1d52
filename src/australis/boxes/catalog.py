"""The catalog of boxes: all that are exported, by family. Methods of streams and network files go by it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from australis.model.box import Box

SQUAL, SIGNALS, MOVING = FAMILIES = ("australis.boxes", "australis.boxes.signals", "australis.boxes.moving")
"""The packages that export boxes."""


@cache
def boxes(family: str) -> tuple[type[Box], ...]:
    """The boxes of a family."""
    package = import_module(family)
    exported = (getattr(package, name) for name in package.__all__)
    return tuple(each for each in exported if isinstance(each, type) and issubclass(each, Box))


@cache
def kinds() -> Mapping[str, type[Box]]:
    """Every box by its kind."""
    return {box.kind: box for family in FAMILIES for box in boxes(family)}
