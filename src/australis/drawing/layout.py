"""Places for the nodes of a drawn graph: layers from left to right, straight arrows, groups apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from australis.drawing.layers import SWEEPS, Bend, Edge, Groups, Neighbours, layers_of, neighbours, untangle, with_bends

GAP = 26.0
GROUP_PAD = 16.0
GROUP_HEAD = 18.0


@dataclass(frozen=True)
class Rect:
    """A rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def lower(self, by: float) -> Rect:
        """The rectangle moved down."""
        return Rect(self.x, self.y + by, self.width, self.height)

    def meets(self, other: Rect) -> bool:
        """Whether two rectangles have a point in common."""
        across = self.x < other.right and other.x < self.right
        return across and self.y < other.bottom and other.y < self.bottom


@dataclass
class Layout:
    """Where everything goes: nodes, the bends of edges, and the outlines of groups, outermost first."""

    nodes: dict[str, Rect] = field(default_factory=dict)
    bends: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    groups: dict[tuple[str, ...], Rect] = field(default_factory=dict)
    width: float = 0
    height: float = 0


def layout(
    sizes: Mapping[str, tuple[float, float]], edges: Sequence[Edge], last: Iterable[str], groups: Groups, gap: float
) -> Layout:
    """Place nodes, given in an order in which sources come first; `last` go to the last layer."""
    levels = layers_of(sizes, edges, set(last))
    layers, links, chains = with_bends(levels, edges)
    before, after = neighbours(links)
    untangle(layers, before, after, groups)
    heights: dict[Hashable, float] = {name: height for name, (_, height) in sizes.items()}
    middles = _settle(layers, before, after, heights, groups)
    widths = [max([sizes[n][0] for n in layer if isinstance(n, str)], default=0.0) for layer in layers]
    lefts = [sum(widths[:place]) + gap * place for place in range(len(layers))]
    rects = {}
    for name, (width, height) in sizes.items():
        left = lefts[levels[name]] + (widths[levels[name]] - width) / 2
        rects[name] = Rect(left, middles[name] - height / 2, width, height)
    rects = _pack(rects, groups)
    for layer in layers:
        _follow(rects, [node for node in layer if isinstance(node, str)], edges, groups)
    placed = Layout(_pack(rects, groups))
    placed.groups = {path: _outline(placed.nodes, groups, path) for path in _paths(groups)}
    columns = [(left, left + width) for left, width in zip(lefts, widths, strict=True)]
    placed.bends = _bends(placed.nodes, edges, chains, columns, levels)
    return _move_to_origin(placed)


def _settle(
    layers: Sequence[Sequence[Hashable]],
    before: Neighbours,
    after: Neighbours,
    heights: Mapping[Hashable, float],
    groups: Groups,
) -> dict[Hashable, float]:
    """The middle of each node: near those of its neighbours, in the order of the layer, without overlap."""
    middles: dict[Hashable, float] = {}
    for layer in layers:
        middles.update(zip(layer, _offsets(layer, heights, groups), strict=True))
    for sweep in range(4 * SWEEPS):
        adjacent = before if sweep % 2 == 0 else after
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            offsets = _offsets(layer, heights, groups)
            targets = []
            for node, offset in zip(layer, offsets, strict=True):
                near = [middles[other] for other in adjacent.get(node, ())] or [middles[node]]
                targets.append(sum(near) / len(near) - offset)
            for node, offset, place in zip(layer, offsets, _ascending(targets), strict=True):
                middles[node] = place + offset
    return middles


def _offsets(layer: Sequence[Hashable], heights: Mapping[Hashable, float], groups: Groups) -> list[float]:
    """The middles of a layer packed as closely as allowed, with room for the outlines that lie between."""
    offsets, bottom = [], 0.0
    path: tuple[str, ...] = ()
    for node in layer:
        height, last = heights.get(node, 4.0), path
        path = groups.get(node, ()) if isinstance(node, str) else ()
        shared = sum(1 for one, other in zip(last, path, strict=False) if one == other)
        bottom += GROUP_PAD * (len(last) + len(path) - 2 * shared) + GROUP_HEAD * (len(path) - shared)
        offsets.append(bottom + height / 2)
        bottom += height + GAP
    return offsets


