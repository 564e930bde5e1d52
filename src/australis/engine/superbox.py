"""A superbox: boxes that one process runs with nothing leaving it (Aurora 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from australis.boxes.signals.column import shown
from australis.engine.merging import done
from australis.engine.shedding import Shedding
from australis.errors import RunError, Subject
from australis.model.box import Moment, Tables, Trains
from australis.model.network import Network, Node
from australis.model.train import Train
from australis.plan.chains import SAMPLE, Chain

Arrows = dict[tuple[str, str], Train]
"""The trains of a step, by the input or box and the port that they come from."""
_FIRST = np.zeros(1, np.int64)
_MIX, _WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1
Inlets = dict[tuple[str, int], Train]
"""Trains that enter boxes from elsewhere, by the box and the place of its input."""


@dataclass(frozen=True)
class Event:
    """One box has run: the trains that it took, one an input, and those that it gave, by port."""

    node: Node
    inputs: Trains
    outputs: Mapping[str, Train]
    chain: Chain | None = None
    """The chain that it belongs to, which went box by box."""


@dataclass(frozen=True)
class Passage:
    """A chain of boxes has run as one: the train that the first took, and how many tuples each let through."""

    chain: Chain
    train: Train
    counts: tuple[int, ...]


def tables_of(network: Network, nodes: Iterable[Node]) -> dict[str, Tables]:
    """The state of each box, empty. The readers of a keyed table share its writer's."""
    tables: dict[str, Tables] = {}
    written: dict[str, Tables] = {}
    for node in nodes:
        if node.box.reads is not None:
            tables[node.name] = written[node.box.reads.name]
            continue
        tables[node.name] = node.box.tables(*(network.schema(arrow) for arrow in node.sources))
        if node.box.writes is not None:
            written[node.box.writes.name] = tables[node.name]
    return tables


def _moment(network: Network, node: Node, moment: Moment, shedding: Shedding | None) -> Moment:
    """The moment of a step for a box. One that waits for its slowest input must know which inputs are done.

    One that is to work with less is told so.
    """
    if shedding is not None and node.name in shedding.plan.lighter:
        moment = replace(moment, part=shedding.plan.lighter[node.name])
    if not moment.ended or not node.box.waits_for_all:
        return moment
    return replace(moment, done=done(network, node, moment.ended))


def _culprit(node: Node, tables: Tables, inputs: Trains, moment: Moment) -> str:
    """The tuple at which a box failed, in words; empty where it cannot be known. The box is run on shorter trains."""
    if tables or len(inputs) != 1:
        return ""
    (train,) = inputs
    fine, bad = 0, len(train)
    while bad - fine > 1:
        middle = (fine + bad) // 2
        try:
            node.box.step(tables, (train.slice(0, middle),), moment)
            fine = middle
        except Exception:
            bad = middle
    return f", at the tuple {shown(train.tuples.slice(fine, 1))}" if len(train) else ""


def sampled(train: Train) -> bool:
    """Whether a train goes through its chain box by box: one in 64 of the long ones, by a hash of its first number.

    So a batch that is run again does the same.
    """
    if len(train) < SAMPLE:
        return False
    mixed = int(train.numbers(_FIRST)[0]) * _MIX & _WORD
    return ((mixed ^ mixed >> 32) * _MIX & _WORD) >> 58 == 0


def _parted(chain: Chain, shedding: Shedding | None) -> bool:
    """Whether tuples are left out between the boxes of a chain, so that it cannot run as one."""
    return shedding is not None and any(("box", node.name) in shedding.plan.places for node in chain.nodes[1:])


def steps(
    network: Network,
    nodes: Iterable[Node],
    tables: Mapping[str, Tables],
    trains: Arrows,
    moment: Moment,
    inlets: Mapping[tuple[str, int], Train] = MappingProxyType({}),
    chains: Mapping[str, Chain] = MappingProxyType({}),
    shedding: Shedding | None = None,
) -> Iterator[Event | Passage]:
    """One step of boxes in their order. Each takes a train an input, and what it gives is added to `trains`.

    What `inlets` has for an input of a box is taken from there, all else from `trains`. The boxes of `chains`, which
    are named by their first box, run as one where that is possible, except for a train in 64: it goes box by box, so
    that it is known what each of them costs. What `shedding` leaves out before and after boxes is not there: if that is
    within a chain, its boxes go one by one.
    """
    every = list(nodes)
    passed: set[str] = set()
    apart: dict[str, Chain] = {}
    read = {node.box.reads.name for node in every if node.box.reads is not None}
    for node in every:
        if node.name in passed:
            continue
        if node.box.writes is not None:
            tables[node.name]["table"].watched = node.box.writes.name in read
        inputs = tuple(
            inlets[node.name, side] if (node.name, side) in inlets else trains[arrow.source, arrow.port]
            for side, arrow in enumerate(node.sources)
        )
        if shedding is not None:
            inputs = tuple(shedding.keep("box", node.name, train) for train in inputs)
        if (chain := chains.get(node.name)) is not None:
            result = None if sampled(inputs[0]) or _parted(chain, shedding) else chain.step(inputs[0])
            if result is not None:
                train, counts = result
                last = chain.nodes[-1].name
                trains[last, next(iter(network.schemas[last]))] = train
                passed |= {each.name for each in chain.nodes}
                yield Passage(chain, inputs[0], tuple(counts.tolist()))
                continue
            apart |= {each.name: chain for each in chain.nodes}
        try:
            results = node.box.step(tables[node.name], inputs, _moment(network, node, moment, shedding))
            outputs = dict(zip(network.schemas[node.name], results, strict=True))
            if shedding is not None:
                outputs = shedding.keep_results(node.name, outputs)
                shedding.count_lighter(node, tables[node.name], inputs)
        except Exception as error:
            failed = RunError.of(error).put(Subject(node.box.kind, node.name))
            failed.reason += _culprit(node, tables[node.name], inputs, moment)
            raise failed from error
        for port, train in outputs.items():
            trains[node.name, port] = train
        yield Event(node, inputs, outputs, apart.get(node.name))
