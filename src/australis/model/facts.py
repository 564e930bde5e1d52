"""Facts: what is known of signals before a run, from box to box, so that networks that cannot be meant are refused.

Known are the columns by which boxes before told signals apart, the rates of signals, and how long windows are. Where
a box is not one of those that hand a fact on, nothing is known any more, and nothing is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

Fact = TypeVar("Fact")


@dataclass(frozen=True)
class SignalGroup:
    """A column by which a box told signals apart; none if it was left behind since."""

    name: str
    box: str
    column: str | None


@dataclass(frozen=True)
class Facts:
    """What is known of a stream: of columns of segments, their rates and how many samples each segment has."""

    groups: tuple[SignalGroup, ...] = ()
    rates: Mapping[str, Fraction] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


NOTHING = Facts()


def common(given: Sequence[Facts]) -> Facts:
    """What is known of streams that are merged: groups of any, and what is the same of all."""
    first, *others = given
    rates = {name: rate for name, rate in first.rates.items() if all(rate == each.rates.get(name) for each in others)}
    sizes = {name: size for name, size in first.sizes.items() if all(size == each.sizes.get(name) for each in others)}
    return Facts(tuple(dict.fromkeys(group for each in given for group in each.groups)), rates, sizes)


def without(facts: Mapping[str, Fact], names: Collection[str]) -> dict[str, Fact]:
    """The facts of all columns but these."""
    return {name: fact for name, fact in facts.items() if name not in names}
