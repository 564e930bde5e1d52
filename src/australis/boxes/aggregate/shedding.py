"""Which window holds a tuple or a result, so that whole windows can be left out under load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools, Ints, Values
from australis.boxes.edges import WindowGrid, holding
from australis.kernels.jit import kernel
from australis.model.keys import buckets
from australis.model.windows import TupleWindows

_HASHES = 1 << 40


def tuple_windows(
    places: Values, placed: Bools, groups: Sequence[pa.Array[Any]], on: WindowGrid, slack: int
) -> TupleWindows:
    """The windows that hold places, where each is in one at most."""
    numbers, found = np.zeros(len(places), np.int64), placed.copy()
    _number(places, found, on, numbers)
    hashes = buckets(groups, len(places), _HASHES) if groups else np.zeros(len(places), np.int64)
    return TupleWindows(hashes, numbers, found, slack)


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
