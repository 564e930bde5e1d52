"""Predicates for sources: what they leave out matters to nobody."""

import numpy as np
import pytest

import australis as au
from australis.expressions import expr
from australis.plan.rules import source_predicates
from tests.plan.rules import agreement
from tests.plan.rules.agreement import net, outcome


@au.function("double")
def place_in_train(x):
    return np.arange(len(x), dtype=float)


CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"

HINTS = {
    "a filter": (net("f: a -> filter: mph > 30", p="f"), {"a": "mph > 30"}),
    "two filters": (
        net("f: a -> filter: mph > 30\ng: a -> filter: x > 1 and vid = 1", p="f", q="g"),
        {"a": "mph > 30 or x > 1 and vid = 1"},
    ),
    "the same twice": (net("f: a -> filter: mph > 30\ng: a -> filter: mph > 30", p="f", q="g"), {"a": "mph > 30"}),
    "one of two inputs": (
        net("f: a -> filter: mph > 30\nu: f, b -> union: {}", p="u"),
        {"a": "mph > 30"},
    ),
    "a stored table": (
        net(f"f: cars -> filter: class > 1\nj: a, f -> {CLASSES}", p="j"),
        {"cars": "class > 1"},
    ),
    "a filter whose rest is used": (net("f: a -> filter: mph > 30", p="f", q="f.rest"), {}),
    "an output": (net("f: a -> filter: mph > 30", p="f", q="a"), {}),
    "another box": (net("f: a -> filter: mph > 30\nm: a -> map: {u: mph}", p="f", q="m"), {}),
    "a function that is not pure": (net("f: a -> filter: place_in_train(x) > 1", p="f"), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", HINTS)
@pytest.mark.parametrize("seed", range(5))
def test_what_a_source_leaves_out_matters_to_nobody(case, seed):
    network, hints = HINTS[case]
    assert source_predicates(network) == {name: expr(text) for name, text in hints.items()}
    inputs = agreement.given(network, seed)
    less = {
        name: batch.filter(expr(hints[name]).bind(batch.schema).mask(batch)) if name in hints else batch
        for name, batch in inputs.items()
    }
    # With fewer tuples inputs take other turns, so that tuples of two meet in another order.
    whole, found = outcome(network, inputs), outcome(network, less)
    assert {name: sorted(whole[name]) for name in whole} == {name: sorted(found[name]) for name in found}
