"""Senders: which posts are stored already, by the sequences that their senders gave them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

KEPT = 64
"""How many stretches of sequences are remembered of a sender: the highest."""


class Senders:
    """Stretches of sequences, from a first to a last, by sender, and the floors from which on they are all there is.

    Sequences rise, but those under way at once may come in any order. What lies before the stretches that are
    remembered may be stored or not: it is forgotten, and never taken for one or the other.

    >>> senders = Senders()
    >>> for sequence in (1, 2, 5, 4):
    ...     senders.add("car-7", sequence)
    >>> senders.stretches
    {'car-7': [[1, 2], [4, 5]]}
    >>> senders.has("car-7", 3), senders.has("car-7", 4), senders.has("car-8", 1)
    (False, True, False)
    """

    def __init__(
        self, stretches: Mapping[str, Sequence[Sequence[int]]] | None = None, floors: Mapping[str, int] | None = None
    ) -> None:
        self.stretches = {name: [[a, b] for a, b in its] for name, its in (stretches or {}).items()}
        self.floors = dict(floors or {})

    def has(self, sender: str, sequence: int) -> bool:
        its = self.stretches.get(sender, [])
        at = bisect_right(its, sequence, key=itemgetter(0))
        return at > 0 and its[at - 1][1] >= sequence

    def least(self, sender: str) -> int:
        """The least sequence that is not forgotten: before it nothing is known, or nothing could be remembered."""
        its = self.stretches.get(sender, [])
        first = its[0][0] - 1 if len(its) >= KEPT else 0
        return max(first, self.floors.get(sender, 0))

    def add(self, sender: str, sequence: int) -> None:
        if self.has(sender, sequence):
            return
        its = self.stretches.setdefault(sender, [])
        at = bisect_right(its, sequence, key=itemgetter(0))
        low = at - 1 if at and its[at - 1][1] == sequence - 1 else at
        high = at + 1 if at < len(its) and its[at][0] == sequence + 1 else at
        joined = [sequence, *(end for stretch in its[low:high] for end in stretch)]
        its[low:high] = [[min(joined), max(joined)]]
        if len(its) > KEPT:
            self.floors[sender] = its.pop(0)[1] + 1

    def only(self, names: Iterable[str]) -> Senders:
        """A copy of what is known of some senders."""
        wanted = set(names)
        stretches = {name: self.stretches[name] for name in wanted & self.stretches.keys()}
        return Senders(stretches, {name: self.floors[name] for name in wanted & self.floors.keys()})
