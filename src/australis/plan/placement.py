"""Where every box of a network runs: in one partition or many, and which of its inputs must be divided anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from australis.model.box import EVERYWHERE, Key
from australis.model.network import OUT, Arrow, Network, Node
from australis.plan.partitioning import COPIED, TOGETHER, Partitioning, order, spread
from australis.plan.stage import Inlet


@dataclass(frozen=True)
class Taken:
    """How a box takes an input: `by` as in an Entry; `apart` if it cannot run beside the producer all the same."""

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
    """What the inputs of a box are divided by: these places of their keys, by the hash, or by a source of its `own`."""

    places: tuple[int, ...]
    own: str = ""

    def columns(self, key: Key) -> Key:
        return tuple(key[place] for place in self.places)


@dataclass
class Placing:
    """Boxes are placed in the network's order. What comes out wrong is noted, and all is to be done again with that."""

    network: Network
    sources: Mapping[str, Key | None]
    single: set[str] = field(default_factory=set)
    """Boxes that must run in one partition, whatever they need themselves."""
    hashed: set[str] = field(default_factory=set)
    """Tables that cannot be divided as a source has done."""
    kept: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The places of the keys of boxes that must be divided as they were, since their state is."""

    def __post_init__(self) -> None:
        self.taken: dict[Inlet, Taken] = {}
        self.one: dict[str, bool] = {}
        self.spreads: dict[Arrow, Partitioning] = {}
        self.orders: dict[Arrow, Key] = {}
        self.layouts: dict[str, tuple[int, ...]] = {}
        self._layouts: dict[str, KeyLayout] = {}
        self._wishes: dict[Arrow, list[frozenset[str]]] = {}
        for input in self.network.inputs:
            by = self.sources.get(input.name)
            self.spreads[Arrow(input.name, OUT)] = Partitioning(by, input.name if by else "")
            self.orders[Arrow(input.name, OUT)] = ()
        for node in self.network.nodes:
            if node.name in self.copied:
                self._lie(node, [COPIED] * len(node.sources))
            else:
                self._place(node)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The static inputs."""
        return frozenset(input.name for input in self.network.inputs if input.static)

    @cached_property
    def static(self) -> frozenset[str]:
        """Static inputs and the boxes over nothing else."""
        static = set(self.tables)
        for node in self.network.nodes:
            if node.box.keyed is None and all(arrow.source in static for arrow in node.sources):
                static.add(node.name)
        return frozenset(static)

    @cached_property
    def copied(self) -> frozenset[str]:
        """Boxes over static inputs that run in no stage of their own: whoever uses them runs a copy."""
        standing = {output.arrow.source for output in self.network.outputs}
        for node in self.network.nodes:
            for side, arrow in enumerate(node.sources):
                if node.name not in self.static and not self._may_copy(node, side):
                    standing.add(arrow.source)
        return self.static - self.tables - standing

    def copies(self, node: Node) -> list[str]:
        """The sources of a box that run as a copy beside it."""
        boxes = self.static - self.tables
        return [
            arrow.source
            for side, arrow in enumerate(node.sources)
            if arrow.source in boxes and (node.name in self.static or self._may_copy(node, side))
        ]

    def _may_copy(self, node: Node, side: int) -> bool:
        """Whether every partition may have all of an input, and no result comes twice."""
        keys = self._keys(node)
        return node.box.copies_inputs or (keys is not None and keys[side] == EVERYWHERE)

    def _keys(self, node: Node) -> tuple[Key, ...] | None:
        return node.box.keys(*(self.network.schema(arrow) for arrow in node.sources))

    def _place(self, node: Node) -> None:
        copies, keys = self.copies(node), self._keys(node)
        streams = {
            side: self.spreads[arrow]
            for side, arrow in enumerate(node.sources)
            if arrow.source not in self.tables and arrow.source not in copies
        }
        fixed = [side for side, arrow in enumerate(node.sources) if arrow.source in self.tables]
        self.one[node.name] = self._in_one(node, keys, streams)
        if self.one[node.name]:
            for side, lying in streams.items():
                self._take(node, side, None if lying == TOGETHER else ())
            for side in fixed:
                self._take(node, side, ())
            self._lie(node, None)
            return
        crossing = keys is None and len(node.sources) > 1 and not {TOGETHER, COPIED}.isdisjoint(streams.values())
        if crossing:
            # A union of what lies in one partition and what does not: divided as whoever comes next wants it.
            by = self._wished(Arrow(node.name, OUT))
            keys = (by,) * len(node.sources) if by else None
        if keys is not None:
            self._lie(node, self._divide(node, keys, streams, fixed))
            return
        agreed = set(streams.values())
        by = next(iter(agreed)).columns if len(agreed) == 1 and not any(lying.own for lying in agreed) else ()
        for side in streams:
            self._take(node, side, None, crossing and streams[side] in (TOGETHER, COPIED))
        for side in fixed:
            self._take(node, side, by)
        self._lie(node, [streams.get(side, Partitioning(by)) for side in range(len(node.sources))])

    def _in_one(self, node: Node, keys: tuple[Key, ...] | None, streams: Mapping[int, Partitioning]) -> bool:
        if node.name in self.single or (keys is not None and not all(keys)):
            return True
        if node.box.reads is not None:
            return node.box.reads.name not in self._layouts
        if not streams:
            return node.box.writes is None
        return all(lying == TOGETHER for lying in streams.values())

    def _divide(
        self, node: Node, keys: tuple[Key, ...], streams: Mapping[int, Partitioning], fixed: list[int]
    ) -> list[Partitioning]:
        """Let the inputs of a box lie as it needs them."""
        layout = self._layout(node, keys, {side: at for side, at in streams.items() if keys[side] != EVERYWHERE})
        if not layout.own:
            self.layouts[node.name] = layout.places
        lying = [COPIED] * len(keys)
        for side, key in enumerate(keys):
            wanted = COPIED if key == EVERYWHERE else Partitioning(layout.columns(key), layout.own)
            if side in fixed:
                self._take(node, side, EVERYWHERE if wanted.own else wanted.by)
                lying[side] = COPIED if wanted.own else wanted
            elif side in streams:
                as_is = streams[side] == wanted and wanted != COPIED
                self._take(node, side, None if as_is else wanted.by)
                lying[side] = wanted
        return lying

    def _layout(self, node: Node, keys: tuple[Key, ...], streams: Mapping[int, Partitioning]) -> KeyLayout:
        """The layout for which the fewest inputs are exchanged, or exchanged anew."""
        table = None if node.box.keyed is None else node.box.keyed.name
        if node.box.reads is not None:
            layout = self._layouts[node.box.reads.name]
            if layout.own and (not streams or self._price(layout, node, keys, streams) != 0):
                self.hashed.add(node.box.reads.name)
            return layout
        if node.name in self.kept:
            if table is not None:
                self._layouts[table] = KeyLayout(self.kept[node.name])
            return KeyLayout(self.kept[node.name])
        options = [
            KeyLayout(tuple(map(keys[side].index, known.columns)), known.own)
            for side, lying in streams.items()
            for known in (lying, *map(Partitioning, self._exchanged(node.sources[side])))
            if known.columns and set(known.columns) <= set(keys[side]) and not (known.own and table in self.hashed)
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
        """2 for an exchange, 1 for sharing one; none where the layout is a source's own, which no exchange gives."""
        price = 0
        for side, lying in streams.items():
            columns = layout.columns(keys[side])
            if lying != Partitioning(columns, layout.own):
                if layout.own:
                    return None
                price += 1 if columns in self._exchanged(node.sources[side]) else 2
        return price

    def _exchanged(self, arrow: Arrow) -> list[Key]:
        """What an arrow is exchanged by already."""
        return [
            taken.by for taken in self.taken.values() if taken.arrow == arrow and taken.by and taken.by != EVERYWHERE
        ]

    def _fresh(self, node: Node, keys: tuple[Key, ...], sides: Iterable[int]) -> KeyLayout:
        """As few places of the keys as serve the boxes downstream too, nearest first, but one at least."""
        places: list[int] = []
        for place in range(max(map(len, keys))):
            if all(key == EVERYWHERE or key[place] not in [key[other] for other in places] for key in keys):
                places.append(place)
        for side in sides:
            for wish in self._downstream(node.sources[side]):
                places = [place for place in places if keys[side][place] in wish] or places
        return KeyLayout(tuple(places))

    def _wished(self, arrow: Arrow) -> Key:
        """The columns of an arrow that serve the boxes downstream, nearest first; none if nobody needs any."""
        wanted: frozenset[str] = frozenset()
        for wish in self._downstream(arrow):
            wanted = (wanted & wish) or wanted or wish
        return tuple(name for name in self.network.schema(arrow).names if name in wanted)

    def _downstream(self, arrow: Arrow) -> list[frozenset[str]]:
        """What boxes downstream of an arrow need, in its columns, nearest first."""
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
        found: dict[Arrow, list[tuple[Node, int]]] = {}
        for node in self.network.nodes:
            for side, source in enumerate(node.sources):
                found.setdefault(source, []).append((node, side))
        return found

    def _take(self, node: Node, side: int, by: Key | None, apart: bool = False) -> None:
        arrow = node.sources[side]
        self.taken[node.name, side] = Taken(arrow, by, apart, arrow.source in self.tables)

    def _lie(self, node: Node, lying: list[Partitioning] | None) -> None:
        """Note how what a box gives lies, given how its inputs do; none of them in one partition."""
        inputs = [self.network.schema(arrow) for arrow in node.sources]
        orders = [self.orders[arrow] for arrow in node.sources]
        for port in self.network.schemas[node.name]:
            arrow = Arrow(node.name, port)
            copied = node.name in self.copied
            known = TOGETHER if lying is None else COPIED if copied else spread(node.box, port, inputs, lying)
            self.spreads[arrow] = known
            self.orders[arrow] = order(node.box, port, inputs, orders)
