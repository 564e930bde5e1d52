"""Parts that only some rows need: one that fails does so for those rows alone.

Whole columns are fast, and so are tried first. When that fails, parts are evaluated from left to right, each on the
rows for which those before it decide nothing. The compiled loops of `writer` need the same parts.
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
    """What the first gives, or the second where the first fails."""

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
            there = pc.is_valid(values)
            chosen.take(there, values.filter(there))
        return chosen.rest(parts[-1])

    return run


def choice(tests: Sequence[Run], results: Sequence[Run], type: Type) -> Run:
    """The result of the first test that holds; the last result is that of no test."""

    def run(batch: pa.RecordBatch) -> Datum:
        chosen = _Chosen(batch, type)
        for test, result in zip(tests, results, strict=False):
            hit = pc.fill_null(_values(test, chosen.left, pa.bool_()), False)
            chosen.take(hit, _values(result, chosen.left.filter(hit), type))
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
            open_ = pc.fill_null(pc.not_equal(result, decides), True)
            more = both(result.filter(open_), _values(part, batch.filter(open_), pa.bool_()))
            result = pc.replace_with_mask(result, open_, more)
        return result

    return run


class _Chosen:
    """Values chosen for some rows after the other, and the rows that are left."""

    def __init__(self, batch: pa.RecordBatch, type: Type) -> None:
        self.left, self.type = batch, type
        self.rows: Any = pa.array(np.arange(batch.num_rows))
        self.pieces: list[Any] = []
        self.places: list[Any] = []

    def take(self, hit: Datum, values: Datum) -> None:
        """Choose values for the rows that are hit."""
        self.pieces.append(values)
        self.places.append(self.rows.filter(hit))
        others = pc.invert(hit)
        self.left, self.rows = self.left.filter(others), self.rows.filter(others)

    def rest(self, part: Run) -> Datum:
        """All values in the order of their rows, once a last part has given those that are left."""
        self.pieces.append(_values(part, self.left, self.type))
        self.places.append(self.rows)
        return pa.concat_arrays(self.pieces).take(pc.sort_indices(pa.concat_arrays(self.places)))


def _values(part: Run, batch: pa.RecordBatch, type: Type) -> Datum:
    # Without rows there is nothing to ask; a user's function may not know what to do.
    return as_array(part(batch), batch.num_rows) if batch.num_rows else nulls(0, type)
