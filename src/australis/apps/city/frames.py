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
from australis.apps.city.answers import watched
from australis.apps.city.folder import EDGES, NODES, noted
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
    """Some objects and queries at some moments, by place: objects and queries by number, moments by time."""

    roads: Roads
    note: dict[str, Any]
    times: Longs
    objects: Longs
    kinds: Longs
    """The class of each object, as a place in the note's list of classes."""
    x: Reals
    """By moment and object; NaN where it is not there."""
    y: Reals
    queries: Longs
    regions: Reals
    """x1, y1, x2, y2 of each query, relative to its focal object where there is one."""
    neighbours: Longs
    """How many neighbours a query asks for; 0 for a rectangle."""
    focal: Longs
    """The place of the focal object, or -1."""
    lives: Longs
    """The first moment of each query, and the one after its last."""
    changes: Longs
    """Rows of moment, query, object and sign, for objects that are shown."""
    sizes: Longs
    """By moment and query: how many objects are in the answer, shown or not."""
    reaches: Reals
    """By moment and query: how far it is to the last of the nearest neighbours; NaN where that is not known."""

    @property
    def whole(self) -> Longs:
        """How many objects there are at each moment, shown or not."""
        city = self.note["city"]
        return np.asarray(city["objects"] + city["new"] * (self.times // city["every"]))


def frames(
    folder: Path,
    answers: Path | None = None,
    objects: int = 2000,
    queries: int = 100,
    told: Callable[[int], None] | None = None,
) -> CityFrames:
    """What to draw of a city: about so many objects and queries, the same ones at every moment.

    Answers are those of a file, else what a watch box gives. `told` is called with the second that was read.
    """
    note = noted(folder)
    city, form = note["city"], note["form"]
    every, ticks = city["every"], -(-city["seconds"] // city["every"])
    stride = every * -(-ticks // _MOST_FRAMES)
    times = np.arange(0, city["seconds"], stride)
    asked = _asked(folder / f"queries.{form}", queries, city["mix"]["count"])
    focal = asked["focal"].drop_null().unique().to_numpy()
    # Objects that report in turn may never do so at the moments that are drawn.
    step = stride if city["share"] == 1 else 1
    table = _seen(folder / f"objects.{form}", objects, _most(city), focal, step, told)
    ids, slot = np.unique(table["id"].to_numpy(), return_inverse=True)
    if not len(ids):
        raise RunError(f"{folder}: there is no object to show")
    at = np.minimum(-(-table["time"].to_numpy() // stride), len(times) - 1)
    x, y = (_placed(table[name].to_numpy(), at, slot, (len(times), len(ids))) for name in ("x", "y"))
    kinds = np.zeros(len(ids), np.int64)
    kinds[slot] = pc.index_in(table["class"], value_set=pa.array(note["classes"])).fill_null(0).to_numpy()
    made = asked.filter(pc.equal(asked["action"], REGISTER))
    numbers = made["query"].to_numpy().astype(np.int64)
    reaches = np.full((len(times), len(numbers)), np.nan)
    parts = _given(answers) if answers else _watched(folder / f"objects.{form}", asked, city, numbers, reaches, stride)
    changes, sizes = _answered(parts, numbers, ids, len(times), stride)
    return CityFrames(
        roads.read(folder / NODES, folder / EDGES),
        note,
        times,
        ids.astype(np.int64),
        kinds,
        x,
        y,
        numbers,
        _regions(made),
        np.where(pc.equal(made["kind"], NEAREST).to_numpy(zero_copy_only=False), _filled(made, "k", 0), 0),
        _places(_filled(made, "focal", -1), ids),
        _lives(asked, numbers, len(times), stride),
        changes,
        sizes,
        reaches,
    )


def _most(city: dict[str, Any]) -> int:
    """How many objects there are at the last moment."""
    return int(city["objects"] + city["new"] * (-(-city["seconds"] // city["every"]) - 1))


def _chosen(numbers: pa.Array[Any], most: int, whole: int) -> npt.NDArray[np.bool_]:
    """The same part of all numbers whenever it is asked for, spread evenly over them."""
    mixed = (numbers.to_numpy().astype(np.uint64) * _SPREAD) % _WORD
    return mixed < np.uint64(round(min(1.0, most / max(1, whole)) * float(_WORD)))


def _asked(path: Path, most: int, whole: int) -> pa.Table:
    parts = [part.filter(pa.array(_chosen(part["query"], most, whole))) for part in read(path, QUERIES)]
    return pa.Table.from_batches(parts, QUERIES)


def _seen(path: Path, most: int, whole: int, focal: Longs, step: int, told: Callable[[int], None] | None) -> pa.Table:
    """Reports of the chosen objects, and of the focal ones of the chosen queries."""
    wanted = pa.array(focal, pa.int32())
    parts = []
    for part in read(path, OBJECTS):
        mine = _chosen(part["id"], most, whole) | pc.is_in(part["id"], value_set=wanted).to_numpy(zero_copy_only=False)
        drawn = part["time"].to_numpy() % step == 0
        parts.append(part.filter(pa.array(mine & drawn)))
        if told and part.num_rows:
            told(part["time"][-1].as_py())
    return pa.Table.from_batches(parts, OBJECTS)


def _placed(values: Reals, at: Longs, slot: Longs, shape: tuple[int, int]) -> Reals:
    """Values by moment and object; between two reports an object is where it was at the first."""
    found = np.full(shape, np.nan)
    found[at, slot] = values
    row = np.arange(shape[0])[:, None]
    there = ~np.isnan(found)
    last = np.maximum.accumulate(np.where(there, row, -1), axis=0)
    more = np.maximum.accumulate(there[::-1], axis=0)[::-1]
    filled = np.take_along_axis(found, np.maximum(last, 0), axis=0)
    return np.where(more & (last >= 0), filled, np.nan)


def _regions(made: pa.Table) -> Reals:
    x, y, width, height = (_filled(made, name, 0.0) for name in ("x", "y", "width", "height"))
    return np.column_stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2])


def _filled(table: pa.Table, name: str, missing: float) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = pc.fill_null(table[name], missing).to_numpy()
    return found.astype(np.int64) if isinstance(missing, int) else found


def _places(numbers: Longs, ids: npt.NDArray[Any]) -> Longs:
    """Where numbers stand among sorted ones, or -1."""
    at = np.minimum(np.searchsorted(ids, numbers), len(ids) - 1)
    return np.where(ids[at] == numbers, at, -1)


def _lives(asked: pa.Table, numbers: Longs, moments: int, stride: int) -> Longs:
    lives = np.column_stack([np.zeros(len(numbers), np.int64), np.full(len(numbers), moments)])
    for side, action in enumerate((REGISTER, REMOVE)):
        rows = asked.filter(pc.equal(asked["action"], action))
        place = np.searchsorted(numbers, rows["query"].to_numpy())
        lives[place, side] = -(-rows["time"].to_numpy() // stride)
    return lives


def _answered(
    parts: Iterable[tuple[Longs, ...]], queries: Longs, ids: npt.NDArray[Any], moments: int, stride: int
) -> tuple[Longs, Longs]:
    """Changes of answers from columns of queries, signs, objects and times; and how large answers are."""
    sizes = np.zeros((moments, len(queries)), np.int64)
    changes = [np.empty((0, 4), np.int64)]
    for query, sign, item, time in parts:
        place, at = _places(query, queries) if len(queries) else np.full(len(query), -1), -(-time // stride)
        mine = (place >= 0) & (at < moments)
        np.add.at(sizes, (at[mine], place[mine]), sign[mine])
        shown = _places(item, ids)
        mine &= shown >= 0
        changes.append(np.column_stack([at, place, shown, sign])[mine])
    return np.concatenate(changes), np.cumsum(sizes, axis=0)


def _given(path: Path) -> Iterator[tuple[Longs, ...]]:
    # What a watch box gives has the name that objects have for themselves.
    there = schema_from("answers", str(path)).names
    wanted = schema(_ANSWERS.format("id" if "id" in there and "object" not in there else "object"))
    for part in read(path, wanted):
        yield tuple(part[name].to_numpy().astype(np.int64) for name in wanted.names)


def _watched(
    path: Path, asked: pa.Table, city: dict[str, Any], queries: Longs, reaches: Reals, stride: int
) -> Iterator[tuple[Longs, ...]]:
    """What a watch box gives; writes down how far queries for neighbours reach."""
    for second, updates, far in watched(path, asked, city):
        moment = -(-second // stride)
        if far and moment < len(reaches):
            place = _places(np.fromiter(far, np.int64), queries)
            reaches[moment, place] = list(far.values())
        columns = [updates[name].to_numpy().astype(np.int64) for name in ("query", "sign", "id")]
        yield (*columns, np.full(len(updates), second))
