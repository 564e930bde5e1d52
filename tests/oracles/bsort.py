"""BSort one tuple at a time (Aurora 5.2.2.1)."""

from typing import Any

from tests.oracles.order import TUP, missing
from tests.oracles.tuples import Stream, Tuple


def bsort(stream: Stream, on: str, slack: int = 0, by: tuple[str, ...] = (), end: bool = True) -> Stream:
    """A buffer of slack + 1 tuples a group; when it is full, a least tuple leaves, the earliest of those."""
    if on == TUP:
        return stream
    buffers: dict[tuple[Any, ...], list[Tuple]] = {}
    out: Stream = []
    for each in stream:
        buffer = buffers.setdefault(tuple(each.row[name] for name in by), [])
        if missing(each.row[on]):
            out.append(each)
            continue
        buffer.append(each)
        if len(buffer) == slack + 1:
            least = min(buffer, key=lambda held: held.row[on])
            # by identity: an equal tuple behind it is another tuple
            buffer[:] = [held for held in buffer if held is not least]
            out.append(least._replace(number=each.number))
    if end:
        last = stream[-1].number if stream else 0
        held = [each for buffer in buffers.values() for each in buffer]
        out += [each._replace(number=last) for each in sorted(held, key=lambda each: each.row[on])]
    return out


def bubble(values: list[Any], passes: int) -> list[Any]:
    """So many passes of bubble sort over a list."""
    values = list(values)
    for _ in range(passes):
        for place in range(len(values) - 1):
            if values[place] > values[place + 1]:
                values[place], values[place + 1] = values[place + 1], values[place]
    return values
