"""How many expressways and requests a machine holds, by the model."""

import pytest

from australis.apps.linear_road.network import network
from australis.apps.linear_road.network_file import valued
from australis.bench.flood_load import FloodLoad
from australis.model.qos import BoxCost, Costs
from australis.plan import plan
from australis.qos.load import LoadModel, Machine

COSTS = Costs(
    {
        "types": BoxCost(0.1e-6, {"1": 0.5, "4": 0.5}),
        "reports": BoxCost(0.5e-6, {"out": 1}),
        "cars": BoxCost(1.2e-6, {"out": 1}),
        "crossings": BoxCost(0.0, {"out": 0}),
        "journeys": BoxCost(2.5e-6, {"out": 1}),
    },
    sources={"sent": 0.2e-6},
    sinks={"journeys": 0.6e-6},
    batch=0.1,
)


def load(**sent: float) -> FloodLoad:
    net = valued(network(), flood=True)
    model = LoadModel(net, plan(net, {"sent": ("xway",)}), COSTS, Machine(2, 2))
    return FloodLoad(model, {int(kind[1:]): part for kind, part in sent.items()} or {0: 1.0})


def test_rates_are_those_at_which_the_machine_is_full_whatever_was_measured_of_types() -> None:
    flood = load()
    assert flood.model.most == pytest.approx(0.8 - 0.1 / 2)
    # A report takes 2 µs of a core, a request 2.8 µs, and its sink 0.6 µs of the driver's.
    assert flood.reports == pytest.approx(0.75 / 1e-6)
    assert flood.hopeless == pytest.approx(0.8 / 1e-6)
    assert flood.journeys == pytest.approx(0.75 / (1.4e-6 + 0.6e-6))
    assert load(t0=0.9, t4=0.1).reports == pytest.approx(0.75 / (0.9e-6 + 0.2e-6))


def test_what_fits_of_travel_times_is_what_reports_and_reading_the_flood_leave() -> None:
    flood = load()
    reports, journeys = flood.reports / 2, 3 * flood.journeys / 2
    kept = flood.kept(reports, journeys)
    # Half of the machine, less what it takes to read requests and find out what they are.
    assert journeys * (0.15e-6 + kept * 1.85e-6) == pytest.approx(0.75 / 2)
    assert flood.kept(reports, flood.journeys / 4) == 1
    assert flood.kept(flood.reports, journeys) == 0
