"""Quality of service: what outputs are worth to the applications that read them (Aurora 4.1)."""

from australis.model.qos.costs import BoxCost, Costs, read_costs
from australis.model.qos.graph import Graph, QoS, qos
from australis.model.qos.histogram import WorthHistogram
from australis.model.qos.passing import JointPasses

__all__ = ["BoxCost", "Costs", "Graph", "JointPasses", "QoS", "WorthHistogram", "qos", "read_costs"]
