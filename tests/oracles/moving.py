"""Moving objects and queries one row at a time, every answer recomputed from all that is known."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from typing import Any

import shapely

from australis.model.box import Box, Moment
from australis.model.train import Train
from australis.testing import Cut, rows
from tests.oracles.running import rebuilt, stored

Row = dict[str, Any]
Answers = dict[Any, frozenset[int]]
EARTH = 6_371_008.8


class World:
    """All objects as they last reported, and all queries as they were last registered."""

    def __init__(
        self, conditions: dict[str, Any] | None = None, timeout: float | None = None, earth: bool = False
    ) -> None:
        self.conditions, self.timeout, self.earth = conditions or {}, timeout, earth
        self.objects: dict[int, Row] = {}
        self.queries: dict[Any, Row] = {}
        self.now = -math.inf
        self.far: list[Row] = []
        self.refused: list[Row] = []

    def report(self, row: Row) -> None:
        if not (self.possible(row) and self.believed(row)):
            self.refused.append(row)
            return
        self.objects = self.known()  # who has been silent for too long is gone until it reports again
        if row["id"] is None:
            return
        if row["x"] is None or row["y"] is None or ("time" in row and row["time"] is None):
            self.objects.pop(row["id"], None)
            return
        self.objects[row["id"]] = row
        self.objects = self.known()  # as is who tells an old time

    def possible(self, row: Row) -> bool:
        most = (180, 90) if self.earth else (sys.float_info.max,) * 2
        return all(
            value is None or abs(value) <= limit for value, limit in zip((row["x"], row["y"]), most, strict=True)
        )

    def believed(self, row: Row) -> bool:
        """Whether a time is near the latest one, or those before it in a row say so too; then it is the latest."""
        if self.timeout is None or row["time"] is None:
            return True
        time, leeway = row["time"], 1000 * (self.timeout or 1)
        if self.now == -math.inf or abs(time - self.now) <= leeway:
            self.now, self.far = max(self.now, time), []
            return True
        if self.far and abs(time - self.far[0]["time"]) > leeway:
            self.far = []
        self.far.append(row)
        if len({each["id"] for each in self.far}) > 1 or len(self.far) == 10:
            self.now, self.far = time, []
            return True
        return False

    def ask(self, row: Row) -> None:
        if row.get("action") == "remove":
            self.queries.pop(row["query"], None)
        else:
            self.queries[row["query"]] = row

    def known(self) -> dict[int, Row]:
        if self.timeout is None:
            return self.objects
        return {key: row for key, row in self.objects.items() if row["time"] >= self.now - self.timeout}

    def answers(self) -> Answers:
        return {name: frozenset(self.answer(query)) for name, query in self.queries.items()}

    def place(self, query: Row) -> tuple[float, float] | None:
        x, y = query.get("x") or 0, query.get("y") or 0
        if query.get("focal") is None:
            return x, y
        focal = self.known().get(query["focal"])
        return None if focal is None else (focal["x"] + x, focal["y"] + y)

    def answer(self, query: Row) -> Iterable[int]:
        place = self.place(query)
        if place is None:
            return []
        fits = self.conditions.get(query.get("condition"), lambda _: True)
        able = [each for each in self.known().values() if fits(each)]
        if query["kind"] == "knn":
            nearest = sorted((self.apart(place, each), each["id"]) for each in able)
            return [identifier for _, identifier in nearest[: query["k"]]]
        return [each["id"] for each in able if self.inside(query, place, each)]

    def inside(self, query: Row, place: tuple[float, float], each: Row) -> bool:
        x, y = each["x"] - place[0], each["y"] - place[1]
        if self.earth:  # as seen from either side of the antimeridian
            x = min((x, x - 360, x + 360), key=abs)
        if query["kind"] == "rectangle":
            return abs(x) <= query["width"] / 2 and abs(y) <= query["height"] / 2
        if query["kind"] == "circle":
            return self.apart(place, each) <= query["radius"]
        return bool(shapely.intersects_xy(shapely.from_wkt(query["shape"]), x, y))

    def apart(self, place: tuple[float, float], each: Row) -> float:
        if not self.earth:
            return math.hypot(each["x"] - place[0], each["y"] - place[1])
        west, south, east, north = map(math.radians, (*place, each["x"], each["y"]))
        h = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin((east - west) / 2) ** 2
        return 2 * EARTH * math.asin(min(1.0, math.sqrt(h)))


class Ledger:
    """The answers that updates add up to. No update may repeat."""

    def __init__(self) -> None:
        self.sets: dict[Any, set[int]] = {}

    def add(self, updates: Train) -> None:
        for query, sign, identifier, *_ in rows(updates):
            self.put(query, sign, identifier)

    def put(self, query: Any, sign: int, identifier: int) -> None:
        answer = self.sets.setdefault(query, set())
        assert (identifier in answer) == (sign < 0), f"{sign:+} for {identifier} in the answer {answer} of {query}"
        (answer.add if sign > 0 else answer.remove)(identifier)

    def answers(self, queries: Iterable[Any]) -> Answers:
        """What they are for the queries that there are; there is nothing in others."""
        there = set(queries)
        assert not any(answer for query, answer in self.sets.items() if query not in there)
        return {query: frozenset(self.sets.get(query, ())) for query in there}


def told(train: Train) -> Iterator[tuple[int, Row]]:
    """The rows of a train with their arrival numbers."""
    names = train.schema.names
    for number, row in zip(train.number.tolist(), rows(train), strict=True):
        yield number, dict(zip(names, row, strict=True))


def steps(
    box: Box, streams: Sequence[Train], cut: Cut, restart: bool = False, parts: Sequence[float] = (1.0,)
) -> Iterator[tuple[tuple[Train, ...], tuple[Train, ...], Any]]:
    """The trains of each step, what the box makes of them, and its tables; with `restart` from its changes alone.

    Of its results the box is to leave `parts`, which take turns.
    """
    schemas = [stream.schema for stream in streams]
    tables, log, number = box.tables(*schemas), [], 0
    for trains, part in zip(cut(*streams), cycle(parts), strict=False):
        number = max([number, *(int(train.number[-1]) for train in trains if len(train))])
        yield trains, box.step(tables, trains, Moment(number, part=part)), tables
        if restart:
            log.append({name: stored(table.changes()) for name, table in tables.items()})
            tables = rebuilt(box.tables(*schemas), log)


Ends = dict[int, tuple[int, bool]]
"""For each number, the one at which its span ends, and whether that is the end of the input."""


def stepwise(world: World, streams: Sequence[Train], ends: Ends | None = None) -> list[tuple[int, Any]]:
    """What each tuple changes, by its arrival number: the tuples one after another, and all answers after each.

    With `ends`, tuples are taken together whose numbers end at the same one.
    """
    tuples = _merged(streams)
    found: list[tuple[int, Any]] = []
    known = world.answers()
    for at, (number, side, row) in enumerate(tuples):
        (world.ask if side else world.report)(row)
        end = (number, False) if ends is None else ends[number]
        following = tuples[at + 1][0] if at + 1 < len(tuples) else None
        if following is not None and ((following, False) if ends is None else ends[following]) == end:
            continue
        answers = world.answers()
        for query in {*known, *answers}:
            before, after = known.get(query, frozenset()), answers.get(query, frozenset())
            found += [(end[0], (query, -1, each)) for each in before - after]
            found += [(end[0], (query, 1, each)) for each in after - before]
        known = answers
    return sorted(found)


def _merged(streams: Sequence[Train]) -> list[tuple[int, int, Row]]:
    tuples = [(number, side, row) for side, stream in enumerate(streams) for number, row in told(stream)]
    return sorted(tuples, key=lambda each: each[:2])


def spans(streams: Sequence[Train], span: int) -> Ends:
    """Where the span ends in which each tuple came, by the latest time of any report."""
    tuples = _merged(streams)
    now, last, which = -math.inf, max((number for number, _, _ in tuples), default=0), {}
    for number, side, row in tuples:
        now = max(now, row["time"]) if not side and row["time"] is not None else now
        which[number] = now if math.isinf(now) else now // span
    ends = {}
    for number, mine in which.items():
        later = [other for other, its in which.items() if other > number and its != mine]
        ends[number] = (min(later), False) if later else (last, True)
    return ends
