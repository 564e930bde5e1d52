"""Planning: a network becomes stages, the largest superboxes that need no exchange inside."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from australis.errors import NetworkError, listing, near
from australis.model.box import EVERYWHERE, Key
from australis.model.network import Arrow, Network, Node
from australis.plan.placement import Placement
from australis.plan.stage import Entry, Inlet, Plan, Stage


def plan(
    network: Network,
    sources: Mapping[str, Key | None] | None = None,
    previous: Mapping[str, tuple[int, ...]] | None = None,
) -> Plan:
    """Plan the stages of a network.

    `sources` has the columns that stream inputs are partitioned by already, `()` for a single partition. Nothing is
    assumed of the others, nor that two sources partition alike.
    `previous` has the `layouts` of an earlier plan: these boxes are partitioned by the same positions of their keys.

    >>> import australis as au
    >>> reports = au.stream("reports", "time int, xway int, seg int, mph int")
    >>> stats = reports.filter("mph > 0").aggregate(on="time", size=60, by=["xway", "seg"], mph="avg(mph)")
    >>> planned = plan(au.network(stats=stats))
    >>> [(stage.nodes, [entry.by for entry in stage.entries]) for stage in planned.stages]
    [(('filter_1',), [None]), (('aggregate_1',), [('xway', 'seg')])]
    >>> len(plan(au.network(stats=stats), {"reports": ("xway",)}).stages)
    1
    """
    partitioned = dict(sources or {})
    _check(network, partitioned)
    single: set[str] = set()
    hashed: set[str] = set()
    while True:
        hashed_before = len(hashed)
        placement = Placement(network, partitioned, single, hashed, previous or {})
        cyclic = _on_cycles(placement)
        if len(hashed) == hashed_before and not cyclic:
            return _assemble(placement)
        single |= cyclic


def _check(network: Network, sources: Mapping[str, Key | None]) -> None:
    streams = {input.name: input.schema for input in network.inputs if not input.static}
    for name, key in sources.items():
        if name not in streams:
            raise NetworkError(f"there is no stream input {name}; there are {listing(streams)}{near(name, streams)}")
        for column in key or ():
            if column not in streams[name].names:
                raise NetworkError(
                    f"input {name}: its source is divided by `{column}`, which is no column;"
                    f" there are {listing(streams[name].names)}{near(column, streams[name].names)}"
                )


def _vertex(node: Node) -> Hashable:
    """The vertex of a box. Boxes that share a table run in one stage, and so are one vertex."""
    return node.name if node.box.keyed is None else ("table", node.box.keyed.name)


def _edges(placement: Placement) -> Iterator[tuple[Hashable, Hashable, bool]]:
    """Edges from producer to consumer, and whether the consumer must be in a later stage."""
    nodes = placement.network.named
    for (name, _), intake in placement.intakes.items():
        if not intake.static:
            source = intake.arrow.source
            yield _vertex(nodes[source]) if source in nodes else source, _vertex(nodes[name]), intake.later


def _on_cycles(placement: Placement) -> set[str]:
    """Boxes on a cycle of stages. In one partition they need no exchange, which ends the cycle."""
    after: dict[Hashable, set[Hashable]] = {}
    edges = list(_edges(placement))
    for source, target, _ in edges:
        after.setdefault(source, set()).add(target)
    cyclic: set[Hashable] = set()
    for source, target, later in edges:
        if later and source in (behind := _reachable(after, target)):
            cyclic |= {each for each in behind if source in _reachable(after, each)}
    return {node.name for node in placement.network.nodes if _vertex(node) in cyclic}


def _reachable(after: Mapping[Hashable, set[Hashable]], start: Hashable) -> set[Hashable]:
    reached, ahead = {start}, [start]
    while ahead:
        more = after.get(ahead.pop(), set()) - reached
        reached |= more
        ahead += more
    return reached


def _levels(placement: Placement) -> dict[str, int]:
    """The least number of stages before that of each box."""
    edges = list(_edges(placement))
    levels: dict[Hashable, int] = {}
    rising = True
    while rising:
        rising = False
        for source, target, later in edges:
            least = levels.get(source, 0) + later
            if levels.get(target, 0) < least:
                levels[target], rising = least, True
    return {node.name: levels.get(_vertex(node), 0) for node in placement.network.nodes if node.name in placement.one}


def _superboxes(placement: Placement, levels: Mapping[str, int]) -> list[list[str]]:
    """The boxes of each superbox: boxes of one level that an arrow, an entry or a table connects."""
    superbox_of: dict[Hashable, list[str]] = {}
    for node in placement.network.nodes:
        if node.name not in levels:
            continue
        level, one = levels[node.name], placement.one[node.name]
        links: list[Hashable] = [node.name, _vertex(node)]
        for side in range(len(node.sources)):
            intake = placement.intakes.get((node.name, side))
            if intake is not None and not intake.static:
                beside = not intake.later and levels.get(intake.arrow.source) == level
                links.append(intake.arrow.source if beside else (intake.arrow, intake.by, level, one))
        merged = [node.name]
        for link in links:
            other = superbox_of.get(link, merged)
            if other is not merged:
                merged += other
                superbox_of.update([(link, merged) for link, boxes in superbox_of.items() if boxes is other])
        superbox_of.update(dict.fromkeys(links, merged))
    place = {node.name: at for at, node in enumerate(placement.network.nodes)}
    superboxes = {id(boxes): sorted(boxes, key=place.__getitem__) for boxes in superbox_of.values()}
    return sorted(superboxes.values(), key=lambda boxes: (levels[boxes[0]], place[boxes[0]]))


def _assemble(placement: Placement) -> Plan:
    network, superboxes = placement.network, _superboxes(placement, _levels(placement))
    home = {name: index for index, names in enumerate(superboxes) for name in names}
    whole = [_with_copies(placement, names) for names in superboxes]
    entries = [_entries(placement, index, names, home) for index, names in enumerate(whole)]
    crossing = [entry.arrow for each in entries for entry in each if entry.origin is not None]
    stages = []
    for index, names in enumerate(whole):
        outputs = [output for output in network.outputs if home.get(output.arrow.source) == index]
        leaves = tuple(arrow for arrow in dict.fromkeys(crossing) if home[arrow.source] == index)
        results = [Arrow(name, port) for name in superboxes[index] for port in network.schemas[name]]
        copied = tuple(arrow for arrow in results if placement.partitionings[arrow].by == EVERYWHERE)
        one = placement.one[superboxes[index][0]]
        stages.append(Stage(index, names, one, entries[index], leaves, tuple(o.name for o in outputs), copied))
    inputs = {input.name for input in network.inputs}
    straight = tuple(output.name for output in network.outputs if output.arrow.source in inputs)
    return Plan(tuple(stages), straight, dict(placement.layouts))


def _with_copies(placement: Placement, names: list[str]) -> tuple[str, ...]:
    """The boxes of a stage, with copies of the boxes over static inputs that it uses."""
    every, ahead = set(names), list(names)
    while ahead:
        more = set(placement.copies(placement.network.named[ahead.pop()])) - every
        every |= more
        ahead += more
    return tuple(node.name for node in placement.network.nodes if node.name in every)


def _entries(placement: Placement, index: int, names: tuple[str, ...], home: Mapping[str, int]) -> tuple[Entry, ...]:
    feeds: dict[tuple[Arrow, Key | None], list[Inlet]] = {}
    for name in names:
        node = placement.network.named[name]
        for side, arrow in enumerate(node.sources):
            intake = placement.intakes.get((name, side)) if home.get(name) == index else None
            if intake is not None and home.get(arrow.source) != index:
                feeds.setdefault((arrow, intake.by), []).append((name, side))
            elif arrow.source in placement.tables:
                feeds.setdefault((arrow, EVERYWHERE), []).append((name, side))
    return tuple(
        Entry(
            arrow,
            home.get(arrow.source),
            by,
            _partitioning(placement, arrow) if by is None else by,
            arrow.source in placement.tables,
            tuple(inlets),
            placement.orders[arrow],
        )
        for (arrow, by), inlets in feeds.items()
    )


def _partitioning(placement: Placement, arrow: Arrow) -> Key | None:
    """The partitioning of an arrow that enters as it comes. Copies are taken from one partition."""
    by = placement.partitionings[arrow].by
    return None if by == EVERYWHERE else by
