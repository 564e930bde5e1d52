"""Which window holds a tuple or a result, so that whole windows can be left out under load."""

from __future__ import annotations

import numpy as np

from australis.arrow.columns import Bools, Ints, Values
from australis.boxes.edges import WindowGrid, holding
from australis.boxes.ordering import columns_of
from australis.kernels.jit import kernel
from australis.model.keys import hashes
from australis.model.order import Order
from australis.model.train import Train
from australis.model.windows import TupleWindows


def tuple_windows(order: Order, train: Train, on: WindowGrid) -> TupleWindows:
    """The windows that hold tuples, where each is in one at most."""
    places, placed = order.places(train)
    numbers, found = np.zeros(len(train), np.int64), placed.copy()
    _number(places, found, on, numbers)
    groups = [train[name] for name in order.by]
    return TupleWindows(hashes(groups, len(train)), numbers, found, columns_of(order), order.slack)


@kernel
def _number(values: Values, placed: Bools, on: WindowGrid, numbers: Ints) -> None:
    """Fill in the window of each value that has a place, and note which have none."""
    for row in range(len(values)):
        here = values[row]
        if placed[row] and here >= on.least and here <= on.most:
            first, last = holding(here, on)
            numbers[row], placed[row] = last, first == last
        else:
            placed[row] = False
