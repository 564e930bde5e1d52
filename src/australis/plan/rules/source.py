"""Predicates for sources: which tuples of an input can matter."""

from __future__ import annotations

from collections.abc import Mapping

from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import apply
from australis.model.network import OUT, Arrow, Network, Node
from australis.plan.rules.wiring import Wiring


def source_predicates(network: Network) -> Mapping[str, Expr]:
    """For inputs of which filters alone take tuples: a predicate that each tuple which gets through satisfies.

    A source may leave out a tuple for which it is false or null, such as all those of a row group of a Parquet file.
    Mind that the least and the greatest value of a row group say nothing of NaN. An input whose tuples all may matter
    has no predicate: one that is an output, whose `rest` something takes, or that a user function meets which is not
    pure.
    """
    wiring = Wiring(network)
    predicates = {}
    for input in network.inputs:
        arrow = Arrow(input.name, OUT)
        takers = [network.named[name] for name, _ in wiring.takers.get(arrow, [])]
        parts = [_selects(wiring, taker) for taker in takers]
        alternatives = [part.node for part in dict.fromkeys(parts) if part is not None]
        if alternatives and None not in parts and arrow not in wiring.visible:
            predicates[input.name] = of(apply("or", *alternatives) if len(alternatives) > 1 else alternatives[0])
    return predicates


def _selects(wiring: Wiring, node: Node) -> Expr | None:
    """The predicate of a filter whose other tuples nothing takes."""
    return node.box.selects if node.box.pure and wiring.main_only(node) else None
