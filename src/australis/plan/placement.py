"""Placement: whether each box runs in one partition or in many, and which of its inputs must be exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from australis.model.box import EVERYWHERE, Key
from australis.model.network import OUT, Arrow, Network, Node
from australis.plan.partitioning import COPIED, TOGETHER, Partitioning, output_order, output_partitioning
from australis.plan.stage import Inlet


@dataclass(frozen=True)
class Intake:
    """How a box takes an input. `by` is as in an Entry; `apart` keeps it out of the producer's stage even so."""

    arrow: Arrow
    by: Key | None = None
    apart: bool = False
    static: bool = False

    @property
    def later(self) -> bool:
        """Whether the box must run in a later stage than the producer."""
        return not self.static and (self.apart or self.by is not None)


@dataclass(frozen=True)
class KeyLayout:
    """What the inputs of a box are partitioned by: positions of their keys, by hash or in a source's `own` way."""

    places: tuple[int, ...]
    own: str = ""

    def columns(self, key: Key) -> Key:
        return tuple(key[place] for place in self.places)


@dataclass
class Placement:
    """Places boxes in the network's order.

    A table that turns out not to fit a source's own partitioning is added to `hashed`, and the caller starts again.
    """

    network: Network
    sources: Mapping[str, Key | None]
    single: set[str] = field(default_factory=set)
    """Boxes that must run in one partition, whatever they need themselves."""
    hashed: set[str] = field(default_factory=set)
    """Keyed tables that cannot use a source's own partitioning."""
    previous: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The key positions of boxes with state, which must be partitioned as in the earlier plan."""

    def __post_init__(self) -> None:
        self.intakes: dict[Inlet, Intake] = {}
        self.one: dict[str, bool] = {}
        self.partitionings: dict[Arrow, Partitioning] = {}
        self.orders: dict[Arrow, Key] = {}
        self.layouts: dict[str, tuple[int, ...]] = {}
        self._layouts: dict[str, KeyLayout] = {}
        self._wishes: dict[Arrow, list[frozenset[str]]] = {}
        for input in self.network.inputs:
            by = self.sources.get(input.name)
            self.partitionings[Arrow(input.name, OUT)] = Partitioning(by, input.name if by else "")
            self.orders[Arrow(input.name, OUT)] = ()
        for node in self.network.nodes:
            if node.name in self.copied:
                self._record(node, [COPIED] * len(node.sources))
            else:
                self._place(node)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The static inputs."""
        return frozenset(input.name for input in self.network.inputs if input.static)

    @cached_property
    def static(self) -> frozenset[str]:
        """Static inputs, and the boxes that have only such inputs."""
        static = set(self.tables)
        for node in self.network.nodes:
            if node.box.keyed is None and all(arrow.source in static for arrow in node.sources):
                static.add(node.name)
        return frozenset(static)

    @cached_property
    def copied(self) -> frozenset[str]:
        """Boxes over static inputs without a stage of their own: every stage that uses them runs a copy."""
        staged = {output.arrow.source for output in self.network.outputs}
        for node in self.network.nodes:
            for side, arrow in enumerate(node.sources):
                if node.name not in self.static and not self._may_copy(node, side):
                    staged.add(arrow.source)
        return self.static - self.tables - staged

    def copies(self, node: Node) -> list[str]:
        """The sources of a box of which its stage runs a copy."""
        boxes = self.static - self.tables
        return [
            arrow.source
            for side, arrow in enumerate(node.sources)
            if arrow.source in boxes and (node.name in self.static or self._may_copy(node, side))
        ]

    def _may_copy(self, node: Node, side: int) -> bool:
        """Whether every partition may have a whole copy of an input without duplicate results."""
        keys = self._keys(node)
        return node.box.copies_inputs or (keys is not None and keys[side] == EVERYWHERE)

    def _keys(self, node: Node) -> tuple[Key, ...] | None:
        return node.box.keys(*(self.network.schema(arrow) for arrow in node.sources))

    def _place(self, node: Node) -> None:
        copies, keys = self.copies(node), self._keys(node)
        streams = {
            side: self.partitionings[arrow]
            for side, arrow in enumerate(node.sources)
            if arrow.source not in self.tables and arrow.source not in copies
        }
        fixed = [side for side, arrow in enumerate(node.sources) if arrow.source in self.tables]
        self.one[node.name] = self._in_one(node, keys, streams)
        if self.one[node.name]:
            for side, partitioning in streams.items():
                self._take(node, side, None if partitioning == TOGETHER else ())
            for side in fixed:
                self._take(node, side, ())
            self._record(node, None)
            return
        crossing = keys is None and len(node.sources) > 1 and not {TOGETHER, COPIED}.isdisjoint(streams.values())
        if crossing:
            # A union of inputs in one partition and in many: partition it as the next boxes need it.
            by = self._columns_for_downstream(Arrow(node.name, OUT))
            keys = (by,) * len(node.sources) if by else None
        if keys is not None:
            self._record(node, self._divide(node, keys, streams, fixed))
            return
        agreed = set(streams.values())
        by = next(iter(agreed)).columns if len(agreed) == 1 and not any(each.own for each in agreed) else ()
        for side in streams:
            self._take(node, side, None, crossing and streams[side] in (TOGETHER, COPIED))
        for side in fixed:
            self._take(node, side, by)
        self._record(node, [streams.get(side, Partitioning(by)) for side in range(len(node.sources))])

    def _in_one(self, node: Node, keys: tuple[Key, ...] | None, streams: Mapping[int, Partitioning]) -> bool:
        if node.name in self.single or (keys is not None and not all(keys)):
            return True
        if node.box.reads is not None:
            return node.box.reads.name not in self._layouts
        if not streams:
            return node.box.writes is None
        return all(partitioning == TOGETHER for partitioning in streams.values())

    def _divide(
        self, node: Node, keys: tuple[Key, ...], streams: Mapping[int, Partitioning], fixed: list[int]
    ) -> list[Partitioning]:
        """Partition the inputs of a box as it needs, and return the partitionings."""
        layout = self._layout(node, keys, {side: at for side, at in streams.items() if keys[side] != EVERYWHERE})
        if not layout.own:
            self.layouts[node.name] = layout.places
        partitionings = [COPIED] * len(keys)
        for side, key in enumerate(keys):
            needed = COPIED if key == EVERYWHERE else Partitioning(layout.columns(key), layout.own)
            if side in fixed:
                self._take(node, side, EVERYWHERE if needed.own else needed.by)
                partitionings[side] = COPIED if needed.own else needed
            elif side in streams:
                as_is = streams[side] == needed and needed != COPIED
                self._take(node, side, None if as_is else needed.by)
                partitionings[side] = needed
        return partitionings

    def _layout(self, node: Node, keys: tuple[Key, ...], streams: Mapping[int, Partitioning]) -> KeyLayout:
        """The layout that needs the fewest exchanges, and the fewest new ones."""
        table = None if node.box.keyed is None else node.box.keyed.name
        if node.box.reads is not None:
            layout = self._layouts[node.box.reads.name]
            if layout.own and (not streams or self._price(layout, node, keys, streams) != 0):
                self.hashed.add(node.box.reads.name)
            return layout
        if node.name in self.previous:
            if table is not None:
                self._layouts[table] = KeyLayout(self.previous[node.name])
            return KeyLayout(self.previous[node.name])
        options = [
            KeyLayout(tuple(map(keys[side].index, option.columns)), option.own)
            for side, partitioning in streams.items()
            for option in (partitioning, *map(Partitioning, self._exchange_keys(node.sources[side])))
            if option.columns and set(option.columns) <= set(keys[side]) and not (option.own and table in self.hashed)
        ]
        options.append(self._fresh(node, keys, streams))
        prices = [self._price(layout, node, keys, streams) for layout in options]
        best = min((price, at) for at, price in enumerate(prices) if price is not None)[1]
        if table is not None:
            self._layouts[table] = options[best]
        return options[best]

    def _price(
        self, layout: KeyLayout, node: Node, keys: tuple[Key, ...], streams: Mapping[int, Partitioning]
    ) -> int | None:
        """2 for each exchange, 1 for each shared one; None for a source's own layout, which no exchange can produce."""
        price = 0
        for side, partitioning in streams.items():
            columns = layout.columns(keys[side])
            if partitioning != Partitioning(columns, layout.own):
                if layout.own:
                    return None
                price += 1 if columns in self._exchange_keys(node.sources[side]) else 2
        return price

    def _exchange_keys(self, arrow: Arrow) -> list[Key]:
        """The columns that an arrow is exchanged by already."""
        return [
            intake.by
            for intake in self.intakes.values()
            if intake.arrow == arrow and intake.by and intake.by != EVERYWHERE
        ]

    def _fresh(self, node: Node, keys: tuple[Key, ...], sides: Iterable[int]) -> KeyLayout:
        """The fewest key positions that suit the boxes downstream too, nearest first; at least one."""
        places: list[int] = []
        for place in range(max(map(len, keys))):
            if all(key == EVERYWHERE or key[place] not in [key[other] for other in places] for key in keys):
                places.append(place)
        for side in sides:
            for wish in self._downstream(node.sources[side]):
                places = [place for place in places if keys[side][place] in wish] or places
        return KeyLayout(tuple(places))

    def _columns_for_downstream(self, arrow: Arrow) -> Key:
        """The columns of an arrow that suit the boxes downstream, the nearest first; `()` if none needs any."""
        columns: frozenset[str] = frozenset()
        for wish in self._downstream(arrow):
            columns = (columns & wish) or columns or wish
        return tuple(name for name in self.network.schema(arrow).names if name in columns)

    def _downstream(self, arrow: Arrow) -> list[frozenset[str]]:
        """The columns of an arrow that each box downstream needs, the nearest box first."""
        if arrow not in self._wishes:
            near: list[frozenset[str]] = []
            far: list[frozenset[str]] = []
            for node, side in self._consumers.get(arrow, ()):
                keys = self._keys(node)
                if keys is not None and not all(keys):
                    continue
                if keys is not None and keys[side] != EVERYWHERE:
                    near.append(frozenset(keys[side]))
                inputs = [self.network.schema(each) for each in node.sources]
                for port in self.network.schemas[node.name]:
                    names = node.box.passes(port, *inputs).get(side, {})
                    wishes = self._downstream(Arrow(node.name, port))
                    far += [frozenset(name for name, to in names.items() if to in wish) for wish in wishes]
            self._wishes[arrow] = [wish for wish in dict.fromkeys((*near, *far)) if wish]
        return self._wishes[arrow]

    @cached_property
    def _consumers(self) -> Mapping[Arrow, list[tuple[Node, int]]]:
        consumers: dict[Arrow, list[tuple[Node, int]]] = {}
        for node in self.network.nodes:
            for side, source in enumerate(node.sources):
                consumers.setdefault(source, []).append((node, side))
        return consumers

    def _take(self, node: Node, side: int, by: Key | None, apart: bool = False) -> None:
        arrow = node.sources[side]
        self.intakes[node.name, side] = Intake(arrow, by, apart, arrow.source in self.tables)

    def _record(self, node: Node, inputs: list[Partitioning] | None) -> None:
        """Record the partitioning and order of each port of a box. `inputs` is None for a box in one partition."""
        schemas = [self.network.schema(arrow) for arrow in node.sources]
        orders = [self.orders[arrow] for arrow in node.sources]
        for port in self.network.schemas[node.name]:
            arrow = Arrow(node.name, port)
            copied = node.name in self.copied
            if inputs is None:
                self.partitionings[arrow] = TOGETHER
            else:
                self.partitionings[arrow] = COPIED if copied else output_partitioning(node.box, port, schemas, inputs)
            self.orders[arrow] = output_order(node.box, port, schemas, orders)
