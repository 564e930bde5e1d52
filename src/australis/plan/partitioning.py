"""How the tuples of an arrow lie in partitions, and what boxes make of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from australis.model.box import EVERYWHERE, Box, Key


@dataclass(frozen=True)
class Partitioning:
    """Tuples with the same values of the columns `by` lie in one partition.

    None is any partition, `()` one for all, EVERYWHERE a copy in each. Which partition it is follows from a hash of the
    values, in this order; where `own` names an input, its source has divided the tuples in a way of its own.
    """

    by: Key | None = None
    own: str = ""

    @property
    def columns(self) -> Key:
        """The columns, if it is by columns."""
        return () if self.by is None or self.by == EVERYWHERE else self.by


ANYHOW, TOGETHER, COPIED = Partitioning(), Partitioning(()), Partitioning(EVERYWHERE)


def spread(box: Box, port: str, inputs: Sequence[pa.Schema], spreads: Sequence[Partitioning]) -> Partitioning:
    """How the tuples of a port lie, in a stage of many partitions where the inputs lie so."""
    lying = [_renamed(spreads[side], names) for side, names in box.passes(port, *inputs).items()]
    if box.merges:
        return lying[0] if len(set(lying)) == 1 and lying[0].columns else ANYHOW
    divided = [each for each in lying if each.columns]
    return divided[0] if divided else COPIED if lying and set(lying) == {COPIED} else ANYHOW


def order(box: Box, port: str, inputs: Sequence[pa.Schema], orders: Sequence[Key]) -> Key:
    """The columns by which tuples of one arrival number leave a port, as far as that is known."""
    known = box.sorts(port)
    if known is not None:
        return known
    kept = {_prefix(orders[side], names) for side, names in box.passes(port, *inputs).items()}
    return kept.pop() if len(kept) == 1 else ()


def _renamed(lying: Partitioning, names: Mapping[str, str]) -> Partitioning:
    if lying == COPIED:
        return COPIED
    by = lying.columns
    return Partitioning(tuple(names[name] for name in by), lying.own) if by and set(by) <= names.keys() else ANYHOW


def _prefix(columns: Key, names: Mapping[str, str]) -> Key:
    known = [name in names for name in columns]
    return tuple(names[name] for name in columns[: known.index(False) if False in known else len(known)])
