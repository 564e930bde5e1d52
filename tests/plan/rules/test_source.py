"""Predicates for sources: what they leave out matters to nobody."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import australis as au
from australis.connectors.source import parts, selected
from australis.connectors.sources.files import Files
from australis.engine.selecting import selections
from australis.expressions import expr
from australis.plan.rules import source_predicates
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import many, net, outcome


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
    "filters in a row": (
        net("g: a -> filter: x > 1\nf: g -> filter: mph > 30\nh: f -> filter: vid = 1 or x > 7", p="h"),
        {"a": "mph > 30 and (vid = 1 or x > 7) and x > 1"},
    ),
    "a row up to what else takes it": (
        net("f: a -> filter: mph > 30\ng: f -> filter: x > 1\nh: g -> filter: vid = 1", p="h", q="g"),
        {"a": "mph > 30 and x > 1"},
    ),
    "a row up to a rest that is used": (
        net("f: a -> filter: mph > 30\ng: f -> filter: x > 1", p="g", q="g.rest"), {"a": "mph > 30"}
    ),
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


MENU = [drawings.keep, drawings.both, drawings.pairs] * 3 + [
    drawings.part, drawings.make, drawings.sort, drawings.window, drawings.classes, drawings.look_up,
]  # fmt: skip


PREDICATES = [
    "mph > 30", "vid = 1", "vid > 0 and mph < 70", "x > 0.5", "name is not null", "x != 0 or name < 'b'", "big < 100",
    "mph / vid > 3 and time > 2", "big * big > 5 and big in (7, 50)", "time between 2 and 9", "x < 1 and isnan(x)",
]  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Tuples of some seeds in files of small row groups, in the order of one column or another."""
    folder, files = tmp_path_factory.mktemp("stored"), {}
    for seed in range(8):
        for at, name in enumerate("ab"):
            column = list(agreement.COLUMNS)[(seed + at) % len(agreement.COLUMNS)]
            tuples = pa.table(agreement.tuples(seed + at, 40).sort_by(column))
            pq.write_table(tuples, folder / f"{name}{seed}.parquet", row_group_size=3)
            files[name, seed] = str(folder / f"{name}{seed}.parquet")
    return files


def test_random_networks_agree(stored):
    fired = skipped = 0

    @settings(max_examples=2 * settings().max_examples)
    @given(drawings.networks(MENU, 5, PREDICATES, filtered=True), st.integers(0, 7), st.sampled_from((5, 17, 100)))
    def agrees(network, seed, train):
        nonlocal fired, skipped
        streams = [each for each in network.inputs if not each.static]
        whole = {each.name: Files(stored[each.name, seed], each.schema) for each in streams}
        predicates = selections(network, whole)
        some = {name: selected(source, predicates.get(name)) for name, source in whole.items()}
        tables = {each.name: agreement.CLASSES for each in network.inputs if each.static}
        fired += len(predicates)
        skipped += sum(part.skipped for source in some.values() for part in parts(source))
        note(str(predicates))
        one, two = (outcome(network, {**tables, **sources}, train) for sources in (whole, some))
        assert one is None or one == two  # the other may fail for fewer tuples

    agrees()
    assert fired >= many(), f"the rule fired {fired} times"
    assert skipped >= many(), f"{skipped} tuples were skipped"
