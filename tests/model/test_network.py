"""Networks: values that are valid, or are not made."""

import pickle
from dataclasses import replace

import pyarrow.compute as pc
import pytest

from australis.api.network import Network
from australis.arrow.schema import schema
from australis.boxes import Aggregate, Filter, Map, Write
from australis.expressions import expr, function
from australis.expressions.aggregate import aggregation
from australis.expressions.user import _REGISTERED
from australis.expressions.window_function import WINDOW_FUNCTIONS, window_function
from australis.model.network import Arrow, Input, Node, Output
from australis.model.order import Order
from australis.model.parameters import keyed
from australis.testing import rows

REPORTS = Input("reports", schema("time int, vid int, mph int"))
CARS = Input("cars", schema("vid int, plate string"), static=True)
FAST = Filter(expr("mph > 60"))
ACCOUNTS = keyed("accounts", "vid int, balance bigint", "vid")
CHARGE = Write(ACCOUNTS, (("balance", expr("coalesce(old.balance, 0) + mph")),))


def node(name, box, *sources, group=()):
    return Node(name, box, tuple(Arrow(*source.split(".")) for source in sources), group)


def net(*nodes, inputs=(REPORTS,), outputs=None, tables=()):
    """A network of the reports, whose output is the last box unless others are named."""
    named = {"out": nodes[-1].name} if outputs is None else outputs
    sinks = tuple(Output(name, Arrow(*source.split("."))) for name, source in named.items())
    return Network(inputs, tuple(nodes), sinks, tables)


def test_schemas_of_all_ports_are_known():
    made = net(node("kph", Map((("kph", expr("mph * 1.6")),)), "reports"))
    assert made.schemas["kph"]["out"].names == ["kph"]
    assert made.schema(Arrow("reports", "out")) == REPORTS.schema


def test_networks_are_equal_by_value_and_hash():
    one, two = (net(node("fast", FAST, "reports")) for _ in range(2))
    assert one == two
    assert len({one, two}) == 1
    assert one != replace(one, outputs=(Output("out", Arrow("fast", "rest")),))


@pytest.fixture
def registries():
    """What a test registers goes again."""
    functions, windows = dict(_REGISTERED), dict(WINDOW_FUNCTIONS)
    yield
    for registry, before in ((_REGISTERED, functions), (WINDOW_FUNCTIONS, windows)):
        registry.clear()
        registry.update(before)


def kph(mph):
    return pc.multiply(mph, 1.6)


def start():
    return 0.0


def larger(state, x):
    return max(state, x * 1.0)


def itself(state):
    return state


@pytest.mark.usefixtures("registries")
def test_networks_pickle_with_the_functions_of_users():
    function("double", name="test_kph")(kph)
    window_function("test_peak", start, larger, itself)
    made = net(
        node("kph", Map((("time", expr("time")), ("kph", expr("test_kph(mph)")))), "reports"),
        node(
            "peak", Aggregate((("peak", aggregation("test_peak(kph)", ["test_peak"])),), Order("time"), 10, 10), "kph"
        ),
    )
    assert [each.name for each in made.functions] == ["test_kph", "test_peak"]
    packed = pickle.dumps(made)
    _REGISTERED.pop("test_kph")
    WINDOW_FUNCTIONS.pop("test_peak")
    again = pickle.loads(packed)
    assert again == made
    result = again.run_local(reports={"time": [1, 2, 11], "vid": [1, 1, 1], "mph": [10, 20, 5]})["out"]
    assert rows(result) == [(0, 32.0), (10, 8.0)]


def test_a_network_shows_itself():
    made = net(node("fast", FAST, "reports"))
    assert made._repr_svg_().startswith("<svg")
    assert "fast: filter of reports" in made.explain()
