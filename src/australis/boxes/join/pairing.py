"""Tuples of two streams that meet their partners as both arrive: the kernel of Join."""

from __future__ import annotations

from typing import Any, NamedTuple

from australis.arrow.columns import Values
from australis.boxes.chains import ChainColumns, above, first_from, identity, link, upper
from australis.kernels.jit import inner
from australis.model.train import Bools, Ints


class JoinArrivals(NamedTuple):
    """What came on one side: arrival numbers, which are in order, their places and keys, and the slots they took."""

    number: Ints
    timely: Bools
    place: Values
    key: Ints
    kept: bool
    slots: Ints


@inner
def _arrived(
    row: int, side: JoinArrivals, chain: ChainColumns, others: ChainColumns, spare: Ints, top: int, band: Any
) -> tuple[int, int]:
    """Hold a tuple if its side is kept; its first partner, as slot + 1, and the stack of spare slots."""
    size, banded, parts = band
    key, here = side.key[row], side.place[row]
    if key < 0 or not side.timely[row]:
        return 0, top
    if side.kept:
        top -= 1
        side.slots[row] = spare[top]
        link(spare[top], key, here, row, chain)
    return (first_from(key, here, size, parts, others) if banded else others.head[key]), top


@inner
def _probe(
    row: int,
    partner: int,
    side: JoinArrivals,
    others: ChainColumns,
    band: Any,
    me: Ints,
    them: Ints,
    numbers: Ints,
    pairs: int,
) -> tuple[int, int]:
    """Pair a tuple with those from `partner` on while there is room; the next partner and the number of pairs."""
    size, banded, parts = band
    here = side.place[row]
    high = upper(here, size, parts)
    while partner and pairs < len(me) and not (banded and above(others.place[partner - 1], high, here, size, parts)):
        me[pairs], them[pairs], numbers[pairs] = ~row, identity(partner - 1, others), side.number[row]
        pairs += 1
        partner = others.next[partner - 1]
    return (partner if partner and pairs == len(me) else 0), pairs


@inner
def pair_up(
    left: JoinArrivals,
    right: JoinArrivals,
    left_chain: ChainColumns,
    right_chain: ChainColumns,
    left_spare: Ints,
    right_spare: Ints,
    tops: Ints,
    at: Ints,
    band: Any,
    lefts: Ints,
    rights: Ints,
    numbers: Ints,
) -> int:
    """Let tuples of both sides arrive by their numbers and pair each with those held of the other side.

    Goes on from `at`: the rows to come of either side, a partner not yet paired with the row before, and whether that
    was a left one. Fills in the ids of lefts and rights and the arrival number of the later, while there is room, and
    gives the number of pairs.
    """
    pairs = 0
    while pairs < len(lefts) and (at[2] or at[0] < len(left.key) or at[1] < len(right.key)):
        if not at[2]:
            at[3] = at[1] == len(right.key) or (at[0] < len(left.key) and left.number[at[0]] <= right.number[at[1]])
            if at[3]:
                at[2], tops[0] = _arrived(at[0], left, left_chain, right_chain, left_spare, tops[0], band)
                at[0] += 1
            else:
                at[2], tops[1] = _arrived(at[1], right, right_chain, left_chain, right_spare, tops[1], band)
                at[1] += 1
        if at[3]:
            at[2], pairs = _probe(at[0] - 1, at[2], left, right_chain, band, lefts, rights, numbers, pairs)
        else:
            at[2], pairs = _probe(at[1] - 1, at[2], right, left_chain, band, rights, lefts, numbers, pairs)
    return pairs
