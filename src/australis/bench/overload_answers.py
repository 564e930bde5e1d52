"""Answers about moving objects as updates add up to them, and what part of the true ones each query has (SOLE 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import Floats
from australis.model.train import Bools, Ints

Updates = pa.Table | pa.RecordBatch
_ROUNDING = 1e-9


class Answers:
    """The objects in the answer of each query; both are numbered from 0."""

    def __init__(self, queries: int, objects: int) -> None:
        self.sums: npt.NDArray[np.int8] = np.zeros((queries, objects), np.int8)

    def add(self, updates: Updates) -> None:
        """Let objects enter and leave."""
        query, sign, id_ = (updates[name].to_numpy() for name in ("query", "sign", "id"))
        np.add.at(self.sums, (query, id_), sign.astype(np.int8))

    @property
    def members(self) -> Bools:
        """Whether each object is in the answer of each query."""
        return self.sums > 0


@dataclass
class Accuracies:
    """How much of its answer each query had, at one moment after another, beside the accuracy that it asks for.

    The accuracy is the part of the objects in the region of a query that it was told of; 1 if there are none.
    """

    asked: Floats
    moments: int = 0
    strangers: int = 0
    """Objects in answers that they should not be in, over all moments."""
    least: Floats = field(init=False)
    """The least accuracy that each query had."""
    had: Ints = field(init=False)
    """How many objects each query was told of, over the moments that count for the mean, and how many there were."""
    whole: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.least = np.ones(len(self.asked))
        self.had, self.whole = np.zeros((2, len(self.asked)), np.int64)

    def see(self, told: Answers, true: Answers, counts: bool = True) -> tuple[float, float]:
        """Note what is told at a moment; the part of all answers, and the least accuracy to that asked for."""
        members, full = told.members, true.members
        had, whole = (members & full).sum(axis=1), full.sum(axis=1)
        accuracy = np.divide(had, whole, out=np.ones(len(whole)), where=whole > 0)
        self.moments += 1
        self.strangers += int((members & ~full).sum())
        self.least = np.minimum(self.least, accuracy)
        if counts:
            self.had, self.whole = self.had + had, self.whole + whole
        return _part(had, whole), float((accuracy / self.asked).min())

    @property
    def told(self) -> float:
        """The part of all answers that was told, over the moments that count."""
        return _part(self.had, self.whole)

    @property
    def ratio(self) -> float:
        """The least accuracy of any query at any moment, to that which it asks for."""
        return float((self.least / self.asked).min())

    def figures(self) -> dict[str, Any]:
        """What was found, in all and by the accuracy that queries ask for, as JSON holds it."""
        kept = self.least >= self.asked - _ROUNDING
        groups = [(float(accuracy), self.asked == accuracy) for accuracy in np.unique(self.asked)]
        return {
            "queries": len(self.asked),
            "kept": int(kept.sum()),
            "moments": self.moments,
            "strangers": self.strangers,
            "told": self.told,
            "ratio": self.ratio,
            "asked": [
                {
                    "accuracy": accuracy,
                    "queries": int(group.sum()),
                    "kept": int(kept[group].sum()),
                    "least": float(self.least[group].min()),
                    "mean": _part(self.had[group], self.whole[group]),
                }
                for accuracy, group in groups
            ],
        }


def _part(had: Ints, whole: Ints) -> float:
    return float(had.sum() / whole.sum()) if whole.sum() else 1.0
