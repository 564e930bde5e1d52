"""Chains: maps and filters in a row within a stage, which run as one loop once that is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow, plain, storage
from australis.expressions.codegen.fused import Fused, Step, fused
from australis.model.network import Network, Node
from australis.model.train import Ints, Train
from australis.plan import Stage


@dataclass(frozen=True)
class Chain:
    """Boxes each of which gives to the next alone."""

    nodes: tuple[Node, ...]
    schema: pa.Schema
    """What comes out."""
    fused: Fused

    def step(self, train: Train) -> tuple[Train, Ints] | None:
        """What comes out, and how many tuples each box let through.

        None if the boxes are to run one by one: the loop is not compiled yet, or the tuples are not for it.
        """
        columns = [plain(train[name]) for name in self.fused.reads]
        if not len(train) or any(valid is not None for _, valid in columns):
            return None
        loop = self.fused.code.kernel_in_background(
            len(train), lambda: self._arguments(0, [values[:0] for values, _ in columns])
        )
        if loop is None:
            return None
        arguments = self._arguments(len(train), [values for values, _ in columns])
        if loop(*arguments) >= 0:
            return None
        kept, counts = arguments[:2]
        passed = train
        if counts[-1] < len(train):
            passed = train.where(cast(pa.BooleanArray, arrow(kept, None, pa.bool_())))
        arrays = iter(arguments[2 + len(columns) :])
        made = [
            passed.part(column) if isinstance(column, str) else _column(arrays, len(passed), *column)
            for column in self.fused.columns
        ]
        return passed.made(self.schema, made), counts

    def _arguments(self, rows: int, columns: list[Any]) -> tuple[Any, ...]:
        """Those of the loop: for what it tells, what it reads, and what it makes."""
        made: list[Any] = []
        for column in self.fused.columns:
            if not isinstance(column, str):
                type_, nullable = column
                made.append(np.empty(rows, storage(type_)))
                made += [np.empty(rows, np.bool_)] if nullable else []
        return np.zeros(rows, np.bool_), np.zeros(len(self.nodes), np.int64), *columns, *made


def _column(arrays: Iterator[Any], rows: int, type_: pa.DataType, nullable: bool) -> pa.Array[Any]:
    values = next(arrays)[:rows]
    return arrow(values, next(arrays)[:rows] if nullable else None, type_)


def chains(network: Network, stage: Stage) -> dict[str, Chain]:
    """The chains of a stage, by the name of their first box."""
    fed = {inlet for entry in stage.entries for inlet in entry.feeds}
    nodes = [network.named[name] for name in stage.nodes]
    taken = [arrow for node in nodes for arrow in node.sources]
    taken += [*stage.leaves, *(output.arrow for output in network.outputs)]
    after = {node.sources[0]: node for node in nodes if (node.name, 0) not in fed and len(node.sources) == 1}
    found: dict[str, Chain] = {}
    within: set[str] = set()
    for node in nodes:
        chain: list[Node] = []
        steps: tuple[Step, ...] = ()
        loop: Fused | None = None
        following: Node | None = node if node.name not in within and len(node.sources) == 1 else None
        while following is not None and (step := following.box.step_of_chain) is not None:
            longer = fused(network.schema(node.sources[0]), (*steps, step))
            if longer is None:
                break
            chain, steps, loop = [*chain, following], (*steps, step), longer
            given = [place for place in taken if place.source == following.name]
            main = next(iter(network.schemas[following.name]))
            following = after.get(given[0]) if len(given) == 1 and given[0].port == main else None
        # A last filter whose rest is wanted too is none: its place is after the chain.
        if chain and any(place.source == chain[-1].name and place.port == "rest" for place in taken):
            chain = chain[:-1]
            loop = fused(network.schema(node.sources[0]), steps[:-1]) if chain else None
        if len(chain) > 1 and loop is not None:
            (schema, *_) = network.schemas[chain[-1].name].values()
            found[node.name] = Chain(tuple(chain), schema, loop)
            within |= {each.name for each in chain}
    return found
