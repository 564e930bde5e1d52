"""A picture of a network as SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from australis.arrow.schema import type_text
from australis.drawing.layout import Layout, Rect, layout
from australis.model.network import OUT, Input, Network, Node, Output

Part = Input | Node | Output

_MARGIN = 14.0
_LINE = 15.0
_MOST_LINES, _MOST_CHARS = 4, 34
_LAYER_GAP = 74.0
_PORT = 17.0

# Boxes have a light ground and dark text of their own; what is on the page itself is a grey that both pages show.
_PAGE_INK = "#7d8894"
_INK, _FAINT = "#1c2733", "#51606e"
_INPUT, _OUTPUT, _OTHER = ("#e4e7eb", "#66788a"), ("#2f4155", "#2f4155"), ("#eceff2", "#66788a")
_FAMILIES = {
    ("filter", "map", "union"): ("#e3effb", "#3d7fc1"),
    ("bsort", "aggregate", "join", "resample"): ("#fdf1dc", "#d08b1d"),
    ("write", "read"): ("#e2f3e8", "#3a9a62"),
}
_COLOURS = {kind: colours for kinds, colours in _FAMILIES.items() for kind in kinds}

_STYLE = f"""
.au {{ font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
.au-name {{ font-weight: 600; fill: {_INK}; }}
.au-kind {{ font-size: 10.5px; fill: {_FAINT}; }}
.au-code {{ font: 10.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: {_FAINT}; }}
.au-page {{ font-size: 10.5px; fill: {_PAGE_INK}; }}
.au-arrow {{ fill: none; stroke: {_PAGE_INK}; stroke-width: 1.4; }}
.au-shared {{ stroke-dasharray: 2 4; }}
.au-group {{ fill: {_PAGE_INK}; fill-opacity: 0.07; stroke: {_PAGE_INK}; stroke-opacity: 0.6; stroke-dasharray: 6 4; }}
"""


def svg(network: Network) -> str:
    """The network from left to right: inputs, boxes with their parameters, outputs; groups are outlined."""
    parts: list[Part] = [*network.inputs, *network.nodes, *network.outputs]
    arrows = list(_arrows(network))
    sizes = {_key(part): _size(part) for part in parts}
    _make_room(sizes, arrows, network)
    edges = [(arrow.source, arrow.target) for arrow in arrows]
    groups = {_key(node): node.group for node in network.nodes if node.group}
    placed = layout(sizes, edges, [_key(output) for output in network.outputs], groups, _LAYER_GAP)
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="au" role="img" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}">',
        f"<title>{_description(network)}</title><style>{_STYLE}</style>",
        '<defs><marker id="au-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        f' orient="auto"><path d="M0 0.8 L7.5 4 L0 7.2 z" fill="{_PAGE_INK}"/></marker></defs>',
        *(_outline(path[-1], rect) for path, rect in placed.groups.items()),
        *_lines(placed, arrows),
        *(_draw(part, placed.nodes[_key(part)]) for part in parts),
        "</svg>",
    ]
    return "\n".join(lines)


def _key(part: Part) -> str:
    """A key for each part. Inputs and boxes have distinct names; an output may have the name of a box."""
    return f"output {part.name}" if isinstance(part, Output) else part.name


def _description(network: Network) -> str:
    boxes = ", ".join(f"{node.name} ({node.box.kind})" for node in network.nodes)
    return escape(f"A network from {', '.join(i.name for i in network.inputs)} through {boxes or 'no box'}"
                  f" to {', '.join(output.name for output in network.outputs)}")  # fmt: skip


@dataclass(frozen=True)
class _DrawnArrow:
    """An arrow on the page; `shared` is a table that a box reads from its writer."""

    source: str
    target: str
    port: str
    label: str
    shared: bool = False


def _arrows(network: Network) -> Iterator[_DrawnArrow]:
    leading = [(node.name, arrow) for node in network.nodes for arrow in node.sources]
    leading += [(_key(output), output.arrow) for output in network.outputs]
    used: dict[str, set[str]] = {}
    for _, arrow in leading:
        used.setdefault(arrow.source, set()).add(arrow.port)
    for target, arrow in leading:
        # The main port needs no label where it is the only one in use.
        plain = network.render_arrow(arrow) == arrow.source and (arrow.port == OUT or len(used[arrow.source]) == 1)
        yield _DrawnArrow(arrow.source, target, arrow.port, "" if plain else arrow.port)
    writers = {node.box.writes.name: node.name for node in network.nodes if node.box.writes is not None}
    for node in network.nodes:
        table = node.box.reads
        if table is not None:
            yield _DrawnArrow(writers[table.name], node.name, "table", table.name, shared=True)


def _make_room(sizes: dict[str, tuple[float, float]], arrows: list[_DrawnArrow], network: Network) -> None:
    """Make boxes as high as their ports need, and outputs equally wide."""
    ports: dict[str, set[str]] = {}
    for arrow in arrows:
        ports.setdefault(arrow.source, set()).add(arrow.port)
    for name, used in ports.items():
        width, height = sizes[name]
        sizes[name] = width, max(height, _PORT * len(used) + 6)
    widest = max(sizes[_key(output)][0] for output in network.outputs)
    for output in network.outputs:
        sizes[_key(output)] = widest, sizes[_key(output)][1]


def _texts(part: Part) -> list[str]:
    if isinstance(part, Input):
        return [_shorten(f"{field.name} {type_text(field.type)}") for field in part.schema]
    if isinstance(part, Output):
        return [_shorten(text) for text in str(part.qos).split(", value") if text][:1]
    return [_shorten(text) for text in part.box.label()]


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else text[: _MOST_CHARS - 1] + "…"


def _visible_texts(part: Part) -> list[str]:
    texts = _texts(part)
    return texts if len(texts) <= _MOST_LINES else [*texts[: _MOST_LINES - 1], f"… {len(texts) - _MOST_LINES + 1} more"]


def _kind(part: Part) -> str:
    if isinstance(part, Input):
        return "static table" if part.static else "input"
    return "output" if isinstance(part, Output) else part.box.kind


def _size(part: Part) -> tuple[float, float]:
    head = 7.4 * len(part.name) + 5.8 * len(_kind(part)) + 44
    code = max((6.4 * len(text) + 26 for text in _visible_texts(part)), default=0.0)
    return max(head, code, 84.0), 30.0 + (_LINE * len(_visible_texts(part)) + 7 if _visible_texts(part) else 0)


def _draw(part: Part, at: Rect) -> str:
    if isinstance(part, Node):
        fill, edge = _COLOURS.get(part.box.kind, _OTHER)
    else:
        fill, edge = _INPUT if isinstance(part, Input) else _OUTPUT
    round_, ink = (6, "") if isinstance(part, Node) else (15, "")
    if isinstance(part, Output):
        ink = ' style="fill:#ffffff"'
    dash = ' stroke-dasharray="5 3"' if isinstance(part, Input) and part.static else ""
    lines = [
        f'<g transform="translate({at.x:.1f} {at.y:.1f})"><title>{escape(chr(10).join(_all_texts(part)))}</title>',
        f'<rect width="{at.width:.1f}" height="{at.height:.1f}" rx="{round_}" fill="{fill}" stroke="{edge}"'
        f' stroke-width="1.2"{dash}/>',
        f'<text class="au-name" x="13" y="19.5"{ink}>{escape(part.name)}</text>',
        f'<text class="au-kind" x="{at.width - 12:.1f}" y="19.5" text-anchor="end"{ink}>{_kind(part)}</text>',
    ]
    for place, text in enumerate(_visible_texts(part)):
        lines.append(f'<text class="au-code" x="13" y="{30 + _LINE * (place + 0.7):.1f}"{ink}>{escape(text)}</text>')
    return "".join([*lines, "</g>"])


def _all_texts(part: Part) -> list[str]:
    """The full texts of a part, which a pointer over it shows."""
    if isinstance(part, Input):
        return [part.name, *(f"{field.name} {type_text(field.type)}" for field in part.schema)]
    return [part.name, str(part.qos)] if isinstance(part, Output) else [part.name, *part.box.label()]


def _outline(name: str, at: Rect) -> str:
    return (
        f'<rect class="au-group" x="{at.x:.1f}" y="{at.y:.1f}" rx="10" width="{at.width:.1f}"'
        f' height="{at.height:.1f}"/>'
        f'<text class="au-page" x="{at.x + 10:.1f}" y="{at.y + 15:.1f}">{escape(name)}</text>'
    )


def _lines(placed: Layout, arrows: list[_DrawnArrow]) -> Iterator[str]:
    """Curves from the right of a port to the left of a box, spread over the side that they share."""
    heads = [placed.bends[index][:1] or [(0.0, placed.nodes[a.target].middle)] for index, a in enumerate(arrows)]
    tails = [placed.bends[index][-1:] or [(0.0, placed.nodes[a.source].middle)] for index, a in enumerate(arrows)]
    starts = _spread(placed, [(a.source, a.port, head[0][1]) for a, head in zip(arrows, heads, strict=True)])
    ends = _spread(placed, [(a.target, index, tails[index][0][1]) for index, a in enumerate(arrows)])
    labels = {}
    for index, arrow in enumerate(arrows):
        start = (placed.nodes[arrow.source].right, starts[arrow.source, arrow.port])
        end = (placed.nodes[arrow.target].x - 2, ends[arrow.target, index])
        path = f"M{start[0]:.1f} {start[1]:.1f}"
        for (x, y), (to_x, to_y) in pairwise([start, *placed.bends[index], end]):
            half = (to_x - x) / 2
            path += f" C{x + half:.1f} {y:.1f} {to_x - half:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
        dash = " au-shared" if arrow.shared else ""
        yield f'<path class="au-arrow{dash}" d="{path}" marker-end="url(#au-head)"/>'
        labels[arrow.source, arrow.port] = (*start, arrow.label)
    for x, y, label in labels.values():
        if label:
            yield f'<text class="au-page" x="{x + 6:.1f}" y="{y - 4:.1f}">{escape(label)}</text>'


def _spread(placed: Layout, meetings: Iterable[tuple[str, Hashable, float]]) -> dict[tuple[str, Hashable], float]:
    """The heights at which arrows meet a node: in the order of their other ends, evenly about its middle."""
    leads: dict[str, dict[Hashable, list[float]]] = {}
    for node, place, toward in meetings:
        leads.setdefault(node, {}).setdefault(place, []).append(toward)
    heights: dict[tuple[str, Hashable], float] = {}
    for node, places in leads.items():
        at = placed.nodes[node]
        step = min(_PORT, (at.height - 10) / len(places))
        means = sorted(places, key=lambda place: sum(places[place]) / len(places[place]))
        for rank, place in enumerate(means):
            heights[node, place] = at.middle + step * (rank - (len(means) - 1) / 2)
    return heights
