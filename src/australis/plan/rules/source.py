"""Push filters into sources: which tuples of an input can matter.

    input -> filter x > 1 -> filter y = 2        becomes        input where x > 1 and y = 2 -> filter -> filter

The network stays as it is. A source may leave out a tuple for which the predicate is false or null, such as all those
of a row group of a Parquet file, if the others keep their numbers.

Sound when filters alone take the input's tuples, nothing takes their `rest`, nor the input as it is, and no user
function meets the tuples that is not pure. The filters that follow in a row count too, if nothing else takes what is
between them.
"""

from __future__ import annotations

from collections.abc import Mapping

from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import Node as Part
from australis.expressions.node import apply
from australis.model.network import OUT, Arrow, Network, Node
from australis.plan.rules.wiring import Wiring


def source_filters(network: Network) -> Mapping[str, list[list[Node]]]:
    """For inputs of which filters alone take tuples: these filters, each with those that follow it in a row."""
    wiring = Wiring(network)
    found = {}
    for input in network.inputs:
        arrow = Arrow(input.name, OUT)
        rows = [_row(wiring, network.named[name]) for name, _ in wiring.takers.get(arrow, [])]
        if rows and all(rows) and arrow not in wiring.visible:
            found[input.name] = rows
    return found


def source_predicates(network: Network) -> Mapping[str, Expr]:
    """For such inputs, a predicate that each tuple satisfies which gets through.

    It is the same in whichever order the filters of a row are.
    """
    return {
        name: of(_joined("or", [_joined("and", [_predicate(node) for node in row]) for row in rows]))
        for name, rows in source_filters(network).items()
    }


def _row(wiring: Wiring, node: Node) -> list[Node]:
    """A filter whose other tuples nothing takes, and the filters that it feeds alone; nothing if it is none."""
    row: list[Node] = []
    following: Node | None = node
    while following is not None and _selects(wiring, following):
        row.append(following)
        following = wiring.only_taker(following.name)
    return row


def _selects(wiring: Wiring, node: Node) -> bool:
    return node.box.selects is not None and node.box.pure and wiring.main_only(node)


def _predicate(node: Node) -> Part:
    assert node.box.selects is not None
    return node.box.selects.node


def _joined(function: str, parts: list[Part]) -> Part:
    every = sorted(dict.fromkeys(parts), key=lambda part: str(of(part)))
    return apply(function, *every) if len(every) > 1 else every[0]
