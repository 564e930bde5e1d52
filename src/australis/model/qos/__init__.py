"""Quality of service: what outputs are worth to the applications that read them (Aurora 4.1)."""

from australis.model.qos.graph import Graph, QoS, qos

__all__ = ["Graph", "QoS", "qos"]
