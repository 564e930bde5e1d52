"""What makes a network valid, whoever wrote it; every mistake is told by the name of its box."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa

from australis.arguments import check_fields, shown
from australis.arrow.schema import numeric
from australis.errors import (
    ArgumentPlace,
    AustralisError,
    ExpressionPlace,
    MadeColumn,
    NetworkError,
    Place,
    Subject,
    listing,
    near,
    placed,
    unknown,
)
from australis.expressions import Aggregation, Expr
from australis.model.box import LATE, Box, lost
from australis.model.facts import NOTHING, Facts

if TYPE_CHECKING:
    from australis.model.network import Arrow, Network, Node, Output
    from australis.model.table import Keyed

Ports = Mapping[str, pa.Schema]
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_FROM = ArgumentPlace("from", silent=True)
_TABLE = ArgumentPlace("table", silent=True)


def checked(network: Network) -> tuple[tuple[Node, ...], tuple[Output, ...], dict[str, Ports]]:
    """The boxes in an order in which they can run, the outputs, and what every producer gives.

    Arrows from a main port come back with its name. Raises where something is wrong.
    """
    _check_names(network)
    _check_arrows(network)
    _check_tables(network)
    nodes, schemas = _wired(network, _sorted(network))
    outputs = _ended(network, schemas)
    _check_stored(network, nodes)
    _check_facts(nodes, schemas)
    _check_reach(network, nodes)
    return nodes, outputs, schemas


def title(node: Node) -> str:
    """How messages call a box."""
    return f"{node.box.kind} {node.name}"


def _subject(node: Node) -> Subject:
    return Subject(node.box.kind, node.name)


def _check_names(network: Network) -> None:
    outputs = [output.name for output in network.outputs]
    tables = [table.name for table in network.tables]
    inputs = [input.name for input in network.inputs]
    boxes = [node.name for node in network.nodes]
    groups = sorted({name for node in network.nodes for name in node.group})
    for what, names in (("input", inputs), ("box", boxes), ("output", outputs), ("table", tables), ("group", groups)):
        for name in names:
            if not _is_name(name):
                raise NetworkError(
                    f"{what} {shown(name)}: a name is made of letters, digits, `_` and `-`",
                    Subject(what, str(name), silent=True),
                )
        for name, count in Counter(names).items():
            if count > 1:
                several = "boxes" if what == "box" else f"{what}s"
                raise NetworkError(
                    f"{count} {several} are named {name}; names are unique", Subject(what, name, silent=True)
                )
    for name in boxes:
        if name in inputs:
            raise NetworkError("an input has that name already", Subject("box", name))
    for name in outputs:
        if name in inputs:
            raise NetworkError(
                "an input has that name already; a run gives both by their names", Subject("output", name)
            )
    if not outputs:
        raise NetworkError("a network has at least one output, and this one has none")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _check_arrows(network: Network) -> None:
    producers = [input.name for input in network.inputs] + [node.name for node in network.nodes]
    for node in network.nodes:
        for arrow in node.sources:
            _check_source(_subject(node), arrow, producers)
        if node.box.arity != len(node.sources):
            wanted, given = node.box.arity, listing(str(arrow) for arrow in node.sources)
            raise NetworkError(f"takes {_inputs(wanted)}, is given {given}", _subject(node), _FROM)
    for output in network.outputs:
        _check_source(Subject("output", output.name), output.arrow, producers)


def _check_source(place: Subject, arrow: Arrow, producers: list[str]) -> None:
    if arrow.source not in producers:
        raise NetworkError(
            f"there is no input or box {arrow.source}; there are {listing(producers)}{near(arrow.source, producers)}",
            place,
            _FROM,
            unknown(arrow.source, producers),
        )


def _inputs(count: int) -> str:
    return "1 input" if count == 1 else f"{count} inputs"


def _check_tables(network: Network) -> None:
    """One writer for each table: rows that two boxes write at once would have no order."""
    writers = [(node.name, node.box.writes) for node in network.nodes if node.box.writes is not None]
    for table in network.tables:
        mine = [name for name, written in writers if written.name == table.name]
        if len(mine) > 1:
            raise NetworkError(
                f"written by the boxes {listing(mine)}; a table has one writer:"
                " union the streams first, and write the result",
                Subject("table", table.name),
            )
        if not mine:
            raise NetworkError("no box of the network writes it, so that it stays empty", Subject("table", table.name))
    for node in network.nodes:
        if node.box.keyed is not None:
            table = node.box.keyed
            names = [known.name for known in network.tables]
            if table.name not in names:
                raise NetworkError(
                    f"there is no table {table.name}; there are {listing(names)}{near(table.name, names)}",
                    _subject(node),
                    _TABLE,
                    unknown(table.name, names),
                )
            if table not in network.tables:
                raise NetworkError(f"table {table.name} is declared in another way too", _subject(node), _TABLE)


def _sorted(network: Network) -> tuple[Node, ...]:
    """Topological, and otherwise as given. The writer of a table comes before its readers."""
    place = {node.name: index for index, node in enumerate(network.nodes)}
    before = [_before(network, node) & place.keys() for node in network.nodes]
    after: dict[str, list[int]] = {name: [] for name in place}
    for index, names in enumerate(before):
        for name in names:
            after[name].append(index)
    waiting = [len(names) for names in before]
    ready = [index for index, count in enumerate(waiting) if not count]
    heapify(ready)
    nodes = []
    while ready:
        node = network.nodes[heappop(ready)]
        nodes.append(node)
        for index in after[node.name]:
            waiting[index] -= 1
            if not waiting[index]:
                heappush(ready, index)
    if len(nodes) < len(network.nodes):
        left = {network.nodes[index].name: before[index] for index, count in enumerate(waiting) if count}
        raise _cycle(network, left)
    return tuple(nodes)


def _before(network: Network, node: Node) -> set[str]:
    """The names of the producers that must run before a box."""
    names = {arrow.source for arrow in node.sources}
    if node.box.reads is not None:
        names |= {_writer(network, node.box.reads)}
    return names


def _writer(network: Network, table: Keyed) -> str:
    return next(n.name for n in network.nodes if n.box.writes is not None and n.box.writes.name == table.name)


def _cycle(network: Network, before: Mapping[str, set[str]]) -> NetworkError:
    """Every box left waits for another that is left: following them back must come round."""
    path = [min(before)]
    while path[-1] not in path[:-1]:
        path.append(min(before[path[-1]] & before.keys()))
    round_trip = path[path.index(path[-1]) :][::-1]
    boxes = {node.name: node for node in network.nodes}
    for writer, reader in pairwise(round_trip):
        table = boxes[reader].box.reads
        if table is not None and writer not in {arrow.source for arrow in boxes[reader].sources}:
            return NetworkError(
                f"reads table {table.name} upstream of the box {writer}, which writes it;"
                f" use `old.` in the expressions of {writer} to read the row that it writes",
                _subject(boxes[reader]),
            )
    first = boxes[round_trip[0]]
    return NetworkError(
        f"the arrows form a cycle: {' -> '.join(round_trip)}", replace(_subject(first), silent=True), _FROM
    )


def _wired(network: Network, nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], dict[str, Ports]]:
    """The boxes with their arrows in full, and the schemas of all ports."""
    known: dict[str, Ports] = {input.name: {"out": input.schema} for input in network.inputs}
    wired = []
    for node in nodes:
        sources = tuple(_full(_subject(node), arrow, known) for arrow in node.sources)
        with placed(_subject(node)), _finding(node.box):
            check_fields(node.box)
            known[node.name] = node.box.outputs(*(known[arrow.source][arrow.port] for arrow in sources))
        wired.append(replace(node, sources=sources))
    return tuple(wired), known


@contextmanager
def _finding(box: Box) -> Iterator[None]:
    """Errors raised inside about an expression know which argument of the box has it, and for which column."""
    try:
        yield
    except AustralisError as error:
        expression = error.first(ExpressionPlace)
        if expression is not None and error.first(ArgumentPlace) is None:
            error.put(*_holder(box, expression.text))
        raise


def _holder(box: Box, text: str) -> tuple[Place, ...]:
    """The argument of a box that is an expression, or holds it, alone or under the name of a column."""
    for field in fields(box):  # type: ignore[arg-type]
        value = getattr(box, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            name, held = each if isinstance(each, tuple) and len(each) == 2 else (None, each)
            if isinstance(held, Expr | Aggregation) and str(held) == text:
                column = () if name is None else (MadeColumn(name),)
                return (ArgumentPlace(field.name, silent=True), *column)
    return ()


def _full(place: Subject, arrow: Arrow, known: Mapping[str, Ports]) -> Arrow:
    given = known[arrow.source]
    if not arrow.port:
        return replace(arrow, port=next(iter(given)))
    if arrow.port not in given:
        raise NetworkError(
            f"{arrow.source} has no port {arrow.port}; it has {listing(given)}{near(arrow.port, given)}",
            place,
            _FROM,
            unknown(arrow.port, given),
        )
    return arrow


def _ended(network: Network, known: Mapping[str, Ports]) -> tuple[Output, ...]:
    """The outputs with their arrows in full."""
    outputs = []
    for output in network.outputs:
        arrow = _full(Subject("output", output.name), output.arrow, known)
        if output.qos.value:
            with placed(Subject("output", output.name), ArgumentPlace("value", silent=True)):
                _check_value(output.qos.value[0], known[arrow.source][arrow.port])
        outputs.append(replace(output, arrow=arrow))
    return tuple(outputs)


def _check_value(column: str, schema: pa.Schema) -> None:
    if column not in schema.names:
        raise NetworkError(
            f"its value graph is about {column}, which is no column; there are {listing(schema.names)}"
            f"{near(column, schema.names)}",
            unknown(column, schema.names),
        )
    if not numeric(schema.field(column).type):
        raise NetworkError(f"its value graph is about {column}, a {schema.field(column).type}, and needs a number")


def _check_stored(network: Network, nodes: tuple[Node, ...]) -> None:
    """Each box says which of its inputs may be, or must be, stored tables."""
    stored = {input.name for input in network.inputs if input.static}
    for node in nodes:
        fixed = [arrow.source in stored for arrow in node.sources]
        with placed(_subject(node), _FROM):
            node.box.check_stored(fixed, [str(arrow) for arrow in node.sources])
        if all(fixed) and node.box.stores:
            stored.add(node.name)


def _check_facts(nodes: tuple[Node, ...], schemas: Mapping[str, Ports]) -> None:
    """Let boxes refuse to mix signals, to put different rates side by side, or to look beyond a spectrum."""
    known: dict[tuple[str, str], Facts] = {}
    for node in nodes:
        given = [known.get((arrow.source, arrow.port), NOTHING) for arrow in node.sources]
        with placed(_subject(node)):
            made = node.box.facts(title(node), given, [schemas[arrow.source][arrow.port] for arrow in node.sources])
        for port in schemas[node.name]:
            # Late tuples are those that came.
            known[node.name, port] = given[0] if port == LATE else NOTHING if lost(port) == LATE else made


def _check_reach(network: Network, nodes: tuple[Node, ...]) -> None:
    """Everything leads to an output or into a table; what does not is a slip of the pen."""
    used = {output.arrow.source for output in network.outputs}
    for node in reversed(nodes):
        if node.name in used or node.box.writes is not None:
            used |= {arrow.source for arrow in node.sources}
    idle = [node.name for node in nodes if node.name not in used and node.box.writes is None]
    if idle:
        raise NetworkError(
            f"{_boxes(idle)} {listing(idle)} reach{'' if len(idle) > 1 else 'es'} no output",
            Subject("box", idle[0], silent=True),
        )
    unused = [input.name for input in network.inputs if input.name not in used]
    if unused:
        raise NetworkError(
            f"{'inputs' if len(unused) > 1 else 'input'} {listing(unused)}: no box or output uses it",
            Subject("input", unused[0], silent=True),
        )


def _boxes(names: list[str]) -> str:
    return "boxes" if len(names) > 1 else "box"
