"""Passing: which of some filters tuples pass, whatever order they are asked in.

Where filters depend on each other, the part that one lets through is another behind others. With the counts of all
patterns of passing, that part is known for every order (Babu et al., Adaptive Ordering of Pipelined Stream Filters,
2004).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import isfinite

from australis.errors import RunError

MOST = 6
"""How many filters may be counted together: there is a count for each pattern."""


@dataclass(frozen=True)
class JointPasses:
    """How many tuples passed just some of the filters: bit i of a pattern tells of the filter i.

    >>> sharp = JointPasses(("fast", "far"), (10, 30, 0, 60))  # all that are far are fast, too
    >>> sharp.part({"fast"}), sharp.part({"far"}), sharp.part({"fast", "far"})
    (0.9, 0.6, 0.6)
    """

    filters: tuple[str, ...]
    counts: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != 1 << len(self.filters) or len(self.filters) > MOST:
            raise RunError(f"filters {', '.join(self.filters)}: {len(self.counts)} counts are not one for each pattern")
        if not all(isfinite(count) and count >= 0 for count in self.counts):
            raise RunError(f"filters {', '.join(self.filters)}: counts of tuples are finite numbers from 0 on")

    @property
    def tuples(self) -> float:
        """How many tuples were counted."""
        return sum(self.counts)

    def part(self, names: Collection[str]) -> float:
        """The part of the tuples that pass all of the filters that have these names; 1 if none has."""
        wanted = sum(1 << place for place, name in enumerate(self.filters) if name in names)
        passed = sum(count for pattern, count in enumerate(self.counts) if pattern & wanted == wanted)
        return passed / self.tuples if wanted and self.tuples else 1.0
