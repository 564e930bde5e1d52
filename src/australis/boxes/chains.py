"""Chains: the tuples held under each key, in the order of their places, those of one place as they arrived.

Links hold slot + 1, so that zero is a chain's end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.boxes.edges import LEAST, MOST
from australis.boxes.queues import ROW, hold, queue
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train


class ChainColumns(NamedTuple):
    """The columns of a queue and of the table of keys that chains run through."""

    place: Values
    next: Ints
    previous: Ints
    key: Ints
    row: Ints
    touched: Bools
    head: Ints
    tail: Ints
    key_touched: Bools


_SWEEP = 1024


def chained_queue(stream: pa.Schema, place: pa.DataType) -> Table:
    """A queue whose tuples can be chained."""
    links = [pa.field(name, pa.int64(), nullable=False) for name in ("#next", "#previous", "#key")]
    return queue(stream, pa.field("#place", place, nullable=False), *links)


def ends(side: str) -> list[pa.Field[Any]]:
    """The columns that the table of keys needs for the chains of one side."""
    return [pa.field(f"#{end}_{side}", pa.int64(), nullable=False) for end in ("head", "tail")]


def chain_of(held: Table, keys: Table, side: str) -> ChainColumns:
    return ChainColumns(
        held["#place"], held["#next"], held["#previous"], held["#key"], held[ROW], held.touched,
        keys[f"#head_{side}"], keys[f"#tail_{side}"], keys.touched,
    )  # fmt: skip


def taken(slots: Ints) -> Ints:
    """The slots that rows took, where some took none (-1)."""
    return slots if not len(slots) or slots.min() >= 0 else slots[slots >= 0]


def settle(held: Table, train: Train, came: Ints, top: int, limits: Values, chain: ChainColumns) -> None:
    """Hold on to the tuples of the train that a kernel chained, but for those that lie below their limit."""
    stay = np.empty(len(came), np.int64)
    staying, top = _expire(came, limits, chain, held.spare, top, stay)
    held.occupy(stay[:staying], top)
    hold(held, train, stay[:staying])


def sweep(held: Table, limits: Callable[[Ints], Values], chain: ChainColumns, swept: Ints) -> bool:
    """Drop held tuples that lie below their limit, once the queue has doubled since it was last swept."""
    if len(held) <= 2 * swept[0] + _SWEEP:
        return False
    slots = held.slots
    slots = slots[chain.place[slots] < limits(slots)]
    unlink(slots, chain)
    held.free(slots)
    swept[0] = len(held)
    return True


def lowest(place: np.dtype[Any]) -> Values:
    """The limit that nothing lies below."""
    return np.array([-np.inf if place.kind == "f" else np.iinfo(np.int64).min], place)


def limit(promised: Values, size: Any) -> Values:
    """Below which places nothing is within a band of what lies at `promised` or above, with room for rounding."""
    low: Values
    if promised.dtype.kind == "i":
        low = np.where(promised >= LEAST + size, promised - size, LEAST)
    else:
        low = promised - size
        with np.errstate(invalid="ignore"):
            low = np.where(np.isfinite(low), low - (np.spacing(size) + 2 * np.spacing(np.abs(low))), low)
    return low


@inner
def _join_ends(before: int, after: int, key: int, chain: ChainColumns) -> None:
    """Let two tuples follow each other; zero stands for the end of the chain on that side."""
    if before:
        chain.next[before - 1] = after
        chain.touched[before - 1] = True
    else:
        chain.head[key] = after
    if after:
        chain.previous[after - 1] = before
        chain.touched[after - 1] = True
    else:
        chain.tail[key] = before
    chain.key_touched[key] = True


@inner
def link(slot: int, key: int, place: Any, row: int, chain: ChainColumns) -> None:
    """Put a tuple of the train in its chain, behind those of the same place."""
    chain.place[slot], chain.key[slot], chain.row[slot] = place, key, row + 1
    before = chain.tail[key]
    while before and chain.place[before - 1] > place:
        before = chain.previous[before - 1]
    after = chain.next[before - 1] if before else chain.head[key]
    chain.previous[slot], chain.next[slot] = before, after
    _join_ends(before, slot + 1, key, chain)
    _join_ends(slot + 1, after, key, chain)


@inner
def unlink(slots: Ints, chain: ChainColumns) -> None:
    """Take tuples out of their chains."""
    for slot in slots:
        _join_ends(chain.previous[slot], chain.next[slot], chain.key[slot], chain)


@inner
def _expire(slots: Ints, limits: Values, chain: ChainColumns, spare: Ints, top: int, stay: Ints) -> tuple[int, int]:
    """Take tuples of the train that lie below their limit out again; how many stay, and the top of the spare slots."""
    staying = 0
    for i in range(len(slots)):
        slot = slots[i]
        if chain.place[slot] >= limits[i if len(limits) > 1 else 0]:
            stay[staying] = slot
            staying += 1
            continue
        _join_ends(chain.previous[slot], chain.next[slot], chain.key[slot], chain)
        chain.place[slot], chain.next[slot], chain.previous[slot], chain.key[slot], chain.row[slot] = 0, 0, 0, 0, 0
        spare[top] = slot
        top += 1
    return staying, top


@inner
def lower(here: Any, size: Any, parts: Any) -> Any:
    """The least value within a band of another; `parts` is None on whole numbers, as for a grid."""
    if parts is None:
        return here - size if here >= LEAST + size else LEAST
    return here - size


@inner
def upper(here: Any, size: Any, parts: Any) -> Any:
    """The largest value within a band of another."""
    if parts is None:
        return here + size if here <= MOST - size else MOST
    return here + size


@inner
def below(place: Any, low: Any, here: Any, size: Any, parts: Any) -> bool:
    """Whether a place lies below the band around `here`, whose lower end is `low`; of doubles the difference counts."""
    if parts is None:
        return bool(place < low)
    return bool(here - place > size)


@inner
def above(place: Any, high: Any, here: Any, size: Any, parts: Any) -> bool:
    """Whether a place lies above the band around `here`, whose upper end is `high`."""
    if parts is None:
        return bool(place > high)
    return bool(place - here > size)


@inner
def first_from(key: int, here: Any, size: Any, parts: Any, chain: ChainColumns) -> int:
    """The first tuple of a key that is not below the band around `here`, as slot + 1, sought from the nearer end."""
    low = lower(here, size, parts)
    head, tail = int(chain.head[key]), int(chain.tail[key])
    if head == 0 or below(chain.place[tail - 1], low, here, size, parts):
        return 0
    if low - chain.place[head - 1] <= chain.place[tail - 1] - low:
        at = head
        while below(chain.place[at - 1], low, here, size, parts):
            at = int(chain.next[at - 1])
        return at
    at = tail
    while chain.previous[at - 1] and not below(chain.place[chain.previous[at - 1] - 1], low, here, size, parts):
        at = int(chain.previous[at - 1])
    return at


@inner
def identity(slot: int, chain: ChainColumns) -> int:
    """A tuple's id: its slot, or the complement of its row if it came with this train."""
    return -int(chain.row[slot]) if chain.row[slot] else slot
