"""Facts: what is known of signals before a run, so that mistakes are found when a network is built.

Facts go from box to box: the columns that earlier boxes told signals apart by, the rates of signals, and the lengths of
windows. A box that does not hand facts on ends them, and after it nothing is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

Fact = TypeVar("Fact")


@dataclass(frozen=True)
class SignalGroup:
    """A column by which a box told signals apart; `column` is None once a later box has dropped it."""

    name: str
    box: str
    column: str | None


@dataclass(frozen=True)
class Facts:
    """What is known of a stream: for each column of segments its rate, and how many samples a segment has."""

    groups: tuple[SignalGroup, ...] = ()
    rates: Mapping[str, Fraction] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


NOTHING = Facts()


def common(streams: Sequence[Facts]) -> Facts:
    """What is known of merged streams: the groups of every stream, and the rates and sizes on which all agree."""
    first, *others = streams
    rates = {name: rate for name, rate in first.rates.items() if all(rate == each.rates.get(name) for each in others)}
    sizes = {name: size for name, size in first.sizes.items() if all(size == each.sizes.get(name) for each in others)}
    return Facts(tuple(dict.fromkeys(group for each in streams for group in each.groups)), rates, sizes)


def without(facts: Mapping[str, Fact], names: Collection[str]) -> dict[str, Fact]:
    """The facts of all columns except `names`."""
    return {name: fact for name, fact in facts.items() if name not in names}
