"""Rows of filters, of which each takes all that the one before gives: any order of them lets the same tuples through.

Sound when nothing but the next filter takes what each gives, and no user function is called that is not pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from australis.expressions.failing import may_fail
from australis.model.network import Network, Node
from australis.model.qos.passing import MOST
from australis.plan.rules.wiring import Wiring


def filter_rows(wiring: Wiring) -> list[list[Node]]:
    """The filters of a network that need not stay where they are, each in the longest row that it is part of."""
    rows: dict[str, list[Node]] = {}
    for node in wiring.network.nodes:
        if _movable(wiring, node):
            before = node.sources[0].source
            follows = before in rows and wiring.only_taker(before) is node
            rows[node.name] = [*rows.pop(before), node] if follows else [node]
    return list(rows.values())


def _movable(wiring: Wiring, node: Node) -> bool:
    return node.box.selects is not None and node.box.pure and wiring.main_only(node) and not wiring.kept(node.name)


def sure(network: Network, node: Node) -> bool:
    """Whether a filter can be asked of tuples that others would have removed: it fails for none."""
    return node.box.selects is not None and not may_fail(node.box.selects, network.schema(node.sources[0]))


def counted_filters(network: Network) -> Mapping[str, list[list[Node]]]:
    """The filters of rows whose passes are counted together, a few at a time, by the first box of their row.

    They are in the order of their names, so that they are the same in whatever order the row is.
    """
    counted = {}
    for row in filter_rows(Wiring(network)):
        filters = sorted((node for node in row if sure(network, node)), key=lambda node: node.name)
        groups = [filters[at : at + MOST] for at in range(0, len(filters), MOST)]
        counted[row[0].name] = [group for group in groups if len(group) > 1]
    return {first: groups for first, groups in counted.items() if groups}
