"""Layers of a drawn graph: the layer of every node, and the order within it, so that few arrows cross (Sugiyama)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

Edge = tuple[str, str]
Groups = Mapping[str, tuple[str, ...]]
Bend = tuple[int, int]
"""Where an edge passes a layer: the edge's index and the layer's."""
SWEEPS = 12


def layers_of(names: Iterable[str], edges: Sequence[Edge], last: set[str]) -> dict[str, int]:
    """The layer of each node: as far left as its sources allow, or just before what it feeds if it has none."""
    sources: dict[str, list[str]] = {name: [] for name in names}
    targets: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        sources[target].append(source)
        targets[source].append(target)
    layers: dict[str, int] = {}
    for name in names:
        layers[name] = 1 + max((layers[source] for source in sources[name]), default=-1)
    for name in names:
        inner = [layers[target] for target in targets[name] if target not in last]
        if not sources[name] and inner:
            layers[name] = min(inner) - 1
    end = max((layer for name, layer in layers.items() if name not in last), default=-1) + 1
    return {name: end if name in last else layer for name, layer in layers.items()}


def with_bends(
    levels: Mapping[str, int], edges: Sequence[Edge]
) -> tuple[list[list[Hashable]], list[tuple[Hashable, Hashable]], dict[int, list[Bend]]]:
    """Layers with a bend wherever an edge passes one, and the links between neighbouring layers."""
    layers: list[list[Hashable]] = [[] for _ in range(1 + max(levels.values(), default=0))]
    for name, layer in levels.items():
        layers[layer].append(name)
    links: list[tuple[Hashable, Hashable]] = []
    chains: dict[int, list[Bend]] = {}
    for index, (source, target) in enumerate(edges):
        chains[index] = [(index, layer) for layer in range(levels[source] + 1, levels[target])]
        for bend in chains[index]:
            layers[bend[1]].append(bend)
        links.extend(pairwise([source, *chains[index], target]))
    return layers, links, chains


Neighbours = dict[Hashable, list[Hashable]]


def neighbours(links: Iterable[tuple[Hashable, Hashable]]) -> tuple[Neighbours, Neighbours]:
    """The neighbours of each node in the layer before, and in the layer after."""
    before: Neighbours = {}
    after: Neighbours = {}
    for source, target in links:
        before.setdefault(target, []).append(source)
        after.setdefault(source, []).append(target)
    return before, after


def untangle(layers: list[list[Hashable]], before: Neighbours, after: Neighbours, groups: Groups) -> None:
    """Order each layer by the mean place of its neighbours, members of a group side by side; keep the best order."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, after)
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        adjacent = before if forth else after
        sequence = range(1, len(layers)) if forth else range(len(layers) - 2, -1, -1)
        for place in sequence:
            fixed = {node: index for index, node in enumerate(layers[place - 1 if forth else place + 1])}
            layers[place] = _by_mean(layers[place], adjacent, fixed, groups)
        crossings = _crossings(layers, after)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _by_mean(
    layer: list[Hashable], adjacent: Neighbours, fixed: Mapping[Hashable, int], groups: Groups
) -> list[Hashable]:
    mean: dict[Hashable, float] = {}
    for place, node in enumerate(layer):
        places = [fixed[other] for other in adjacent.get(node, ())]
        mean[node] = sum(places) / len(places) if places else float(place)
    members: dict[Hashable, list[float]] = {}
    for node in layer:
        members.setdefault(_group(node, groups), []).append(mean[node])
    whole = {group: sum(means) / len(means) for group, means in members.items()}
    return sorted(layer, key=lambda n: (whole[_group(n, groups)], str(_group(n, groups)), mean[n]))


def _group(node: Hashable, groups: Groups) -> Hashable:
    """What a node is kept together with: its outermost group, or only itself."""
    return groups[node][:1] if isinstance(node, str) and groups.get(node) else (node,)


def _crossings(layers: Sequence[Sequence[Hashable]], after: Neighbours) -> int:
    total = 0
    for layer, following in pairwise(layers):
        place = {node: index for index, node in enumerate(following)}
        ends = [place[target] for node in layer for target in sorted(after.get(node, ()), key=lambda n: place[n])]
        ends_above: list[int] = []
        for end in ends:
            total += len(ends_above) - bisect_right(ends_above, end)
            insort(ends_above, end)
    return total
