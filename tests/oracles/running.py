"""Ways of running a box that must not matter: any cuts, any number of partitions, a restart after any step."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pyarrow as pa

from australis.model.box import EVERYWHERE, Box, Moment, Tables, Trains
from australis.model.train import Train
from australis.testing import Cut
from tests.oracles.tuples import Clock, Out, emitted

WHOLE = Cut(())
SINGLY = Cut(tuple(range(64)))
"""One step for each arrival number, if they are few."""


def run(
    box: Box,
    streams: Sequence[Train],
    cut: Cut = WHOLE,
    *,
    clocks: Iterable[Clock] = (),
    end: bool = True,
    restart: bool = False,
    latest: int = 0,
) -> tuple[list[Out], ...]:
    """What each port emits; clocks fall due after the tuples up to their number.

    With `restart`, every step starts from tables made anew of all that the steps before reported as changes.
    """
    schemas = [stream.schema for stream in streams]
    ports = box.outputs(*schemas)
    tables, log = box.tables(*schemas), []
    made: tuple[list[Train], ...] = tuple([] for _ in ports)
    latest = max([latest, *(int(stream.number[-1]) for stream in streams if len(stream))])
    reached = 0
    for trains, clock in [*_steps(streams, cut, list(clocks)), *([(None, None)] if end else [])]:
        finished = trains is None
        trains = tuple(stream.slice(0, 0) for stream in streams) if trains is None else trains
        reached = max([reached, *(int(each.number[-1]) for each in trains if len(each))])
        if clock is not None:
            reached = max(reached, clock.number)
        moment = Moment(max(latest, reached) if finished else reached, None if clock is None else clock.time, finished)
        outputs = box.step(tables, trains, moment)
        assert len(outputs) == len(ports)
        for port, schema, output in zip(made, ports.values(), outputs, strict=True):
            assert output.schema.equals(schema), f"{output.schema} where {schema} was promised"
            output.tuples.validate(full=True)
            port.append(output)
        if restart:
            log.append({name: stored(table.changes()) for name, table in tables.items()})
            tables = rebuilt(box.tables(*schemas), log)
    outs = tuple(emitted(port) for port in made)
    for port in outs:
        assert [number for _, _, number in port] == sorted(number for _, _, number in port), "arrival numbers fall"
    return outs


def _steps(streams: Sequence[Train], cut: Cut, clocks: list[Clock]) -> list[tuple[Trains, Clock | None]]:
    bounds = [-1, *(clock.number for clock in clocks), 1 << 60]
    steps: list[tuple[Trains, Clock | None]] = []
    for (low, high), clock in zip(pairwise(bounds), [*clocks, None], strict=True):
        parts = [_between(stream, low, high) for stream in streams]
        *first, last = cut(*parts)
        steps += [*((trains, None) for trains in first), (last, clock)]
    return steps


def _between(stream: Train, low: int, high: int) -> Train:
    inside = [row for row, number in enumerate(stream.number.tolist()) if low < number <= high]
    return stream.slice(inside[0], inside[-1] + 1) if inside else stream.slice(0, 0)


def stored(changes: pa.RecordBatch) -> pa.RecordBatch:
    """Changes after a trip through a file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, changes.schema) as writer:
        writer.write_batch(changes)
    return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def rebuilt(tables: Tables, log: list[dict[str, pa.RecordBatch]]) -> Tables:
    for changes in log:
        for name, table in tables.items():
            if changes[name].num_rows:
                table.apply(changes[name])
    return tables


def partitioned(
    box: Box, streams: Sequence[Train], partitions: int, *, clocks: Iterable[Clock] = ()
) -> tuple[list[Out], ...]:
    """What each port emits, sorted, when tuples with the same key, and only they, are sure to meet."""
    keys = box.keys(*(stream.schema for stream in streams))
    latest = max([0, *(int(stream.number[-1]) for stream in streams if len(stream))])
    homes = [
        [row % partitions for row in range(len(stream))] if keys is None else _homes(stream, keys[side], partitions)
        for side, stream in enumerate(streams)
    ]
    parts = []
    for partition in range(partitions):
        masks = [pa.array([home in (partition, None) for home in those], pa.bool_()) for those in homes]
        split = [stream.where(mask) for stream, mask in zip(streams, masks, strict=True)]
        parts.append(run(box, split, clocks=clocks, latest=latest))
    return tuple(in_any_order(each for port in ports for each in port) for ports in zip(*parts, strict=True))


def _homes(stream: Train, key: tuple[str, ...], partitions: int) -> list[int] | list[None]:
    """The partition of each tuple; none where all of them need it."""
    if key == EVERYWHERE:
        return [None] * len(stream)
    columns = [stream[name].to_pylist() for name in key]
    keys = zip(*columns, strict=True) if key else [()] * len(stream)
    return [sum(repr(each).encode()) % partitions for each in keys]


def in_any_order(outs: Iterable[Out]) -> list[Out]:
    """A multiset of outputs."""
    return sorted(outs, key=repr)
