"""Tuples as the oracles see them: a plain row with its hidden `ts` and arrival number."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from australis.model.train import Train
from australis.testing import rows, train


class Tuple(NamedTuple):
    """One tuple; `row` goes by column name."""

    row: dict[str, Any]
    ts: int
    number: int


class Clock(NamedTuple):
    """The end of a step at which local time is known."""

    time: int
    number: int


Stream = list[Tuple]
Out = tuple[tuple[Any, ...], int, int]
"""What a box emitted: the row, its `ts` and its arrival number."""


def out(row: Iterable[Any], ts: int, number: int) -> Out:
    """An output in a form that compares: NaN equals itself, floats are rounded, 1.0 shows as 1."""
    return tuple(map(_plain, row)), ts, number


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        near = value if not math.isfinite(value) else round(value, 9)
        return "nan" if math.isnan(value) else int(near) if near.is_integer() else near
    return value


def passed(tuples: Stream) -> list[Out]:
    """Tuples that leave as they came."""
    return [out(each.row.values(), each.ts, each.number) for each in tuples]


def emitted(trains: Iterable[Train]) -> list[Out]:
    """The tuples of trains, in their order."""
    return [
        out(row, ts, number)
        for each in trains
        for row, ts, number in zip(rows(each), each.ts.tolist(), each.number.tolist(), strict=True)
    ]


def stream_of(schema: str, stream: Stream) -> Train:
    """The train of a whole stream."""
    names = [part.split()[0] for part in schema.split(",")]
    return train(
        schema,
        {name: [each.row[name] for each in stream] for name in names},
        ts=[each.ts for each in stream],
        number=[each.number for each in stream],
    )


@st.composite
def streams(draw: st.DrawFn, *, most: int = 14, steps: tuple[int, ...] = (0, 1, 1, 2), **columns: Any) -> Stream:
    """Streams of columns drawn from strategies; arrival numbers never fall and may repeat, `ts` is in any order."""
    size = draw(st.integers(0, most))
    number, made = 1, []
    for _ in range(size):
        row = {name: draw(column) for name, column in columns.items()}
        number += draw(st.sampled_from(steps))
        made.append(Tuple(row, draw(st.integers(0, 12)), number))
    return made


@st.composite
def interleaved(draw: st.DrawFn, left: Stream, right: Stream) -> tuple[Stream, Stream]:
    """Two streams with new arrival numbers, so that they interleave in some way."""
    sides = draw(st.permutations([0] * len(left) + [1] * len(right)))
    numbers: tuple[list[int], list[int]] = ([], [])
    for number, side in enumerate(sides, start=1):
        numbers[side].append(number)
    return tuple(  # type: ignore[return-value]
        [each._replace(number=number) for each, number in zip(stream, given, strict=True)]
        for stream, given in zip((left, right), numbers, strict=True)
    )
