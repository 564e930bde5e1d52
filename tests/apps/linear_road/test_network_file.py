"""The file of the network, with graphs by the limits of the benchmark."""

from pathlib import Path

import pytest

import australis as au
from australis.apps.linear_road.network import network
from australis.apps.linear_road.network_file import network_text, read_network
from australis.apps.linear_road.record import LIMITS, OUTPUTS
from australis.errors import RunError
from australis.qos.road_map import Demands
from australis.qos.shedding import shed_plan


def test_the_file_holds_the_network_and_graphs_by_the_limits(tmp_path: Path) -> None:
    for flood in (False, True):
        (tmp_path / "road.yaml").write_text(network_text(flood))
        net = read_network(tmp_path / "road.yaml")
        assert (net.inputs, net.nodes, net.tables) == (network().inputs, network().nodes, network().tables)
        assert [output.name for output in net.outputs] == list(OUTPUTS)
        for output in net.outputs:
            limit, latency = LIMITS[OUTPUTS[output.name]], output.qos.latency
            assert latency is not None
            assert latency.bend < limit
            assert [latency.utility(each) for each in (0, latency.bend, limit)] == [1, 1, 0]
            assert output.qos.exact != (flood and output.name == "journeys")


def test_without_a_word_of_a_person_nothing_may_be_shed() -> None:
    assert all(output.qos.exact for output in network().outputs)


def test_travel_times_are_shed_where_they_part_from_all_else(tmp_path: Path) -> None:
    (tmp_path / "road.yaml").write_text(network_text(flood=True))
    net = read_network(tmp_path / "road.yaml")
    assert [(drop.after, drop.before) for drop in Demands(net).drops({"journeys": 0.5})] == [("types", "journeys")]
    assert set(shed_plan(net, {"journeys": 0.5}).places) == {("box", "journeys")}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  tolls: {from: tolls,", "  fees: {from: tolls,", "has the outputs tolls, .*; this has fees"),
        ("{type: '2', time: time, qid: qid,", "{type: '2', time: time, number: qid,", "output balances has no qid"),
        ("  sent: type tinyint", "  sent: more int, type tinyint", "has one input, sent: type tinyint"),
    ],
)
def test_a_file_of_another_network_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = network_text()
    assert old in text
    (tmp_path / "road.yaml").write_text(text.replace(old, new))
    assert au.load(tmp_path / "road.yaml")
    with pytest.raises(RunError, match=said):
        read_network(tmp_path / "road.yaml")
