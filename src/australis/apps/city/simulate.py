"""Simulate: a city's objects and queries, moment by moment, written to a folder as they come (SOLE 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from australis.apps.city import driving
from australis.apps.city.folder import EDGES, FORMS, NODES, folder, write_note
from australis.apps.city.layout import layout
from australis.apps.city.queries import QUERIES, Mix, ending, queries, register, remove
from australis.apps.city.roads import Longs, Roads, tables
from australis.apps.city.routes import backward, renew, routes, times
from australis.apps.city.vehicles import CLASSES, FASTEST, Vehicles, part, vehicles
from australis.arrow.compute import Array
from australis.arrow.schema import schema
from australis.errors import RunError, listing, near
from australis.kernels.random import chance

OBJECTS = schema("id int, x double, y double, time int, speed float, class string")
_ROUNDS = 60
"""The number of moments in which all routes over crowded roads are found again."""
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class City:
    """The options of a city: how many objects, for how long, how often they report, and what they do on arrival."""

    objects: int = 1000
    seconds: int = 100
    seed: int = 1
    new: int = 0
    """How many more begin at each moment after the first."""
    every: int = 1
    """Seconds from one moment to the next."""
    share: float = 1.0
    """The fraction of the objects that report at each moment, in turn."""
    vanish: bool = True
    """Whether objects that arrive vanish and others begin; else they go on to another place."""
    crowded: bool = False
    """Whether roads get slow when they are full, and objects go around them."""
    mix: Mix = field(default_factory=Mix)

    @property
    def ticks(self) -> int:
        """How many moments there are."""
        return -(-self.seconds // max(1, self.every))

    @property
    def most(self) -> int:
        """How many objects there are at the last moment."""
        return self.objects + self.new * (self.ticks - 1)

    def check(self) -> None:
        if self.objects < 0 or self.new < 0 or self.most >= 1 << 31:
            raise RunError(f"{self.objects} objects and {self.new} new ones a moment: give 0 to {(1 << 31) - 1} in all")
        if self.seconds < 1 or self.every < 1:
            raise RunError(f"{self.seconds} seconds, every {self.every}: give 1 or more of each")
        if not 0 < self.share <= 1:
            raise RunError(f"a share of {self.share}: give a part of the objects, above 0 and up to 1")
        if self.seed < 0:
            raise RunError(f"seed {self.seed}: give 0 or more")
        self.mix.check()


@dataclass(frozen=True)
class CityMoment:
    """The reports and the rows about queries of one moment."""

    time: int
    objects: pa.RecordBatch
    queries: list[pa.RecordBatch]


def moments(city: City, roads: Roads | None = None) -> Iterator[CityMoment]:
    """All moments of a city in order. The same seed gives the same moments."""
    city.check()
    ground = layout(city.seed) if roads is None else roads
    ways, back = routes(ground, city.seed, city.most), backward(ground)
    draws, rng = chance(city.seed, 3), np.random.default_rng((city.seed, 4))
    flow = np.ones(len(ground.ends))
    everyone, current_queries = vehicles(city.most), queries(city.mix)
    count, limits = 0, (driving.SPEEDS, driving.SHARES)
    for tick in range(city.ticks):
        now, before = tick * city.every, part(everyone, 0, count)
        query_rows: list[pa.RecordBatch] = []
        if city.crowded and tick:
            driving.flows(before.edge, ground, flow)
            some = -(-len(ways.places) // _ROUNDS)
            renew(ways, ground, back, times(ground, flow), tick * some, some)
        driving.drive(city.every, before, ground, ways, flow, *limits, city.vanish, draws)
        more = city.new if tick else city.objects
        driving.begin(part(everyone, count, count + more), ground, ways, *limits, draws)
        count += more
        moving = part(everyone, 0, count)
        if tick:
            slots = ending(current_queries, moving, city.mix, rng)
            query_rows.append(remove(current_queries, slots, now))
        else:
            slots = np.arange(city.mix.count)
        query_rows.append(register(current_queries, slots, moving, ground.space, city.mix, now, rng))
        yield CityMoment(now, _reports(moving, ground, _due(moving, tick, city.share), now), query_rows)


def simulate(
    out: Path,
    city: City,
    roads: Roads | None = None,
    form: str = "arrow",
    on_progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Write the objects, queries and roads of a city to a folder, and return the note that it holds.

    `on_progress` is called with the second that it has reached.
    """
    city.check()
    if form not in FORMS:
        raise RunError(f"format `{form}`: give {listing(FORMS)}{near(form, FORMS)}")
    ground = layout(city.seed) if roads is None else roads
    counts = {"reports": 0, "asked": 0, "objects": 0}
    with folder(Path(out), form, {"objects": OBJECTS, "queries": QUERIES}) as write:
        for moment in moments(city, ground):
            write["objects"](moment.objects)
            counts["reports"] += moment.objects.num_rows
            for rows in moment.queries:
                write["queries"](rows)
                counts["asked"] += rows.num_rows
            if on_progress:
                on_progress(moment.time + city.every)
    content = {
        "version": version("australis"),
        "form": form,
        "space": ground.space,
        "fastest": FASTEST,
        "classes": [each.name for each in CLASSES],
        "city": asdict(city),
        "reports": counts["reports"],
        "asked": counts["asked"],
    }
    nodes, edges = tables(ground)
    write_note(Path(out), {NODES: nodes, EDGES: edges}, content)
    return content


def _due(moving: Vehicles, tick: int, share: float) -> Longs:
    """The slots that report at a moment. Every object reports at even intervals, which begin at different moments."""
    if share == 1.0:
        return np.arange(len(moving.number))
    phase = (moving.number * _GOLDEN) % 1.0
    return np.flatnonzero(np.floor((tick + 1) * share + phase) > np.floor(tick * share + phase))


def _reports(moving: Vehicles, roads: Roads, slots: Longs, now: int) -> pa.RecordBatch:
    x, y, kind = np.empty(len(slots)), np.empty(len(slots)), np.empty(len(slots), np.uint8)
    driving.places(moving, roads, slots, x, y, kind)
    columns: list[Array] = [
        pa.array(moving.number[slots]),
        pa.array(x),
        pa.array(y),
        pa.array(np.full(len(slots), now, np.int32)),
        pa.array(moving.speed[slots].astype(np.float32)),
        pa.array([each.name for each in CLASSES]).take(kind),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=OBJECTS)
