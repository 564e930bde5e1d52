"""Queries as a stream: rows that register, change and remove them, read into a table (SOLE 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.arrow.columns import Values, plain
from australis.boxes.moving.objects import LATITUDE, LONGITUDE
from australis.boxes.moving.outlines import outlines
from australis.boxes.moving.regions import CIRCLE, KINDS, NEAREST, POLYGON, RECTANGLE, Floats
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

QUERY, FOCAL, K, ACCURACY = "query", "focal", "k", "accuracy"
MISSED = "missed"
"""The part of its objects that a query was last told to miss."""
NUMBERS = ("x", "y", "width", "height", "radius", ACCURACY)
WHOLE = (FOCAL, K)
TEXTS = ("kind", "action", "shape", "condition")
ACTIONS = ("register", "update", "remove")


def table(stream: pa.Schema) -> Table:
    """The queries that are registered, with the limits that the circles of kNN queries have reached."""
    types = {
        "kind": pa.int8(), "x": pa.float64(), "y": pa.float64(), "across": pa.float64(), "along": pa.float64(),
        K: pa.int64(), "bound": pa.bool_(), FOCAL: pa.int64(), "need": pa.int64(), ACCURACY: pa.float64(),
        "limit": pa.float64(), "tie": pa.int64(), MISSED: pa.float64(),
    }  # fmt: skip
    fields = [pa.field(name, type_, nullable=False) for name, type_ in types.items()]
    return Table(pa.schema([stream.field(QUERY), *fields, pa.field("outline", pa.binary())]), (QUERY,))


class QueryRows:
    """The rows of a train as columns of the table, those that can be read, and those that remove a query."""

    def __init__(self, train: Train, conditions: Sequence[str], earth: bool = False) -> None:
        self.train = train
        kind = _coded(train, "kind", KINDS)
        self.removes: Bools = _coded(train, "action", ACTIONS) == ACTIONS.index("remove")
        sizes = [self._number("width") / 2, self._number("radius")]
        across = np.select([kind == RECTANGLE, kind == CIRCLE], sizes, 0.0)
        along = np.where(kind == RECTANGLE, self._number("height") / 2, 0.0)
        focal, self.bound = self._whole(FOCAL)
        k, counted = self._whole(K)
        accuracy = self._number(ACCURACY, 1.0)
        need = _coded(train, "condition", conditions)
        free = self.bound | (kind == POLYGON)
        x, y = (np.where(free & np.isnan(values), 0.0, values) for values in (self._number("x"), self._number("y")))
        self.outline, drawn = outlines(self._texts("shape"), kind == POLYGON)
        self.columns: Mapping[str, Values] = {
            "kind": kind.astype(np.int8), "x": x, "y": y, "across": across, "along": along, K: k,
            "bound": self.bound, FOCAL: focal, "need": np.where(need < 0, 0, 1 << np.maximum(need, 0)),
            ACCURACY: accuracy,
        }  # fmt: skip
        sized = np.isfinite(across) & np.isfinite(along) & (across >= 0) & (along >= 0)
        fits = np.isfinite(x) & np.isfinite(y) & sized & (accuracy >= 0) & (accuracy <= 1)
        fits &= (kind >= 0) & (need != _UNKNOWN) & drawn & ((kind != NEAREST) | (counted & (k > 0)))
        if earth:
            fits &= free | ((np.abs(x) <= LONGITUDE) & (np.abs(y) <= LATITUDE))
        action = _coded(train, "action", ACTIONS) != _UNKNOWN
        named = pc.is_valid(train[QUERY]).to_numpy(zero_copy_only=False)
        self.good: Bools = named & action & (fits | self.removes)

    def put(self, queries: Table, slots: Ints, rows: Ints) -> None:
        """Write rows in the table; what a circle of the same kind had reached stays, for the search to begin at."""
        for name, values in self.columns.items():
            queries[name][slots] = values[rows]
        queries["outline"][slots] = self.outline[rows]
        queries.valid["outline"][slots] = True

    def _number(self, name: str, none: float = np.nan) -> Floats:
        if name not in self.train.schema.names:
            return np.full(len(self.train), none)
        values, valid = plain(self.train[name].cast(pa.float64(), safe=False))
        return values if valid is None else np.where(valid, values, none)

    def _whole(self, name: str) -> tuple[Ints, Bools]:
        if name not in self.train.schema.names:
            return np.zeros(len(self.train), np.int64), np.zeros(len(self.train), np.bool_)
        values, valid = plain(self.train[name].cast(pa.int64()))
        there = np.ones(len(values), np.bool_) if valid is None else valid
        return np.where(there, values, 0), there

    def _texts(self, name: str) -> Values:
        if name not in self.train.schema.names:
            return np.full(len(self.train), None, object)
        return self.train[name].to_numpy(zero_copy_only=False)


_NONE, _UNKNOWN = -1, -2


def _coded(train: Train, name: str, words: Sequence[str]) -> Ints:
    """The place of each text among words; a missing one is -1, one that is not among them -2."""
    if name not in train.schema.names:
        return np.full(len(train), _NONE)
    texts = train[name]
    known: Any = pc.index_in(texts.cast(pa.string()), pa.array(words, pa.string()))
    codes: Ints = known.fill_null(_UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    codes[texts.is_null().to_numpy(zero_copy_only=False)] = _NONE
    return codes
