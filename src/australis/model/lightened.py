"""What a box works with that was told to work with less."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lightened:
    """What a box leaves out by itself, after a step (`Box.lightens`)."""

    members: int = 0
    """What its results would be made of if it left nothing out: for queries, the objects in their answers."""
    missed: int = 0
    """How much of that it leaves out."""
    reports: int = 0
    """The tuples of the step, and how many of them were about something that is left out."""
    idle: int = 0
    objects: int = 0
    """How many objects it leaves out."""
