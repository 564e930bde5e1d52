"""A batch: what all its tasks know, and how its tuples are numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from australis.box import Moment
from australis.errors import RunError
from australis.train import Ints

_ROW_BITS, _SPLIT_BITS = 26, 10


@dataclass(frozen=True)
class Batch:
    """The version that it makes, the local time in microseconds, whether the inputs are done with it, its network's
    number, the version that was the first of that network, and the inputs that are done with it.
    """

    version: int
    clock: int
    end: bool = False
    network: int = 1
    began: int = 1
    ended: frozenset[str] = frozenset()

    @property
    def changed(self) -> bool:
        """Whether it is the first of its network."""
        return self.version == self.began

    @property
    def first(self) -> int:
        """The least arrival number of the batch."""
        return self.version << (_ROW_BITS + _SPLIT_BITS)

    @property
    def moment(self) -> Moment:
        """What boxes know in the last step of the batch."""
        last = ((self.version + 1) << (_ROW_BITS + _SPLIT_BITS)) - 1
        return Moment(last, self.clock, self.end, self.ended)

    def numbers(self, split: int, row: int, count: int) -> Ints:
        """Arrival numbers of rows of a split: they go by splits, then by rows."""
        if row + count > 1 << _ROW_BITS or split >= 1 << _SPLIT_BITS:
            raise RunError(f"a batch with more than {1 << _ROW_BITS} tuples in a split: let batches be smaller")
        return self.first + (split << _ROW_BITS) + row + np.arange(count)

    def merging(self, numbers: Ints) -> Ints:
        """Arrival numbers of tuples that are numbered from 1 within the batch, over all splits."""
        if len(numbers) and not 0 < numbers[0] <= numbers[-1] < 1 << _ROW_BITS + _SPLIT_BITS:
            raise RunError(f"a batch with more than {1 << _ROW_BITS + _SPLIT_BITS} numbers: let batches be smaller")
        return self.first + numbers


def batch(offset: dict[str, Any]) -> Batch:
    """The batch that ends at an offset of a run."""
    ended = frozenset(offset.get("ended", ()))
    return Batch(offset["version"], offset["clock"], offset["end"], offset["network"], offset["began"], ended)
