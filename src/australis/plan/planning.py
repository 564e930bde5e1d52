"""Planning: a network becomes stages, the largest superboxes that need no exchange inside."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from australis.errors import NetworkError, listing, near
from australis.model.box import EVERYWHERE, Key
from australis.model.network import Arrow, Network, Node
from australis.plan.placement import Placing
from australis.plan.stage import Entry, Inlet, Plan, Stage


def plan(
    network: Network,
    sources: Mapping[str, Key | None] | None = None,
    kept: Mapping[str, tuple[int, ...]] | None = None,
) -> Plan:
    """The stages of a network.

    `sources` says by which columns the partitions of stream inputs are divided already, `()` where there is only one;
    nothing is assumed of the others. That two sources divide alike is not assumed either.
    Boxes that are `kept` are divided by these places of their keys, as in an earlier plan's `layouts`.

    >>> import australis as au
    >>> reports = au.stream("reports", "time int, xway int, seg int, mph int")
    >>> stats = reports.filter("mph > 0").aggregate(on="time", size=60, by=["xway", "seg"], mph="avg(mph)")
    >>> planned = plan(au.network(stats=stats))
    >>> [(stage.nodes, [entry.by for entry in stage.entries]) for stage in planned.stages]
    [(('filter_1',), [None]), (('aggregate_1',), [('xway', 'seg')])]
    >>> len(plan(au.network(stats=stats), {"reports": ("xway",)}).stages)
    1
    """
    given = dict(sources or {})
    _check(network, given)
    single: set[str] = set()
    hashed: set[str] = set()
    while True:
        known = len(hashed)
        placing = Placing(network, given, single, hashed, kept or {})
        wrong = _circling(placing)
        if len(hashed) == known and not wrong:
            return _assembled(placing)
        single |= wrong


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
    """The boxes that share a table run in one stage, and count as one."""
    return node.name if node.box.keyed is None else ("table", node.box.keyed.name)


def _edges(placing: Placing) -> Iterator[tuple[Hashable, Hashable, bool]]:
    """From producer to consumer, and whether that must be in a later stage."""
    nodes = placing.network.named
    for (name, _), taken in placing.taken.items():
        if not taken.static:
            source = taken.arrow.source
            yield _vertex(nodes[source]) if source in nodes else source, _vertex(nodes[name]), taken.later


def _circling(placing: Placing) -> set[str]:
    """Boxes that would run both before and after one another: in one partition they need no exchange."""
    after: dict[Hashable, set[Hashable]] = {}
    edges = list(_edges(placing))
    for source, target, _ in edges:
        after.setdefault(source, set()).add(target)
    wrong: set[Hashable] = set()
    for source, target, later in edges:
        if later and source in (behind := _reached(after, target)):
            wrong |= {each for each in behind if source in _reached(after, each)}
    return {node.name for node in placing.network.nodes if _vertex(node) in wrong}


def _reached(after: Mapping[Hashable, set[Hashable]], start: Hashable) -> set[Hashable]:
    reached, ahead = {start}, [start]
    while ahead:
        more = after.get(ahead.pop(), set()) - reached
        reached |= more
        ahead += more
    return reached


def _levels(placing: Placing) -> dict[str, int]:
    """How many stages at least come before that of a box."""
    edges = list(_edges(placing))
    levels: dict[Hashable, int] = {}
    rising = True
    while rising:
        rising = False
        for source, target, later in edges:
            least = levels.get(source, 0) + later
            if levels.get(target, 0) < least:
                levels[target], rising = least, True
    return {node.name: levels.get(_vertex(node), 0) for node in placing.network.nodes if node.name in placing.one}


def _superboxes(placing: Placing, levels: Mapping[str, int]) -> list[list[str]]:
    """Boxes of one level that an arrow, an entry or a table joins."""
    home: dict[Hashable, list[str]] = {}
    for node in placing.network.nodes:
        if node.name not in levels:
            continue
        level, one = levels[node.name], placing.one[node.name]
        links: list[Hashable] = [node.name, _vertex(node)]
        for side in range(len(node.sources)):
            taken = placing.taken.get((node.name, side))
            if taken is not None and not taken.static:
                beside = not taken.later and levels.get(taken.arrow.source) == level
                links.append(taken.arrow.source if beside else (taken.arrow, taken.by, level, one))
        merged = [node.name]
        for link in links:
            other = home.get(link, merged)
            if other is not merged:
                merged += other
                home.update([(known, merged) for known, boxes in home.items() if boxes is other])
        home.update(dict.fromkeys(links, merged))
    place = {node.name: at for at, node in enumerate(placing.network.nodes)}
    found = {id(boxes): sorted(boxes, key=place.__getitem__) for boxes in home.values()}
    return sorted(found.values(), key=lambda boxes: (levels[boxes[0]], place[boxes[0]]))


def _assembled(placing: Placing) -> Plan:
    network, superboxes = placing.network, _superboxes(placing, _levels(placing))
    home = {name: index for index, names in enumerate(superboxes) for name in names}
    whole = [_with_copies(placing, names) for names in superboxes]
    entries = [_entries(placing, index, names, home) for index, names in enumerate(whole)]
    taken = [entry.arrow for each in entries for entry in each if entry.origin is not None]
    stages = []
    for index, names in enumerate(whole):
        outputs = [output for output in network.outputs if home.get(output.arrow.source) == index]
        leaves = tuple(arrow for arrow in dict.fromkeys(taken) if home[arrow.source] == index)
        given = [Arrow(name, port) for name in superboxes[index] for port in network.schemas[name]]
        copied = tuple(arrow for arrow in given if placing.spreads[arrow].by == EVERYWHERE)
        one = placing.one[superboxes[index][0]]
        stages.append(Stage(index, names, one, entries[index], leaves, tuple(o.name for o in outputs), copied))
    inputs = {input.name for input in network.inputs}
    straight = tuple(output.name for output in network.outputs if output.arrow.source in inputs)
    return Plan(tuple(stages), straight, dict(placing.layouts))


def _with_copies(placing: Placing, names: list[str]) -> tuple[str, ...]:
    """The boxes of a stage with those over static inputs that it uses."""
    every, ahead = set(names), list(names)
    while ahead:
        more = set(placing.copies(placing.network.named[ahead.pop()])) - every
        every |= more
        ahead += more
    return tuple(node.name for node in placing.network.nodes if node.name in every)


def _entries(placing: Placing, index: int, names: tuple[str, ...], home: Mapping[str, int]) -> tuple[Entry, ...]:
    feeds: dict[tuple[Arrow, Key | None], list[Inlet]] = {}
    for name in names:
        node = placing.network.named[name]
        for side, arrow in enumerate(node.sources):
            taken = placing.taken.get((name, side)) if home.get(name) == index else None
            if taken is not None and home.get(arrow.source) != index:
                feeds.setdefault((arrow, taken.by), []).append((name, side))
            elif arrow.source in placing.tables:
                feeds.setdefault((arrow, EVERYWHERE), []).append((name, side))
    return tuple(
        Entry(
            arrow,
            home.get(arrow.source),
            by,
            _lying(placing, arrow) if by is None else by,
            arrow.source in placing.tables,
            tuple(inlets),
            placing.orders[arrow],
        )
        for (arrow, by), inlets in feeds.items()
    )


def _lying(placing: Placing, arrow: Arrow) -> Key | None:
    """How an arrow lies that enters as it comes: copies are taken from one partition."""
    by = placing.spreads[arrow].by
    return None if by == EVERYWHERE else by
