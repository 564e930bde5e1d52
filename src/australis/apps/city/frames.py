"""Frames: a part of a simulated city that is small enough to draw, moment by moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.apps.city import roads
from australis.apps.city.answers import watch_answers
from australis.apps.city.folder import EDGES, NODES, read_note
from australis.apps.city.queries import NEAREST, QUERIES, REGISTER, REMOVE
from australis.apps.city.roads import Longs, Reals, Roads
from australis.apps.city.simulate import OBJECTS
from australis.arrow.compute import pc
from australis.arrow.schema import schema
from australis.connectors.sources.uri import read
from australis.errors import RunError
from australis.queries.schemas import schema_from

_ANSWERS = "query int, sign int, {} int, time int"
_SPREAD, _WORD = np.uint64(2654435761), np.uint64(1 << 32)
_MOST_FRAMES = 600


@dataclass(frozen=True)
class CityFrames:
    """Some objects and queries at some moments. Objects and queries are sorted by number, moments by time."""

    roads: Roads
    note: dict[str, Any]
    times: Longs
    objects: Longs
    kinds: Longs
    """The class of each object, as an index in the note's list of classes."""
    x: Reals
    """By moment and object; NaN if the object is not there."""
    y: Reals
    queries: Longs
    regions: Reals
    """x1, y1, x2, y2 of each query, relative to its focal object if it has one."""
    neighbours: Longs
    """How many neighbours a query asks for; 0 for a rectangle."""
    focal: Longs
    """The index of the focal object, or -1."""
    lives: Longs
    """The first moment of each query, and the one after its last."""
    changes: Longs
    """Rows of moment, query, object and sign, for the objects that are drawn."""
    sizes: Longs
    """By moment and query: how many objects are in the answer, drawn or not."""
    reaches: Reals
    """By moment and query: the distance to the last of the nearest neighbours; NaN if that is not known."""

    @property
    def whole(self) -> Longs:
        """How many objects there are at each moment, drawn or not."""
        city = self.note["city"]
        return np.asarray(city["objects"] + city["new"] * (self.times // city["every"]))


def frames(
    folder: Path,
    answers: Path | None = None,
    objects: int = 2000,
    queries: int = 100,
    on_progress: Callable[[int], None] | None = None,
) -> CityFrames:
    """Read what to draw of a city: about so many objects and queries, the same at every moment.

    Answers come from a file, or else from a watch box. `on_progress` is called with the second that was read.
    """
    note = read_note(folder)
    city, form = note["city"], note["form"]
    every, ticks = city["every"], -(-city["seconds"] // city["every"])
    stride = every * -(-ticks // _MOST_FRAMES)
    times = np.arange(0, city["seconds"], stride)
    query_rows = _sample_queries(folder / f"queries.{form}", queries, city["mix"]["count"])
    focal = query_rows["focal"].drop_null().unique().to_numpy()
    # If objects report in turn, some may never report at the moments that are drawn.
    step = stride if city["share"] == 1 else 1
    table = _sample_reports(folder / f"objects.{form}", objects, _most_objects(city), focal, step, on_progress)
    ids, slot = np.unique(table["id"].to_numpy(), return_inverse=True)
    if not len(ids):
        raise RunError(f"{folder}: there is no object to show")
    at = np.minimum(-(-table["time"].to_numpy() // stride), len(times) - 1)
    x, y = (_by_moment(table[name].to_numpy(), at, slot, (len(times), len(ids))) for name in ("x", "y"))
    kinds = np.zeros(len(ids), np.int64)
    kinds[slot] = pc.index_in(table["class"], value_set=pa.array(note["classes"])).fill_null(0).to_numpy()
    registered = query_rows.filter(pc.equal(query_rows["action"], REGISTER))
    numbers = registered["query"].to_numpy().astype(np.int64)
    reaches = np.full((len(times), len(numbers)), np.nan)
    watched = _watch_answers(folder / f"objects.{form}", query_rows, city, numbers, reaches, stride)
    parts = _read_answers(answers) if answers else watched
    changes, sizes = _accumulate(parts, numbers, ids, len(times), stride)
    return CityFrames(
        roads.read(folder / NODES, folder / EDGES),
        note,
        times,
        ids.astype(np.int64),
        kinds,
        x,
        y,
        numbers,
        _regions(registered),
        np.where(
            pc.equal(registered["kind"], NEAREST).to_numpy(zero_copy_only=False), _without_nulls(registered, "k", 0), 0
        ),
        _indices(_without_nulls(registered, "focal", -1), ids),
        _lives(query_rows, numbers, len(times), stride),
        changes,
        sizes,
        reaches,
    )


def _most_objects(city: dict[str, Any]) -> int:
    """How many objects there are at the last moment."""
    return int(city["objects"] + city["new"] * (-(-city["seconds"] // city["every"]) - 1))


def _sampled(numbers: pa.Array[Any], most: int, whole: int) -> npt.NDArray[np.bool_]:
    """A fixed sample of all numbers, spread evenly over them."""
    mixed = (numbers.to_numpy().astype(np.uint64) * _SPREAD) % _WORD
    return mixed < np.uint64(round(min(1.0, most / max(1, whole)) * float(_WORD)))


def _sample_queries(path: Path, most: int, whole: int) -> pa.Table:
    parts = [part.filter(pa.array(_sampled(part["query"], most, whole))) for part in read(path, QUERIES)]
    return pa.Table.from_batches(parts, QUERIES)


def _sample_reports(
    path: Path, most: int, whole: int, focal: Longs, step: int, on_progress: Callable[[int], None] | None
) -> pa.Table:
    """Reports of the sampled objects, and of the focal objects of the sampled queries."""
    focal_ids = pa.array(focal, pa.int32())
    parts = []
    for part in read(path, OBJECTS):
        is_focal = pc.is_in(part["id"], value_set=focal_ids).to_numpy(zero_copy_only=False)
        sampled = _sampled(part["id"], most, whole) | is_focal
        drawn = part["time"].to_numpy() % step == 0
        parts.append(part.filter(pa.array(sampled & drawn)))
        if on_progress and part.num_rows:
            on_progress(part["time"][-1].as_py())
    return pa.Table.from_batches(parts, OBJECTS)


def _by_moment(values: Reals, at: Longs, slot: Longs, shape: tuple[int, int]) -> Reals:
    """Values by moment and object. Between two reports an object is where it was at the first."""
    grid = np.full(shape, np.nan)
    grid[at, slot] = values
    row = np.arange(shape[0])[:, None]
    there = ~np.isnan(grid)
    last = np.maximum.accumulate(np.where(there, row, -1), axis=0)
    more = np.maximum.accumulate(there[::-1], axis=0)[::-1]
    filled = np.take_along_axis(grid, np.maximum(last, 0), axis=0)
    return np.where(more & (last >= 0), filled, np.nan)


def _regions(registered: pa.Table) -> Reals:
    x, y, width, height = (_without_nulls(registered, name, 0.0) for name in ("x", "y", "width", "height"))
    return np.column_stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2])


def _without_nulls(table: pa.Table, name: str, missing: float) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = pc.fill_null(table[name], missing).to_numpy()
    return values.astype(np.int64) if isinstance(missing, int) else values


def _indices(numbers: Longs, ids: npt.NDArray[Any]) -> Longs:
    """The indices of numbers among sorted ones, or -1."""
    at = np.minimum(np.searchsorted(ids, numbers), len(ids) - 1)
    return np.where(ids[at] == numbers, at, -1)


def _lives(query_rows: pa.Table, numbers: Longs, moments: int, stride: int) -> Longs:
    lives = np.column_stack([np.zeros(len(numbers), np.int64), np.full(len(numbers), moments)])
    for side, action in enumerate((REGISTER, REMOVE)):
        rows = query_rows.filter(pc.equal(query_rows["action"], action))
        place = np.searchsorted(numbers, rows["query"].to_numpy())
        lives[place, side] = -(-rows["time"].to_numpy() // stride)
    return lives


def _accumulate(
    parts: Iterable[tuple[Longs, ...]], queries: Longs, ids: npt.NDArray[Any], moments: int, stride: int
) -> tuple[Longs, Longs]:
    """Changes of answers, and sizes of answers, from columns of queries, signs, objects and times."""
    sizes = np.zeros((moments, len(queries)), np.int64)
    changes = [np.empty((0, 4), np.int64)]
    for query, sign, item, time in parts:
        place, at = _indices(query, queries) if len(queries) else np.full(len(query), -1), -(-time // stride)
        inside = (place >= 0) & (at < moments)
        np.add.at(sizes, (at[inside], place[inside]), sign[inside])
        drawn = _indices(item, ids)
        inside &= drawn >= 0
        changes.append(np.column_stack([at, place, drawn, sign])[inside])
    return np.concatenate(changes), np.cumsum(sizes, axis=0)


def _read_answers(path: Path) -> Iterator[tuple[Longs, ...]]:
    # A watch box names the column of objects as their own stream does.
    there = schema_from("answers", str(path)).names
    columns = schema(_ANSWERS.format("id" if "id" in there and "object" not in there else "object"))
    for part in read(path, columns):
        yield tuple(part[name].to_numpy().astype(np.int64) for name in columns.names)


def _watch_answers(
    path: Path, query_rows: pa.Table, city: dict[str, Any], queries: Longs, reaches: Reals, stride: int
) -> Iterator[tuple[Longs, ...]]:
    """The updates from a watch box. Records the reach of kNN queries in `reaches`."""
    for second, updates, far in watch_answers(path, query_rows, city):
        moment = -(-second // stride)
        if far and moment < len(reaches):
            place = _indices(np.fromiter(far, np.int64), queries)
            reaches[moment, place] = list(far.values())
        columns = [updates[name].to_numpy().astype(np.int64) for name in ("query", "sign", "id")]
        yield (*columns, np.full(len(updates), second))
