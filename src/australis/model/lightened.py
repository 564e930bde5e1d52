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

    def followed_by(self, other: Lightened) -> Lightened:
        """What it was over all steps, with that of the next: its objects are not others than before.

        >>> Lightened(10, 2, 5, 1, 3).followed_by(Lightened(10, 4, 5, 2, 4))
        Lightened(members=20, missed=6, reports=10, idle=3, objects=4)
        """
        return Lightened(
            self.members + other.members,
            self.missed + other.missed,
            self.reports + other.reports,
            self.idle + other.idle,
            other.objects,
        )
