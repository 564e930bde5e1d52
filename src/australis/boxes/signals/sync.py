"""Sync: cut ranges of time out of signals, all at once (XStream II-A, IV-A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain, take
from australis.boxes.signals.column import Segments, segments
from australis.boxes.signals.cutting import Cuts, Ranges, cut, edges, limits, reach, release
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import (
    Pieces,
    arrive,
    channels,
    check_same,
    held_table,
    hold,
    keys_table,
    samples,
    waiting,
)
from australis.boxes.signals.sequence import out_of_order
from australis.errors import SchemaError, listing, near
from australis.model import parameters
from australis.model.box import Moment, Tables, Trains, bound, lost, unchanged
from australis.model.facts import Facts, SignalGroup
from australis.model.labels import as_written
from australis.model.parameters import By
from australis.model.table import Table
from australis.model.train import Ints, Train, empty

_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_OWN = ("#key", "#place", "#ts", "#number")


@dataclass(frozen=True)
class Sync(Following):
    """For each range of the first input, the samples that lie in it of every column of segments of the others.

    A range is [start, end], both included: indices where the columns are whole numbers, times where they are
    timestamps, which serve signals of different rates. It leaves when every signal of its key has come past its end,
    or at the end of the input, after the ranges before it. Ranges ascend in `start`: what lies before the start of a
    range, or up to the end of one that is not to `keep`, is freed when it leaves, and is not there for later ones.
    Samples wait for ranges, so that it takes some that are not kept to free them. A signal with gaps in a range gives
    its runs over several tuples; where it has no (more) samples it is null. Other columns of signals are left behind,
    those of ranges stay. Tuples of the first signal with a segment that is out of order leave by the port `late_1`,
    those of the second by `late_2`, and so on.
    """

    signals: int
    by: tuple[str, ...] = ()
    start: str = "start"
    end: str = "end"
    keep: str | None = None

    kind: ClassVar[str] = "sync"
    others: ClassVar[tuple[str, ...]] = ("*signals",)

    @classmethod
    def make(cls, *, by: By = (), start: str = "start", end: str = "end", keep: str | None = None, arity: int) -> Sync:
        """Cut the ranges that this stream asks for, [start, end], out of all signals.

        Ranges whose column `keep` is false free samples; where a stream has a column `keep`, it is that one.
        """
        return cls(arity - 1, parameters.by(by), start, end, keep)

    def written(self) -> Mapping[str, object]:
        return {"by": as_written(self.by), "start": self.start, "end": self.end, "keep": self.keep}

    def adapted(self, stored: Sequence[bool], streams: Sequence[pa.Schema]) -> Sync:
        """A column `keep` says what to keep, unless another is named."""
        return replace(self, keep="keep") if self.keep is None and "keep" in streams[0].names else self

    @property
    def arity(self) -> int:
        return 1 + self.signals

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        control = inputs[0]
        if not self.signals:
            raise SchemaError("sync takes ranges and at least one signal")
        check_same(inputs, self.by)
        for name in (self.start, self.end, *([self.keep] if self.keep else [])):
            if name not in control.names:
                raise SchemaError(f"`{name}` is no column of the ranges{near(name, control.names)}; there are"
                                  f" {listing(control.names)}")  # fmt: skip
        first, last = (control.field(name).type for name in (self.start, self.end))
        if first != last or not (pa.types.is_signed_integer(first) or pa.types.is_timestamp(first)):
            raise SchemaError(f"a range goes from {first} to {last}; give two whole numbers or two timestamps")
        if self.keep and control.field(self.keep).type != pa.bool_():
            raise SchemaError(f"`{self.keep}` is {control.field(self.keep).type}; what says whether to keep is boolean")
        return {"out": self._schema(*inputs)} | {f"late_{at}": each for at, each in enumerate(inputs) if at}

    def tables(self, *inputs: pa.Schema) -> Tables:
        channels = self._channels(*inputs)
        edge, last = (pa.field(name, pa.int64(), nullable=False) for name in ("#edge", "#last"))
        count = pa.field("#ranges", pa.int64(), nullable=False)
        kept = [inputs[0].field(name) for name in self._carried(inputs[0])]
        own = [pa.field(name, pa.int64(), nullable=False) for name in _OWN]
        flag = pa.field("#keep", pa.bool_(), nullable=False)
        return {
            "keys": keys_table(inputs[0], self.by, len(channels), edge, last, count),
            "ranges": Table(pa.schema([*kept, *own, flag])),
            **{f"held_{at}": held_table() for at in range(len(channels))},
        }

    def holds(self, *inputs: pa.Schema) -> str:
        return "the ranges that signals have not come past, and the samples since the last range"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        if lost(port):
            side = int(port.removeprefix("late_"))
            return {side: unchanged(inputs[side])}
        return super().passes(port, *inputs)

    def apart(self, group: SignalGroup, side: int, streams: Sequence[pa.Schema]) -> bool:
        """One signal may be cut by the ranges of many: only where it has the column too are they mixed."""
        return side == 0 and not any(group.name in each.names for each in streams[1:])

    def followed(self, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return Facts(rates={name: rate for known in given for name, rate in known.rates.items()})

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        keys, pending = tables["keys"], tables["ranges"]
        schemas = [train.schema for train in trains]
        slots = [keys.find([train[name] for name in self.by], len(train)) for train in trains]
        self._ask(keys, pending, trains[0], slots[0])
        ranges, waits = self._ranges(pending, schemas[0])
        wanted = np.concatenate(slots) if not moment.end else keys.slots
        signals: list[Segments] = []
        pieces: list[Pieces] = []
        olds: list[Ints] = []
        channels = self._channels(*schemas)
        late = [np.zeros(len(train), np.bool_) for train in trains]
        for at, (side, name) in enumerate(channels):
            held = tables[f"held_{at}"]
            signals.append(segments(trains[side][name]))
            olds.append(waiting(keys, held, wanted))
            pieces.append(arrive(keys, held, olds[at], at, slots[side], trains[side], signals[at], late[side]))
        done = np.ones(len(ranges.key), np.bool_)
        number = ranges.number.copy()
        for at, channel in enumerate(pieces):
            reach(ranges, channel, keys, at, moment.number if moment.end else -1, done, number)
        released = release(ranges, done, number, keys)
        out = empty(self._schema(*schemas))
        if released.any():
            leaving = ranges.where(released)
            cuts = [cut(leaving, channel, keys) for channel in pieces]
            edges(leaving, keys)
            out = self._out(tables, schemas, leaving, waits[released], number[released], cuts, pieces, olds, signals)
        for at in range(len(channels)):
            self._hold(keys, tables[f"held_{at}"], pieces[at], signals[at], ranges.unit)
        pending.free(waits[released])
        return (out, *map(out_of_order, trains[1:], late[1:]))

    def _ask(self, keys: Table, pending: Table, train: Train, slots: Ints) -> None:
        """Put ranges among those that wait for their signals; ranges without a start or an end are left out."""
        first, last = train[self.start], train[self.end]
        rows = np.arange(len(train))
        if first.null_count or last.null_count:
            rows = np.flatnonzero(plain(first.is_valid())[0] & plain(last.is_valid())[0])
        if not len(rows):
            return
        new = pending.insert(len(rows))
        for name in self._carried(train.schema):
            pending.put(name, new, take(train[name], rows))
        pending["#key"][new], pending["#ts"][new], pending["#number"][new] = (
            slots[rows], train.ts[rows], train.number[rows],
        )  # fmt: skip
        pending["#place"][new] = np.arange(len(rows)) + keys["#ranges"].max(initial=0)
        keys["#ranges"][slots[rows]] = pending["#place"][new].max() + 1
        flags = plain(train[self.keep].fill_null(False))[0][rows] if self.keep else np.ones(len(rows), np.bool_)
        pending["#keep"][new] = flags

    def _ranges(self, pending: Table, control: pa.Schema) -> tuple[Ranges, Ints]:
        """The ranges that wait, by key and in order of arrival, and their slots."""
        slots = pending.slots
        slots = slots[np.lexsort((pending["#place"][slots], pending["#key"][slots]))]
        type_ = control.field(self.start).type
        unit = _UNITS[type_.unit] if isinstance(type_, pa.TimestampType) else 0
        # Beyond these no sample lies, and twice a place, or a place at a rate, would overflow.
        far = min(1 << 60, unit << 36) if unit else 1 << 60
        first, last = (np.clip(pending[name][slots].astype(np.int64), -far, far) for name in (self.start, self.end))
        return Ranges(
            pending["#key"][slots], first, last, pending["#keep"][slots], pending["#ts"][slots],
            pending["#number"][slots], unit,
        ), slots  # fmt: skip

    def _hold(self, keys: Table, held: Table, pieces: Pieces, signal: Segments, unit: int) -> None:
        hold(held, self._own(pieces), signal.samples, limits(keys, unit, pieces))

    def _own(self, pieces: Pieces) -> Pieces:
        """Pieces whose offsets count in the samples of the train, for where those that are held are not needed.

        They come after all that is held, which need not be joined with them then.
        """
        return replace(pieces, offset=pieces.offset - int(pieces.size[pieces.slot >= 0].sum()))

    def _out(
        self, tables: Tables, schemas: list[pa.Schema], leaving: Ranges, waits: Ints, number: Ints, cuts: list[Cuts],
        pieces: list[Pieces], olds: list[Ints], signals: list[Segments],
    ) -> Train:  # fmt: skip
        """A tuple for each range that is kept, or more where a signal has gaps in it."""
        many = np.maximum(1, np.max([each.count for each in cuts], axis=0)) * leaving.keep
        of = np.repeat(np.arange(len(many)), many)
        turn = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
        order = np.lexsort((tables["ranges"]["#place"][waits[of]], number[of]))
        of, turn = of[order], turn[order]
        ts = leaving.ts.copy()
        columns = [tables["ranges"].get(name, waits[of]) for name in self._carried(schemas[0])]
        for at, each in enumerate(cuts):
            ts = np.minimum(ts, each.ts)
            there = turn < each.count[of]
            runs = (each.first[of] + turn)[there]
            own, all_ = self._own(pieces[at]), signals[at].samples
            if (own.slot[each.piece] >= 0).any():
                own, all_ = pieces[at], samples(tables[f"held_{at}"], olds[at], signals[at])
            columns.append(each.segments(runs, there, own, all_).arrow())
        schema = self._schema(*schemas)
        return Train(pa.RecordBatch.from_arrays(columns, schema=schema), ts[of], number[of])

    def _carried(self, control: pa.Schema) -> list[str]:
        return [name for name in control.names if name != self.keep]

    @bound
    def _channels(self, *inputs: pa.Schema) -> list[tuple[int, str]]:
        return channels(inputs[1:])

    @bound
    def _schema(self, *inputs: pa.Schema) -> pa.Schema:
        fields = [inputs[0].field(name) for name in self._carried(inputs[0])]
        for side, name in self._channels(*inputs):
            if name in [field.name for field in fields]:
                raise SchemaError(
                    f"the column `{name}` of signal {side} is there already: map it to another name first"
                )
            fields.append(inputs[side].field(name).with_nullable(True))
        return pa.schema(fields)
