"""Boxes with windows that can do with a part of their tuples: of whole windows, or of all windows as a sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from australis.arrow.columns import Bools, Ints
from australis.model.network import Network
from australis.model.train import Train, empty
from australis.qos.ranks import NumberRank


def windowed(network: Network) -> frozenset[str]:
    """The boxes of which whole windows can be left out.

    Not those whose results go on to windows: these would lack some of them, and come out wrong.
    """
    return _whole(network) - _followed(network)


def sampled(network: Network) -> frozenset[str]:
    """The boxes that can be given a sample of their tuples, since their author asks for it.

    Not those whose results go on to windows: what these make of samples would not tell so.
    """
    return _asked(network) - _followed(network)


def followed_by_windows(network: Network) -> frozenset[str]:
    """The boxes with windows whose results go on to other windows."""
    return (_whole(network) | _asked(network)) & _followed(network)


def _whole(network: Network) -> frozenset[str]:
    firsts = ((node, empty(network.schema(node.sources[0]))) for node in network.nodes)
    return frozenset(node.name for node, first in firsts if node.box.windows(first) is not None)


def _asked(network: Network) -> frozenset[str]:
    return frozenset(node.name for node in network.nodes if node.box.sampled_by is not None)


def _followed(network: Network) -> frozenset[str]:
    """The inputs and boxes whose tuples go on to such windows."""
    windows, followed = _whole(network) | _asked(network), set[str]()
    for node in reversed(network.nodes):
        if node.name in windows or node.name in followed:
            followed.update(arrow.source for arrow in node.sources)
    return frozenset(followed)


@dataclass(frozen=True)
class SampleKeep:
    """A sample of the tuples of a box is kept, and those without which its windows would be others."""

    box: str
    part: float
    rank: NumberRank = field(default_factory=NumberRank)

    def weights(self, network: Network, train: Train, wanted: Bools | None = None) -> Ints:
        """The weights of tuples, 0 for those that are left out; those that others want are not."""
        sample = self.rank.of(train) < self.part
        others = np.zeros(len(train), np.bool_) if wanted is None else wanted
        return network.named[self.box].box.thin(train, sample, others)
