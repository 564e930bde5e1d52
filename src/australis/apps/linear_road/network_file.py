"""Network file: the network with what its answers are worth by the limits of the benchmark, for people to change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import australis as au
from australis.api.network import Network
from australis.apps.linear_road.answers import EMIT, LINES
from australis.apps.linear_road.estimate import PastTraffic
from australis.apps.linear_road.functions import define_functions
from australis.apps.linear_road.network import network
from australis.apps.linear_road.record import INPUT, LIMITS, OUTPUTS
from australis.arrow.schema import text
from australis.errors import RunError, listing
from australis.model.qos import QoS, qos

SAFE = 0.8
"""An answer is worth all up to this part of its limit, and nothing after the limit."""
FLOODED = "journeys"
"""The output that may be shed under a flood: every other one is exact."""
_HEAD = """\
# Linear Road, and what its answers are worth: `latency` by the seconds that they take, `delivered` by the part of them
# that comes. Of an output with a `delivered` graph some may be shed; of one without, nothing ever is.
#
#   australis linear-road run --network FILE --input road --history road/history --output answers.csv
#   australis check FILE --functions australis.apps.linear_road.functions --rates sent=N --costs costs.json
"""


def valued(net: Network, flood: bool = False) -> Network:
    """The network with a latency graph for each output; with `flood`, travel times may be shed."""
    outputs = tuple(replace(output, qos=_worth(output.name, flood)) for output in net.outputs)
    return Network(net.inputs, net.nodes, outputs, net.tables)


def _worth(output: str, flood: bool) -> QoS:
    limit = LIMITS[OUTPUTS[output]]
    return qos({SAFE * limit: 1, limit: 0}, {0: 0, 1: 1} if flood and output == FLOODED else None)


def network_text(flood: bool = False) -> str:
    """The file of the network with its graphs."""
    return _HEAD + au.dumps(valued(network(), flood))


def read_network(path: Path, past: PastTraffic | None = None) -> Network:
    """The network of a file over a history. Raises unless it takes what vehicles send, and gives all answers."""
    define_functions(past)
    net = au.load(path)
    inputs = {input.name: input.schema for input in net.inputs}
    if inputs != {"sent": INPUT}:
        raise RunError(
            f"{path}: a network of Linear Road has one input, sent: {text(INPUT)}; this has {listing(inputs)}"
        )
    columns = {output.name: net.schema(output.arrow).names for output in net.outputs}
    if columns.keys() != OUTPUTS.keys():
        raise RunError(
            f"{path}: a network of Linear Road has the outputs {listing(OUTPUTS)}; this has {listing(columns)}"
        )
    for name, fields in LINES.items():
        lacking = [field for field in fields if field != EMIT and field not in columns[name]]
        if lacking:
            raise RunError(f"{path}: output {name} has no {listing(lacking)}; there are {listing(columns[name])}")
    return net
