"""Roads: the network that objects move on, from a pair of CSV files or made up (SOLE 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from australis.arrow.compute import Array, pc
from australis.errors import RunError, SchemaError, listing, near

Reals = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Column: TypeAlias = "pa.ChunkedArray[Any]"

CLASSES = ("highway", "arterial", "street", "lane")
LIMITS = (110.0, 70.0, 50.0, 30.0)
"""Kilometres an hour, by class."""
_LANES = (3.0, 2.0, 1.0, 1.0)
_ROOM = 15.0
"""Metres of a lane that a vehicle takes up when a road is full."""
MOST_TURNS = 255
"""The most roads that may leave one node: turns are stored in a byte."""


class Roads(NamedTuple):
    """Nodes, and the directed edges that leave them: those of node n are `starts[n]` up to `starts[n + 1]`."""

    x: Reals
    y: Reals
    starts: Longs
    begins: Longs
    """The node that an edge leaves."""
    ends: Longs
    length: Reals
    """Metres."""
    limit: Reals
    """Metres a second."""
    kind: Bytes
    """Its class, an index in CLASSES."""
    room: Reals
    """How many vehicles fill it."""

    @property
    def space(self) -> tuple[float, float, float, float]:
        """The smallest rectangle around all nodes: x1, y1, x2, y2."""
        return float(self.x.min()), float(self.y.min()), float(self.x.max()), float(self.y.max())


def roads(
    x: Reals, y: Reals, begins: Longs, ends: Longs, kind: Bytes, length: Reals | None = None, limit: Reals | None = None
) -> Roads:
    """The roads from nodes and directed edges. Only nodes that can all reach each other are kept.

    Without lengths roads are straight. Without limits (metres a second) they have those of their classes.
    """
    if length is None:
        length = np.hypot(x[ends] - x[begins], y[ends] - y[begins])
    if limit is None:
        limit = np.array(LIMITS)[kind] / 3.6
    connected = _largest(len(x), begins, ends)
    inside = connected[begins] & connected[ends] & (begins != ends)
    if not inside.any():
        raise SchemaError("the roads lead nowhere: no two nodes reach each other both ways")
    number = np.cumsum(connected) - 1
    begins, ends = number[begins[inside]], number[ends[inside]]
    order = np.lexsort((ends, begins))
    begins, ends = begins[order], ends[order]
    kind, length, limit = kind[inside][order], length[inside][order], limit[inside][order]
    counts = np.bincount(begins, minlength=int(connected.sum()))
    if counts.max() > MOST_TURNS:
        raise SchemaError(f"{counts.max()} roads leave one node; at most {MOST_TURNS} may")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    room = np.maximum(1.0, length * np.array(_LANES)[kind] / _ROOM)
    # Two nodes may lie at one place; a road between them still takes some time.
    return Roads(x[connected], y[connected], starts, begins, ends, np.maximum(length, 1e-3), limit, kind, room)


def _largest(nodes: int, begins: Longs, ends: Longs) -> npt.NDArray[np.bool_]:
    """The nodes of the largest part in which every node reaches every other."""
    edges = coo_array((np.ones(len(begins), np.int8), (begins, ends)), shape=(nodes, nodes))
    _, part = connected_components(edges, directed=True, connection="strong")
    largest: npt.NDArray[np.bool_] = part == np.argmax(np.bincount(part))
    return largest


def read(nodes: Path, edges: Path) -> Roads:
    """Read roads from CSV files: nodes `node,x,y` in metres, and edges `from,to`.

    An edge may have a `class` (by default street), a `length` in metres, a `speed` in km/h, and be `oneway`.
    """
    points, lines = _table(nodes, ("node", "x", "y")), _table(edges, ("from", "to"))
    names = points["node"].combine_chunks()
    if pc.count_distinct(names).as_py() < len(names):
        raise SchemaError(f"{nodes}: a node stands there twice")
    begins, ends = (_places(lines[side], names, edges, nodes) for side in ("from", "to"))
    x, y = _numbers(points, "x", nodes), _numbers(points, "y", nodes)
    length = _numbers(lines, "length", edges, least=0.0) if "length" in lines.column_names else None
    limit = _numbers(lines, "speed", edges, least=0.0) / 3.6 if "speed" in lines.column_names else None
    kind = _kinds(lines, edges)
    back = np.ones(len(begins), np.bool_)
    if "oneway" in lines.column_names:
        back = ~_truths(lines["oneway"], edges)
    return roads(
        x, y,
        np.concatenate([begins, ends[back]]),
        np.concatenate([ends, begins[back]]),
        np.concatenate([kind, kind[back]]),
        None if length is None else np.concatenate([length, length[back]]),
        None if limit is None else np.concatenate([limit, limit[back]]),
    )  # fmt: skip


def tables(roads: Roads) -> tuple[pa.Table, pa.Table]:
    """The nodes and edges as `read` takes them; every edge goes one way."""
    points = {"node": np.arange(len(roads.x)), "x": roads.x, "y": roads.y}
    lines = {
        "from": roads.begins,
        "to": roads.ends,
        "class": pa.array(CLASSES).take(roads.kind),
        "length": roads.length,
        "speed": roads.limit * 3.6,
        "oneway": np.ones(len(roads.ends), np.bool_),
    }
    return pa.table(points), pa.table(lines)


def _table(path: Path, needed: tuple[str, ...]) -> pa.Table:
    try:
        table = csv.read_csv(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise RunError(
            f"{path}: cannot be read ({error}); give a CSV file with the columns {listing(needed)}"
        ) from None
    for name in needed:
        if name not in table.column_names:
            hint = near(name, table.column_names)
            raise SchemaError(f"{path}: has no column {name}; there are {listing(table.column_names)}{hint}")
    if not table.num_rows:
        raise SchemaError(f"{path}: is empty")
    return table


def _numbers(table: pa.Table, name: str, path: Path, least: float | None = None) -> Reals:
    try:
        column = table[name].cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise SchemaError(f"{path}: the column {name} has values that are no numbers ({error})") from None
    values: Reals = column.to_numpy()
    if column.null_count or not np.isfinite(values).all():
        raise SchemaError(f"{path}: the column {name} lacks values")
    if least is not None and (values <= least).any():
        raise SchemaError(f"{path}: the column {name} has {values.min()}; give values above {least:g}")
    return values


def _places(column: Column, names: Array, edges: Path, nodes: Path) -> Longs:
    if column.type != names.type:
        raise SchemaError(f"{edges}: nodes are {column.type} there, and {names.type} in {nodes}")
    indices = pc.index_in(column, value_set=names)
    if indices.null_count:
        stranger = column.filter(indices.is_null())[0]
        raise SchemaError(f"{edges}: names the node {stranger}, which is not in {nodes}")
    places: Longs = indices.to_numpy().astype(np.int64)
    return places


def _kinds(lines: pa.Table, path: Path) -> Bytes:
    if "class" not in lines.column_names:
        return np.full(lines.num_rows, CLASSES.index("street"), np.uint8)
    indices = pc.index_in(lines["class"].cast(pa.string()), value_set=pa.array(CLASSES))
    if indices.null_count:
        stranger = str(lines["class"].filter(indices.is_null())[0])
        raise SchemaError(
            f"{path}: there is no class {stranger}; there are {listing(CLASSES)}{near(stranger, CLASSES)}"
        )
    kinds: Bytes = indices.to_numpy().astype(np.uint8)
    return kinds


def _truths(column: Column, path: Path) -> npt.NDArray[np.bool_]:
    try:
        truths: npt.NDArray[np.bool_] = pc.fill_null(column.cast(pa.bool_()), False).to_numpy().astype(np.bool_)
    except pa.ArrowInvalid:
        raise SchemaError(f"{path}: the column oneway is true or false") from None
    return truths
