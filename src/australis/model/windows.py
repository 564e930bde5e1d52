"""Windows as a load shedder sees them: which one each tuple is in."""

from __future__ import annotations

from typing import NamedTuple

from australis.arrow.columns import Bools, Ints


class TupleWindows(NamedTuple):
    """The window that holds each tuple of a train: a hash of its group, and its number in the order of windows."""

    groups: Ints
    numbers: Ints
    placed: Bools
    """Whether it is in a window at all; a tuple without a value is in none."""
    columns: frozenset[str]
    """The columns that tell windows apart."""
    slack: int
    """How many later tuples of its group may come before a tuple that is not late."""
