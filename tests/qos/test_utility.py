"""Utility: the product of what delay and loss leave, and 0 for an exact output that is shed."""

import australis as au
from australis.model.qos import QoS, qos
from australis.qos.utility import total, utility


def test_an_output_without_graphs_is_worth_all_until_it_is_shed():
    assert utility(QoS(), delay=1e9) == 1
    assert utility(QoS(), delivered=1 - 1e-12) == 0


def test_delay_and_loss_multiply():
    worth = qos(latency={2: 1, 10: 0}, delivered={0: 0, 0.2: 0.95, 1: 1})
    assert utility(worth, 0, 1) == 1
    assert utility(worth, 10, 1) == 0
    assert utility(worth, 6, 0.2) == 0.5 * 0.95


def test_outputs_count_by_their_weights():
    reports = au.stream("reports", "mph int")
    fast = reports.filter("mph > 60", box="fast")
    net = au.network(a=fast.output(weight=3), b=fast.output(latency={1: 1, 3: 0}))
    assert total(net.outputs, {}, {}) == 4
    assert total(net.outputs, {"b": 2}, {"a": 0.5}) == 0.5