def _ascending(targets: Sequence[float]) -> list[float]:
    """The nearest values that never fall (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in targets:
        total, count = value, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / count:
            pooled, size = pools.pop()
            total, count = total + pooled, count + size
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]


def _pack(rects: dict[str, Rect], groups: Groups, path: tuple[str, ...] = ()) -> dict[str, Rect]:
    """Move nodes down until no group overlaps another node. A group is a block, and so is a node without group.

    Blocks are placed once, from the top, each below the earlier ones in its way.
    """
    parts: dict[tuple[str, ...], dict[str, Rect]] = {}
    for name, rect in rects.items():
        inner = groups.get(name, ())[: len(path) + 1]
        parts.setdefault(inner if len(inner) > len(path) else (*path, "", name), {})[name] = rect
    blocks = []
    for part, members in parts.items():
        if "" in part:
            blocks.append((next(iter(members.values())), members))
        else:
            inside = _pack(members, groups, part)
            blocks.append((_outline(inside, groups, part), inside))
    placed: list[Rect] = []
    moved: dict[str, Rect] = {}
    for outline, members in sorted(blocks, key=lambda block: block[0].middle):
        above = [rect.bottom for rect in placed if rect.x < outline.right and outline.x < rect.right]
        down = max(0.0, max(above, default=outline.y - GAP / 2) + GAP / 2 - outline.y)
        placed.append(outline.lower(down))
        moved.update((name, rect.lower(down)) for name, rect in members.items())
    return moved


def _follow(rects: dict[str, Rect], names: list[str], edges: Sequence[Edge], groups: Groups) -> None:
    """Move a layer without groups to where packing has moved its neighbours."""
    near: dict[str, list[float]] = {name: [] for name in names}
    for source, target in edges:
        if source in near:
            near[source].append(rects[target].middle)
        if target in near:
            near[target].append(rects[source].middle)
    if any(name in groups for name in names) or not all(near.values()):
        return
    targets = {name: sum(middles) / len(middles) for name, middles in near.items()}
    ordered = sorted(names, key=lambda name: targets[name])
    offsets = _offsets(ordered, {name: rects[name].height for name in names}, {})
    places = _ascending([targets[name] - offset for name, offset in zip(ordered, offsets, strict=True)])
    for name, place, offset in zip(ordered, places, offsets, strict=True):
        rects[name] = rects[name].lower(place + offset - rects[name].middle)


def _bends(
    nodes: Mapping[str, Rect],
    edges: Sequence[Edge],
    chains: Mapping[int, list[Bend]],
    columns: Sequence[tuple[float, float]],
    levels: Mapping[str, int],
) -> dict[int, list[tuple[float, float]]]:
    """Where edges pass layers: at the height where they end, or beside the nodes and edges in the way."""
    occupied: dict[int, list[Rect]] = {}
    for name, layer in levels.items():
        occupied.setdefault(layer, []).append(nodes[name])
    bends: dict[int, list[tuple[float, float]]] = {}
    for index, chain in chains.items():
        for _, layer in chain:
            y = _free_height(nodes[edges[index][1]].middle, occupied.setdefault(layer, []))
            left, right = columns[layer]
            occupied[layer].append(Rect(left, y - 4, right - left, 8))
            bends.setdefault(index, []).extend([(left, y), (right, y)])
        bends.setdefault(index, [])
    return bends


def _free_height(height: float, occupied: Sequence[Rect]) -> float:
    """The free height nearest to `height`."""
    edges = [edge for rect in occupied for edge in (rect.y - 7, rect.bottom + 7)]
    return min(
        (y for y in (height, *edges) if not any(rect.y - 6.5 < y < rect.bottom + 6.5 for rect in occupied)),
        key=lambda y: abs(y - height),
        default=height,
    )


def _paths(groups: Groups) -> list[tuple[str, ...]]:
    """All groups, outer ones first."""
    return sorted({path[:depth] for path in groups.values() for depth in range(1, len(path) + 1)}, key=len)


def _outline(nodes: Mapping[str, Rect], groups: Groups, path: tuple[str, ...]) -> Rect:
    """The rectangle round a group, with room for those inside it and for its name."""
    inner = {name: groups[name] for name in nodes if groups.get(name, ())[: len(path)] == path}
    levels = 1 + max(len(group) for group in inner.values()) - len(path)
    pad, head = GROUP_PAD * levels * 0.75, GROUP_HEAD * levels
    left, top = min(nodes[name].x for name in inner) - pad, min(nodes[name].y for name in inner) - pad - head
    right, bottom = max(nodes[name].right for name in inner) + pad, max(nodes[name].bottom for name in inner) + pad
    return Rect(left, top, right - left, bottom - top)


def _move_to_origin(placed: Layout) -> Layout:
    """The layout with its upper left corner at the origin."""
    rects = [*placed.nodes.values(), *placed.groups.values()]
    ys = [y for bends in placed.bends.values() for _, y in bends]
    left = min((rect.x for rect in rects), default=0.0)
    top = min([*(rect.y for rect in rects), *ys], default=0.0)
    return Layout(
        {name: Rect(r.x - left, r.y - top, r.width, r.height) for name, r in placed.nodes.items()},
        {index: [(x - left, y - top) for x, y in bends] for index, bends in placed.bends.items()},
        {path: Rect(r.x - left, r.y - top, r.width, r.height) for path, r in placed.groups.items()},
        max((rect.right for rect in rects), default=0.0) - left,
        max([*(rect.bottom for rect in rects), *ys], default=0.0) - top,
    )
