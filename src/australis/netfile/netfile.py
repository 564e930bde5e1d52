"""Network files: a network as YAML that people write by hand, and back without loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from australis.arguments import check_arguments
from australis.arrow.schema import schema as schema_of
from australis.arrow.schema import text as schema_text
from australis.boxes import catalog
from australis.disk.paths import place
from australis.errors import (
    ArgumentPlace,
    AustralisError,
    ColumnPlace,
    ExpressionPlace,
    NetworkError,
    Subject,
    TextPlace,
    listing,
    near,
    placed,
    unknown,
)
from australis.model import parameters
from australis.model.form import form
from australis.model.network import Arrow, Input, Network, Node, Output
from australis.model.parameters import By
from australis.model.qos import Graph, QoS, qos
from australis.model.table import Keyed
from australis.netfile import yamltext
from australis.netfile.sections import MisreadError, read
from australis.netfile.yamltext import Block, Document

VERSION = 2
_OLDER = {
    1: "; since then a list under `filter` is one of predicates that all hold: write `route` for those that had one,"
    " and `.out` for the port `.1` of a filter"
}
"""What to change in files of earlier formats."""
Sections = Mapping[str, Any]
Points = Mapping[float, float]


@dataclass(frozen=True)
class _NetworkFile:
    australis: int
    inputs: Sections
    outputs: Sections
    tables: Sections = field(default_factory=dict)
    boxes: Sections = field(default_factory=dict)
    groups: Sections = field(default_factory=dict)


@dataclass(frozen=True)
class _Static:
    static: str


@dataclass(frozen=True)
class _KeyedTable:
    schema: str
    key: By


@dataclass(frozen=True)
class _WorthOutput:
    from_: str
    latency: Points | None = None
    delivered: Points | None = None
    value: Mapping[str, Points] | None = None
    weight: float = 1.0


@check_arguments()
def load(path: str | Path) -> Network:
    """The network in a file."""
    try:
        text = place(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise NetworkError(str(error), TextPlace(str(path))) from error
    return loads(text, str(path))


@check_arguments()
def loads(text: str, name: str = "network") -> Network:
    """The network in a text; `name` is what errors call it."""
    document = Document(text, name)
    with _placed(document):
        file = read(_NetworkFile, _named(document.data))
    if file.australis != VERSION:
        older = _OLDER.get(file.australis, "")
        raise NetworkError(
            f"the format is `australis: {VERSION}`, not {file.australis}{older}", document.place(("australis",))
        )
    inputs = tuple(_each(document, "inputs", file.inputs, _input))
    tables = {table.name: table for table in _each(document, "tables", file.tables, _table)}
    groups = _groups(document, file.groups, file.boxes)
    nodes = []
    for box, written in file.boxes.items():
        with _placed(document, "boxes", box):
            nodes.append(_node(box, written, tables, groups.get(box, ())))
    outputs = tuple(_each(document, "outputs", file.outputs, _output))
    with _placed(document):
        return Network(inputs, tuple(nodes), outputs, tuple(tables.values()))


@check_arguments()
def dump(network: Network, path: str | Path) -> None:
    """Write a network to a file."""
    text = dumps(network)
    try:
        place(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise NetworkError(str(error), TextPlace(str(path))) from error


@check_arguments()
def dumps(network: Network) -> str:
    """A network as text, from which `loads` makes an equal one."""
    data = Block(australis=VERSION)
    data["inputs"] = Block(
        {i.name: {"static": schema_text(i.schema)} if i.static else schema_text(i.schema) for i in network.inputs}
    )
    if network.tables:
        data["tables"] = Block(
            {table.name: {"schema": schema_text(table.schema), "key": list(table.key)} for table in network.tables}
        )
    if network.nodes:
        data["boxes"] = Block({node.name: _written(network, node) for node in network.nodes})
    if any(node.group for node in network.nodes):
        data["groups"] = Block(_written_groups(network))
    data["outputs"] = Block({output.name: _written_output(network, output) for output in network.outputs})
    return yamltext.dumps(data)


@contextmanager
def _placed(document: Document, *path: object) -> Iterator[None]:
    """Errors raised inside say the file and the line, of what they are about or else of a path of keys."""
    try:
        yield
    except MisreadError as error:
        raise NetworkError.of(error).put(document.place((*path, *error.path))) from error
    except AustralisError as error:
        error.put(document.place(path or _path(error), *_inside(error)))
        raise


def _each(document: Document, section: str, written: Mapping[str, Any], make: Any) -> Iterator[Any]:
    for name, part in written.items():
        with _placed(document, section, name), placed(Subject(section[:-1], name)):
            yield make(name, part)


def _input(name: str, written: object) -> Input:
    if isinstance(written, str):
        return Input(name, schema_of(written))
    if isinstance(written, dict) and isinstance(written.get("static"), str):
        # Between braces the commas of a schema end the value: what follows are keys without one.
        columns = [str(key) for key, value in written.items() if value is None and " " in str(key).strip()]
        rest = {key: value for key, value in written.items() if key not in columns}
        written = {**rest, "static": ", ".join([written["static"], *columns])}
    return Input(name, schema_of(read(_Static, written).static), static=True)


def _table(name: str, written: object) -> Keyed:
    table = read(_KeyedTable, written)
    return parameters.keyed(name, table.schema, table.key)


def _output(name: str, written: object) -> Output:
    output = read(_WorthOutput, {"from": str(written)} if isinstance(written, str | int) else written)
    return Output(name, _arrow(output.from_), qos(output.latency, output.delivered, output.value, output.weight))


def _node(name: str, written: object, tables: Mapping[str, Keyed], group: tuple[str, ...]) -> Node:
    """A box: its kind with its parameters, and `from`, where its tuples come from."""
    kinds = catalog.kinds()
    if not isinstance(written, dict):
        raise NetworkError(
            f"a mapping with `from` and one of {listing(kinds)} goes here, not {written!r}", Subject("box", name)
        )
    for key in written:
        if key not in kinds and key != "from":
            keys = [*kinds, "from"]
            raise MisreadError(
                f"there is no key `{key}`; the keys are {listing(keys)}{near(str(key), keys)}", (key,)
            ).put(Subject("box", name), unknown(str(key), keys))
    of = [key for key in written if key in kinds]
    if len(of) != 1:
        raise NetworkError(f"it has one kind; given are {listing(of)} of {listing(kinds)}", Subject("box", name))
    kind = kinds[of[0]]
    parameter, sources = written[kind.kind], written.get("from")
    if kind.merges and isinstance(parameter, list) and sources is None:
        parameter, sources = {}, parameter
    with placed(Subject(kind.kind, name)):
        with placed(_FROM):
            arrows = _sources(sources)
        box = form(kind).read(parameter, tables, len(arrows))
    return Node(name, box, arrows, group)


def _sources(written: object) -> tuple[Arrow, ...]:
    if written is None:
        raise NetworkError("the key `from` is missing: it names an input or a box, or lists several")
    return tuple(map(_arrow, written if isinstance(written, list) else [written]))


def _arrow(written: object) -> Arrow:
    """`stats`, or `stats.late` for a port that is not the main one."""
    if not isinstance(written, str | int) or isinstance(written, bool):
        raise NetworkError(f"an arrow comes from a box or a box and a port, as in `stats.late`, not {written!r}")
    source, _, port = str(written).partition(".")
    return Arrow(source, port)


def _groups(document: Document, written: Mapping[str, Any], boxes: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The path of groups of each box that is in one. A group lists boxes, and mappings of groups inside it."""
    paths: dict[str, tuple[str, ...]] = {}
    stack: list[tuple[tuple[str, ...], Any]] = [((name,), members) for name, members in written.items()]
    while stack:
        path, members = stack.pop()
        with _placed(document, "groups", path[0]), placed(Subject("group", path[-1])):
            if not isinstance(members, list):
                raise NetworkError(f"a list of boxes, or of groups such as {{inner: [..]}}, goes here, not {members!r}")
            for member in members:
                if isinstance(member, dict):
                    stack.extend(((*path, str(name)), inner) for name, inner in member.items())
                    continue
                if str(member) not in boxes:
                    raise NetworkError(
                        f"there is no box {member}; there are {listing(boxes)}{near(str(member), boxes)}",
                        unknown(str(member), boxes),
                    )
                if str(member) in paths:
                    raise NetworkError(f"box {member} is in group {paths[str(member)][-1]} already")
                paths[str(member)] = path
    return paths


