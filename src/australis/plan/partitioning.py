"""How the tuples of an arrow lie in partitions, and what boxes make of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from australis.boxes import Aggregate, BSort, Filter, Join, Map, Read, Resample, Union, Write, signals
from australis.boxes.join.pair import LEFT, RIGHT, Pair
from australis.boxes.moving import Ask, Distinct, Lead, Meet, Nearest, Tally, Watch
from australis.boxes.moving.meet import carried
from australis.model.box import EVERYWHERE, LATE, Box, Key, lost


@dataclass(frozen=True)
class Spread:
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


ANYHOW, TOGETHER, COPIED = Spread(), Spread(()), Spread(EVERYWHERE)


def carries(box: Box, port: str, inputs: Sequence[pa.Schema]) -> dict[int, Mapping[str, str]]:
    """The inputs beside whose tuples those of a port lie, and the names there of columns that it copies.

    This is all that planning knows of kinds of boxes. A kind that is not here lies anyhow.
    """
    if lost(port) == LATE:
        side = 1 if port == "late_right" else 0
        return {side: _same(inputs[side])}
    match box:
        case Filter() | BSort() | Write() | Read():
            return {0: _same(inputs[0])}
        case Union():
            return {side: _same(stream) for side, stream in enumerate(inputs)}
        case Map():
            copies = [(made.copies, name) for name, made in reversed(box.columns)]
            return {0: {column: name for column, name in copies if column is not None}}
        case Aggregate():
            return {0: {name: name for name in box.order.by}}
        case Resample():
            return {1: {name: name for name in box.right.by}}
        case Join():
            names = Pair(*inputs).names
            return {side: _apart(names, prefix) for side, prefix in enumerate((LEFT, RIGHT))}
        case Distinct() | Tally():
            return {0: {name: name for name in box.by}}
        case Watch() if port == "refused":
            return {1: _same(inputs[1])}
        case Watch() | Ask() if port.startswith("refused"):
            return {0: _same(inputs[0])}
        case Watch() | Ask():
            return {0: {box.id: box.id}} if port != "accuracy" else {}
        case Meet():
            return dict(carried(box, *inputs))
        case Nearest():
            return {0: {"query": "query"}}
    if isinstance(box, signals.ROWWISE):
        return {0: _same(inputs[0])}
    if isinstance(box, signals.KEYED):
        return {side: {name: name for name in box.by} for side in range(box.arity)}
    return {}


def spread(box: Box, port: str, inputs: Sequence[pa.Schema], spreads: Sequence[Spread]) -> Spread:
    """How the tuples of a port lie, in a stage of many partitions where the inputs lie so."""
    lying = [_renamed(spreads[side], names) for side, names in carries(box, port, inputs).items()]
    if isinstance(box, Union):
        return lying[0] if len(set(lying)) == 1 and lying[0].columns else ANYHOW
    divided = [each for each in lying if each.columns]
    return divided[0] if divided else COPIED if lying and set(lying) == {COPIED} else ANYHOW


def order(box: Box, port: str, inputs: Sequence[pa.Schema], orders: Sequence[Key]) -> Key:
    """The columns by which tuples of one arrival number leave a port, as far as that is known."""
    if port == "out":
        match box:
            case BSort() if box.order.slack and not box.order.counts:
                return (box.order.on,)
            case Aggregate():
                return (box.order.attribute, *box.order.by)
            case Resample():
                return (box.left.attribute, *box.right.by)
            case Union() if box.on:
                return ()
            case Join() | Watch() | Ask() | Lead() | Nearest() | Tally() | Meet():
                return ()
    kept = {_prefix(orders[side], names) for side, names in carries(box, port, inputs).items()}
    return kept.pop() if len(kept) == 1 else ()


def _same(stream: pa.Schema) -> dict[str, str]:
    return {name: name for name in stream.names}


def _apart(names: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): to for name, to in names.items() if name.startswith(prefix)}


def _renamed(lying: Spread, names: Mapping[str, str]) -> Spread:
    if lying == COPIED:
        return COPIED
    by = lying.columns
    return Spread(tuple(names[name] for name in by), lying.own) if by and set(by) <= names.keys() else ANYHOW


def _prefix(columns: Key, names: Mapping[str, str]) -> Key:
    known = [name in names for name in columns]
    return tuple(names[name] for name in columns[: known.index(False) if False in known else len(known)])
