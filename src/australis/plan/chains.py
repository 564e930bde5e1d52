"""Chains: maps and filters in a row within a stage, which run as one loop once it is compiled."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, cast

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow, plain, storage
from australis.expressions.codegen.fused import Fused, Step, fused
from australis.model.network import Network, Node
from australis.model.train import Ints, Train
from australis.plan import Stage

SAMPLE = 1000
"""How many tuples a train needs for the time that a box takes to say what a tuple costs."""
_SAMPLES = 5


@dataclass(frozen=True)
class Chain:
    """Boxes of which each feeds only the next."""

    nodes: tuple[Node, ...]
    schema: pa.Schema
    """The schema of the result."""
    fused: Fused
    samples: dict[str, deque[float]] = field(default_factory=dict, compare=False)
    """What boxes took for a tuple, in seconds, when they last ran one by one in this process."""

    def learn(self, name: str, seconds: float, tuples: int) -> None:
        """Note what a box took that ran by itself. Of few tuples it would be what a call takes."""
        if tuples >= SAMPLE:
            self.samples.setdefault(name, deque(maxlen=_SAMPLES)).append(seconds / tuples)

    def share(self, seconds: float, taken: Sequence[int]) -> list[float]:
        """Share the seconds of the loop out among boxes that took so many tuples, by what each took alone.

        The median counts, since the first run of a box may have had to compile. One of which nothing is known costs as
        much as the others on average, so that at first all boxes cost the same.
        """
        learnt = {name: median(samples) for name, samples in self.samples.items()}
        common = fmean(learnt.values()) if learnt else 1.0
        weights = [learnt.get(node.name, common) * tuples for node, tuples in zip(self.nodes, taken, strict=True)]
        return [seconds * weight / (sum(weights) or 1.0) for weight in weights]

    def step(self, train: Train) -> tuple[Train, Ints] | None:
        """The result, and how many tuples each box let through.

        None if the boxes must run one by one: the loop is not compiled yet, or it cannot take these tuples.
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
        mask, counts = arguments[:2]
        passed = train
        if counts[-1] < len(train):
            passed = train.where(cast(pa.BooleanArray, arrow(mask, None, pa.bool_())))
        arrays = iter(arguments[2 + len(columns) :])
        results = [
            passed.part(column) if isinstance(column, str) else _column(arrays, len(passed), *column)
            for column in self.fused.columns
        ]
        return passed.made(self.schema, results), counts

    def _arguments(self, rows: int, columns: list[Any]) -> tuple[Any, ...]:
        """The arguments of the loop: its mask and counts, the columns that it reads, and those that it fills."""
        results: list[Any] = []
        for column in self.fused.columns:
            if not isinstance(column, str):
                type_, nullable = column
                results.append(np.empty(rows, storage(type_)))
                results += [np.empty(rows, np.bool_)] if nullable else []
        return np.zeros(rows, np.bool_), np.zeros(len(self.nodes), np.int64), *columns, *results


def _column(arrays: Iterator[Any], rows: int, type_: pa.DataType, nullable: bool) -> pa.Array[Any]:
    values = next(arrays)[:rows]
    return arrow(values, next(arrays)[:rows] if nullable else None, type_)


def chains(network: Network, stage: Stage) -> dict[str, Chain]:
    """The chains of a stage, by the name of their first box."""
    fed = {inlet for entry in stage.entries for inlet in entry.feeds}
    nodes = [network.named[name] for name in stage.nodes]
    uses = [arrow for node in nodes for arrow in node.sources]
    uses += [*stage.leaves, *(output.arrow for output in network.outputs)]
    after = {node.sources[0]: node for node in nodes if (node.name, 0) not in fed and len(node.sources) == 1}
    chains_by_name: dict[str, Chain] = {}
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
            used = [arrow for arrow in uses if arrow.source == following.name]
            main = next(iter(network.schemas[following.name]))
            following = after.get(used[0]) if len(used) == 1 and used[0].port == main else None
        # A last filter whose rest is used too is not part of the chain: it runs after it.
        if chain and any(arrow.source == chain[-1].name and arrow.port == "rest" for arrow in uses):
            chain = chain[:-1]
            loop = fused(network.schema(node.sources[0]), steps[:-1]) if chain else None
        if len(chain) > 1 and loop is not None:
            (schema, *_) = network.schemas[chain[-1].name].values()
            chains_by_name[node.name] = Chain(tuple(chain), schema, loop)
            within |= {each.name for each in chain}
    return chains_by_name
