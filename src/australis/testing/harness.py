"""For tests: make trains, run one box without a network, cut streams in every way, script sources and sinks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from australis.arrow.schema import schema as schema_of
from australis.model.box import Box, Moment, Tables, Trains
from australis.model.train import Ints, Train

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Row = tuple[Any, ...]
Rows = list[Row]


def train(
    schema: str | pa.Schema,
    columns: Mapping[str, Sequence[object]] | None = None,
    /,
    *,
    ts: int | Sequence[int] | None = None,
    first: int = 1,
    number: Sequence[int] | None = None,
    **more: Sequence[object],
) -> Train:
    """A train from columns of plain values, numbered from `first` unless `number` has the arrival numbers.

    `ts` defaults to the arrival number. Columns whose names cannot be keyword arguments go in the mapping.

    >>> reports = train("mph int, seg int", mph=[55, None], seg=[1, 2], first=7)
    >>> rows(reports), reports.number.tolist()
    ([(55, 1), (None, 2)], [7, 8])
    """
    values = {**(columns or {}), **more}
    fields = schema_of(schema)
    if set(values) != set(fields.names):
        raise ValueError(f"train: columns {sorted(values)} given for the schema {fields.names}")
    arrays = [pa.array(values[field.name], field.type) for field in fields]
    tuples = pa.RecordBatch.from_arrays(arrays, schema=fields)
    size = tuples.num_rows
    numbers = np.arange(first, first + size) if number is None else np.asarray(number)
    stamps = numbers if ts is None else np.full(size, ts) if isinstance(ts, int) else np.asarray(ts)
    if len(numbers) != size or len(stamps) != size:
        raise ValueError(f"train: {size} tuples with {len(stamps)} ts and {len(numbers)} arrival numbers")
    return Train(tuples, stamps.astype(np.int64), numbers.astype(np.int64))


def rows(tuples: Train | pa.RecordBatch | pa.Table) -> Rows:
    """The visible columns as a list of plain tuples."""
    batch = tuples.tuples if isinstance(tuples, Train) else tuples
    if not batch.num_columns:
        return [()] * batch.num_rows
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def apply(
    box: Box, *trains: Train, end: bool = False, clock: int | None = None, tables: Tables | None = None
) -> Trains:
    """Run one step of a box, on `tables` or on new ones, and check what it promises of its outputs."""
    schemas = [train.schema for train in trains]
    state = box.tables(*schemas) if tables is None else tables
    return _step(box, state, trains, Moment(_latest(trains), clock, end))


def drive(box: Box, steps: Iterable[Train | Trains], *, end: bool = True) -> tuple[Rows, ...]:
    """Run a box over steps and return the rows of each port. A step is a train for each input, or one train.

    With `end`, a last step without tuples says that the inputs are finished.
    """
    return tuple([row for part in port for row in rows(part)] for port in drive_trains(box, steps, end=end))


def drive_trains(box: Box, steps: Iterable[Train | Trains], *, end: bool = True) -> tuple[list[Train], ...]:
    """As `drive`, but the trains themselves, with their `ts` and numbers."""
    script = [(step,) if isinstance(step, Train) else step for step in steps]
    if not script:
        raise ValueError("drive: no steps; a stream without tuples is one empty train")
    schemas = [train.schema for train in script[0]]
    tables = box.tables(*schemas)
    ports: tuple[list[Train], ...] = tuple([] for _ in box.outputs(*schemas))
    if end:
        script.append(tuple(train.slice(0, 0) for train in script[0]))
    latest = 0
    for place, trains in enumerate(script):
        latest = max(latest, _latest(trains))
        outputs = _step(box, tables, trains, Moment(latest, None, end and place == len(script) - 1))
        for port, out in zip(ports, outputs, strict=True):
            if port and len(out) and len(port[-1]) and out.number[0] < port[-1].number[-1]:
                raise AssertionError(f"{box.kind}: arrival numbers fall from one train to the next")
            port.append(out)
    return ports


def _step(box: Box, tables: Tables, trains: Trains, moment: Moment) -> Trains:
    ports = box.outputs(*(train.schema for train in trains))
    outputs = box.step(tables, trains, moment)
    if len(outputs) != len(ports):
        raise AssertionError(f"{box.kind}: {len(outputs)} trains for the ports {list(ports)}")
    for (name, schema), out in zip(ports.items(), outputs, strict=True):
        if not out.schema.equals(schema):
            raise AssertionError(f"{box.kind}: port {name} has {out.schema.names}, {schema.names} were promised")
        if not len(out) == len(out.ts) == len(out.number) or not _ascends(out.number):
            raise AssertionError(f"{box.kind}: port {name} has hidden columns of another length, or falling numbers")
    return outputs


def _latest(trains: Trains) -> int:
    return max((int(train.number[-1]) for train in trains if len(train)), default=0)


def _ascends(numbers: Ints) -> bool:
    return bool((np.diff(numbers) >= 0).all())


@dataclass(frozen=True)
class Cut:
    """One way of cutting streams into trains, the same for streams of any length."""

    points: tuple[int, ...]

    def __call__(self, *streams: Train) -> list[Trains]:
        """Cut streams into steps of one train each. The arrival number of a tuple decides its step.

        >>> [[rows(part) for part in step] for step in Cut((2,))(train("a int", a=[1, 2, 3]))]
        [[[(1,), (2,)]], [[(3,)]]]
        """
        latest = _latest(streams)
        bounds = [0, *sorted(point % (latest + 1) for point in self.points), latest]
        edges = [np.searchsorted(stream.number, bounds, side="right").tolist() for stream in streams]
        for edge in edges:
            edge[0] = 0
        return list(zip(*(_parts(stream, edge) for stream, edge in zip(streams, edges, strict=True)), strict=True))


def _parts(stream: Train, edges: list[int]) -> list[Train]:
    return [stream.slice(start, stop) for start, stop in pairwise(edges)]


def cuts(most: int = 6) -> SearchStrategy[Cut]:
    """Ways of cutting streams, as a hypothesis strategy; empty trains are among the parts."""
    from hypothesis import strategies as st

    return st.lists(st.integers(0, 40), max_size=most).map(lambda points: Cut(tuple(points)))


class AbortedError(RuntimeError):
    """The failure that a script asked for."""


class ScriptedSource:
    """A source that follows a script of trains or of rows; it can pause for a turn, and fail once.

    >>> feed = ScriptedSource("mph int", [(55,)], ScriptedSource.PAUSE, [(70,), (80,)])
    >>> [rows(part) for part in feed]
    [[(55,)], [], [(70,), (80,)]]
    """

    PAUSE = object()
    """A turn without tuples."""
    ABORT = object()
    """A failure, the first time that the script comes to it."""

    def __init__(self, schema: str | pa.Schema, *script: object) -> None:
        self.schema = schema_of(schema)
        self.script = script
        self.aborted: set[int] = set()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for place, part in enumerate(self.script):
            if part is ScriptedSource.ABORT:
                if place not in self.aborted:
                    self.aborted.add(place)
                    raise AbortedError(f"the script aborts at part {place + 1}")
            elif part is ScriptedSource.PAUSE:
                yield self._batch([])
            else:
                yield part.tuples if isinstance(part, Train) else self._batch(part)

    def _batch(self, part: Any) -> pa.RecordBatch:
        columns = zip(*part, strict=True) if part else [()] * len(self.schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class Collect:
    """A sink that keeps all batches that are written to it."""

    def __init__(self) -> None:
        self.batches: list[pa.RecordBatch] = []
        self.closed = False

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> Collect:
        return self

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        self.batches.extend(tuples)

    def close(self) -> None:
        self.closed = True

    @property
    def rows(self) -> Rows:
        return [row for batch in self.batches for row in rows(batch)]