def _named(data: object) -> object:
    """The document with names as text: a box may be called 1."""
    if not isinstance(data, dict):
        return data
    return {
        str(section): {str(name): part for name, part in parts.items()} if isinstance(parts, dict) else parts
        for section, parts in data.items()
    }


_FROM = ArgumentPlace("from", silent=True)
_SECTIONS = {"input": "inputs", "output": "outputs", "table": "tables", "group": "groups"}


def _path(error: AustralisError) -> tuple[str, ...]:
    """Where in a file the thing stands that an error is about."""
    about = error.about
    return () if about is None or about.name is None else (_SECTIONS.get(about.kind, "boxes"), about.name)


def _inside(error: AustralisError) -> tuple[str, ...]:
    """The keys below the name of a thing where an error may stand: arguments are below the kind of a box."""
    argument, column = error.first(ArgumentPlace), error.first(ColumnPlace)
    if argument == _FROM:
        return (argument.name,)
    if error.about is None or not (argument or column or error.first(ExpressionPlace)):
        return ()
    return (error.about.kind, *(place.name for place in (argument, column) if place is not None))


def _written(network: Network, node: Node) -> Block:
    sources = [network.render_arrow(arrow) for arrow in node.sources]
    kind, arguments = node.box.kind, form(type(node.box)).write(node.box)
    if node.box.merges and not arguments:
        return Block({kind: sources})
    return Block({kind: arguments, "from": sources[0] if len(sources) == 1 else sources})


def _written_groups(network: Network) -> dict[str, list[object]]:
    whole: dict[str, list[object]] = {}
    lists: dict[tuple[str, ...], list[object]] = {}
    for node in network.nodes:
        for depth in range(1, len(node.group) + 1):
            path = node.group[:depth]
            if path not in lists:
                lists[path] = []
                if depth == 1:
                    whole[path[0]] = lists[path]
                else:
                    lists[path[:-1]].append({path[-1]: lists[path]})
        if node.group:
            lists[node.group].append(node.name)
    return whole


def _written_output(network: Network, output: Output) -> object:
    arrow = network.render_arrow(output.arrow)
    if output.qos == QoS():
        return arrow
    graphs: dict[str, object] = {"from": arrow}
    if output.qos.latency:
        graphs["latency"] = _points(output.qos.latency)
    if output.qos.delivered:
        graphs["delivered"] = _points(output.qos.delivered)
    if output.qos.value:
        graphs["value"] = {output.qos.value[0]: _points(output.qos.value[1])}
    if output.qos.weight != 1:
        graphs["weight"] = output.qos.weight
    return graphs


def _points(graph: Graph) -> dict[float, float]:
    return {int(x) if x.is_integer() else x: utility for x, utility in graph.points}
