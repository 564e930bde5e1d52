"""Lazy evaluation: a part of an expression fails only for rows that need it.

Whole columns are faster, so they are tried first. When that fails, the parts are evaluated from left to right, each on
the rows that the parts before it do not decide. The compiled loops of `writer` follow the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Datum, as_array, nulls, pc
from australis.arrow.schema import Type
from australis.errors import RunError

Run: TypeAlias = Callable[[pa.RecordBatch], Datum]


def careful(fast: Run, slow: Run) -> Run:
    """Run the first on a batch, or the second if the first fails."""

    def run(batch: pa.RecordBatch) -> Datum:
        try:
            return fast(batch)
        except (pa.ArrowException, RunError):
            return slow(batch)

    return run


def first(parts: Sequence[Run], type: Type) -> Run:
    """The first value that is not null."""

    def run(batch: pa.RecordBatch) -> Datum:
        chosen = _Chosen(batch, type)
        for part in parts[:-1]:
            values = _values(part, chosen.left, type)
            valid = pc.is_valid(values)
            chosen.take(valid, values.filter(valid))
        return chosen.rest(parts[-1])

    return run


def choice(tests: Sequence[Run], results: Sequence[Run], type: Type) -> Run:
    """The result of the first test that holds; the last result is for rows where none does."""

    def run(batch: pa.RecordBatch) -> Datum:
        chosen = _Chosen(batch, type)
        for test, result in zip(tests, results, strict=False):
            holds = pc.fill_null(_values(test, chosen.left, pa.bool_()), False)
            chosen.take(holds, _values(result, chosen.left.filter(holds), type))
        return chosen.rest(results[-1])

    return run


def every(parts: Sequence[Run], _: Type) -> Run:
    return _logic(parts, decides=False, both=pc.and_kleene)


def some(parts: Sequence[Run], _: Type) -> Run:
    return _logic(parts, decides=True, both=pc.or_kleene)


def _logic(parts: Sequence[Run], decides: bool, both: Callable[[Any, Any], Any]) -> Run:
    def run(batch: pa.RecordBatch) -> Datum:
        result = _values(parts[0], batch, pa.bool_())
        for part in parts[1:]:
            undecided = pc.fill_null(pc.not_equal(result, decides), True)
            more = both(result.filter(undecided), _values(part, batch.filter(undecided), pa.bool_()))
            result = pc.replace_with_mask(result, undecided, more)
        return result

    return run


class _Chosen:
    """The values that are chosen so far, and the rows that have none yet."""

    def __init__(self, batch: pa.RecordBatch, type: Type) -> None:
        self.left, self.type = batch, type
        self.rows: Any = pa.array(np.arange(batch.num_rows))
        self.pieces: list[Any] = []
        self.places: list[Any] = []

    def take(self, mask: Datum, values: Datum) -> None:
        """Choose values for the rows of a mask."""
        self.pieces.append(values)
        self.places.append(self.rows.filter(mask))
        others = pc.invert(mask)
        self.left, self.rows = self.left.filter(others), self.rows.filter(others)

    def rest(self, part: Run) -> Datum:
        """Evaluate the last part for the rows that are left. Returns all values in the order of their rows."""
        self.pieces.append(_values(part, self.left, self.type))
        self.places.append(self.rows)
        return pa.concat_arrays(self.pieces).take(pc.sort_indices(pa.concat_arrays(self.places)))


def _values(part: Run, batch: pa.RecordBatch, type: Type) -> Datum:
    # A user's function may fail without rows, so it is not called then.
    return as_array(part(batch), batch.num_rows) if batch.num_rows else nulls(0, type)
