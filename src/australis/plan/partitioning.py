"""Partitioning: how the tuples of an arrow are divided among partitions, and how boxes change that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from australis.model.box import EVERYWHERE, Box, Key


@dataclass(frozen=True)
class Partitioning:
    """Tuples with the same values of the columns `by` are in one partition.

    None says nothing, `()` is one partition for all, EVERYWHERE a copy in each. The partition follows from a hash of
    the values, in this order. If `own` names an input, its source has divided the tuples in a way of its own instead.
    """

    by: Key | None = None
    own: str = ""

    @property
    def columns(self) -> Key:
        """The columns, if it is by columns; otherwise `()`."""
        return () if self.by is None or self.by == EVERYWHERE else self.by


ANYHOW, TOGETHER, COPIED = Partitioning(), Partitioning(()), Partitioning(EVERYWHERE)


def output_partitioning(
    box: Box, port: str, inputs: Sequence[pa.Schema], partitionings: Sequence[Partitioning]
) -> Partitioning:
    """The partitioning of a port in a stage of many partitions, from those of the inputs."""
    passing = [_rename(partitionings[side], names) for side, names in box.passes(port, *inputs).items()]
    if box.merges:
        return passing[0] if len(set(passing)) == 1 and passing[0].columns else ANYHOW
    divided = [each for each in passing if each.columns]
    return divided[0] if divided else COPIED if passing and set(passing) == {COPIED} else ANYHOW


def output_order(box: Box, port: str, inputs: Sequence[pa.Schema], orders: Sequence[Key]) -> Key:
    """The columns that sort the results of one arrival number on a port, as far as they are known."""
    columns = box.sorts(port)
    if columns is not None:
        return columns
    prefixes = {_prefix(orders[side], names) for side, names in box.passes(port, *inputs).items()}
    return prefixes.pop() if len(prefixes) == 1 else ()


def _rename(partitioning: Partitioning, names: Mapping[str, str]) -> Partitioning:
    if partitioning == COPIED:
        return COPIED
    by = partitioning.columns
    if not by or not set(by) <= names.keys():
        return ANYHOW
    return Partitioning(tuple(names[name] for name in by), partitioning.own)


def _prefix(columns: Key, names: Mapping[str, str]) -> Key:
    passes = [name in names for name in columns]
    return tuple(names[name] for name in columns[: passes.index(False) if False in passes else len(passes)])
