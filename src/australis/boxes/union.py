"""Union: streams of one schema as one stream (Aurora 5.2.1.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow import schema as schemas
from australis.arrow.columns import Values
from australis.boxes.queues import TS, queue
from australis.errors import NetworkError, SchemaError
from australis.expressions import Expr
from australis.model.ascent import Ascent, Disorder
from australis.model.box import Box, Key, Moment, Tables, Trains, unchanged
from australis.model.facts import Facts, common
from australis.model.order import Order, place_type
from australis.model.table import Table
from australis.model.train import Ints, Train, concat


@dataclass(frozen=True)
class Union(Box):
    """Tuples leave in the order of their arrival numbers, those with the same number in the order of the inputs.

    With `on`, streams that ascend on this column are merged by it: whichever has the least value next comes first, so
    that it does not matter which stream arrives sooner. A tuple is held until every other stream has come as far, or
    has ended. A stream's own order stays as it is: a tuple that is out of it, or has no value, comes right after the
    one before it.

    >>> from australis.testing import apply, train
    >>> odd, even = train("x int", x=[1, 3], number=[1, 3]), train("x int", x=[2, 4], number=[2, 4])
    >>> apply(Union(2), odd, even)[0]["x"].to_pylist()
    [1, 2, 3, 4]
    >>> apply(Union(2, on="x"), train("x int", x=[1, 5, 4, 9]), train("x int", x=[2, 6]))[0]["x"].to_pylist()
    [1, 2, 5, 4, 6]
    """

    streams: int
    on: str = ""

    kind: ClassVar[str] = "union"
    merges: ClassVar[bool] = True
    stores: ClassVar[bool] = True
    immediate: ClassVar[bool] = True
    keeps_all: ClassVar[bool] = True
    others: ClassVar[tuple[str, ...]] = ("*others",)

    @classmethod
    def make(cls, *, on: str = "", arity: int) -> Union:
        """Merge with other streams of the same schema, in the order of arrival, or by a column on which they ascend.

        With `on` a tuple waits until every other stream has come as far, or has ended.
        """
        return cls(arity, on)

    def written(self) -> Mapping[str, object]:
        return {"on": self.on}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        if self.arity < 2:
            raise NetworkError("a union takes two streams or more")
        first, *others = inputs
        for position, other in enumerate(others, start=2):
            if not other.equals(first):
                raise SchemaError(
                    f"the streams of a union have one schema, but the first is ({schemas.text(first)})"
                    f" and number {position} ({schemas.text(other)}): make them the same with a map"
                )
        if self.on and Order(self.on).counts:
            raise NetworkError(f"`on` is a column to merge by; without it a union is by arrival, as `{self.on}` is")
        if self.on:
            Order(self.on).check(first)
        return {"out": first}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return ((),) * self.arity if self.on else None

    def tables(self, *inputs: pa.Schema) -> Tables:
        if not self.on:
            return {}
        place = pa.field("#place", place_type(inputs[0].field(self.on).type), nullable=False)
        side, serial, count = (pa.field(name, pa.int64(), nullable=False) for name in ("#side", "#serial", "#count"))
        return {
            "sides": Table(pa.schema([side, place, count]), ("#side",)),
            "queue": queue(inputs[0], place, side, serial),
        }

    def holds(self, *inputs: pa.Schema) -> str:
        return f"what one stream has come to on {self.on}, and another has not" if self.on else ""

    def label(self) -> list[str]:
        return [f"on {self.on}"] if self.on else []

    @property
    def arity(self) -> int:
        return self.streams

    @property
    def waits_for_all(self) -> bool:
        return bool(self.on)

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {side: unchanged(stream) for side, stream in enumerate(inputs)}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        return (columns | ({self.on} if self.on else set()),) * self.arity

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """The predicate on all inputs. Merged by a column, tuples leave when others come, which may be removed then."""
        return None if self.on else dict.fromkeys(range(self.arity), predicate)

    def sorts(self, port: str) -> Key | None:
        return () if self.on else None

    def merged_by(self, column: str) -> Box | None:
        return None if self.on else replace(self, on=column)

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        return Disorder(f"the streams of a UNION ALL come as they come, so `{column}` does not ascend")

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return common(given)

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        if self.on:
            return (self._merged(tables["sides"], tables["queue"], trains, moment),)
        merged = concat(trains[0].schema, trains)
        if sum(1 for train in trains if len(train)) > 1:
            merged = merged.take(np.argsort(merged.number, kind="stable"))
        return (merged,)

    def _merged(self, sides: Table, held: Table, trains: Trains, moment: Moment) -> Train:
        slots = sides.find([pa.array(range(self.arity), pa.int64())], self.arity)
        runs = list(self._runs(sides, held, trains, slots))
        done = [moment.end or side in moment.done for side in range(self.arity)]
        parts, places = [], []
        for side, run in enumerate(runs):
            number = _leaving(side, runs, done, moment.number)
            left, stored = len(number), min(len(number), len(run.slots))
            parts += [run.stored(held, stored, number), run.came(left - stored, number)]
            places.append(run.places[:left])
            held.free(run.slots[:stored])
            run.hold(held, left - stored, side, int(sides["#count"][slots[side]]))
            sides["#place"][slots[side]] = run.reach
            sides["#count"][slots[side]] += len(run.train)
        sides.touched[slots] = True
        out = concat(trains[0].schema, parts)
        order = np.argsort(np.concatenate(places), kind="stable")  # of equals, those of the first input come first
        return out if (order[1:] > order[:-1]).all() else out.take(order)

    def _runs(self, sides: Table, held: Table, trains: Trains, slots: Ints) -> Iterator[_Run]:
        waiting = held.slots
        waiting = waiting[np.argsort(held["#serial"][waiting], kind="stable")]
        for side, train in enumerate(trains):
            values, valid = Order(self.on).places(train)
            least = -np.inf if values.dtype.kind == "f" else np.iinfo(np.int64).min
            before = sides["#place"][slots[side]] if sides["#count"][slots[side]] else least
            new = np.maximum.accumulate(np.concatenate([[before], np.where(valid, values, least)]).astype(values.dtype))
            held_here = waiting[held["#side"][waiting] == side]
            yield _Run(train, held_here, np.concatenate([held["#place"][held_here], new[1:]]), before, new[-1])


@dataclass(frozen=True)
class _Run:
    """What one stream has that has not left: tuples in slots, and after them those of its train."""

    train: Train
    slots: Ints
    places: Values
    """How far the stream has come with each."""
    before: Any
    reach: Any
    """How far it had come before the train, and has come with it."""

    def passed(self, places: Values, after: bool, done: bool, last: int) -> Ints:
        """The arrival number with which it comes past places, or as far as those unless `after`; -1 if it does not."""
        arrived = self.places[len(self.slots) :]
        at = np.searchsorted(arrived, places, side="right" if after else "left")
        number = np.append(self.train.number, last if done else -1)[at]
        there = self.before > places if after else self.before >= places
        return np.where(there, 0, number)

    def stored(self, held: Table, count: int, number: Ints) -> Train:
        tuples = held.rows(self.slots[:count], self.train.schema.names).cast(self.train.schema)
        return Train(tuples, held[TS][self.slots[:count]], number[:count])

    def came(self, count: int, number: Ints) -> Train:
        first = self.train.slice(0, count)
        return Train(first.tuples, first.ts, number[len(number) - count :])

    def hold(self, held: Table, left: int, side: int, serial: int) -> None:
        """Keep what has not left of the train."""
        rest = self.train.slice(left, len(self.train))
        if not len(rest):
            return
        new = held.insert(len(rest))
        for name in rest.schema.names:
            held.put(name, new, rest[name])
        held[TS][new], held["#side"][new] = rest.ts, side
        held["#place"][new] = self.places[len(self.places) - len(rest) :]
        held["#serial"][new] = serial + left + np.arange(len(rest))


def _leaving(side: int, runs: list[_Run], done: list[bool], last: int) -> Ints:
    """Of the tuples of a stream that leave, which are the first ones, the arrival numbers that let them go."""
    run = runs[side]
    number = np.concatenate([np.zeros(len(run.slots), np.int64), run.train.number])
    left = np.ones(len(number), np.bool_)
    for at, other in enumerate(runs):
        if at != side:
            passed = other.passed(run.places, at < side, done[at], last)
            left &= passed >= 0
            number = np.maximum(number, passed)
    return number[: int(np.count_nonzero(left))]
